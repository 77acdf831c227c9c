/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program: each seed is a process of its own, with an end to its time.
 *
 *	model [--seed=N] [--first=N] [--count=N] [--seconds=N] [--steps=N]
 *	      [--trace] [--shrink] [--keep=N,N-N,...]
 *
 * --seed=N runs one seed; --first and --count run so many from one on, or as
 * many as so many seconds take. --trace prints what it does; --shrink leaves
 * out steps as long as it fails in the same place, and prints those that are
 * left for --keep, which runs only these.
 */
#include "model.h"

#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CPU_SECONDS = 60, WALL_SECONDS = 300 };

static struct asked {
	uint64_t first, count, seconds, steps;
	bool trace, shrink;
} asked = {.first = 1, .steps = 300};

/* Of the process that runs; its parent reads it when it is gone. */
static struct report {
	uint64_t step;
	bool done, keep[STEPS_MAX];
	char at[64], text[512], history[16384];
} * report;

void found(const char *at, uintptr_t address, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(report->text, sizeof(report->text), format, args);
	va_end(args);
	snprintf(report->at, sizeof(report->at), "%s", at);
	history(address, report->history, sizeof(report->history));
	_exit(1);
}

static void run(uint64_t seed)
{
	const struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};

	setrlimit(RLIMIT_CPU, &limit);
	alarm(WALL_SECONDS);
	say_aloud = asked.trace;
	world.seed = seed;
	world_begin();
	for (uint64_t i = 1; i <= asked.steps; i++) {
		if (!report->keep[i - 1])
			continue;
		report->step = i;
		random_step(i);
	}
	report->step = asked.steps + 1;
	world.step = report->step;
	world_end();
	report->done = true;
}

/* False: it failed. */
static bool try(uint64_t seed, int *status_out)
{
	pid_t child;

	report->done = false;
	report->step = 0;
	report->at[0] = report->text[0] = report->history[0] = '\0';
	fflush(stdout);
	child = fork();
	if (!child) {
		run(seed);
		exit(0);
	}
	if (child < 0 || waitpid(child, status_out, 0) != child)
		bail("no process");
	return !*status_out && report->done;
}

static void tell(uint64_t seed, int status)
{
	char *line = report->history, *end;

	diag("seed %llu, step %llu: %s", (ull)seed, (ull)report->step,
	     report->text);
	diag("%s; status %#x, signal %d", report->at, (unsigned)status,
	     WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	for (; (end = strchr(line, '\n')); line = end + 1)
		diag("%.*s", (int)(end - line), line);
	diag("again: model --seed=%llu --steps=%llu --trace", (ull)seed,
	     (ull)asked.steps);
}

/* ---- fewer steps ---- */

static uint64_t failing;
static char failed_at[64];

static bool again(void)
{
	int status = 0;

	return try(failing, &status) || strcmp(report->at, failed_at) != 0;
}

static void print_kept(void)
{
	const char *comma = "";

	printf("# --keep=");
	for (uint64_t i = 0; i < asked.steps; i++)
		if (report->keep[i]) {
			printf("%s%llu", comma, (ull)i + 1);
			comma = ",";
		}
	printf("\n");
}

static void shrink_and_tell(uint64_t seed)
{
	int status = 0;

	failing = seed;
	snprintf(failed_at, sizeof(failed_at), "%s", report->at);
	shrink(report->keep, asked.steps, again);
	print_kept();
	asked.trace = true;
	(void)try(seed, &status);
	asked.trace = false;
	tell(seed, status);
	memset(report->keep, true, sizeof(report->keep));
}

static bool run_seed(uint64_t seed)
{
	int status = 0;

	if (try(seed, &status))
		return true;
	tell(seed, status);
	if (asked.shrink)
		shrink_and_tell(seed);
	return false;
}

/* ---- arguments ---- */

static uint64_t number_of_text(const char *text, char **end)
{
	unsigned long long number = strtoull(text, end, 10);

	if (*end == text || *text == '-') {
		fprintf(stderr, "model: \"%s\" is no number\n", text);
		exit(2);
	}
	return number;
}

static void keep_only(const char *text)
{
	char *end;

	memset(report->keep, false, sizeof(report->keep));
	while (*text) {
		uint64_t first = number_of_text(text, &end), last = first;

		if (*end == '-')
			last = number_of_text(end + 1, &end);
		for (; first && first <= last && first <= STEPS_MAX; first++)
			report->keep[first - 1] = true;
		text = *end == ',' ? end + 1 : end;
	}
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 'e'},
		{"first", required_argument, NULL, 'f'},
		{"count", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 's'},
		{"steps", required_argument, NULL, 't'},
		{"trace", no_argument, NULL, 'v'},
		{"shrink", no_argument, NULL, 'r'},
		{"keep", required_argument, NULL, 'k'},
		{0}};
	int option;
	char *end;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 'e':
			asked.count = 1;
			asked.first = number_of_text(optarg, &end);
			break;
		case 'f':
			asked.first = number_of_text(optarg, &end);
			break;
		case 'n':
			asked.count = number_of_text(optarg, &end);
			break;
		case 's':
			asked.seconds = number_of_text(optarg, &end);
			break;
		case 't':
			asked.steps = number_of_text(optarg, &end);
			break;
		case 'v':
			asked.trace = true;
			break;
		case 'r':
			asked.shrink = true;
			break;
		case 'k':
			keep_only(optarg);
			break;
		default:
			exit(2);
		}
	if (asked.steps > STEPS_MAX)
		asked.steps = STEPS_MAX;
}

static uint64_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

/* The same addresses each time, or a seed would not say all. */
static void settle_addresses(char **argv)
{
	int now = personality(0xffffffff);

	if (now == -1 || now & ADDR_NO_RANDOMIZE || getenv("MODEL_AGAIN") ||
	    personality((unsigned)now | ADDR_NO_RANDOMIZE) == -1)
		return;
	setenv("MODEL_AGAIN", "1", 1);
	execv("/proc/self/exe", argv);
}

static bool goes_on(uint64_t seed, uint64_t began)
{
	if (asked.seconds)
		return seconds_now() - began < asked.seconds;
	return seed - asked.first < asked.count;
}

int main(int argc, char **argv)
{
	const uint64_t began = seconds_now();
	uint64_t seed, bad = 0;

	settle_addresses(argv);
	setenv("GPUMEM_BACKEND", "host", 1);
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	unsetenv("GPUMEM_CONF");
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		bail("no memory that processes share");
	memset(report->keep, true, sizeof(report->keep));
	asked.count = (uint64_t)scaled(60, 12);
	parse(argc, argv);
	for (seed = asked.first; goes_on(seed, began); seed++)
		bad += !run_seed(seed);
	ok(seed > asked.first && !bad,
	   "seeds %llu to %llu: %llu found something", (ull)asked.first,
	   (ull)(seed - 1), (ull)bad);
	return done_testing();
}
