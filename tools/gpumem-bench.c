/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-bench: what the pool costs, beside the host's allocators doing the
 * same. The benchmarks are in bench/.
 */
#include "bench/bench.h"
#include "common/progress.h"
#include "common/tool.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct bench_entry bench_list[BENCH_COUNT] = {
	{"pair", "hot pairs by size", bench_pair},
	{"threads", "hot pairs by number of threads", bench_threads},
	{"random", "random sizes among many live blocks", bench_random},
	{"trim", "giving memory back", bench_trim},
	{"growth", "pairs by number of live blocks", bench_growth},
	{"churn", "small blocks that come and go", bench_churn},
};

enum {
	KEY_ITERATIONS = 0x100,
	KEY_JSON,
	KEY_ROUNDS,
	KEY_SECONDS,
	KEY_UNIFORM,
	KEY_WARM
};

static const struct argp_option options[] = {
	{"device", 'd', "NAME", 0, "Measure on this device, as \"host:0\"", 0},
	{"threads", 't', "N", 0,
	 "Use at most N threads (default: one for each processor)", 0},
	{"seconds", KEY_SECONDS, "S", 0,
	 "Measure each case about so long for each peer (default 0.25)", 0},
	{"iterations", KEY_ITERATIONS, "N", 0,
	 "Do N iterations in each round instead", 0},
	{"rounds", KEY_ROUNDS, "N", 0,
	 "Take the median of N rounds (default 7)", 0},
	{"uniform", KEY_UNIFORM, NULL, 0,
	 "Draw random sizes uniformly, not uniformly in their logarithm", 0},
	{"warm", KEY_WARM, "N", 0,
	 "Replace each block of random and churn N times before measuring "
	 "(default 16)",
	 0},
	{"json", KEY_JSON, NULL, 0, "Print JSON", 0},
	{0},
};

static void choose(struct bench_config *config, const char *name,
		   struct argp_state *state)
{
	for (int i = 0; i < BENCH_COUNT; i++) {
		if (strcmp(name, bench_list[i].name))
			continue;
		config->chosen |= 1u << i;
		return;
	}
	argp_error(state, "no such benchmark: %s", name);
}

static bool parse_number(int key, const char *arg, struct bench_config *config)
{
	switch (key) {
	case 't':
		return tool_parse_count(arg, BENCH_THREADS, &config->threads) &&
		       config->threads > 0;
	case KEY_ROUNDS:
		return tool_parse_count(arg, BENCH_ROUNDS, &config->rounds) &&
		       config->rounds > 0;
	case KEY_WARM:
		return tool_parse_count(arg, 1000000, &config->warm);
	case KEY_ITERATIONS:
		return tool_parse_count(arg, (uint64_t)1 << 40,
					&config->iterations) &&
		       config->iterations > 0;
	default:
		return tool_parse_seconds(arg, 3600.0, &config->seconds);
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_config *config = state->input;

	switch (key) {
	case 'd':
		config->device = arg;
		return 0;
	case 't':
	case KEY_ROUNDS:
	case KEY_ITERATIONS:
	case KEY_SECONDS:
	case KEY_WARM:
		if (!parse_number(key, arg, config))
			argp_error(state, "not a number that can be used: %s",
				   arg);
		return 0;
	case KEY_UNIFORM:
		config->uniform = true;
		return 0;
	case KEY_JSON:
		config->json = true;
		return 0;
	case ARGP_KEY_ARG:
		choose(config, arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool run_all(struct bench *bench)
{
	const struct bench_config *config = bench->config;
	struct progress progress;
	bool ok = true;

	for (int i = 0; i < BENCH_COUNT && ok; i++) {
		int first = bench->row_count;

		if (config->chosen && !(config->chosen & 1u << i))
			continue;
		progress_begin(&progress, bench_list[i].text);
		progress_show(&progress, (uint64_t)i, BENCH_COUNT);
		ok = bench_list[i].run(bench);
		progress_end(&progress);
		if (ok && !config->json)
			ok = bench_print_table(bench, first);
	}
	return ok;
}

static void print_head(const struct bench *bench)
{
	printf("gpumem %s on %s (%s). Times of one pair (churn: of one call); "
	       "x: how many times\nthe peer's; driver calls: of one pair or "
	       "call. Medians of %llu rounds.\n",
	       gpumem_version(), bench->info.name, bench->info.product,
	       (unsigned long long)bench->config->rounds);
	if (*bench->missing)
		printf("Not measured: %s\n", bench->missing);
	putchar('\n');
}

static int bench_main(const struct bench_config *config, char **argv)
{
	struct bench bench = {.config = config};
	int code = TOOL_FAILED;
	bool ok;

	bench.device = tool_open(config->device, &code);
	if (!bench.device)
		return code;
	/* Later: jemalloc brings libstdc++, which then takes its memory from
	 * there also for a driver that is loaded after it. */
	bench_find_peers(&bench, argv);
	bench.info = GPUMEM_INIT(struct gpumem_device_info);
	ok = gpumem_device_info(bench.device, &bench.info) == GPUMEM_OK;
	if (!ok)
		tool_error_last("cannot ask the device");
	if (ok && !config->json)
		print_head(&bench);
	ok = ok && run_all(&bench);
	if (ok && config->json)
		ok = bench_print_json(&bench);
	free(bench.rows);
	return tool_close(bench.device, ok ? TOOL_OK : TOOL_FAILED);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[BENCHMARK...]",
		.doc = "Measure what a pool costs, beside glibc's malloc and, "
		       "where they are installed, mimalloc and jemalloc.\v"
		       "A BENCHMARK is one of pair, threads, random, trim, "
		       "growth and churn. Without any, all are run.\n\n"
		       "Exit status: 0 measured, 1 something failed, 2 usage, "
		       "3 the device is not there.",
	};
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct bench_config config = {
		.threads = processors > 0 ? (uint64_t)processors : 1,
		.seconds = 0.25,
		.rounds = 7,
		.warm = 16,
	};

	tool_begin("gpumem-bench");
	if (config.threads > BENCH_THREADS)
		config.threads = BENCH_THREADS;
	argp_parse(&argp, argc, argv, 0, NULL, &config);
	return tool_end(bench_main(&config, argv));
}
