/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory that a sleep pins is its own, and no child's: a process forks
 * beside it as if it were not there. What the driver does not pin it is asked
 * for, what the system does not have is said, and what the driver does not
 * unpin stays, for the next sleep.
 */
#include "sleep.h"
#include <sys/resource.h>
#include <sys/wait.h>

enum { BLOCKS = 20 };

static gpumem_pool *pool;
static void *block[BLOCKS];

static void begin(void)
{
	pool = small_pool();
	for (unsigned i = 0; i < BLOCKS; i++) {
		block[i] = new_block(pool, MIB, NULL);
		mark_block(block[i], MIB, i);
	}
}

static uint64_t pinned_bytes(void)
{
	return gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED);
}

static void end(void)
{
	ok(are_marked(block, BLOCKS), "all is as it was");
	is_uint(pinned_bytes(), 0, "nothing is pinned");
	is_uint(stats_of(pool).sleep_host_bytes, 0, "the host has all");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "nothing is left");
}

static gpumem_status sleep_under(const char *faults, uint32_t flags)
{
	gpumem_status status;

	must(gpumem_host_faults(faults));
	status = sleep_with(pool, 0, flags, NULL);
	must(gpumem_host_faults(NULL));
	return status;
}

/* Whether it is pinned in place, or what the driver made. */
static void test_whose(void)
{
	begin();
	is_status(sleep_under("kind_alloc@1+", 0), GPUMEM_OK,
		  "the driver is not asked for memory");
	is_uint(pinned_bytes(), BLOCKS * MIB, "but all is pinned");
	must(wake(pool, 0));
	is_status(sleep_under("kind_alloc@1+", GPUMEM_SLEEP_PAGEABLE),
		  GPUMEM_OK, "nor for buffers");
	must(wake(pool, 0));
	end();
}

static void test_refused(const char *how)
{
	char faults[128];

	begin();
	snprintf(faults, sizeof(faults), "host_pin@1+:%s", how);
	is_status(sleep_under(faults, 0), GPUMEM_OK,
		  "%s: what it does not pin, the driver makes", how);
	is_uint(pinned_bytes(), BLOCKS * MIB, "as much");
	must(wake(pool, 0));
	snprintf(faults, sizeof(faults), "host_pin@2:%s", how);
	must(sleep_under(faults, GPUMEM_SLEEP_RETAIN));
	must(wake(pool, 0));
	is_uint(pinned_bytes(), BLOCKS * MIB, "some of each is retained");
	ok(are_marked(block, BLOCKS), "with the same content");
	is_status(sleep_under("host_pin@1+;kind_alloc@1+", 0), GPUMEM_OK,
		  "and used again");
	must(wake(pool, 0));
	snprintf(faults, sizeof(faults), "host_pin@1+:%s;kind_alloc@1+", how);
	is_status(sleep_under(faults, 0), GPUMEM_NO_MEMORY, "neither");
	is_uint(stats_of(pool).sleeping.current, 0, "nothing sleeps");
	end();
}

static void test_no_pages(void)
{
	begin();
	said(sleep_under("host_pin@2:no_host_memory", 0), GPUMEM_NO_HOST_MEMORY,
	     "let it go to a file");
	is_uint(stats_of(pool).sleeping.current, 0, "nothing sleeps");
	is_uint(pinned_bytes(), 0, "nothing is pinned");
	ok(are_marked(block, BLOCKS), "all is as it was");
	must(sleep_under(NULL, 0));
	must(wake(pool, 0));
	end();
}

static void test_stays(void)
{
	begin();
	must(sleep_under(NULL, 0));
	must(gpumem_host_faults("host_unpin@1+"));
	is_status(wake(pool, 0), GPUMEM_OK, "it wakes");
	must(gpumem_host_faults(NULL));
	is_uint(pinned_bytes(), BLOCKS * MIB, "what is not unpinned");
	is_uint(stats_of(pool).sleep_host_bytes, BLOCKS * MIB, "is counted");
	is_status(sleep_under("host_pin@1+;kind_alloc@1+", 0), GPUMEM_OK,
		  "and used for the next sleep");
	must(wake(pool, 0));
	end();
}

/* A field of /proc/self/status. */
static uint64_t own_bytes(const char *field)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;
	char line[128];

	if (!file)
		bail("/proc/self/status");
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, field, strlen(field)))
			(void)sscanf(line + strlen(field), ": %llu", &kib);
	(void)fclose(file);
	return kib * KIB;
}

/* Bytes of mappings that no child gets and that may have huge pages; 0: one of
 * them does not begin at a huge page. */
static uint64_t huge_bytes(void)
{
	unsigned long long from = 0, to = 0, first, last;
	FILE *file = fopen("/proc/self/smaps", "r");
	bool aligned = true;
	uint64_t bytes = 0;
	char line[512];

	if (!file)
		bail("/proc/self/smaps");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx ", &first, &last) == 2) {
			from = first;
			to = last;
		}
		if (strncmp(line, "VmFlags:", 8) != 0 ||
		    !strstr(line, " dc ") || !strstr(line, " hg "))
			continue;
		bytes += to - from;
		aligned &= from % (2 * MIB) == 0;
	}
	(void)fclose(file);
	return aligned ? bytes : 0;
}

/* One chunk ends within a huge page. */
static void test_huge(void)
{
	uint64_t bytes;
	void *odd;

	if (access("/sys/kernel/mm/transparent_hugepage", F_OK)) {
		skip("the system has no huge pages", 1);
		return;
	}
	begin();
	odd = new_block(pool, 300 * KIB, NULL);
	must(sleep_under(NULL, GPUMEM_SLEEP_RETAIN));
	bytes = huge_bytes();
	must(wake(pool, 0));
	must(gpumem_free(odd, NULL));
	ok(bytes >= BLOCKS * MIB, "%llu bytes for huge pages", (ull)bytes);
	must(sleep_under(NULL, 0));
	must(wake(pool, 0));
	end();
}

/* What is never unpinned costs the process addresses, not memory. */
static void test_abandoned(void)
{
	uint64_t before;

	begin();
	must(sleep_under(NULL, GPUMEM_SLEEP_RETAIN));
	must(wake(pool, 0));
	before = own_bytes("RssAnon");
	must(gpumem_host_faults("host_unpin@1+"));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_host_faults(NULL));
	is_uint(pinned_bytes(), BLOCKS * MIB, "it is pinned after the pool");
	ok(own_bytes("RssAnon") + BLOCKS * MIB / 2 < before, "without pages");
	ok(device_end(), "nothing is left");
}

static void test_fork(void)
{
	uint64_t own;
	int ends[2], status = -1;
	pid_t child;
	char byte;

	begin();
	must(sleep_under(NULL, GPUMEM_SLEEP_RETAIN));
	must(wake(pool, 0));
	must(sleep_under(NULL, GPUMEM_SLEEP_RETAIN));
	own = own_bytes("RssAnon");
	if (pipe(ends))
		bail("pipe");
	child = fork();
	if (!child) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1); /* until the parent is awake */
		_exit(own_bytes("RssAnon") + BLOCKS * MIB / 2 > own);
	}
	close(ends[0]);
	is_status(wake(pool, 0), GPUMEM_OK, "it wakes beside a child");
	ok(are_marked(block, BLOCKS), "and has what it had");
	must(sleep_under(NULL, 0));
	must(wake(pool, 0));
	close(ends[1]);
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status),
	   "the child runs, and has none of it: %d", status);
	end();
}

static void test_no_addresses(void)
{
#if ADDRESS_SANITIZER || THREAD_SANITIZER
	skip("a sanitizer has reserved all addresses", 1);
#else
	struct rlimit before, little;
	gpumem_status status;

	begin();
	getrlimit(RLIMIT_AS, &before);
	little = before;
	little.rlim_cur = own_bytes("VmSize") + 2 * MIB;
	setrlimit(RLIMIT_AS, &little);
	status = sleep_under(NULL, 0);
	setrlimit(RLIMIT_AS, &before);
	is_status(status, GPUMEM_NO_HOST_MEMORY, "no addresses");
	is_uint(stats_of(pool).sleeping.current, 0, "nothing sleeps");
	must(sleep_under(NULL, 0));
	must(wake(pool, 0));
	end();
#endif
}

int main(void)
{
	alarm(120);
	test_whose();
	test_refused("unsupported");
	test_refused("driver");
	test_refused("no_memory");
	test_no_pages();
	test_stays();
	test_abandoned();
	test_huge();
	test_fork();
	test_no_addresses();
	return done_testing();
}
