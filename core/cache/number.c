/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Numbers for arenas, so small that one fits beside an address: each arena of
 * the process has its own, or 0 when all are given out. A mutex of its own.
 */
#include "slab.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t given[GM_ARENA_NUMBERS / 64] = {1}; /* a bit for each */

unsigned gm_arena_number_take(void)
{
	unsigned number = 0;

	pthread_mutex_lock(&mutex);
	for (unsigned i = 0; i < GM_ARENA_NUMBERS / 64 && !number; i++) {
		if (given[i] == UINT64_MAX)
			continue;
		number = i * 64 + (unsigned)__builtin_ctzll(~given[i]);
		given[i] |= given[i] + 1;
	}
	pthread_mutex_unlock(&mutex);
	return number;
}

void gm_arena_number_give(unsigned number)
{
	if (!number)
		return;
	pthread_mutex_lock(&mutex);
	given[number / 64] &= ~(1ull << number % 64);
	pthread_mutex_unlock(&mutex);
}
