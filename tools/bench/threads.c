/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pair costs each of several threads: each on its own stream, all on
 * one, and with blocks that another thread frees than allocated them. A figure
 * is the mean over the threads of their own wall time. What of it is the loop
 * and the hand-over, not the allocator, is measured with one that does nothing.
 * See bench.h.
 */
#include "bench.h"

#include "common/tool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES 4096
#define WARM 1024  /* pairs of a new thread that are not measured */
#define BATCH 1024 /* blocks handed to the next thread at once */

enum mode { OWN_STREAM, ONE_STREAM, OTHER_FREES };

struct team;

struct member {
	struct team *team;
	gpumem_stream stream;
	pthread_t thread;
	uint64_t ns;
	bool failed;
	void **batch; /* that this one allocated */
};

struct team {
	struct bench_target target;
	gpumem_device *device;
	enum mode mode;
	uint64_t count, iterations;
	uint64_t rounds;
	pthread_barrier_t barrier;
	struct member members[BENCH_THREADS];
	gpumem_stream streams[BENCH_THREADS];
	uint64_t stream_count;
};

static bool pairs(struct member *member, uint64_t count)
{
	const struct bench_target *target = &member->team->target;

	for (uint64_t i = 0; i < count; i++) {
		void *ptr = bench_get(target, BYTES, member->stream);

		if (!ptr || !bench_put(target, ptr, member->stream))
			return false;
	}
	return true;
}

static void *work_alone(void *arg)
{
	struct member *member = arg;
	bool ok = pairs(member, WARM);
	uint64_t start;

	pthread_barrier_wait(&member->team->barrier);
	start = clock_ns();
	ok = ok && pairs(member, member->team->iterations);
	member->ns = clock_ns() - start;
	member->failed = !ok;
	return NULL;
}

static bool get_batch(struct member *member)
{
	bool ok = true;

	for (int i = 0; i < BATCH; i++) {
		member->batch[i] =
			bench_get(&member->team->target, BYTES, member->stream);
		ok = ok && member->batch[i];
	}
	return ok;
}

static bool put_batch(struct member *member, void **batch)
{
	bool ok = true;

	for (int i = 0; i < BATCH; i++)
		ok = bench_put(&member->team->target, batch[i],
			       member->stream) &&
		     ok;
	return ok;
}

/* All allocate a batch, then each frees its neighbour's. Only the calls are
 * timed, not the waiting for each other. */
static void *work_together(void *arg)
{
	struct member *member = arg;
	struct team *team = member->team;
	uint64_t self = (uint64_t)(member - team->members);
	struct member *next = &team->members[(self + 1) % team->count];
	/* The first batch only warms up. */
	uint64_t batches = 1 + team->iterations / BATCH;

	for (uint64_t i = 0; i < batches; i++) {
		uint64_t start = clock_ns();
		bool ok = get_batch(member);
		uint64_t ns = clock_ns() - start;

		pthread_barrier_wait(&team->barrier);
		start = clock_ns();
		ok = put_batch(member, next->batch) && ok;
		ns += clock_ns() - start;
		pthread_barrier_wait(&team->barrier);
		member->failed = member->failed || !ok;
		member->ns += i ? ns : 0;
	}
	return NULL;
}

static bool open_streams(struct team *team, const struct bench *bench)
{
	uint64_t wanted = team->mode == OWN_STREAM ? team->count : 1;

	if (!team->target.pool || !(bench->info.caps & GPUMEM_CAP_STREAMS))
		return true; /* NULL, the default stream, for all */
	while (team->stream_count < wanted) {
		if (gpumem_stream_create(team->device,
					 &team->streams[team->stream_count]) !=
		    GPUMEM_OK)
			return false;
		team->stream_count++;
	}
	return true;
}

static void end(void *state)
{
	struct team *team = state;

	for (uint64_t i = 0; i < team->stream_count; i++)
		if (gpumem_stream_destroy(team->device, team->streams[i]) !=
		    GPUMEM_OK)
			tool_error_last("cannot destroy a stream");
	for (uint64_t i = 0; i < team->count; i++)
		free(team->members[i].batch);
	pthread_barrier_destroy(&team->barrier);
	free(team);
}

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct team *team = calloc(1, sizeof(*team));
	bool ok;

	if (!team)
		return NULL;
	team->target = *target;
	team->device = bench->device;
	team->rounds = bench->config->rounds;
	team->mode = (enum mode)what->arg[0];
	team->count = what->arg[1];
	pthread_barrier_init(&team->barrier, NULL, (unsigned)team->count);
	ok = open_streams(team, bench);
	for (uint64_t i = 0; i < team->count; i++) {
		struct member *member = &team->members[i];

		member->team = team;
		member->stream =
			team->streams[team->mode == OWN_STREAM ? i : 0];
		member->batch = calloc(BATCH, sizeof(*member->batch));
		ok = ok && member->batch;
	}
	if (ok)
		return team;
	end(team);
	return NULL;
}

/* The threads wait for each other, so all must come to be or none. */
static void start_threads(struct team *team)
{
	for (uint64_t i = 0; i < team->count; i++) {
		struct member *member = &team->members[i];
		int failed;

		member->ns = 0;
		member->failed = false;
		failed = pthread_create(
			&member->thread, NULL,
			team->mode == OTHER_FREES ? work_together : work_alone,
			member);
		if (failed) {
			tool_error("cannot start %llu threads",
				   (unsigned long long)team->count);
			exit(TOOL_FAILED);
		}
	}
}

static double run(void *state, uint64_t iterations)
{
	struct team *team = state;
	uint64_t each = iterations, ns = 0;
	bool failed = false;

	if (team->mode == OTHER_FREES) /* whole batches */
		each = (iterations + BATCH - 1) / BATCH * BATCH;
	team->iterations = each;
	start_threads(team);
	for (uint64_t i = 0; i < team->count; i++) {
		pthread_join(team->members[i].thread, NULL);
		ns += team->members[i].ns;
		failed = failed || team->members[i].failed;
	}
	return failed ? -1.0 : (double)ns / (double)team->count / (double)each;
}

/* As many rounds of as many pairs as the pool did last. */
static void extras(void *state, const struct gpumem_stats *stats,
		   struct bench_row *row)
{
	struct team *team = state;
	const struct bench_target target = team->target;
	double ns[BENCH_ROUNDS];

	(void)stats;
	team->target = (struct bench_target){.peer = &bench_nobody};
	for (uint64_t i = 0; i < team->rounds; i++)
		ns[i] = run(team, team->iterations);
	team->target = target;
	bench_add_extra(row, "harness ns", bench_median(ns, team->rounds));
}

static bool measure(struct bench *bench, enum mode mode, const char *mode_name,
		    uint64_t threads)
{
	static int base;
	char name[48];
	struct bench_case what = {
		.bench = "threads",
		.name = name,
		.series = mode_name,
		.axis = "threads",
		.at = threads,
		.unit = "pair",
		.ratio = "vs 1 thread",
		.arg = {(uint64_t)mode, threads},
		.begin = begin,
		.run = run,
		.end = end,
		.extras = extras,
	};

	if (threads == 1)
		base = bench->row_count;
	what.base = base;
	snprintf(name, sizeof(name), "%llu thread%s, %s",
		 (unsigned long long)threads, threads == 1 ? "" : "s",
		 mode_name);
	return bench_measure(bench, &what);
}

bool bench_threads(struct bench *bench)
{
	static const char *const names[] = {"own stream", "one stream",
					    "another frees"};
	uint64_t most = bench->config->threads;

	for (int mode = OWN_STREAM; mode <= OTHER_FREES; mode++) {
		uint64_t threads = 1;

		for (;;) {
			if (!measure(bench, (enum mode)mode, names[mode],
				     threads))
				return false;
			if (threads == most)
				break;
			threads = threads * 2 < most ? threads * 2 : most;
		}
	}
	return true;
}
