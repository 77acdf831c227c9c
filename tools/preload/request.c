/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See request.h; and what is kept of cuMemAlloc() goes back within `decay_ms`,
 * if none was kept or handed out. pthread_create() is looked up: before
 * glibc 2.34 it is not in libc, and a program that has a driver of a GPU has
 * threads.
 */
#include "request.h"
#include "pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

/* ---- what is idle ----------------------------------------------------------
 */

/* Grows with each block that is kept or handed out again. */
static uint64_t turn_of(const struct ledger *ledger)
{
	uint64_t turn = 0;

	for (int i = 0; i < LEDGER_DEVICES; i++) {
		const struct ledger_device *device = &ledger->devices[i];

		turn += device->pool.hits + device->kinds[LEDGER_ALLOC].frees;
	}
	return turn;
}

/* Of cuMemAlloc(): the pool that serves has a thread of its own for its pages.
 */
static bool keeps(const struct ledger *ledger)
{
	for (int i = 0; i < LEDGER_DEVICES; i++)
		if (ledger->devices[i].pool.current_bytes >
		    ledger->devices[i].pool.unused_bytes)
			return true;
	return false;
}

static void give_back(void)
{
	if (!pool_enter())
		return;
	for (int i = 0; i < LEDGER_DEVICES; i++)
		(void)pool_return_all(i);
	preload_leave();
}

/* False: the thread cannot wait here. */
static bool await(struct ledger *ledger, uint32_t done)
{
	/* What was idle all along has been so for less than twice that. */
	uint64_t turn = turn_of(ledger), ms = (preload_decay_ms() + 1) / 2;
	struct timespec time = {.tv_sec = (time_t)(ms / 1000),
				.tv_nsec = (long)(ms % 1000) * 1000000};

	if (!request_wait(&ledger->trim_asked, done, ms ? &time : NULL))
		return true;
	if (errno == ETIMEDOUT && turn == turn_of(ledger) && keeps(ledger))
		give_back();
	return errno == ETIMEDOUT || errno == EAGAIN || errno == EINTR;
}

static void *answer(void *argument)
{
	struct ledger *ledger = argument;
	uint32_t done = 0;
	bool ok = true;

	while (ok) {
		uint32_t asked = atomic_load(&ledger->trim_asked);

		if (asked == done) {
			ok = await(ledger, done);
			continue;
		}
		atomic_store(&ledger->trimmed_bytes, gpumem_run_trim());
		atomic_store(&ledger->trim_done, done = asked);
		request_wake(&ledger->trim_done);
	}
	atomic_store(&ledger->listens, 0);
	return NULL;
}

void request_listen(struct ledger *ledger)
{
	__typeof__(pthread_create) *create;
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	*(void **)&create = preload_dlsym(RTLD_DEFAULT, "pthread_create");
	if (!create || pthread_attr_init(&attributes))
		return;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before); /* of the thread */
	atomic_store(&ledger->listens, 1);
	if (create(&thread, &attributes, answer, ledger))
		atomic_store(&ledger->listens, 0);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
}
