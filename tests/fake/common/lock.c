/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The mutex of a double, and its first use.
 */
#include "lock.h"

#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool configured;

void fake_lock(void)
{
	pthread_mutex_lock(&mutex);
	if (configured)
		return;
	configured = true;
	fake_configure();
	pthread_atfork(fake_lock, fake_unlock, fake_unlock);
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

void fake_wait(pthread_cond_t *changed)
{
	pthread_cond_wait(changed, &mutex);
}
