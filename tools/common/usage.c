/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See usage.h.
 */
#include "usage.h"

#include "clean.h"
#include "tool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_USAGE = 0x1000 };

static const char *usage_name;

static const struct argp_option common[] = {
	{"help", 'h', NULL, 0, "Show this help", -1},
	{NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1},
	{"usage", KEY_USAGE, NULL, 0, "Show the options in short", -1},
	{"version", 'V', NULL, 0, "Show the version of the library", -1},
	{0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case 'h':
	case '?':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		argp_state_help(state, stdout,
				ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		printf("%s %s\n", usage_name, gpumem_version());
		exit(TOOL_OK);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void usage_begin(const char *name)
{
	usage_name = name;
	argp_err_exit_status = TOOL_USAGE;
}

/* argp itself repeats an option that it does not know as it is. A command's
 * arguments, from the first that is no option, are not looked at. */
static void check_printable(int argc, char **argv, bool is_command)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") &&
			(!is_command || argv[i][0] == '-');
	     i++) {
		char *line = argv[i][0] == '-' ? clean_copy(argv[i]) : NULL;
		bool differs = line && strcmp(line, argv[i]);

		free(line);
		if (differs)
			usage_fail("%s: an option that is none", argv[i]);
	}
}

static void parse_all(const struct argp *argp, int argc, char **argv,
		      bool is_command, void *config)
{
	static const struct argp common_argp = {
		.options = common,
		.parser = parse_common,
	};
	const struct argp_child children[] = {
		{.argp = argp},
		{.argp = &common_argp},
		{0},
	};
	const struct argp whole = {.children = children};
	static char name[32]; /* argv[0] stays */

	check_printable(argc, argv, is_command);
	snprintf(name, sizeof(name), "%s", usage_name);
	argv[0] = name; /* what argp's own messages begin with */
	if (argp_parse(&whole, argc, argv,
		       ARGP_NO_HELP | (is_command ? ARGP_IN_ORDER : 0), NULL,
		       config))
		usage_fail("out of memory");
}

void usage_parse(const struct argp *argp, int argc, char **argv, void *config)
{
	parse_all(argp, argc, argv, false, config);
}

void usage_parse_command(const struct argp *argp, int argc, char **argv,
			 void *config)
{
	parse_all(argp, argc, argv, true, config);
}

void usage_fail(const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	line = clean_format(format, args);
	va_end(args);
	tool_error("%s", line ? line : "out of memory");
	free(line);
	/* As argp says it of an option that it does not know. */
	fprintf(stderr,
		"Try `%s --help' or `%s --usage' for more information.\n",
		usage_name, usage_name);
	exit(TOOL_USAGE);
}

void usage_expected(const char *option, const char *arg, const char *form)
{
	usage_fail("%s=%s: expected %s", option, arg, form);
}

uint64_t usage_count(const char *option, const char *arg, uint64_t least,
		     uint64_t most)
{
	char form[80];
	uint64_t count;

	if (tool_parse_count(arg, most, &count) && count >= least)
		return count;
	snprintf(form, sizeof(form), "a whole number from %llu to %llu",
		 (unsigned long long)least, (unsigned long long)most);
	usage_expected(option, arg, form);
}

/* What a unit begins with; 0: it is none. */
static double unit_bytes(const char *unit)
{
	static const char letters[] = "KMGT";
	double bytes = 1024.0;

	if (!*unit)
		return 1.0;
	for (const char *at = letters; *at; at++, bytes *= 1024.0)
		if (toupper((unsigned char)*unit) == *at &&
		    (!unit[1] || !strcasecmp(unit + 1, "B") ||
		     !strcasecmp(unit + 1, "iB")))
			return bytes;
	return 0.0;
}

uint64_t usage_bytes_or(const char *option, const char *arg,
			const char *expected)
{
	size_t digits = strspn(arg, "0123456789.");
	char *end;
	double number = strtod(arg, &end);
	double bytes = number * unit_bytes(arg + digits);

	if (!digits || end != arg + digits || bytes < 1.0 || bytes >= 0x1p63)
		usage_expected(option, arg, expected);
	return (uint64_t)bytes;
}

uint64_t usage_bytes(const char *option, const char *arg)
{
	return usage_bytes_or(option, arg, "a size such as 64KiB or 1.5GiB");
}

double usage_seconds(const char *option, const char *arg, double most)
{
	double seconds;
	char form[80];

	if (tool_parse_seconds(arg, most, &seconds))
		return seconds;
	snprintf(form, sizeof(form),
		 "a number of seconds above 0 and at most %g", most);
	usage_expected(option, arg, form);
}

double usage_moment(const char *option, const char *arg, double most)
{
	char form[80], *end;
	double seconds = strtod(arg, &end);

	if (end != arg && !*end && seconds >= 0.0 && seconds <= most)
		return seconds;
	snprintf(form, sizeof(form), "a number of seconds from 0 to %g", most);
	usage_expected(option, arg, form);
}

const char *usage_name_of(const char *option, const char *arg, const char *form)
{
	if (!*arg)
		usage_expected(option, arg, form);
	return arg;
}
