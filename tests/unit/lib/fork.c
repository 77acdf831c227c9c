/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A process that forks with all its caches full: the child gets FORKED from
 * whatever touches devices, and a sentence; it may have names and texts, more
 * threads, and a clean end (forked.h). The parent notices nothing. Then the
 * same while other threads of the parent are in the middle of everything.
 */
#include "forked.h"
#include <stdatomic.h>
#include <sys/wait.h>

/* The caches of threads are wiped in a child, and with them what points to the
 * pool's metadata: to a leak checker these are lost there. */
const char *__lsan_default_options(void);

const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

static void is_clean(pid_t pid, const char *what)
{
	int status = -1;

	if (pid < 0)
		bail("no child");
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s", what);
	if (!WIFEXITED(status))
		diag("ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		diag("check %d of the child failed", WEXITSTATUS(status));
}

static void set_up(void)
{
	must(gpumem_tag_push("fork"));
	tag = gpumem_tag_get();
	pool = named_pool("fork", 0);
	stream = new_stream();
	must(gpumem_event_create(device, &event));
	for (int i = 0; i < SMALL; i++) {
		small[i] = new_block(pool, 1000, i % 2 ? stream : NULL);
		memset(small[i], i + 1, 1000);
	}
	for (int i = 0; i < LARGE; i++) {
		large[i] = new_block(pool, 2 * MIB, NULL);
		memset(large[i], i + 1, 2 * MIB);
	}
	/* Ready ones of both kinds, and a pending one. */
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	must(gpumem_free(new_block(pool, 1000, stream), NULL));
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
}

static bool intact(const unsigned char *at, size_t bytes, int value)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

static void is_untouched(void)
{
	bool whole = true;

	for (int i = 0; i < SMALL; i++)
		whole &= intact(small[i], 1000, i + 1);
	for (int i = 0; i < LARGE; i++)
		whole &= intact(large[i], 2 * MIB, i + 1);
	ok(whole, "the parent's data is intact");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "its pool is sound");
	is_uint(stats_of(pool).blocks.current, SMALL + LARGE,
		"its blocks are live");
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (!pid)
		child();
	is_clean(pid, "a child with its parent's caches full");
	is_untouched();
}

/* The child's first thread is a copy of one that has caches; it ends as a
 * thread, and the process with it. */
static void *fork_and_return(void *pid)
{
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	*(pid_t *)pid = fork();
	if (!*(pid_t *)pid) {
		alarm(60);
		everything();
	}
	return NULL;
}

static void fork_in_a_thread(void)
{
	pthread_t thread;
	pid_t pid = -1;

	/* It takes its state from a thread before exit() runs what is to run
	 * then: a lock that is taken there crashes, as in a program of ten
	 * lines without gpumem (gcc 12, clang 15 and 16). */
	if (THREAD_SANITIZER) {
		skip("ThreadSanitizer does not outlive a thread's exit()", 1);
		return;
	}
	if (pthread_create(&thread, NULL, fork_and_return, &pid))
		bail("no thread");
	pthread_join(thread, NULL);
	is_clean(pid, "a child whose thread ends, with what was its cache");
	is_untouched();
}

/* ---- while others hold locks ---- */

static _Atomic bool stop;

static void *hammer(void *kind)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);

	while (!stop) {
		void *ptr = new_block(pool, kind ? 40 * MIB : 50000, NULL);

		must(gpumem_query(ptr, &found));
		must(gpumem_free(ptr, kind ? stream : NULL));
		must(gpumem_pool_trim(pool, 0, NULL));
		must(gpumem_pool_check(pool));
		(void)stats_of(pool);
		must(gpumem_option_set("wait", "on"));
		gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
		if (!kind)
			must(gpumem_stream_destroy(device, new_stream()));
	}
	return NULL;
}

static void fork_under_load(void)
{
	long rounds = scaled(100, 10), clean = 0;
	pthread_t thread[3];

	/* Its malloc has no handler for forks before gcc 14: what a thread has
	 * locked at that moment stays so in the child. */
	if (ADDRESS_SANITIZER) {
		skip("AddressSanitizer's malloc does not outlive a fork", 1);
		return;
	}
	for (intptr_t i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, hammer, (void *)i))
			bail("no thread");
	for (long i = 0; i < rounds; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			child();
		waitpid(pid, &status, 0);
		clean += status == 0;
		if (status)
			diag("child %ld ended with wait status %#x", i,
			     (unsigned)status);
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	is_int(clean, rounds, "%ld children forked under load end clean",
	       rounds);
	is_untouched();
}

int main(void)
{
	open_device(120);
	set_up();
	fork_once();
	fork_in_a_thread();
	fork_under_load();
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_event_destroy(event));
	must(gpumem_stream_destroy(device, stream));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	must(gpumem_device_close(device));
	return done_testing();
}
