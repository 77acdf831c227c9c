/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every driver call of an export and of an import fails once, and every one
 * from some call on: the failure is told, works when tried again, and leaves no
 * memory, descriptor, mapping or open device behind.
 */
#include "sweep.h"
#include "peer.h"

static struct gpumem_shared shared[2];
static struct peer peers[2];
static int which; /* of the scenes */

static unsigned maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned count = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, "memfd:gpumem-host") != NULL;
	if (file)
		fclose(file);
	return count;
}

/* Addresses in use, in MiB. */
static unsigned long space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		bail("no /proc/self/statm");
	fclose(file);
	return pages / 256;
}

/* A pool, a block, its export, and the end of all. */
static void export_all(uint32_t method)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared out = GPUMEM_INIT(struct gpumem_shared);
	gpumem_pool *pool = NULL;
	void *ptr = NULL;
	int fds[PEER_FDS];

	config.shareable = method;
	if (gpumem_pool_create(device, &config, &pool))
		return;
	if (!gpumem_alloc(pool, 5 * MIB, NULL, &ptr)) {
		if (gpumem_export(ptr, &out, fds, PEER_FDS) != GPUMEM_OK) {
			must(gpumem_host_faults(NULL));
			want(!gpumem_export(ptr, &out, fds, PEER_FDS),
			     "exported when tried again");
		}
		peer_close_fds(fds, out.fd_count);
	}
	must(gpumem_host_faults(NULL));
	want(!gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), "the pool ends");
}

static void import_all(int i, bool once)
{
	size_t count = shared[i].fd_count;
	int fds = peer_open_fds();
	unsigned long before = space();
	gpumem_status status;
	void *ptr = NULL;

	if (gpumem_import(device, &shared[i], peers[i].fds, count, &ptr)) {
		must(gpumem_host_faults(NULL));
		want(maps() == 0, "a failure has left something mapped");
		want(!once || peer_open_fds() == fds,
		     "a failure has left a descriptor");
		want(!once || space() < before + 4,
		     "a failure has left addresses");
		want(!gpumem_import(device, &shared[i], peers[i].fds, count,
				    &ptr),
		     "imported when tried again");
	}
	if (!ptr)
		return;
	want(*(unsigned char *)ptr == 11, "the content");
	status = gpumem_import_close(ptr);
	must(gpumem_host_faults(NULL));
	if (status)
		status = gpumem_import_close(ptr);
	want(status == GPUMEM_OK || status == GPUMEM_BAD_POINTER,
	     "closed, or over already");
}

static void run(void)
{
	int before = peer_open_fds();

	must(gpumem_device_open("host:0", &device));
	faults_begin();
	if (which < 2)
		import_all(which, !strchr(sweep.suffix, '+'));
	else
		export_all(which == 2 ? GPUMEM_SHARE_FD : GPUMEM_SHARE_IPC);
	must(gpumem_host_faults(NULL));
	want(gpumem_host_used_bytes(0) == 0, "memory is left behind");
	want(gpumem_device_close(device) == GPUMEM_OK, "the device closes");
	want(peer_open_fds() == before, "a descriptor is left behind");
	want(maps() == 0, "a mapping is left behind");
}

static void share_each(const char *what, unsigned long calls)
{
	static const char *const suffixes[] = {":driver", ":no_memory",
					       "+:driver"};

	for (size_t s = 0; s < sizeof(suffixes) / sizeof(*suffixes); s++) {
		is_uint(sweep_calls(suffixes[s], calls, run), calls,
			"%s: *@N%s", what, suffixes[s]);
		is_uint(sweep.bad, 0, "each of them fails well");
	}
}

/* How many calls an import and its close are. */
static unsigned long count_calls(int i)
{
	unsigned long calls;
	void *ptr = NULL;

	must(gpumem_device_open("host:0", &device));
	must(gpumem_host_faults(NULL));
	must(gpumem_import(device, &shared[i], peers[i].fds, shared[i].fd_count,
			   &ptr));
	must(gpumem_import_close(ptr));
	calls = (unsigned long)gpumem_host_calls();
	must(gpumem_device_close(device));
	return calls;
}

int main(void)
{
	static const char *const what[] = {
		"import by descriptor", "import by name",
		"export by descriptor", "export by name"};

	alarm(60);
	for (int i = 0; i < 2; i++)
		peers[i] = peer_start();
	for (int i = 0; i < 2; i++) {
		peer_prepare(&peers[i], "host:0",
			     i ? GPUMEM_SHARE_IPC : GPUMEM_SHARE_FD, 5 * MIB,
			     11);
		shared[i] = peer_shared(&peers[i]);
	}
	option("host.capacity", "1GiB");
	is_uint(count_calls(0), 10, "three pages: ten calls");
	is_uint(count_calls(1), 2, "a name: two calls");
	for (which = 0; which < 4; which++)
		share_each(what[which], which == 0 ? 10 : which == 1 ? 2 : 40);
	peer_end(&peers[0]);
	peer_end(&peers[1]);
	return done_testing();
}
