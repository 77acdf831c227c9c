/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real device: where its memory is, beside a second process that holds
 * 1 GiB, and beside PyTorch where that is there. The rows add up to the
 * driver's own figure, what others hold is outside gpumem, and it is gone when
 * they are. Other programs of the device have to be at rest. A device may be
 * given, and "alone": then there is no second process. Built and run by
 * tests/device/run.sh.
 */
#include "must.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char report[1 << 16];
static size_t used;

static void keep(const char *text, void *unused)
{
	size_t length = strlen(text);

	(void)unused;
	if (used + length >= sizeof(report))
		bail("a report of %zu bytes", used + length);
	memcpy(report + used, text, length + 1);
	used += length;
}

/* The sum over the rows that are (NULL: all). */
static unsigned long long sum(const char *what)
{
	const char *at = strstr(report, "\"rows\": [");
	const char *end = strstr(report, "\"beside\": [");
	unsigned long long bytes = 0;
	char key[32] = "\"what\": ";

	if (what)
		snprintf(key, sizeof(key), "\"what\": \"%s\"", what);
	while ((at = strstr(at, key)) && at < end) {
		at = strstr(at, "\"bytes\": ");
		bytes += strtoull(at + strlen("\"bytes\": "), NULL, 10);
	}
	return bytes;
}

/* What is outside gpumem, when all was found to add up. */
static unsigned long long look(gpumem_device *device, gpumem_pool *pool,
			       const char *when)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	used = 0;
	must(gpumem_device_report(device, GPUMEM_PRINT_JSON, keep, NULL));
	must(gpumem_device_memory(device, &memory));
	must(gpumem_pool_stats(pool, &stats));
	is_uint(sum(NULL), memory.total_bytes, "%s: the sum of all rows", when);
	is_uint(sum("free"), memory.free_bytes, "%s: free", when);
	is_uint(sum("outside"), memory.outside_bytes, "%s: outside", when);
	is_uint(sum(NULL) - sum("free") - sum("outside"),
		stats.reserved.current, "%s: the pool", when);
	is_uint(sum("live"), stats.requested.current, "%s: live", when);
	is_uint(sum("pending"), stats.pending_bytes, "%s: pending", when);
	return sum("outside");
}

/* ---- others on the device ---- */

struct other {
	pid_t pid;
	int ready, stop; /* pipes: it writes to one, and a byte of the other
			    lets it begin, and another one end */
};

static void hold(const char *name, int ready, int stop)
{
	gpumem_device *device;
	gpumem_pool *pool;
	void *ptr;
	char c;

	if (gpumem_device_open(name, &device) ||
	    gpumem_device_pool(device, &pool) ||
	    gpumem_alloc(pool, GIB, NULL, &ptr) || write(ready, "r", 1) != 1)
		_exit(1);
	_exit(read(stop, &c, 1) < 0);
}

static void hold_by_torch(const char *name, int ready, int stop)
{
	static const char script[] =
		"import os, sys, torch\n"
		"held = torch.ones(1 << 28, device=sys.argv[1])\n"
		"torch.cuda.synchronize()\n"
		"os.write(1, b'r')\n"
		"os.read(0, 1)\n";

	dup2(ready, STDOUT_FILENO);
	dup2(stop, STDIN_FILENO);
	execlp("python3", "python3", "-c", script, name ? name : "cuda",
	       (char *)NULL);
	_exit(1);
}

/* Before this process uses the library. It begins when it is told to. */
static struct other start(const char *name, bool torch)
{
	struct other other;
	int ready[2], stop[2];

	if (pipe(ready) || pipe(stop))
		bail("no pipe");
	other.pid = fork();
	if (other.pid < 0)
		bail("no process");
	if (!other.pid) {
		char c;

		close(ready[0]);
		close(stop[1]);
		if (read(stop[0], &c, 1) != 1)
			_exit(0);
		if (torch)
			hold_by_torch(name, ready[1], stop[0]);
		hold(name, ready[1], stop[0]);
	}
	close(ready[1]);
	close(stop[0]);
	other.ready = ready[0];
	other.stop = stop[1];
	return other;
}

/* False: it could not do it. */
static bool begin(const struct other *other)
{
	char c;

	return write(other->stop, "g", 1) == 1 &&
	       read(other->ready, &c, 1) == 1;
}

static void end(const struct other *other)
{
	if (write(other->stop, "e", 1) != 1)
		diag("it has ended already");
	close(other->stop);
	waitpid(other->pid, NULL, 0);
	close(other->ready);
}

static void beside(gpumem_device *device, gpumem_pool *pool,
		   const struct other *other, const char *who)
{
	unsigned long long before, during;

	before = look(device, pool, "before");
	if (!begin(other)) {
		diag("%s does not use the device: left out", who);
		end(other);
		return;
	}
	during = look(device, pool, who);
	ok(during >= before + GIB, "%s: its 1 GiB is outside gpumem: %llu MiB",
	   who, (during - before) / MIB);
	used = 0;
	must(gpumem_device_report(device, 0, keep, NULL));
	diag("%s", report);
	end(other);
	ok(look(device, pool, "after") + GIB <= during, "%s: it is gone", who);
}

/* ---- this program ---- */

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	bool alone = argc > 2 && !strcmp(argv[2], "alone");
	struct other second, torch;
	gpumem_stream stream;
	gpumem_device *device;
	gpumem_pool *pool;
	void *ptr[64];

	signal(SIGPIPE, SIG_IGN);
	if (!alone) {
		second = start(name, false);
		torch = start(name, true);
	}
	must(gpumem_device_open(name, &device));
	must(gpumem_device_pool(device, &pool));
	must(gpumem_stream_create(device, &stream));
	for (size_t i = 0; i < 64; i++) {
		must(gpumem_tag_push(i % 2 ? "odd" : "even"));
		must(gpumem_alloc(pool, (i + 1) * 100000, NULL, &ptr[i]));
		must(gpumem_tag_pop());
	}
	look(device, pool, "alone");
	for (size_t i = 0; i < 64; i += 3) {
		must(gpumem_use_on(ptr[i], stream));
		must(gpumem_free(ptr[i], NULL));
	}
	look(device, pool, "after some frees");
	if (!alone) {
		beside(device, pool, &second, "a second process");
		beside(device, pool, &torch, "PyTorch");
	}
	for (size_t i = 0; i < 64; i++)
		if (i % 3)
			must(gpumem_free(ptr[i], NULL));
	must(gpumem_stream_sync(device, stream));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_device_close(device));
	return done_testing();
}
