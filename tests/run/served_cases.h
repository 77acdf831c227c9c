/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the cases of served_cases share, see served_cases.c: stream-ordered
 * allocations of a program that knows nothing of gpumem. A case is a function
 * in a process of its own, which ends it with wrong() if something is.
 */
#ifndef GPUMEM_TESTS_RUN_SERVED_CASES_H
#define GPUMEM_TESTS_RUN_SERVED_CASES_H

#include "pool.h"

enum { NON_BLOCKING = 1, RELAXED = 2, OUT_OF_MEMORY = 2, INVALID_VALUE = 1 };
enum { THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH, USED, USED_HIGH };

/* As cuda.h has them. */
struct pool_props {
	int type, handles, location, id;
	void *windows;
	size_t most_bytes;
	unsigned char rest[56];
};

extern void *context; /* the primary one of device 0, which is current */

void *stream_new(void);
/* On that stream, of the device's pool; frees it there. */
address take(size_t bytes, void *stream);
void give(address block, void *stream);
void *pool_new(int handles, int location, size_t most_bytes);
void *default_pool(void);
uint64_t attribute(void *pool, int which);
/* Queues work that uses the block, and looks when it runs whether all earlier
 * work on that memory is over: a block may be handed out before that is, to a
 * stream that waits. Any thread. */
void work(void *stream, address block, size_t bytes);
/* How much of it is not over. */
unsigned undone(void);
/* How many allocations have reached the driver, of its pools. */
uint64_t passed_on(void);
/* What gpumem_run_trim() says. */
uint64_t trim(void);
/* How much of device 0 is used. */
uint64_t used_bytes(void);

/* X(name): in served_order.c. */
#define SERVED_ORDER_CASES(X)                                                  \
	X(serves)                                                              \
	X(waits_for_the_stream)                                                \
	X(another_stream_frees)                                                \
	X(streams_of_threads)                                                  \
	X(stream_ends)                                                         \
	X(freed_at_once)                                                       \
	X(others_blocks)                                                       \
	X(captured)                                                            \
	X(another_context)

/* In served_pools.c. */
#define SERVED_POOLS_CASES(X)                                                  \
	X(attributes)                                                          \
	X(thresholds)                                                          \
	X(ends_with_blocks)                                                    \
	X(most)                                                                \
	X(most_of_threads)                                                     \
	X(passes_on)                                                           \
	X(of_another_use)                                                      \
	X(decompresses)                                                        \
	X(devices)                                                             \
	X(peers)                                                               \
	X(peers_first)                                                         \
	X(described)

/* In served_returns.c. */
#define SERVED_RETURNS_CASES(X)                                                \
	X(trims)                                                               \
	X(decays)                                                              \
	X(blocks_decay)                                                        \
	X(waits)                                                               \
	X(lasts)                                                               \
	X(relieves)                                                            \
	X(no_memory)                                                           \
	X(faults)                                                              \
	X(refused)                                                             \
	X(makes_room)                                                          \
	X(resets)                                                              \
	X(released)                                                            \
	X(forks)                                                               \
	X(clears)                                                              \
	X(many_streams)                                                        \
	X(lost_device)                                                         \
	X(shut_down)                                                           \
	X(otherwise)                                                           \
	X(reaches_driver)

/* In served_random.c. */
#define SERVED_RANDOM_CASES(X)                                                 \
	X(lagging)                                                             \
	X(threads)

#define SERVED_CASE(name) void name(void);
SERVED_ORDER_CASES(SERVED_CASE)
SERVED_POOLS_CASES(SERVED_CASE)
SERVED_RETURNS_CASES(SERVED_CASE)
SERVED_RANDOM_CASES(SERVED_CASE)
#undef SERVED_CASE

#endif
