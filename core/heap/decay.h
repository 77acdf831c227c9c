/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Decay: what nobody has used for a while goes back to the driver by itself,
 * in small chores that somebody who is here anyway does one of now and then.
 *
 * Time goes in ticks of an eighth of the period. Each tick notes the number of
 * the newest free; pages whose last free is older than the newest number that
 * is a whole period old have not been used for so long. What of a thread's
 * cache was not used for as long goes to the free pages first. It knows no
 * clock: the time is an argument.
 *
 *     time of note i <= time of note i + 1, and so their tickets
 */
#ifndef GM_HEAP_DECAY_H
#define GM_HEAP_DECAY_H

#include <stdbool.h>
#include <stdint.h>

enum { GM_DECAY_TICKS = 8, GM_DECAY_NOTES = GM_DECAY_TICKS + 1 };

struct gm_heap;

struct gm_decay {
	uint64_t period_ns; /* constant; 0: nothing decays */
	uint64_t next_ns;   /* the next chore is due */
	uint64_t tick_ns;   /* the next tick is */
	unsigned countdown; /* visits until somebody looks at the clock */
	uint64_t noted;	    /* notes that were ever made */
	struct {
		uint64_t ns, ticket;
	} note[GM_DECAY_NOTES]; /* a ring */
	unsigned refused;	/* chores of this tick, by the driver */
};

/* At most a year. */
static inline uint64_t gm_decay_period_ns(uint64_t ms)
{
	const uint64_t most = (uint64_t)365 * 24 * 3600 * 1000;

	return (ms < most ? ms : most) * 1000000;
}

/* Counts a visit; true: it is time to ask the clock and gm_decay_step(). */
static inline bool gm_decay_visit(struct gm_decay *decay)
{
	enum { VISITS = 32 };

	if (!decay->period_ns || decay->countdown--)
		return false;
	decay->countdown = VISITS;
	return true;
}

/* Does one chore if one is due. The mutex is held, and given up for calls of
 * the driver. The thread's last error stays. True: there is more to do soon, at
 * next_ns. */
bool gm_decay_step(struct gm_heap *heap, uint64_t now_ns);

#endif
