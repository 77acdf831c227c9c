/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-trace: says what is in a recording, and makes other files of it. The
 * work is in trace/.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "trace/print.h"

#include <string.h>

static const struct argp_option options[] = {
	{"to", 't', "FORMAT", 0,
	 "Write the recording as trace: what gpumem-replay reads", 0},
	{"output", 'o', "FILE", 0, "Write to this file, not standard output",
	 0},
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{0},
};

static enum trace_format parse_format(const char *arg)
{
	if (strcmp(arg, "trace"))
		usage_expected("--to", arg, "trace");
	return TRACE_TEXT;
}

static void check(const struct trace_config *config)
{
	if (!config->file)
		usage_fail("expected a recording");
	if (config->output && config->format == TRACE_SUMMARY)
		usage_fail("--output needs --to");
	if (config->json && config->format != TRACE_SUMMARY)
		usage_fail("--json: expected no --to beside it");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct trace_config *config = state->input;

	switch (key) {
	case 't':
		config->format = parse_format(arg);
		return 0;
	case 'o':
		config->output = arg;
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (config->file)
			usage_fail("%s: expected one recording only", arg);
		config->file = arg;
		return 0;
	case ARGP_KEY_END:
		check(config);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool summarise(struct trace_source *source)
{
	struct summary summary;
	bool ok = summary_init(&summary);

	ok = ok && trace_each(source, summary_add, &summary);
	if (!summary.pools || summary.failed)
		tool_error("out of memory");
	if (ok)
		ok = source->config->json ? print_json(source, &summary)
					  : print_text(source, &summary);
	summary_free(&summary);
	return ok;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "RECORDING",
		.doc = "Show what a recording of a program's memory says, or "
		       "write it in another format.\vRECORDING is a file that "
		       "GPUMEM_CONF=record:FILE or gpumem_record_begin() made, "
		       "plain or gzip'ed, or \"-\" for standard input.\n\n"
		       "Exit status: 0 done, 1 the recording is bad or the "
		       "output could not be written, 2 usage.",
	};
	struct trace_config config = {.format = TRACE_SUMMARY};
	struct trace_source source;
	bool ok;

	tool_begin("gpumem-trace");
	usage_parse(&argp, argc, argv, &config);
	if (!trace_open(&source, &config))
		return TOOL_FAILED;
	ok = config.format == TRACE_SUMMARY ? summarise(&source)
					    : trace_write(&source);
	trace_close(&source);
	return ok ? TOOL_OK : TOOL_FAILED;
}
