/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-report: says what holds a program's memory, from a recording of it, a
 * trace, or a snapshot of PyTorch's. The work is in report/; files are read by
 * trace/.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "report/report.h"

enum { KEY_BLOCKS = 0x100, KEY_POOL };

static const struct argp_option options[] = {
	{"blocks", KEY_BLOCKS, "N", 0,
	 "List the N largest blocks at the peak and at the end (10)", 0},
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{"pool", KEY_POOL, "POOL", 0, "Only the pool of this name or number",
	 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_config *config = state->input;

	switch (key) {
	case 'j':
		config->json = true;
		return 0;
	case KEY_BLOCKS:
		config->blocks = usage_count("--blocks", arg, 0, UINT32_MAX);
		return 0;
	case KEY_POOL:
		config->trace.pool = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (config->trace.file)
			usage_fail("%s: expected one file only", arg);
		config->trace.file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!config->trace.file)
			usage_fail("expected a recording, trace or snapshot");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool report(struct trace_source *source,
		   const struct report_config *config)
{
	struct model model;
	bool ok = model_read(&model, source);

	if (ok)
		ok = config->json ? report_json(&model, config)
				  : report_text(&model, config);
	model_free(&model);
	return ok;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Show what holds a program's memory: at its peak by tag "
		       "and block by block, what is live at the end, how much "
		       "was reserved without use, and each out of memory."
		       "\vFILE is a recording that GPUMEM_CONF=record:FILE or "
		       "gpumem_record_begin() made, a trace, or a snapshot "
		       "that torch.cuda.memory._dump_snapshot() made, plain "
		       "or gzip'ed, or \"-\" for standard input.\n\n"
		       "Exit status: 0 done, 1 the file is bad or the output "
		       "could not be written, 2 usage.",
	};
	struct report_config config = {
		.trace = {.until_ns = UINT64_MAX, .or_text = true},
		.blocks = 10,
	};
	struct trace_source source;
	bool ok;

	tool_begin("gpumem-report");
	usage_parse(&argp, argc, argv, &config);
	if (!trace_open(&source, &config.trace))
		return TOOL_FAILED;
	ok = report(&source, &config);
	trace_close(&source);
	return ok ? TOOL_OK : TOOL_FAILED;
}
