/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every request of the library for host memory fails once, and every one from
 * some request on: calls say NO_HOST_MEMORY or do without, nothing crashes, all
 * counters agree, and afterwards everything works and is given back, host
 * memory too.
 */
#include "aftermath.h"
#include "oom.h"
#include <limits.h>
#include <sys/wait.h>

#if ADDRESS_SANITIZER || THREAD_SANITIZER
int main(void)
{
	skip_all("a sanitizer has a malloc of its own");
	return EXIT_SUCCESS;
}
#else

#include "host_requests.h"

/* Fails the requests from first to last. Returns how many there were. */
static unsigned long run_once(unsigned long first, unsigned long last)
{
	unsigned long made;
	bool opened;

	work.nth = first;
	atomic_store(&requests, 0);
	atomic_store(&first_failing, first);
	atomic_store(&last_failing, last);
	opened = work_run();
	made = atomic_load(&requests);
	atomic_store(&first_failing, ULONG_MAX);
	want(opened || made >= first, "the device did not open");
	if (opened)
		work_settle(false);
	return made;
}

static void sweep(const char *name, bool onward, bool vm)
{
	unsigned long n = 0, made;
	long before;

	if (work.broken)
		return;
	option("vm", vm ? "on" : "off");
	work.mode = name;
	/* What a process makes once, and a failure's record. */
	run_once(1, 1);
	run_once(ULONG_MAX, ULONG_MAX);
	before = atomic_load(&alive);
	do {
		n++;
		made = run_once(n, onward ? ULONG_MAX : n);
		want(atomic_load(&alive) == before,
		     "%ld pieces of host memory are left behind",
		     atomic_load(&alive) - before);
	} while (made >= n && !work.broken);
	ok(!work.broken, "%s: N up to %lu", name, n);
	ok(n > 50, "%s: host memory was asked for often", name);
	work_seen(vm);
}

/* The Nth request of a process fails that has an option in its environment.
 * 0: it has opened no device; 1: it has, and with the option; 2: without. */
static int open_configured(unsigned long nth)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_pool *pool;

	setenv("GPUMEM_CONF", "limit:1GB", 1);
	atomic_store(&first_failing, nth);
	atomic_store(&last_failing, nth);
	if (gpumem_device_open("host:0", &device) ||
	    gpumem_device_pool(device, &pool) ||
	    gpumem_pool_stats(pool, &stats))
		return 0;
	return stats.limit_bytes == (uint64_t)1 << 30 ? 1 : 2;
}

/* Before this process has used the library. */
static void test_configured(void)
{
	unsigned long seen[3] = {0}, nth;
	int status = 0;
	pid_t child;

	fflush(stdout);
	for (nth = 1; nth <= 100 && seen[1] < 5; nth++) {
		child = fork();
		if (!child)
			_exit(open_configured(nth));
		waitpid(child, &status, 0);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 2;
		seen[status < 2 ? status : 2]++;
	}
	ok(seen[0] > 0 && seen[1] > 0, "requests of the first use fail");
	is_uint(seen[2], 0, "and none loses what the environment says");
}

/* Allocations that fail meanwhile are told all the same, with less. */
static unsigned long told_all, told_less;

static void hear(const struct gpumem_oom *oom, void *user)
{
	(void)user;
	want(json_whole(oom->json), "JSON that is not whole: %s", oom->json);
	if (strstr(oom->json, "\"table\": "))
		told_all++;
	else
		told_less++;
}

int main(void)
{
	alarm(300);
	if (!requests_begin())
		skip_all("the library's code is not to be found");
	test_configured();
	work.injected = GPUMEM_NO_HOST_MEMORY;
	work.free_may_fail = true;
	option("host.page", "512KiB");
	option("wait", "on");
	device_start("32MiB", true);
	must(gpumem_device_close(device));
	gpumem_oom_set(hear, NULL);
	sweep("pages, the Nth", false, true);
	sweep("segments, the Nth", false, false);
	sweep("pages, from the Nth on", true, true);
	sweep("segments, from the Nth on", true, false);
	ok(told_all && told_less,
	   "an out of memory is told %lu times in full, %lu times in short",
	   told_all, told_less);
	return done_testing();
}

#endif
