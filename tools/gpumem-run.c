/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-run: runs a program that knows nothing of gpumem, keeps what it frees
 * for its next allocations, and says what GPU memory it and its children used.
 * What goes on inside the program is in preload/, the rest of the work in run/.
 */
#include "common/file.h"
#include "common/tool.h"
#include "common/usage.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_ADOPT = 0x100,
	KEY_BACKEND,
	KEY_LIMIT,
	KEY_NO_POOL,
	KEY_RECORD,
	KEY_REPORT,
	KEY_TRIM
};

static const struct argp_option options[] = {
	{"adopt", KEY_ADOPT, NULL, 0,
	 "Give PyTorch gpumem's pool, serve TensorFlow's and JAX's allocations "
	 "from one, and have what they do not use go back",
	 0},
	{"backend", KEY_BACKEND, "B", 0,
	 "Follow the calls of this one only: cuda, hip or opencl", 0},
	{"limit", KEY_LIMIT, "SIZE", 0,
	 "Let each process have so much of each device at most, such as 24GiB "
	 "or 80%",
	 0},
	{"no-pool", KEY_NO_POOL, NULL, 0,
	 "Under --adopt: keep nothing that the program frees", 0},
	{"record", KEY_RECORD, "FILE", 0,
	 "Record each allocation and free of device memory into this file", 0},
	{"report", KEY_REPORT, "FILE", OPTION_ARG_OPTIONAL,
	 "Write the report to this file, not to standard error", 0},
	{"trim", KEY_TRIM, "PID", 0,
	 "Run nothing: have that process, under --adopt, give back what it "
	 "does not use",
	 0},
	{"json", 'j', NULL, 0, "Write the report as JSON", 0},
	{0},
};

/* The first device that could say how much 80 % is is the program's. */
static struct limit_value parse_limit(const char *arg)
{
	static const char expected[] =
		"a size such as 64KiB or 1.5GiB, or a "
		"part of the device's memory such as 80%";
	size_t digits = strspn(arg, "0123456789.");
	const char *unit = arg + digits + (arg[digits] == ' ');
	char *end;
	double percent = strtod(arg, &end);

	if (!strchr(arg, '%'))
		return (struct limit_value){
			usage_bytes_or("--limit", arg, expected), 0};
	if (!digits || end != arg + digits || strcmp(unit, "%") != 0 ||
	    percent * (LIMIT_WHOLE / 100) < 1 || percent > 100)
		usage_expected("--limit", arg, expected);
	return (struct limit_value){
		0, (uint64_t)(percent * (LIMIT_WHOLE / 100) + .5)};
}

static pid_t parse_pid(const char *arg)
{
	char *end;
	long pid = strtol(arg, &end, 10);

	if (*arg < '1' || *arg > '9' || *end || pid > INT_MAX)
		usage_expected("--trim", arg, "the number of a process");
	return (pid_t)pid;
}

static void check(const struct run_config *config)
{
	if (!config->command && !config->trim)
		usage_fail("expected a program");
	if (config->command && config->trim)
		usage_fail("--trim runs no program");
	if (config->output && config->recording &&
	    !strcmp(config->output, config->recording))
		usage_fail("--report=%s: that is where the recording goes",
			   config->output);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_config *config = state->input;

	switch (key) {
	case KEY_REPORT:
		if (arg && !*arg)
			usage_fail("--report=: expected a file");
		config->output = arg;
		return 0;
	case KEY_RECORD:
		if (!*arg)
			usage_fail("--record=: expected a file");
		config->recording = arg;
		return 0;
	case KEY_ADOPT:
		config->adopt = true;
		return 0;
	case KEY_BACKEND:
		if (!run_has_backend(arg))
			usage_fail("--backend=%s: there is no library here for "
				   "its calls; expected %s",
				   arg, run_backends());
		config->backend = arg;
		return 0;
	case KEY_LIMIT:
		config->limit = parse_limit(arg);
		return 0;
	case KEY_NO_POOL:
		config->no_pool = true;
		return 0;
	case KEY_TRIM:
		config->trim = parse_pid(arg);
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case ARGP_KEY_ARG:
		config->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check(config);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct report {
	const struct run_config *config;
	const struct run_ledgers *ledgers;
	const struct run_end *end;
};

/* Standard output is the program's; the report has it only now, when the
 * program is over. */
static bool print_report(FILE *out, void *user)
{
	const struct report *report = user;

	if (dup2(fileno(out), STDOUT_FILENO) < 0) {
		tool_error("report: %s", strerror(errno));
		return false;
	}
	return (report->config->json ? run_print_json : run_print_text)(
		report->config, report->ledgers, report->end);
}

/* What could not be written is not written once more at the end. */
static void forget_output(void)
{
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (nothing >= 0) {
		(void)dup2(nothing, STDOUT_FILENO);
		close(nothing);
	}
	clearerr(stdout);
}

/* To a file, which is kept if it is whole. */
static bool print_whole(FILE *out, void *user)
{
	const struct report *report = user;

	if (!print_report(out, user))
		return false;
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	tool_error("%s: %s", report->config->output, strerror(errno));
	forget_output();
	return false;
}

static bool report(const struct run_config *config, const char *folder,
		   const struct run_end *end)
{
	struct run_ledgers ledgers;
	struct report report = {config, &ledgers, end};
	bool ok = run_read(folder, &ledgers);

	run_clean(folder);
	run_listen();
	if (!ok)
		return false;
	ok = config->output ? file_write(config->output, print_whole, &report)
			    : print_report(stderr, &report);
	run_ledgers_free(&ledgers);
	return ok;
}

/* What cannot be written is said before the program runs, not hours later. */
static bool can_write(const struct run_config *config)
{
	return (!config->output || file_try(config->output)) &&
	       (!config->recording || run_try_recording(config->recording));
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "PROGRAM [ARGUMENT...]",
		.doc = "Run a program, and say how much GPU memory it and its "
		       "children used: by NVIDIA's driver and AMD's runtime, "
		       "however the program reaches these, and by OpenCL. "
		       "Nothing else changes but by --adopt and --limit.\v"
		       "The report goes to standard error when the program has "
		       "ended, also if it was killed.\n\n"
		       "Exit status: that of the program, and if a signal "
		       "ended it, by that signal; 1 a file could not be "
		       "written, 2 "
		       "usage, 126 the program could not be "
		       "executed, 127 it was not found.",
	};
	static char unfollowed[RUN_PATH];
	struct run_config config = {0};
	const char *folder;
	struct run_end end;
	bool ran, told;

	tool_begin_runner("gpumem-run");
	usage_parse_command(&argp, argc, argv, &config);
	if (config.trim)
		return run_trim(config.trim) ? 0 : TOOL_FAILED;
	if (!can_write(&config))
		return TOOL_FAILED;
	if (run_not_followed(unfollowed, config.command[0]))
		config.unfollowed = unfollowed;
	folder = !config.adopt || run_adopt(&config) ? run_prepare(&config)
						     : NULL;
	if (!folder)
		return TOOL_FAILED;
	ran = run_child(config.command, &end);
	told = ran && report(&config, folder, &end);
	if (!ran)
		run_clean(folder);
	if (!ran || (!told && !end.signal && !end.status))
		return TOOL_FAILED;
	run_end_alike(&end);
}
