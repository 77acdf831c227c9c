/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the content of a sleep is: host memory that goes when nothing needs it,
 * buffers that stay small however large a pool's pages are, and files that the
 * process may not write, or is interrupted at.
 */
#include "sleep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

static gpumem_pool *pool;

/* As of a file system that a signal interrupts: there is always one. */
static bool interrupted;

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
	sigset_t now;

	if (interrupted && !pthread_sigmask(SIG_SETMASK, NULL, &now) &&
	    !sigismember(&now, SIGALRM))
		return EINTR;
	return fallocate(fd, 0, offset, bytes) ? errno : 0;
}

static void begin(const char *capacity)
{
	device_start(capacity, true);
	pool = new_pool(0);
}

static void end(void)
{
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "nothing is left");
}

static void holds(uint64_t bytes, const char *when)
{
	is_uint(stats_of(pool).sleep_host_bytes, bytes, "%s: it holds", when);
	is_uint(gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED), bytes,
		"and of pinned memory");
}

/* Nobody wakes what was freed: the next sleep does not add to it. */
static void test_freed(void)
{
	begin("64MiB");
	for (int i = 0; i < 4; i++) {
		void *block = new_block(pool, 8 * MIB, NULL);

		must(sleep_all(pool));
		must(gpumem_free(block, NULL));
		holds(8 * MIB, "freed asleep");
	}
	must(sleep_all(pool));
	holds(0, "a sleep with nothing to do");
	(void)new_block(pool, 8 * MIB, NULL);
	must(sleep_all(pool));
	end();
}

/* At most sixteen buffers of 4 MiB: a thread may have that of one that ended.
 */
static void test_large_pages(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	const size_t bytes = 96 * MIB;
	uint64_t buffers;
	void *block;

	device_start("256MiB", true);
	config.page_bytes = 32 * MIB;
	must(gpumem_pool_create(device, &config, &pool));
	block = new_block(pool, bytes, NULL);
	mark_block(block, bytes, 1);
	must(sleep_with(pool, 0, GPUMEM_SLEEP_PAGEABLE | GPUMEM_SLEEP_RETAIN,
			NULL));
	buffers = gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED);
	ok(buffers && buffers <= 16 * 4 * MIB,
	   "no more is pinned than with small pages: %llu bytes",
	   (unsigned long long)buffers);
	is_uint(slept.host_bytes, bytes + buffers, "content and buffers");
	must(wake(pool, 0));
	ok(is_marked(block, bytes, 1), "it is as it was");
	end();
}

/* A file of this size would be the end of the program. */
static void test_file_limit(void)
{
	const size_t bytes = 8 * MIB;
	struct rlimit before, small;
	void *block;

	begin("64MiB");
	block = new_block(pool, bytes, NULL);
	mark_block(block, bytes, 1);
	if (getrlimit(RLIMIT_FSIZE, &before))
		bail("no limit of files");
	small = before;
	small.rlim_cur = bytes - 1;
	if (setrlimit(RLIMIT_FSIZE, &small))
		bail("no limit of files");
	said(sleep_with(pool, 0, 0, "."), GPUMEM_NO_HOST_MEMORY,
	     "a file that the process may not write");
	ok(strstr(last_text(), strerror(EFBIG)), "%s", last_text());
	ok(is_marked(block, bytes, 1), "all is awake");
	small.rlim_cur = bytes;
	if (setrlimit(RLIMIT_FSIZE, &small))
		bail("no limit of files");
	is_status(sleep_with(pool, 0, 0, "."), GPUMEM_OK, "of just that size");
	if (setrlimit(RLIMIT_FSIZE, &before))
		bail("no limit of files");
	must(wake(pool, 0));
	ok(is_marked(block, bytes, 1), "it is as it was");
	end();
}

static void test_interrupted(void)
{
	sigset_t before, after;

	begin("64MiB");
	(void)new_block(pool, 8 * MIB, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	interrupted = true;
	is_status(sleep_with(pool, 0, 0, "."), GPUMEM_OK,
		  "signals do not end a sleep");
	interrupted = false;
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	is_int(sigismember(&after, SIGALRM), sigismember(&before, SIGALRM),
	       "and come as before afterwards");
	must(wake(pool, 0));
	end();
}

int main(void)
{
	alarm(200);
	test_freed();
	test_large_pages();
	test_file_limit();
	test_interrupted();
	return done_testing();
}
