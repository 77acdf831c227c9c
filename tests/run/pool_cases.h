/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the cases of pool_cases share. A case is a function in a process of its
 * own, which ends it with wrong() if something is.
 */
#ifndef GPUMEM_TESTS_RUN_POOL_CASES_H
#define GPUMEM_TESTS_RUN_POOL_CASES_H

#include "pool.h"

#define NON_BLOCKING 1
#define RELAXED 2 /* of a capture */

extern const char *other; /* a library that wraps the driver */
extern void *current;	  /* the context that is */

void enter(void *context);
void *context_new(int device);
void *stream_new(unsigned flags);
/* One that was made otherwise. */
void add_stream(void *stream);
void stream_end(void *stream);
/* All that is queued runs, but for what is in one stream of the current
 * context and what waits for that. */
void run_but(void *stream);

/* Frees: the driver does so at once; the driver does not. */
void goes(address block);
void stays(address block);

/* X(name): in pool_order.c. */
#define ORDER_CASES(X)                                                         \
	X(reuse)                                                               \
	X(busy)                                                                \
	X(several)                                                             \
	X(destroyed)                                                           \
	X(contexts)                                                            \
	X(context_ends)                                                        \
	X(captures)                                                            \
	X(captures_refused)                                                    \
	X(captured_again)                                                      \
	X(captured_for_graphics)                                               \
	X(captured_and_destroyed)

/* In pool_answers.c. */
#define ANSWERS_CASES(X)                                                       \
	X(known)                                                               \
	X(known_to_devices)                                                    \
	X(managed)                                                             \
	X(sizes)                                                               \
	X(misuse)                                                              \
	X(lost)                                                                \
	X(faults)                                                              \
	X(unknown_variant)

/* In pool_limits.c. */
#define LIMITS_CASES(X)                                                        \
	X(full)                                                                \
	X(free_bytes)                                                          \
	X(bound)                                                               \
	X(stale)                                                               \
	X(tight)                                                               \
	X(many_streams)

/* In pool_trim.c. */
#define TRIM_CASES(X)                                                          \
	X(trim_all)                                                            \
	X(trim_elsewhere)                                                      \
	X(trim_in_capture)

#define DECLARE_CASE(name) void name(void);
ORDER_CASES(DECLARE_CASE)
ANSWERS_CASES(DECLARE_CASE)
LIMITS_CASES(DECLARE_CASE)
TRIM_CASES(DECLARE_CASE)
#undef DECLARE_CASE

#endif
