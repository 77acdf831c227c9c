/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file of a recording, when things go wrong: its process is killed in the
 * middle, the disk is full at any moment, the process may not write so much, it
 * forks, another one records to the same file. The program goes on, and what is
 * in the file can be read. The disk is full because fallocate() is this test's.
 */
#include "fixture.h"
#include "../../recording_judge.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { THREADS = 4, FREES = 20000 };

static char path[64];
static _Atomic int64_t disk_bytes = INT64_MAX; /* that are left */
static _Atomic bool cannot;		       /* as on some file systems */

/* In place of the C library's. */
int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	if (atomic_load(&cannot)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (atomic_load(&disk_bytes) < bytes) {
		errno = ENOSPC;
		return -1;
	}
	atomic_fetch_sub(&disk_bytes, bytes);
	return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

/* No two of which are alike, or their events were short. */
static void pairs(gpumem_pool *pool, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		must(gpumem_free(new_block(pool, 300 + i % 60000, NULL), NULL));
}

static struct recording read_it(void)
{
	struct recording recording;

	rec_read(path, &recording);
	rec_judge(&recording);
	return recording;
}

/* ---- children that are killed ---- */

/* Gives a child that has done it, and does no more. */
static pid_t child_start(void (*fn)(void))
{
	int ready[2];
	pid_t child;
	char byte;

	if (pipe(ready))
		bail("no pipe");
	fflush(stdout);
	child = fork();
	if (!child) {
		fn();
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		bail("the child says nothing");
	close(ready[0]);
	return child;
}

static void child_kill(pid_t child)
{
	int status = 0;

	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	ok(WIFSIGNALED(status), "it was killed");
}

static gpumem_pool *shared;
static _Atomic unsigned frees;

static void *forever(void *unused)
{
	void *ptr[8] = {NULL};

	(void)unused;
	for (unsigned i = 0;; i++) {
		if (ptr[i % 8] && gpumem_free(ptr[i % 8], NULL))
			_exit(1);
		if (ptr[i % 8])
			atomic_fetch_add(&frees, 1);
		if (gpumem_alloc(shared, 100 + i % 1000, NULL, &ptr[i % 8]))
			_exit(1);
	}
	return NULL;
}

/* Its threads go on. */
static void record_threads(void)
{
	pthread_t thread;

	device_start("1GiB", true);
	shared = new_pool(0);
	must(gpumem_record_begin(path, 64 * MIB));
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, forever, NULL))
			bail("no thread");
	while (atomic_load(&frees) < FREES)
		sched_yield();
}

static void test_killed(void)
{
	struct recording recording;

	child_kill(child_start(record_threads));
	recording = read_it();
	ok(!recording.bad && recording.count > FREES &&
		   recording.header.end_ns == 0,
	   "its file has %zu events, and %zu that cannot be", recording.count,
	   recording.bad);
	if (!recording.header.overwritten_events)
		ok(!recording.twice && !recording.unknown && !recording.sizes,
		   "%zu twice, %zu unknown", recording.twice,
		   recording.unknown);
	rec_free(&recording);
}

/* ---- a full disk ---- */

static void test_full_disk(void)
{
	static const int64_t room[] = {0,	60000,	 1 << 16, 4500000,
				       4700000, 8 << 20, 6000000, 7000000};
	gpumem_pool *pool = new_pool(0);
	struct recording recording;
	gpumem_status status;

	for (unsigned i = 0; i < sizeof(room) / sizeof(room[0]); i++) {
		atomic_store(&disk_bytes, room[i]);
		status = gpumem_record_begin(path, 256 * MIB);
		pairs(pool, 500000);
		atomic_store(&disk_bytes, INT64_MAX);
		if (status) {
			is_status(status, GPUMEM_INVALID, "%lld bytes: %s",
				  (long long)room[i], last_text());
			continue;
		}
		must(gpumem_record_end());
		recording = read_it();
		ok(!recording.bad && !recording.twice &&
			   recording.header.lost_events +
					   recording.header.overwritten_events >
				   0 &&
			   recording.bytes <= (size_t)room[i] + 65536,
		   "%lld bytes: %zu events, %llu lost, %llu overwritten",
		   (long long)room[i], recording.count,
		   (ull)recording.header.lost_events,
		   (ull)recording.header.overwritten_events);
		rec_free(&recording);
	}
	atomic_store(&cannot, true);
	must(gpumem_record_begin(path, 4 * MIB));
	pairs(pool, 20000);
	must(gpumem_record_end());
	atomic_store(&cannot, false);
	recording = read_it();
	ok(!recording.bad && recording.count >= 40000 &&
		   !recording.header.lost_events,
	   "a file system that cannot allocate");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- a limit ---- */

static void test_limit(void)
{
	gpumem_pool *pool = new_pool(0);
	struct rlimit before, limit;
	struct recording recording;

	if (getrlimit(RLIMIT_FSIZE, &before))
		bail("no limit");
	limit = before;
	limit.rlim_cur = 2 * MIB;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		bail("the limit cannot be set");
	must(gpumem_record_begin(path, 256 * MIB));
	pairs(pool, 100000);
	must(gpumem_record_end());
	limit.rlim_cur = 512 * KIB;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		bail("the limit cannot be set");
	is_status(gpumem_record_begin(path, 256 * MIB), GPUMEM_INVALID,
		  "too low a limit");
	ok(strstr(last_text(), "RLIMIT_FSIZE"), "is named: %s", last_text());
	if (setrlimit(RLIMIT_FSIZE, &before))
		bail("the limit cannot be set");
	must(gpumem_record_begin(path, 0));
	must(gpumem_record_end());
	recording = read_it();
	ok(!recording.bad && recording.count == 2,
	   "without a limit there is a new one");
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- two processes ---- */

static void test_fork(void)
{
	gpumem_pool *pool = new_pool(0);
	struct recording recording;
	int status = 0;
	void *ptr;
	pid_t child;

	must(gpumem_record_begin(path, 0));
	ptr = new_block(pool, 1000, NULL);
	fflush(stdout);
	child = fork();
	if (!child) {
		void *mine = NULL;
		bool right = gpumem_free(ptr, NULL) == GPUMEM_FORKED &&
			     gpumem_alloc(pool, 1000, NULL, &mine) ==
				     GPUMEM_FORKED &&
			     gpumem_record_end() == GPUMEM_FORKED &&
			     gpumem_record_begin(path, 0) == GPUMEM_FORKED;

		_exit(right ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status),
	   "a child records nothing");
	must(gpumem_free(ptr, NULL));
	must(gpumem_record_end());
	recording = read_it();
	ok(!recording.bad && recording.count == 5 && !recording.live,
	   "its parent all: %zu", recording.count);
	rec_free(&recording);
	must(gpumem_pool_destroy(pool, 0));
}

static void record_idle(void)
{
	device_start("1GiB", true);
	must(gpumem_record_begin(path, 0));
}

static void test_taken(void)
{
	pid_t child = child_start(record_idle);

	is_status(gpumem_record_begin(path, 0), GPUMEM_BUSY,
		  "another process records to it");
	ok(strstr(last_text(), "%p"), "which has a remedy: %s", last_text());
	child_kill(child);
	must(gpumem_record_begin(path, 0));
	must(gpumem_record_end());
}

int main(void)
{
	alarm(scaled(120, 400));
	snprintf(path, sizeof(path), "/tmp/gpumem-record-file.%ld",
		 (long)getpid());
	test_killed();
	test_taken();
	device_start("1GiB", true);
	test_full_disk();
	test_limit();
	test_fork();
	ok(device_end(), "all given back");
	unlink(path);
	return done_testing();
}
