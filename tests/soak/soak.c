/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program: rounds, one after the other, until there were as many as wanted
 * or the time is up. Time only says when to stop: no result depends on it.
 *
 *	soak [--seconds=N] [--rounds=N] [--steps=N] [--seed=N] [--workers=N]
 *	     [--first=N]
 *
 * Prints TAP: one result, and a line of what was done every minute.
 */
#include "soak.h"
#include "../tap.h"

#include <errno.h>
#include <getopt.h>
#include <time.h>

struct plan {
	uint64_t seconds, rounds, steps, seed, workers, first;
};

struct tally tally;
struct world world;

static uint64_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

void finding(const char *format, ...)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	char text[512];
	va_list args;

	gpumem_last_error(&error);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* The first ones tell; a broken round would fill a disk. */
	if (atomic_fetch_add(&tally.findings, 1) < 50)
		printf("# round %llu (%s): %s; last error of this thread: %s\n",
		       (unsigned long long)world.number, world.options, text,
		       error.text);
	fflush(stdout);
}

static void run_round(const struct plan *plan, uint64_t number)
{
	pthread_t worker[WORKERS_MAX], chaos, laws;
	uintptr_t started = 0;

	if (!world_begin(plan->seed, number, plan->steps,
			 (unsigned)plan->workers))
		return;
	if (pthread_create(&chaos, NULL, chaos_run, NULL) ||
	    pthread_create(&laws, NULL, laws_run, NULL))
		bail("no thread");
	for (; started < world.worker_count; started++)
		if (pthread_create(&worker[started], NULL, worker_run,
				   (void *)started))
			bail("no thread");
	while (started)
		pthread_join(worker[--started], NULL);
	atomic_store(&world.over, true);
	pthread_join(chaos, NULL);
	pthread_join(laws, NULL);
	trade_clear();
	exam();
	world_end();
}

static void report(uint64_t rounds, uint64_t seconds)
{
	diag("%llu s: %llu rounds, %llu allocations (%llu refused), %llu "
	     "frees, "
	     "%llu faults, %llu trims, %llu resizes, %llu streams, %llu "
	     "graphs, %llu checks, "
	     "%llu looks at bytes, %llu findings",
	     (unsigned long long)seconds, (unsigned long long)rounds,
	     (unsigned long long)tally.allocs,
	     (unsigned long long)tally.refused, (unsigned long long)tally.frees,
	     (unsigned long long)tally.faults, (unsigned long long)tally.trims,
	     (unsigned long long)tally.resizes,
	     (unsigned long long)tally.streams,
	     (unsigned long long)tally.graphs, (unsigned long long)tally.checks,
	     (unsigned long long)tally.looks,
	     (unsigned long long)tally.findings);
}

static uint64_t number_of(const char *text, uint64_t least, uint64_t most)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || end == text || *end || number < least || number > most) {
		fprintf(stderr, "soak: \"%s\": a number from %llu to %llu\n",
			text, (unsigned long long)least,
			(unsigned long long)most);
		exit(2);
	}
	return number;
}

static void parse(int argc, char **argv, struct plan *plan)
{
	static const struct option options[] = {
		{"seconds", required_argument, NULL, 's'},
		{"rounds", required_argument, NULL, 'r'},
		{"steps", required_argument, NULL, 't'},
		{"seed", required_argument, NULL, 'e'},
		{"workers", required_argument, NULL, 'w'},
		{"first", required_argument, NULL, 'f'},
		{0}};
	const uint64_t most = UINT64_C(1) << 40;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 's':
			plan->seconds = number_of(optarg, 1, most);
			plan->rounds = 0;
			break;
		case 'r':
			plan->rounds = number_of(optarg, 1, most);
			break;
		case 't':
			plan->steps = number_of(optarg, 1, most);
			break;
		case 'e':
			plan->seed = number_of(optarg, 0, most);
			break;
		case 'w':
			plan->workers = number_of(optarg, 1, WORKERS_MAX);
			break;
		case 'f':
			plan->first = number_of(optarg, 1, most);
			break;
		default:
			exit(2);
		}
}

int main(int argc, char **argv)
{
	struct plan plan = {.rounds = (uint64_t)scaled(24, 12),
			    .steps = (uint64_t)scaled(4000, 800),
			    .workers = 4,
			    .first = 1,
			    .seed = 1};
	const uint64_t began = seconds_now();
	uint64_t done = 0, told = 0, passed = 0;

	parse(argc, argv, &plan);
	while (plan.seconds ? passed < plan.seconds : done < plan.rounds) {
		run_round(&plan, plan.first + done++);
		passed = seconds_now() - began;
		if (passed - told >= 60) {
			told = passed;
			report(done, passed);
		}
	}
	report(done, passed);
	ok(tally.findings == 0, "seed %llu, from round %llu on: no finding",
	   (unsigned long long)plan.seed, (unsigned long long)plan.first);
	ok(tally.allocs > tally.refused && tally.checks && tally.looks &&
		   tally.faults,
	   "and there was something to find");
	return done_testing();
}
