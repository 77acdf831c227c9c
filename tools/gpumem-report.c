/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-report: says what holds a program's memory, from a recording of it, a
 * trace, or a snapshot of PyTorch's. The work is in report/; files are read by
 * trace/.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "report/compare.h"

#include <string.h>

enum { KEY_BLOCKS = 0x100, KEY_HTML, KEY_PNG, KEY_POOL, KEY_SVG };

static const struct argp_option options[] = {
	{"blocks", KEY_BLOCKS, "N", 0,
	 "List the N largest blocks, and stacks, at the peak and at the end "
	 "(10)",
	 0},
	{"html", KEY_HTML, NULL, 0,
	 "Write a page for a browser, which needs nothing else", 0},
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{"output", 'o', "FILE", 0,
	 "Write the page, or with --png or --svg the picture, to this file", 0},
	{"png", KEY_PNG, NULL, 0,
	 "As --svg, but as PNG, by rsvg-convert of librsvg", 0},
	{"pool", KEY_POOL, "POOL", 0, "Only the pool of this name or number",
	 0},
	{"svg", KEY_SVG, NULL, 0,
	 "Write a picture of memory over time, stacked by tag", 0},
	{0},
};

static void set_format(struct report_config *config, enum report_format format)
{
	if (config->format != REPORT_TEXT && config->format != format)
		usage_fail(
			"expected only one of --html, --json, --png and --svg");
	config->format = format;
}

static void check_other(const struct report_config *config)
{
	if (!strcmp(config->trace.file, "-") && !strcmp(config->other, "-"))
		usage_fail("-: expected it once");
}

static void check(struct report_config *config)
{
	if (!config->trace.file)
		usage_fail("expected a recording, trace or snapshot");
	if (config->other)
		check_other(config);
	if (config->output && config->format == REPORT_JSON)
		usage_fail("--json: expected no --output beside it");
	if (config->output && config->format == REPORT_TEXT)
		config->format = REPORT_PAGE;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_config *config = state->input;

	switch (key) {
	case 'j':
		set_format(config, REPORT_JSON);
		return 0;
	case KEY_HTML:
		set_format(config, REPORT_PAGE);
		return 0;
	case KEY_PNG:
		set_format(config, REPORT_PNG);
		return 0;
	case KEY_SVG:
		set_format(config, REPORT_SVG);
		return 0;
	case 'o':
		config->output = arg;
		return 0;
	case KEY_BLOCKS:
		config->blocks = usage_count("--blocks", arg, 0, UINT32_MAX);
		return 0;
	case KEY_POOL:
		config->trace.pool = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (config->other)
			usage_fail("%s: expected two files at most", arg);
		if (config->trace.file)
			config->other = arg;
		else
			config->trace.file = arg;
		return 0;
	case ARGP_KEY_END:
		check(config);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool write_report(const struct model *model,
			 const struct report_config *config)
{
	switch (config->format) {
	case REPORT_TEXT:
		return report_text(model, config);
	case REPORT_JSON:
		return report_json(model, config);
	default:
		return report_draw(model, config);
	}
}

static bool write_compared(const struct model *one, const struct model *other,
			   const struct report_config *config)
{
	switch (config->format) {
	case REPORT_TEXT:
		return compare_text(one, other);
	case REPORT_JSON:
		return compare_json(one, other);
	default:
		return compare_draw(one, other, config);
	}
}

/* Side by side with the other file. */
static bool compare(const struct model *one, const struct report_config *config)
{
	struct trace_config trace = config->trace;
	struct trace_source source;
	struct model other;
	bool ok;

	trace.file = config->other;
	if (!trace_open(&source, &trace))
		return false;
	ok = model_read(&other, &source);
	ok = ok && write_compared(one, &other, config);
	model_free(&other);
	trace_close(&source);
	return ok;
}

static bool report(struct trace_source *source,
		   const struct report_config *config)
{
	struct model model;
	bool ok = model_read(&model, source);

	if (ok && config->other)
		ok = compare(&model, config);
	else if (ok)
		ok = write_report(&model, config);
	model_free(&model);
	return ok;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "FILE [OTHER]",
		.doc = "Show what holds a program's memory: at its peak by tag "
		       "and block by block, what is live at the end, how much "
		       "was reserved without use, and each out of memory; or "
		       "two runs side by side."
		       "\vFILE is a recording that GPUMEM_CONF=record:FILE or "
		       "gpumem_record_begin() made, a trace, a snapshot that "
		       "torch.cuda.memory._dump_snapshot() or a profile in "
		       "JSON that PyTorch's profiler made, or a log of RMM's "
		       "logging_resource_adaptor or of Umpire's "
		       "UMPIRE_REPLAY, plain or gzip'ed, or \"-\" for "
		       "standard input.\n\n"
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
	tool_expect_lists();
	usage_parse(&argp, argc, argv, &config);
	if (!trace_open(&source, &config.trace))
		return TOOL_FAILED;
	ok = report(&source, &config);
	trace_close(&source);
	return ok ? TOOL_OK : TOOL_FAILED;
}
