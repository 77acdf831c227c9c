/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The one mutex of a double, which guards all that the double keeps.
 */
#ifndef GPUMEM_TESTS_FAKE_LOCK_H
#define GPUMEM_TESTS_FAKE_LOCK_H

#include <pthread.h>

/* The first time it also configures. A forked child finds the mutex free. */
void fake_lock(void);
void fake_unlock(void);
/* Lets go of the mutex until something has changed, or for no reason. */
void fake_wait(pthread_cond_t *changed);

/* Of the double: reads the environment. Called once, with the mutex. */
void fake_configure(void);

#endif
