/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program: each seed in each configuration is a process of its own, so that
 * one that dies is told with the call that it died in. Time only says when to
 * stop.
 *
 *	attack [--seed=N] [--seeds=N] [--steps=N] [--seconds=N]
 *	       [--configuration=NAME] [--list]
 *
 * --seed=N --steps=N --configuration=NAME runs one process again, as far as
 * that step. --list prints the functions and what each may return.
 */
#include "attack.h"
#include "rows.h"

#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct configuration configurations[] = {
	{"pages", .vm = true, .streams = true, .devices = 1},
	{"segments", .vm = false, .streams = true, .devices = 1},
	{"devices", .vm = true, .streams = true, .devices = 2},
	{"no-streams", .vm = true, .streams = false, .devices = 2},
	{"objects", .vm = false, .streams = true, .objects = true,
	 .devices = 1},
};

#define ROW(name, weight, said) {#name, attack_##name, weight, said},
const struct row rows[] = {ROWS(ROW)};
#undef ROW
const size_t row_count = COUNT(rows);

struct step step;
struct tally *tally;
_Static_assert(COUNT(rows) <= ROWS_MAX, "a row has its place in the tally");

struct plan {
	uint64_t seed, seeds, steps, seconds;
	const char *only; /* a configuration; NULL: all */
};

/* Of the process that runs; its parent reads it when it is gone. */
static struct report {
	uint64_t step;
	char name[48]; /* of the function */
	bool done;
	char text[1024];
} * report;

void found(const char *at, const char *format, ...)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	char text[600];
	va_list args;

	gpumem_last_error(&error);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(report->text, sizeof(report->text),
		 "%s\n%s\nthe library's last error: %.200s", text, at,
		 error.text);
	_exit(1);
}

static const struct row *pick_row(void)
{
	static uint64_t all;
	const struct row *row = rows;
	uint64_t at;

	if (!all)
		for (size_t i = 0; i < row_count; i++)
			all += rows[i].weight;
	for (at = random_below(all); at >= row->weight; row++)
		at -= row->weight;
	return row;
}

/* What options name: library.c. */
static void remove_files(void)
{
	static const char *const ends[] = {"", ".snapshot", ".snapshot.txt",
					   ".recording"};
	char name[64];

	for (size_t i = 0; i < COUNT(ends); i++) {
		snprintf(name, sizeof(name), "/tmp/gpumem-attack.%ld%s",
			 (long)getpid(), ends[i]);
		(void)unlink(name);
	}
}

static void run(const struct configuration *configuration, uint64_t seed,
		uint64_t steps)
{
	alarm(300);
	random_seed(seed);
	exporter_start(configuration);
	world_begin(configuration);
	for (uint64_t i = 1; i <= steps; i++) {
		const struct row *row = pick_row();

		report->step = i;
		snprintf(report->name, sizeof(report->name), "%s", row->name);
		judge_begin(row);
		if (one_in(8))
			world_fail(NULL);
		row->call();
		if ((world.faulty && one_in(3)) ||
		    (world.outside && one_in(20)))
			world_quiet();
		if (i % 64 == 0)
			judge_content();
		if (i % 32 == 0)
			judge_pools();
	}
	snprintf(report->name, sizeof(report->name), "the end");
	world_end();
	remove_files();
	exporter_end();
	report->done = true;
}

static bool attack(const struct configuration *configuration, uint64_t seed,
		   uint64_t steps)
{
	int status = 0;
	pid_t child;

	memset(report, 0, sizeof(*report));
	fflush(stdout);
	child = fork();
	if (!child) {
		run(configuration, seed, steps);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		bail("no process");
	if (!status && report->done)
		return true;
	diag("%s: seed %llu, step %llu, in %s: status %#x, signal %d",
	     configuration->name, (ull)seed, (ull)report->step, report->name,
	     (unsigned)status, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	diag("%s", report->text);
	diag("again: attack --configuration=%s --seed=%llu --steps=%llu",
	     configuration->name, (ull)seed, (ull)report->step);
	return false;
}

static void list_rows(void)
{
	for (size_t i = 0; i < row_count; i++) {
		printf("%s", rows[i].name);
		for (int bit = 1; bit < 32; bit++)
			if (rows[i].said & (1u << bit))
				printf(" %s",
				       gpumem_status_name((gpumem_status)-bit) +
					       strlen("GPUMEM_"));
		printf("\n");
	}
}

static uint64_t number_of(const char *text)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (*end || end == text || *text == '-') {
		fprintf(stderr, "attack: \"%s\" is no number\n", text);
		exit(2);
	}
	return number;
}

static void parse(int argc, char **argv, struct plan *plan)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 'e'},
		{"seeds", required_argument, NULL, 'n'},
		{"steps", required_argument, NULL, 't'},
		{"seconds", required_argument, NULL, 's'},
		{"configuration", required_argument, NULL, 'c'},
		{"list", no_argument, NULL, 'l'},
		{0}};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'e':
			plan->seed = number_of(optarg);
			break;
		case 'n':
			plan->seeds = number_of(optarg);
			break;
		case 't':
			plan->steps = number_of(optarg);
			break;
		case 's':
			plan->seconds = number_of(optarg);
			break;
		case 'c':
			plan->only = optarg;
			plan->seeds = 1;
			break;
		case 'l':
			list_rows();
			exit(0);
		default:
			exit(2);
		}
}

static uint64_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

/* How many processes found something. */
static unsigned run_seed(const struct plan *plan, uint64_t seed, unsigned *runs)
{
	unsigned bad = 0;

	for (size_t i = 0; i < COUNT(configurations); i++)
		if (!plan->only ||
		    !strcmp(plan->only, configurations[i].name)) {
			bad += !attack(&configurations[i], seed, plan->steps);
			++*runs;
		}
	return bad;
}

static void *shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bail("no memory that processes share");
	return memory;
}

/* Its status was seen, if ever, when it worked and when it was refused; but for
 * two that have no wrong argument, and two for which a right one would stay for
 * ever. */
static bool is_both_ways(size_t row)
{
	static const char *const one_way[] = {"gpumem_option_check",
					      "gpumem_trim",
					      "gpumem_backend_load",
					      "gpumem_backend_register"};

	for (size_t i = 0; i < COUNT(one_way); i++)
		if (!strcmp(rows[row].name, one_way[i]))
			return true;
	return !tally->worked[row] == !tally->refused[row];
}

static bool all_both_ways(void)
{
	for (size_t i = 0; i < row_count; i++)
		if (!is_both_ways(i))
			return false;
	return true;
}

static void judge_tally(bool verbose)
{
	for (size_t i = 0; i < row_count; i++) {
		ull worked = tally->worked[i], refused = tally->refused[i];

		if (verbose)
			diag("%-31s %9llu worked %9llu refused", rows[i].name,
			     worked, refused);
		if (!is_both_ways(i))
			ok(false, "%s worked %llu times, refused %llu",
			   rows[i].name, worked, refused);
	}
}

/* What is called seldom may need more of them, up to so many. */
enum { MORE_SEEDS = 8 };

static bool goes_on(const struct plan *plan, uint64_t seed, uint64_t began)
{
	uint64_t done = seed - plan->seed;

	if (plan->seconds)
		return seconds_now() - began < plan->seconds;
	if (done < plan->seeds)
		return true;
	return !plan->only && done < plan->seeds + MORE_SEEDS &&
	       !all_both_ways();
}

int main(int argc, char **argv)
{
	struct plan plan = {.seed = 1,
			    .seeds = (uint64_t)scaled(5, 4),
			    .steps = (uint64_t)scaled(8000, 4000)};
	const uint64_t began = seconds_now();
	unsigned bad = 0, runs = 0;
	uint64_t seed;

	setenv("GPUMEM_BACKEND", "host", 1);
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	unsetenv("GPUMEM_CONF");
	parse(argc, argv, &plan);
	report = shared(sizeof(*report));
	tally = shared(sizeof(*tally));
	for (seed = plan.seed; goes_on(&plan, seed, began); seed++)
		bad += run_seed(&plan, seed, &runs);
	ok(runs && !bad, "seeds %llu to %llu, %u processes: %u found something",
	   (ull)plan.seed, (ull)(seed - 1), runs, bad);
	/* One process alone need not have come to all. */
	if (!plan.only)
		judge_tally(plan.seconds > 0);
	return done_testing();
}
