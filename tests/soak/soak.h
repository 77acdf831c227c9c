/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The soak test: random programs of several threads on the simulated GPU, for
 * as long as one likes, while its driver fails and stalls. Only public headers
 * are used. soak.c is the program, world.c a round's device, pools and streams,
 * worker.c the threads that allocate and free, block.c what they hold, chaos.c
 * the one that disturbs them, laws.c the one that checks, status.c what calls
 * may return, and exam.c what must hold once a round is over.
 *
 * A round is one configuration. All that differs from round to round follows
 * from the seed and the round's number, so that a finding can be looked for
 * again; how the threads meet does not.
 */
#ifndef SOAK_H
#define SOAK_H

#include <gpumem/host.h>

#include <pthread.h>
#include <stdatomic.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

enum {
	POOLS_MAX = 3,
	SHARED_STREAMS = 3, /* of all threads; the first is the default one */
	WORKERS_MAX = 16,
	HELD_MAX = 48,	/* blocks of one thread */
	TRADED_MAX = 64 /* blocks on their way to another thread */
};

/* xorshift64*, by Vigna; never 0. */
struct random {
	uint64_t state;
};

void random_start(struct random *random, uint64_t seed, uint64_t number);
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t end);
bool one_in(struct random *random, uint64_t n);

/* What was done since the start, and what was found. */
struct tally {
	_Atomic uint64_t allocs, frees, refused, faults, trims, checks, looks;
	_Atomic uint64_t resizes, streams, graphs, findings;
};

/* A round. The configuration is set before the threads start and only read
 * while they run. */
struct world {
	uint64_t number;   /* of the round, from 1 */
	char options[512]; /* as GPUMEM_CONF would have them */
	unsigned pool_count, worker_count;
	uint64_t steps; /* of each worker */
	uint64_t capacity;
	bool faulty, lossy; /* calls of the driver fail; the device is lost */
	bool captures;

	gpumem_device *device;
	gpumem_pool *pool[POOLS_MAX];
	gpumem_stream shared[SHARED_STREAMS];
	_Atomic bool over; /* the workers are done: the others stop */
	_Atomic uint64_t numbers;
};

extern struct tally tally;
extern struct world world;

/*
 * A pool asks whether a stream is being captured and then calls the driver, so
 * a capture that begins in between is disturbed: the program has to keep that
 * apart. Here every call stands between enter() and leave(), and a capture
 * begins while nobody is inside.
 */
void enter(void);
void leave(void);
void begin_capture(gpumem_stream stream); /* inside; is so afterwards */
void pause_inside(void); /* lets others in, before a call is tried again */

/* A finding is printed with the round and the library's last error. Any thread.
 */
__attribute__((format(printf, 1, 2))) void finding(const char *format, ...);

/* Counts it as one when `status` is none that the documents allow a call which
 * takes memory, or gives it back. True: it worked. */
bool took(gpumem_status status, const char *call);
bool gave(gpumem_status status, const char *call);

bool world_begin(uint64_t seed, uint64_t number, uint64_t steps,
		 unsigned workers);
void world_end(void);

void *worker_run(void *arg); /* arg: its number, as a pointer */
void *chaos_run(void *arg);
void *laws_run(void *arg);

/* Blocks that no thread holds are freed. */
void trade_clear(void);

/* All threads but the caller are gone and nothing is live. */
void exam(void);

#endif
