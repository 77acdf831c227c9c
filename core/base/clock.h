/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The monotonic clock, for what takes time or must not. */
#ifndef GM_BASE_CLOCK_H
#define GM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t gm_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* More than a year is as long as one. */
static inline uint64_t gm_ns_of_ms(uint64_t ms)
{
	const uint64_t most = (uint64_t)365 * 24 * 3600 * 1000;

	return (ms < most ? ms : most) * 1000000;
}

#endif
