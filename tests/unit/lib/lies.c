/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Backends that lie: with each lie of tests/plugins/lies.h a program of its own
 * opens the device, uses a pool and closes all again. Whatever the statuses
 * are, it comes to its end. Where an output is refused, the sentence names the
 * slot. No call gives what only a slot gave: a number that is no status, or one
 * that such a call has not.
 */
#include "../../plugins/lies.h"
#include "../../tap.h"
#include <gpumem/gpumem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS 120

/* Not outlived: who ends the process or writes behind a struct is in it. */
static const char *const deadly[] = {
	"info-beyond", "hang", "exit", "crash", "thread", "abort",
};

static bool is_deadly(const char *lie)
{
	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		if (!strcmp(deadly[i], lie))
			return true;
	return false;
}

static bool any_process(const struct gpumem_process *process, void *user)
{
	(void)process;
	(void)user;
	return true;
}

/* What a refusal has to say, or NULL; and whether it was said. */
static const char *wanted;
static bool told;

/* What a call gave: a status that such a call may give, whatever the slot did.
 * There is no limit and no fork. */
static gpumem_status heard(gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	told = told || !wanted || strstr(error.text, wanted);
	if (status == GPUMEM_NOT_READY || status == GPUMEM_LIMIT ||
	    status == GPUMEM_ABI || status == GPUMEM_FORKED ||
	    !strcmp(gpumem_status_name(status), "GPUMEM_UNKNOWN"))
		_exit(3);
	return status;
}

/* The last is more than is left beside the others. */
static const size_t sizes[] = {1, 4096, 1 << 20, 40 << 20, 1000 << 20};
enum { BLOCKS = sizeof(sizes) / sizeof(*sizes) };

/* No byte of a block is another's too. */
static void is_apart(void *const block[BLOCKS])
{
	for (int i = 0; i < BLOCKS; i++)
		for (int j = 0; j < i; j++)
			if (block[i] && block[j] &&
			    (uintptr_t)block[i] - (uintptr_t)block[j] +
					    sizes[i] - 1 <
				    sizes[i] + sizes[j] - 1)
				_exit(2);
}

/* What a program does, whatever comes of it. */
static void use_pool(gpumem_device *device, gpumem_pool *pool)
{
	gpumem_stream stream = NULL;
	void *block[BLOCKS] = {NULL};

	heard(gpumem_stream_create(device, &stream));
	for (int i = 0; i < BLOCKS; i++)
		heard(gpumem_alloc(pool, sizes[i], stream, &block[i]));
	is_apart(block);
	for (int i = 0; i < BLOCKS; i++)
		if (block[i])
			heard(gpumem_free(block[i], i % 2 ? NULL : stream));
	heard(gpumem_pool_trim(pool, 0, NULL));
	heard(gpumem_pool_check(pool));
	if (stream)
		heard(gpumem_stream_destroy(device, stream));
}

/* Two pools at a time. */
static void use_pools(gpumem_device *device)
{
	gpumem_pool *pools[2];
	int count = 0;

	while (count < 2 && heard(gpumem_pool_create(
				    device, NULL, &pools[count])) == GPUMEM_OK)
		use_pool(device, pools[count++]);
	while (count)
		heard(gpumem_pool_destroy(pools[--count],
					  GPUMEM_DESTROY_FORCE));
}

/* In a process of its own; 0: it came to its end and told what it had to. */
static int tell(const char *lie, const char *plugin, const char *conf)
{
	gpumem_device *device;
	char name[16];

	alarm(SECONDS);
	setenv("LIE", lie, 1);
	setenv("GPUMEM_CONF", conf, 1);
	if (gpumem_backend_load(plugin, name) != GPUMEM_OK)
		return 0; /* refused as a whole */
	if (heard(gpumem_device_open("liar:0", &device)) != GPUMEM_OK)
		return !told;
	heard(gpumem_process_visit(device, any_process, NULL));
	use_pools(device);
	(void)!gpumem_device_close(device);
	return !told;
}

/* The sentence that a refused output ends in, or NULL. */
static const char *sentence(const char *lie, const char *conf)
{
	static const struct {
		const char *lie, *conf, *text;
	} known[] = {
		{"zero", "vm:off",
		 "alloc: the backend returned success and no "
		 "address"},
		{"unset", "vm:off",
		 "alloc: the backend returned success and "
		 "no address"},
		{"odd", "vm:off",
		 "alloc: the backend returned success and the "
		 "address"},
		{"address", "vm:off", "beyond 48 bits"},
		{"overlap", "vm:off",
		 "alloc: the backend returned success and the 41943040 bytes "
		 "at"},
		{"overlap-half", "vm:off",
		 "alloc: the backend returned success and the 41943040 bytes "
		 "at"},
		{"repeat", "vm:off",
		 "alloc: the backend returned success and the 41943040 bytes "
		 "at"},
		{"status-unknown", "vm:off",
		 "alloc returned the unknown status 77"},
		{"status-limit", "vm:off",
		 "alloc returned the status -3, GPUMEM_LIMIT, which it may "
		 "not"},
		{"status-one", "vm:off", "free returned the unknown status 1"},
		{"status-not-ready", "vm:off",
		 "free returned the status -16, GPUMEM_NOT_READY, which it may "
		 "not"},
		{"open-unset", NULL,
		 "device_open returned success and no "
		 "device"},
		{"reserve-zero", "vm:on",
		 "va_reserve: the backend returned success and "
		 "no address"},
		{"reserve-unset", "vm:on",
		 "va_reserve: the backend returned success "
		 "and no address"},
		{"reserve-odd", "vm:on",
		 "va_reserve: the backend returned success and "
		 "the address"},
		{"reserve-above", "vm:on", "beyond 48 bits"},
		{"reserve-again", "vm:on",
		 "that liar:0 gave and has not taken back"},
		{"page-again", "vm:on",
		 "page_create: the backend returned success and the page"},
		{"granularity", NULL, "granularity of 3000000 bytes"},
		{"coarse", NULL, "granularity of 1099511627776 bytes"},
		{"empty", NULL, "memory is 0 bytes"},
		{"endless", NULL, "memory of 18446744073709551615 bytes"},
		{"alignment", NULL, "alignment of 0 bytes"},
		{"largest", NULL, "largest allocation is 0 bytes"},
		{"process-null", NULL,
		 "device_processes: the backend returned "
		 "success and no process"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].lie, lie) &&
		    (!known[i].conf || !strcmp(known[i].conf, conf)))
			return known[i].text;
	return NULL;
}

static void check(const char *lie, const char *plugin, const char *conf)
{
	int how = 0;
	pid_t pid;

	if (is_deadly(lie))
		return;
	wanted = sentence(lie, conf);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(tell(lie, plugin, conf));
	if (pid < 0 || waitpid(pid, &how, 0) != pid)
		bail("no process");
	ok(how == 0, "%s: the lie \"%s\" is outlived%s (0x%x)", conf, lie,
	   wanted ? ", and its slot named" : "", (unsigned)how);
}

int main(void)
{
	const char *folder = getenv("top_builddir");
	char plugin[4096];

	snprintf(plugin, sizeof(plugin), "%s/tests/plugins/.libs/liar.so",
		 folder ? folder : ".");
	if (access(plugin, R_OK))
		skip_all("there is no plugin that lies");
	setenv("LIAR_CONF", "host.capacity:1GiB", 1);
#define CHECK(lie, slot, function)                                             \
	check(lie, plugin, "vm:on");                                           \
	check(lie, plugin, "vm:off");
	LIES(CHECK)
#undef CHECK
	return done_testing();
}
