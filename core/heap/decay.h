/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Decay: memory that has been idle for option `decay_ms` is given back to the
 * driver in small purge steps, run occasionally from slow-path calls (free.c,
 * alloc.c) and with option `decay_thread` by a background thread
 * (background.c).
 *
 * Time goes in ticks of an eighth of the period. Each tick notes the sequence
 * number of the newest free; pages whose last free has no newer number than one
 * that was noted a whole period ago are idle. What a thread's cache holds has
 * no number yet, so a cache that was not used for a whole tick is flushed, and
 * the period of its memory begins: it is gone after at most a period and three
 * ticks. It reads no clock: the time is an argument. Under the heap's mutex.
 *
 *     time of note i <= time of note i + 1, and so their sequence numbers
 */
#ifndef GM_HEAP_DECAY_H
#define GM_HEAP_DECAY_H

#include <stdbool.h>
#include <stdint.h>

enum { GM_DECAY_TICKS = 8, GM_DECAY_NOTES = GM_DECAY_TICKS + 1 };
/* A cache is idle after more ticks than this since its last use: the first
 * comes early, so a whole one has passed. */
enum { GM_DECAY_QUIET = 1 };

struct gm_heap;

struct gm_decay {
	uint64_t period_ns; /* constant; 0: nothing decays */
	uint64_t next_ns;   /* the next step is due */
	uint64_t tick_ns;   /* the next tick is */
	unsigned countdown; /* visits until the clock is read */
	uint64_t noted;	    /* notes that were ever made */
	struct {
		uint64_t ns, seqno;
	} note[GM_DECAY_NOTES]; /* a ring */
	unsigned refused;	/* steps of this tick, by the driver */
};

/* Counts a visit; true: it is time to read the clock and gm_decay_step(). */
static inline bool gm_decay_visit(struct gm_decay *decay)
{
	enum { VISITS = 32 };

	if (!decay->period_ns || decay->countdown--)
		return false;
	decay->countdown = VISITS;
	return true;
}

/* Does one purge step if one is due. The mutex is held, and released during
 * calls of the driver. The thread's last error stays. True: there is more to do
 * soon, at next_ns. */
bool gm_decay_step(struct gm_heap *heap, uint64_t now_ns);

#endif
