/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See request.h. pthread_create() is looked up: before glibc 2.34 it is not in
 * libc, and a program that has a driver of a GPU has threads.
 */
#include "request.h"
#include "pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

static void *answer(void *argument)
{
	struct ledger *ledger = argument;
	uint32_t done = 0;

	for (;;) {
		uint32_t asked = atomic_load(&ledger->trim_asked);

		if (asked != done) {
			atomic_store(&ledger->trimmed_bytes, gpumem_run_trim());
			atomic_store(&ledger->trim_done, done = asked);
			request_wake(&ledger->trim_done);
		} else if (request_wait(&ledger->trim_asked, done, NULL) &&
			   errno != EAGAIN && errno != EINTR) {
			atomic_store(&ledger->listens, 0);
			return NULL;
		}
	}
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
