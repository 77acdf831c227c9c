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
#include <unistd.h>

enum {
	KEY_ANONYMISE = 0x100,
	KEY_FROM,
	KEY_MIN_BYTES,
	KEY_POOL,
	KEY_STREAM,
	KEY_UNTIL
};

static const struct argp_option options[] = {
	{"to", 't', "FORMAT", 0,
	 "Write the recording as trace: what gpumem-replay reads; chrome: what "
	 "ui.perfetto.dev and chrome://tracing show; pytorch: the snapshot "
	 "that "
	 "pytorch.org/memory_viz shows",
	 0},
	{"output", 'o', "FILE", 0, "Write to this file, not standard output",
	 0},
	{"from", KEY_FROM, "SECONDS", 0,
	 "Begin so late, with what is live then", 0},
	{"until", KEY_UNTIL, "SECONDS", 0, "End there", 0},
	{"pool", KEY_POOL, "POOL", 0, "Only the pool of this name or number",
	 0},
	{"stream", KEY_STREAM, "N", 0, "Only blocks of this stream; 0: default",
	 0},
	{"min-bytes", KEY_MIN_BYTES, "SIZE", 0,
	 "Only blocks of this size or more, such as 1MiB", 0},
	{"anonymise", KEY_ANONYMISE, NULL, 0,
	 "Leave out names, processes, threads and the date", 0},
	{"anonymize", KEY_ANONYMISE, NULL, OPTION_ALIAS, NULL, 0},
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{0},
};

static enum trace_format parse_format(const char *arg)
{
	if (!strcmp(arg, "chrome"))
		return TRACE_CHROME;
	if (!strcmp(arg, "pytorch"))
		return TRACE_PYTORCH;
	if (strcmp(arg, "trace"))
		usage_expected("--to", arg, "trace, chrome or pytorch");
	return TRACE_TEXT;
}

static uint64_t parse_seconds(const char *option, const char *arg)
{
	return (uint64_t)(usage_moment(option, arg, 1e9) * 1e9);
}

static bool parse_filter(int key, const char *arg, struct trace_config *config)
{
	switch (key) {
	case KEY_FROM:
		config->from_ns = parse_seconds("--from", arg);
		return true;
	case KEY_UNTIL:
		config->until_ns = parse_seconds("--until", arg);
		return true;
	case KEY_POOL:
		config->pool = arg;
		return true;
	case KEY_STREAM:
		config->stream = usage_count("--stream", arg, 0, UINT32_MAX);
		config->one_stream = true;
		return true;
	case KEY_MIN_BYTES:
		config->min_bytes = usage_bytes("--min-bytes", arg);
		return true;
	case KEY_ANONYMISE:
		config->anonymise = true;
		return true;
	default:
		return false;
	}
}

static void check(const struct trace_config *config)
{
	if (!config->file)
		usage_fail("expected a recording");
	if (config->output && config->format == TRACE_SUMMARY)
		usage_fail("--output needs --to");
	if (config->format == TRACE_PYTORCH && !config->output &&
	    isatty(STDOUT_FILENO))
		usage_fail("--to=pytorch: expected --output, or standard "
			   "output that is no terminal");
	if (config->json && config->format != TRACE_SUMMARY)
		usage_fail("--json: expected no --to beside it");
	if (config->until_ns < config->from_ns)
		usage_fail("--until: expected no time before --from");
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
		return parse_filter(key, arg, config) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

static bool summarise(struct trace_source *source)
{
	struct summary summary;
	bool ok = summary_init(&summary);

	ok = ok && trace_each(source, summary_add, NULL, &summary);
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
		       "plain or gzip'ed, or \"-\" for standard input; a "
		       "snapshot that torch.cuda.memory._dump_snapshot() or a "
		       "profile in JSON that PyTorch's profiler made; or a log "
		       "of RMM's logging_resource_adaptor or of Umpire's "
		       "UMPIRE_REPLAY.\n\n"
		       "Exit status: 0 done, 1 the recording is bad or the "
		       "output could not be written, 2 usage.",
	};
	struct trace_config config = {.format = TRACE_SUMMARY,
				      .until_ns = UINT64_MAX};
	struct trace_source source;
	bool ok;

	tool_begin("gpumem-trace");
	tool_expect_lists();
	usage_parse(&argp, argc, argv, &config);
	if (!trace_open(&source, &config))
		return TOOL_FAILED;
	ok = config.format == TRACE_SUMMARY ? summarise(&source)
					    : trace_write(&source);
	trace_close(&source);
	return ok ? TOOL_OK : TOOL_FAILED;
}
