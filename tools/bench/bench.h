/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of gpumem-bench: the pool and the host's allocators do the same
 * things, in the same run, by turns.
 *
 * A *case* is one line of a table. Every *peer* gets its own state; then, in
 * each of several rounds, each peer runs once, so that what disturbs the
 * machine disturbs all of them. A figure is the median of its rounds. Threads
 * other than the main one exist only inside bench_case.run.
 */
#ifndef GPUMEM_TOOLS_BENCH_H
#define GPUMEM_TOOLS_BENCH_H

#include "common/clock.h"
#include "common/progress.h"

#include <gpumem/gpumem.h>

#define BENCH_PEERS 4
#define BENCH_ROUNDS 64
#define BENCH_EXTRAS 3
#define BENCH_THREADS 256

struct bench_config {
	const char *device;
	uint64_t threads; /* at most */
	uint64_t rounds;
	uint64_t iterations; /* in each round; 0: as `seconds` gives */
	uint64_t warm;	     /* times that a random block is replaced first */
	double seconds;	     /* for one peer in one case */
	bool uniform, json;
	uint32_t chosen; /* bit i: bench_list[i]; 0: all */
};

/* Who is measured. malloc NULL: the pool. */
struct bench_peer {
	const char *name;
	void *(*malloc)(size_t bytes);
	void (*free)(void *ptr);
	void (*trim)(void); /* gives unused memory back */
};

struct bench {
	const struct bench_config *config;
	gpumem_device *device;
	struct gpumem_device_info info;
	struct bench_peer peers[BENCH_PEERS]; /* [0] is the pool */
	int peer_count;
	const char *missing; /* peers that are not there, and why; or "" */
	struct bench_row *rows;
	int row_count;
	bool counting;	     /* the cases only, into case_count */
	uint64_t case_count; /* of all that is measured */
	struct progress progress;
};

/* Does nothing: what is left is the benchmark itself. Not in bench.peers. */
extern const struct bench_peer bench_nobody;

/* Where a peer's blocks come from: one call to get, one to give back. */
struct bench_target {
	const struct bench_peer *peer;
	gpumem_pool *pool; /* NULL unless the peer is the pool */
};

static inline void *bench_get(const struct bench_target *target, size_t bytes,
			      gpumem_stream stream)
{
	void *ptr = NULL;

	if (target->peer->malloc)
		return target->peer->malloc(bytes);
	if (gpumem_alloc(target->pool, bytes, stream, &ptr) != GPUMEM_OK)
		return NULL;
	return ptr;
}

/* False when the pool does not take it. */
static inline bool bench_put(const struct bench_target *target, void *ptr,
			     gpumem_stream stream)
{
	if (target->peer->malloc) {
		target->peer->free(ptr);
		return true;
	}
	return gpumem_free(ptr, stream) == GPUMEM_OK;
}

struct bench_case {
	const char *bench, *name;
	const char *series; /* cases that differ in `at` only; NULL: none */
	const char *axis;   /* what `at` is: "bytes", "threads", "live" */
	uint64_t at;
	const char *unit;  /* what is counted: "pair", "op", "call" */
	const char *ratio; /* NULL, or what the first extra is called: this
			      figure against that of the case `base` */
	int base;	   /* its row */
	uint64_t fixed;	   /* iterations, whatever the config says; or 0 */
	uint64_t arg[4];   /* of the case itself */
	/* Makes ready; NULL: out of memory. */
	void *(*begin)(struct bench *bench, const struct bench_case *what,
		       const struct bench_target *target);
	/* Returns the nanoseconds that one iteration took; < 0: failed. */
	double (*run)(void *state, uint64_t iterations);
	void (*end)(void *state);
	/* Adds to the row what only the pool knows; may be NULL. */
	void (*extras)(void *state, const struct gpumem_stats *stats,
		       struct bench_row *row);
};

struct bench_extra {
	const char *name;
	double value;
};

struct bench_row {
	char bench[16], name[48];
	const char *series, *axis, *unit;
	uint64_t at;
	double ns[BENCH_PEERS];		/* NaN: it could not be measured */
	double driver_calls;		/* of the pool, per iteration */
	double first_calls, last_calls; /* for memory, in those rounds */
	uint64_t live_blocks, host_bytes;
	struct bench_extra extra[BENCH_EXTRAS];
	int extra_count;
};

struct bench_entry {
	const char *name;
	bool (*run)(struct bench *bench);
};

#define BENCH_COUNT 7
extern const struct bench_entry bench_list[BENCH_COUNT];

bool bench_pair(struct bench *bench);
bool bench_threads(struct bench *bench);
bool bench_random(struct bench *bench);
bool bench_trim(struct bench *bench);
bool bench_growth(struct bench *bench);
bool bench_churn(struct bench *bench);
bool bench_record(struct bench *bench);

/* Fills peers and missing. May run the program again from its beginning, with
 * an environment in which they can be loaded; argv is for that. */
void bench_find_peers(struct bench *bench, char **argv);

/* Measures a case and appends its row. False, and told: the pool failed. */
bool bench_measure(struct bench *bench, const struct bench_case *what);

/* Sorts the values. */
double bench_median(double *values, size_t count);

void bench_add_extra(struct bench_row *row, const char *name, double value);

/* A pool of its own for each case: its statistics are of this case only. */
bool bench_open(struct bench *bench, const struct bench_peer *peer,
		struct bench_target *target_out);
void bench_close(struct bench_target *target);

/* The table of the rows from `first` on, or everything as JSON. False, and
 * told, when it could not be made. */
bool bench_print_table(const struct bench *bench, int first);
bool bench_print_json(const struct bench *bench);

#endif
