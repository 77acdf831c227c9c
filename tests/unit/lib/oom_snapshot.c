/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `oom_snapshot`: the first out of memory writes two files, the second
 * none; whatever stands in the way of them, the error of the allocation is what
 * it would be. Other threads go on meanwhile. What is in the files is read in
 * tests/tool_oom_snapshot.sh. Host memory runs out because malloc() and its kin
 * are this test's.
 */
#include "fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { THREADS = 4 };

static char folder[] = "/tmp/gpumem-snapshot-XXXXXX";
static char given[80], path[96], text[100];

/* ---- host memory ---- */

#if !(ADDRESS_SANITIZER || THREAD_SANITIZER)
static _Thread_local long left = -1; /* allocations that work; -1: all */

static bool refuses(void)
{
	return left >= 0 && !left--;
}

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void *realloc(void *ptr, size_t bytes)
{
	static void *(*next)(void *, size_t);

	if (refuses()) {
		left = 0;
		return NULL;
	}
	if (!next)
		*(void **)&next = real("realloc");
	return next(ptr, bytes);
}
#endif

/* ---- files ---- */

static bool is_there(const char *name)
{
	struct stat about;

	return !lstat(name, &about) && S_ISREG(about.st_mode) &&
	       about.st_size > 0;
}

static void remove_both(void)
{
	unlink(path);
	unlink(text);
}

/* Another name than the one before, so that it is written again. */
static void name_files(const char *name)
{
	snprintf(given, sizeof(given), "%s/%s-%%p", folder, name);
	snprintf(path, sizeof(path), "%s/%s-%ld", folder, name, (long)getpid());
	snprintf(text, sizeof(text), "%s.txt", path);
	option("oom_snapshot", given);
}

/* The error, and whether the two files are there, which are removed. */
static void runs_out(gpumem_pool *pool, bool snapshot, bool words,
		     const char *what)
{
	void *none = NULL;

	is_status(gpumem_alloc(pool, 17 * MIB, NULL, &none), GPUMEM_LIMIT, "%s",
		  what);
	ok(strstr(last_text(), " out of memory for a request of 17"),
	   "the error is that of the allocation");
	ok(is_there(path) == snapshot, "%s snapshot", snapshot ? "a" : "no");
	ok(is_there(text) == words, "%s text", words ? "a" : "no");
	remove_both();
}

static void test_once(gpumem_pool *pool)
{
	name_files("once");
	runs_out(pool, true, true, "the first time");
	runs_out(pool, false, false, "the second");
	name_files("again");
	runs_out(pool, true, true, "another name");
	option("oom_snapshot", "");
	runs_out(pool, false, false, "no name");
}

/* ---- what stands in the way ---- */

static void test_refused(void)
{
	is_status(gpumem_option_set("oom_snapshot", "/nowhere/at/all"),
		  GPUMEM_INVALID, "where there is no folder");
	ok(strstr(last_text(), "cannot be written: No such file"),
	   "it is known at once: %s", last_text());
}

static void test_link(gpumem_pool *pool)
{
	char victim[96];

	snprintf(victim, sizeof(victim), "%s/victim", folder);
	name_files("link");
	if (symlink(victim, path))
		bail("no link");
	runs_out(pool, false, true, "a link");
	ok(access(victim, F_OK), "is not followed");
}

static void test_limit(gpumem_pool *pool)
{
	struct rlimit before, limit;

	name_files("limit");
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 100;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		bail("no limit");
	(void)GPUMEM_IGNORE(
		gpumem_alloc(pool, 17 * MIB, NULL, &(void *){NULL}));
	if (setrlimit(RLIMIT_FSIZE, &before))
		bail("no limit");
	ok(!is_there(path) && !is_there(text), "too large files are not kept");
}

static void test_memory(gpumem_pool *pool)
{
#if ADDRESS_SANITIZER || THREAD_SANITIZER
	(void)pool;
	skip("a sanitizer has a malloc of its own", 24);
#else
	for (long i = 0; i < 12; i++) {
		char name[24];

		snprintf(name, sizeof(name), "memory%ld", i);
		name_files(name);
		left = i;
		(void)GPUMEM_IGNORE(
			gpumem_alloc(pool, 17 * MIB, NULL, &(void *){NULL}));
		left = -1;
		ok(strstr(last_text(), " out of memory for a request of 17"),
		   "without host memory after %ld times", i);
		ok(is_there(path) == is_there(text), "both or none");
		remove_both();
	}
#endif
}

static void test_fork(gpumem_pool *pool)
{
	int status = 1;
	pid_t child;

	name_files("fork");
	fflush(stdout);
	child = fork();
	if (!child) {
		void *none = NULL;

		_exit(gpumem_alloc(pool, 17 * MIB, NULL, &none) !=
		      GPUMEM_FORKED);
	}
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "a forked child");
	runs_out(pool, true, true, "its parent");
}

/* ---- recordings ---- */

static void test_recording(void)
{
	gpumem_pool *pool;
	char name[96];

	name_files("recorded");
	pool = new_pool(16 * MIB);
	is_status(gpumem_record_end(), GPUMEM_INVALID,
		  "the program has begun no recording");
	snprintf(name, sizeof(name), "%s/recording", folder);
	must(gpumem_record_begin(name, 0));
	runs_out(pool, true, true, "with a recording of the program's");
	must(gpumem_record_end());
	ok(is_there(name), "which goes on");
	unlink(name);
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- threads ---- */

static _Atomic bool over;

static void *use(void *pool)
{
	while (!atomic_load(&over)) {
		void *ptr = NULL;

		if (gpumem_alloc(pool, 3000, NULL, &ptr) == GPUMEM_OK)
			must(gpumem_free(ptr, NULL));
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[THREADS];
	gpumem_pool *pool, *other;

	name_files("threads0");
	pool = new_pool(16 * MIB);
	other = new_pool(0);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, use, i % 2 ? pool : other))
			bail("no thread");
	for (unsigned i = 1; i < (unsigned)scaled(8, 4); i++) {
		char name[24];

		runs_out(pool, true, true, "while others go on");
		snprintf(name, sizeof(name), "threads%u", i);
		name_files(name);
		must(gpumem_pool_destroy(new_pool(0), 0));
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_pool_destroy(other, 0));
}

int main(void)
{
	gpumem_pool *pool;
	void *ptr;

	alarm(scaled(120, 400));
	if (!mkdtemp(folder))
		bail("no folder");
	device_start("1GiB", true);
	test_refused();
	pool = new_pool(16 * MIB);
	ptr = new_block(pool, 1 * MIB, NULL);
	test_once(pool);
	test_link(pool);
	test_limit(pool);
	test_memory(pool);
	test_fork(pool);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	test_recording();
	test_threads();
	option("oom_snapshot", NULL);
	ok(device_end(), "all given back");
	ok(!rmdir(folder), "and nothing else was written");
	return done_testing();
}
