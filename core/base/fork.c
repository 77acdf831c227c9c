/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See fork.h. Linux older than 4.14, and some emulators, refuse
 * MADV_WIPEONFORK. Then the word stays "unknown" and gm_forked() compares the
 * process id with the one stored at first use: a system call each time, but the
 * same answer.
 */
#include "fork.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static const _Atomic uint32_t unknown = GM_FORK_UNKNOWN;
const _Atomic uint32_t *_Atomic gm_fork_word = &unknown;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic pid_t owner; /* 0: not used yet, or the page does the work */

static void *map_zeroed(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool wipe_on_fork(void *memory, size_t bytes)
{
#ifdef MADV_WIPEONFORK
	return madvise(memory, bytes, MADV_WIPEONFORK) == 0;
#else
	(void)memory;
	(void)bytes;
	return false;
#endif
}

static void first_use(void)
{
	_Atomic uint32_t *word = map_zeroed(sizeof(*word));

	if (word && wipe_on_fork(word, sizeof(*word))) {
		atomic_store(word, GM_FORK_PARENT);
		atomic_store(&gm_fork_word, word);
		return;
	}
	if (word)
		munmap(word, sizeof(*word));
	atomic_store(&owner, getpid());
}

void gm_fork_init(void)
{
	pthread_once(&once, first_use);
}

bool gm_forked_slow(void)
{
	pid_t pid = atomic_load(&owner);

	if (atomic_load(atomic_load(&gm_fork_word)) == GM_FORK_CHILD)
		return true;
	return pid != 0 && pid != getpid();
}

void *gm_fork_private(size_t bytes)
{
	void *memory = map_zeroed(bytes);

	if (memory)
		(void)wipe_on_fork(memory, bytes);
	return memory;
}

void gm_fork_private_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}
