/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Runs a case: all peers in turns, several rounds, medians. See bench.h.
 */
#include "bench.h"

#include "common/tool.h"

#include <math.h>
#include <stdlib.h>

struct contest {
	struct bench *bench;
	const struct bench_case *what;
	struct bench_target targets[BENCH_PEERS];
	void *states[BENCH_PEERS]; /* NULL: does not take part */
	uint64_t iterations[BENCH_PEERS];
	uint64_t steps; /* so far */
	double rounds[BENCH_PEERS][BENCH_ROUNDS];
	struct gpumem_stats before, after; /* of the pool */
	uint64_t memory_calls[BENCH_ROUNDS +
			      1]; /* before each round, and then */
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	if (count % 2)
		return values[count / 2];
	return (values[count / 2 - 1] + values[count / 2]) / 2.0;
}

void bench_add_extra(struct bench_row *row, const char *name, double value)
{
	if (row->extra_count < BENCH_EXTRAS)
		row->extra[row->extra_count++] =
			(struct bench_extra){name, value};
}

/* As many iterations as take one round's share of the time; this warms up,
 * too. 0: failed. */
static uint64_t calibrate(const struct contest *contest, int peer)
{
	const struct bench_config *config = contest->bench->config;
	double share = config->seconds * 1e9 / (double)config->rounds;
	uint64_t iterations = config->iterations ? config->iterations : 64;

	if (contest->what->fixed)
		return contest->what->fixed;
	for (;;) {
		double ns =
			contest->what->run(contest->states[peer], iterations);

		if (ns < 0.0)
			return 0;
		if (config->iterations)
			return iterations;
		if (ns * (double)iterations >= share / 4.0)
			return (uint64_t)fmax(share / fmax(ns, 0.1), 1.0);
		iterations *= 4;
	}
}

static bool read_stats(struct contest *contest, struct gpumem_stats *stats_out)
{
	*stats_out = GPUMEM_INIT(struct gpumem_stats);
	if (gpumem_pool_stats(contest->targets[0].pool, stats_out) == GPUMEM_OK)
		return true;
	tool_error_last("cannot read the statistics");
	return false;
}

/* Another allocator that fails only drops out; the pool may not. */
static bool drop_out(struct contest *contest, int peer)
{
	const struct bench_case *what = contest->what;

	if (contest->states[peer])
		what->end(contest->states[peer]);
	contest->states[peer] = NULL;
	if (peer > 0)
		return true;
	tool_error_last("%s, %s: the pool failed", what->bench, what->name);
	return false;
}

/* One more of the steps that each case has: every peer begins, and runs once in
 * each round. */
static void step(struct contest *contest)
{
	struct bench *bench = contest->bench;
	uint64_t steps =
		(uint64_t)bench->peer_count * (bench->config->rounds + 1);

	progress_show(&bench->progress,
		      (uint64_t)bench->row_count * steps + contest->steps,
		      bench->case_count * steps);
	contest->steps++;
}

static bool begin(struct contest *contest)
{
	const struct bench_case *what = contest->what;
	struct bench *bench = contest->bench;

	for (int i = 0; i < bench->peer_count; i++) {
		struct bench_target *target = &contest->targets[i];

		step(contest);
		if (!bench_open(bench, &bench->peers[i], target))
			return false;
		contest->states[i] = what->begin(bench, what, target);
		if (contest->states[i])
			contest->iterations[i] = calibrate(contest, i);
		if (!contest->iterations[i] && !drop_out(contest, i))
			return false;
	}
	return true;
}

/* All but those that ask for events, streams and the like. */
static bool read_memory_calls(const struct contest *contest, uint64_t *sum_out)
{
	static const enum gpumem_call calls[] = {
		GPUMEM_CALL_ALLOC,	 GPUMEM_CALL_FREE,
		GPUMEM_CALL_PAGE_CREATE, GPUMEM_CALL_PAGE_DESTROY,
		GPUMEM_CALL_MAP,	 GPUMEM_CALL_UNMAP,
	};
	gpumem_pool *pool = contest->targets[0].pool;

	*sum_out = 0;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct gpumem_call_stats call =
			GPUMEM_INIT(struct gpumem_call_stats);

		if (gpumem_pool_calls(pool, calls[i], &call) != GPUMEM_OK) {
			tool_error_last("cannot read the driver's calls");
			return false;
		}
		*sum_out += call.count;
	}
	return true;
}

static bool run_rounds(struct contest *contest)
{
	uint64_t rounds = contest->bench->config->rounds;

	if (!read_stats(contest, &contest->before) ||
	    !read_memory_calls(contest, &contest->memory_calls[0]))
		return false;
	for (uint64_t round = 0; round < rounds; round++) {
		for (int i = 0; i < contest->bench->peer_count; i++) {
			double ns;

			step(contest);
			if (!contest->states[i])
				continue;
			ns = contest->what->run(contest->states[i],
						contest->iterations[i]);
			contest->rounds[i][round] = ns;
			if (ns < 0.0 && !drop_out(contest, i))
				return false;
		}
		if (!read_stats(contest, &contest->after) ||
		    !read_memory_calls(contest,
				       &contest->memory_calls[round + 1]))
			return false;
	}
	return true;
}

/* Of the pool, per iteration of that round. */
static double round_calls(const struct contest *contest, uint64_t round)
{
	uint64_t calls =
		contest->memory_calls[round + 1] - contest->memory_calls[round];

	return (double)calls / (double)contest->iterations[0];
}

static struct bench_row *new_row(struct bench *bench)
{
	size_t count = (size_t)bench->row_count + 1;
	struct bench_row *rows = realloc(bench->rows, count * sizeof(*rows));

	if (!rows) {
		tool_error("out of memory");
		return NULL;
	}
	bench->rows = rows;
	rows[bench->row_count] = (struct bench_row){0};
	return &rows[bench->row_count++];
}

static bool record(struct contest *contest)
{
	struct bench *bench = contest->bench;
	const struct bench_case *what = contest->what;
	uint64_t rounds = bench->config->rounds;
	struct bench_row *row = new_row(bench);
	double calls;

	if (!row)
		return false;
	snprintf(row->bench, sizeof(row->bench), "%s", what->bench);
	snprintf(row->name, sizeof(row->name), "%s", what->name);
	row->series = what->series;
	row->axis = what->axis;
	row->at = what->at;
	row->unit = what->unit;
	for (int i = 0; i < BENCH_PEERS; i++)
		row->ns[i] = contest->states[i]
				     ? bench_median(contest->rounds[i], rounds)
				     : (double)NAN;
	calls = (double)(contest->after.driver_calls -
			 contest->before.driver_calls);
	row->driver_calls =
		calls / ((double)contest->iterations[0] * (double)rounds);
	row->first_calls = round_calls(contest, 0);
	row->last_calls = round_calls(contest, rounds - 1);
	row->live_blocks = contest->after.blocks.current;
	row->host_bytes = contest->after.host_bytes;
	if (what->ratio)
		bench_add_extra(row, what->ratio,
				row->ns[0] / bench->rows[what->base].ns[0]);
	if (what->extras)
		what->extras(contest->states[0], &contest->after, row);
	return true;
}

bool bench_measure(struct bench *bench, const struct bench_case *what)
{
	struct contest *contest;
	bool ok;

	if (bench->counting) {
		bench->case_count++;
		return true;
	}
	contest = calloc(1, sizeof(*contest));
	if (!contest) {
		tool_error("out of memory");
		return false;
	}
	contest->bench = bench;
	contest->what = what;
	progress_label(&bench->progress, "%s: %s", what->bench, what->name);
	ok = begin(contest) && run_rounds(contest) && record(contest);
	for (int i = 0; i < bench->peer_count; i++) {
		if (contest->states[i])
			what->end(contest->states[i]);
		bench_close(&contest->targets[i]);
	}
	free(contest);
	return ok;
}
