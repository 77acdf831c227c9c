/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-bench: what the pool costs, beside the host's allocators doing the
 * same. The benchmarks are in bench/.
 */
#include "bench/bench.h"
#include "common/term.h"
#include "common/tool.h"
#include "common/usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct bench_entry bench_list[BENCH_COUNT] = {
	{"pair", bench_pair},	  {"threads", bench_threads},
	{"random", bench_random}, {"trim", bench_trim},
	{"growth", bench_growth}, {"churn", bench_churn},
	{"record", bench_record},
};

enum { KEY_ITERATIONS = 0x100, KEY_ROUNDS, KEY_SECONDS, KEY_UNIFORM, KEY_WARM };

static const struct argp_option options[] = {
	{"device", 'd', "NAME", 0, "Measure on this device, such as host:0", 0},
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
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{0},
};

static void choose(struct bench_config *config, const char *name)
{
	for (int i = 0; i < BENCH_COUNT; i++) {
		if (strcmp(name, bench_list[i].name))
			continue;
		config->chosen |= 1u << i;
		return;
	}
	usage_fail("%s: expected pair, threads, random, trim, growth, churn "
		   "or record",
		   name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_config *config = state->input;

	switch (key) {
	case 'd':
		config->device = usage_name_of("--device", arg,
					       "a device such as cuda:0");
		return 0;
	case 't':
		config->threads =
			usage_count("--threads", arg, 1, BENCH_THREADS);
		return 0;
	case KEY_ROUNDS:
		config->rounds = usage_count("--rounds", arg, 1, BENCH_ROUNDS);
		return 0;
	case KEY_WARM:
		config->warm = usage_count("--warm", arg, 0, 1000000);
		return 0;
	case KEY_ITERATIONS:
		config->iterations =
			usage_count("--iterations", arg, 1, (uint64_t)1 << 40);
		return 0;
	case KEY_SECONDS:
		config->seconds = usage_seconds("--seconds", arg, 3600.0);
		return 0;
	case KEY_UNIFORM:
		config->uniform = true;
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case ARGP_KEY_ARG:
		choose(config, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool run_chosen(struct bench *bench)
{
	const struct bench_config *config = bench->config;
	bool ok = true;

	for (int i = 0; i < BENCH_COUNT && ok; i++) {
		int first = bench->row_count;

		if (config->chosen && !(config->chosen & 1u << i))
			continue;
		ok = bench_list[i].run(bench);
		progress_end(&bench->progress);
		if (ok && !config->json)
			ok = bench_print_table(bench, first);
	}
	return ok;
}

/* Counts the cases first, so that one knows how far it is. */
static bool run_all(struct bench *bench)
{
	bool ok;

	progress_begin(&bench->progress, "measuring");
	bench->counting = true;
	ok = run_chosen(bench);
	bench->counting = false;
	return ok && run_chosen(bench);
}

static void print_head(const struct bench *bench)
{
	uint64_t rounds = bench->config->rounds;

	term_say(
		"gpumem %s on %s (%s). Times of one pair (churn: of one call); "
		"x: how many times the peer's; driver calls: of one pair or "
		"call. Medians of %llu round%s.",
		gpumem_version(), bench->info.name, bench->info.product,
		(unsigned long long)rounds, rounds == 1 ? "" : "s");
	if (*tool_simulated(&bench->info))
		term_say("%s", tool_simulated(&bench->info));
	if (*bench->missing)
		term_say("Not measured: %s", bench->missing);
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
	ok = gpumem_device_get_info(bench.device, &bench.info) == GPUMEM_OK;
	if (!ok)
		tool_error_last("cannot query the device");
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
		       "growth, churn and record. Without any, all are run.\n\n"
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
	usage_parse(&argp, argc, argv, &config);
	return bench_main(&config, argv);
}
