/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-replay: replays the allocations and frees of a recorded program, and
 * reports their time and memory. The work is in replay/.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEY_CHECK = 0x100,
	KEY_LAG,
	KEY_LIMIT,
	KEY_MODEL,
	KEY_NO_LOAD,
	KEY_PASSES,
	KEY_SAMPLE,
	KEY_SCALE,
	KEY_TAGS
};

static const struct argp_option options[] = {
	{"device", 'd', "NAME", 0, "Replay on this device, such as host:0", 0},
	{"policy", 'p', "POLICY", 0,
	 "cached: through a pool (default); direct: the driver's own calls", 0},
	{"passes", KEY_PASSES, "N", 0, "Replay N times in one pool", 0},
	{"limit", KEY_LIMIT, "SIZE", 0,
	 "Reserve at most this, such as 24GiB or 80%", 0},
	{"lag", KEY_LAG, "N", 0,
	 "Keep the device busy: work ends N events later, or inf", 0},
	{"check", KEY_CHECK, "N", 0,
	 "Check the whole pool after every N events", 0},
	{"sample", KEY_SAMPLE, "N", 0,
	 "Add the memory after every N events to the JSON", 0},
	{"scale", KEY_SCALE, "1/N", 0,
	 "Replay blocks of an Nth of their size, for a small device", 0},
	{"tags", KEY_TAGS, "N", 0,
	 "Give blocks one of N tags with a word of a sleep, by their size", 0},
	{"model", KEY_MODEL, "NAME", 0,
	 "Add up what the driver calls would take on another device: h200", 0},
	{"no-load", KEY_NO_LOAD, NULL, 0,
	 "Read the trace while replaying instead of before", 0},
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{0},
};

static const struct replay_policy *parse_policy(const char *arg)
{
	if (!strcmp(arg, replay_direct.name))
		return &replay_direct;
	if (strcmp(arg, replay_cached.name))
		usage_expected("--policy", arg, "cached or direct");
	return &replay_cached;
}

static const struct model *parse_model(const char *arg)
{
	const struct model *model = model_find(arg);
	char form[128] = "";
	size_t used = 0;

	for (int i = 0; i < MODEL_COUNT && used < sizeof(form); i++)
		used += (size_t)snprintf(form + used, sizeof(form) - used,
					 "%s%s", i ? " or " : "",
					 model_list[i].name);
	if (!model)
		usage_expected("--model", arg, form);
	return model;
}

static uint64_t parse_scale(const char *arg)
{
	uint64_t divisor;

	if (strncmp(arg, "1/", 2) ||
	    !tool_parse_count(arg + 2, UINT64_MAX, &divisor) || !divisor)
		usage_expected("--scale", arg, "a fraction such as 1/4");
	return divisor;
}

/* One word for one thing: the option of that name, and how it is written. */
static void parse_limit(const char *arg)
{
	if (gpumem_option_set("limit", arg) != GPUMEM_OK)
		usage_expected("--limit", arg,
			       "a size such as 64MiB or 1.5GiB, or a part of "
			       "the device's memory such as 80%");
}

static bool parse_number(int key, const char *arg, struct replay_config *config)
{
	switch (key) {
	case KEY_PASSES:
		config->passes = usage_count("--passes", arg, 1, 1000000);
		return true;
	case KEY_CHECK:
		config->check_every =
			usage_count("--check", arg, 1, UINT64_MAX);
		return true;
	case KEY_LAG:
		config->lag = strcmp(arg, "inf")
				      ? usage_count("--lag", arg, 0, UINT32_MAX)
				      : REPLAY_LAG_INF;
		return true;
	case KEY_SAMPLE:
		config->sample_every =
			usage_count("--sample", arg, 1, UINT64_MAX);
		return true;
	case KEY_TAGS:
		config->tags = usage_count("--tags", arg, 0, REPLAY_TAGS);
		return true;
	case KEY_LIMIT:
		parse_limit(arg);
		return true;
	case KEY_SCALE:
		config->divisor = parse_scale(arg);
		return true;
	default:
		return false;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_config *config = state->input;

	switch (key) {
	case 'd':
		config->device = usage_name_of("--device", arg,
					       "a device such as cuda:0");
		return 0;
	case 'p':
		config->policy = parse_policy(arg);
		return 0;
	case KEY_MODEL:
		config->model = parse_model(arg);
		return 0;
	case KEY_NO_LOAD:
		config->load = false;
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (config->trace)
			usage_fail("%s: expected one trace only", arg);
		config->trace = arg;
		return 0;
	case ARGP_KEY_END:
		if (!config->trace)
			usage_fail("expected a trace");
		if (config->sample_every && !config->json)
			usage_fail("--sample needs --json");
		if (config->lag && config->policy != &replay_cached)
			usage_fail("--lag needs --policy=cached");
		if (config->tags && config->policy != &replay_cached)
			usage_fail("--tags needs --policy=cached");
		return 0;
	default:
		return parse_number(key, arg, config) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

/* The same device once more, with the counter in front of it. */
static gpumem_device *open_counted(const char *name, int *code)
{
	char counted[COUNT_NAME];
	gpumem_status status = count_begin(name, counted);

	if (status == GPUMEM_OK)
		return tool_open(counted, code);
	tool_error_last("cannot count the calls of %s", name);
	*code = tool_exit_of(status);
	return NULL;
}

static gpumem_device *open_device(struct replay *replay, int *code)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_device *device = tool_open(replay->config->device, code), *plain;

	if (!device)
		return NULL;
	if (gpumem_device_get_info(device, &info) != GPUMEM_OK) {
		tool_error_last("cannot query the device");
		*code = tool_close(device, TOOL_FAILED);
		return NULL;
	}
	memcpy(replay->device_name, info.name, COUNT_NAME);
	if (!replay->config->model)
		return device;
	plain = device;
	device = open_counted(info.name, code);
	*code = tool_close(plain, *code);
	return device;
}

static int replay_main(const struct replay_config *config)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int code = TOOL_FAILED;
	bool ok;

	if (!replay) {
		tool_error("out of memory");
		return code;
	}
	replay->config = config;
	replay->device = open_device(replay, &code);
	if (!replay->device)
		goto free_replay;
	ok = replay_run(replay);
	if (!ok)
		tool_error("%s", replay->error);
	else
		ok = config->json ? replay_print_json(replay)
				  : replay_print_text(replay);
	code = tool_close(replay->device, ok ? TOOL_OK : TOOL_FAILED);
	free(replay->passes);
	free(replay->samples);
free_replay:
	free(replay);
	return code;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "TRACE[.gz]",
		.doc = "Replay a recorded program's allocations and show what "
		       "they took.\vTRACE is a file in the format "
		       "\"gpumem-trace\", a log of RMM's "
		       "logging_resource_adaptor or of Umpire's "
		       "UMPIRE_REPLAY, or a snapshot that "
		       "torch.cuda.memory._dump_snapshot() or a profile in "
		       "JSON that PyTorch's profiler made, plain or gzip'ed, "
		       "or \"-\" for standard input.\n\n"
		       "Exit status: 0 replayed, 1 the trace is bad or the "
		       "replay failed, 2 usage, 3 the device is not there.",
	};
	struct replay_config config = {
		.policy = &replay_cached,
		.passes = 1,
		.divisor = 1,
		.load = true,
	};

	tool_begin("gpumem-replay");
	usage_parse(&argp, argc, argv, &config);
	return replay_main(&config);
}
