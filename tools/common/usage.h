/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arguments: what every tool takes, and the messages for wrong ones. Built on
 * argp. Each of these ends the program with TOOL_USAGE when it fails.
 */
#ifndef GPUMEM_TOOLS_USAGE_H
#define GPUMEM_TOOLS_USAGE_H

#include <argp.h>
#include <stdint.h>

/* For tool_begin(). */
void usage_begin(const char *name);

/* argp_parse() with -h, --help, --usage, -V and --version. */
void usage_parse(const struct argp *argp, int argc, char **argv, void *config);
/* The same where the first argument that is no option is a command, whose
 * arguments are its own. */
void usage_parse_command(const struct argp *argp, int argc, char **argv,
			 void *config);

/* "NAME: MESSAGE" and where there is more, on standard error. */
void usage_fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* "NAME: OPTION=ARG: expected FORM". */
void usage_expected(const char *option, const char *arg, const char *form)
	__attribute__((noreturn));

/* A whole number from `least` to `most`. */
uint64_t usage_count(const char *option, const char *arg, uint64_t least,
		     uint64_t most);

/* "300", "64KiB", "1.5M" ...: units are powers of 1024. */
uint64_t usage_bytes(const char *option, const char *arg);
/* The same, of an option that may be something else: what is expected there. */
uint64_t usage_bytes_or(const char *option, const char *arg,
			const char *expected);

/* A number above 0, at most `most`; and with 0. */
double usage_seconds(const char *option, const char *arg, double most);
double usage_moment(const char *option, const char *arg, double most);

/* The same text, which is a name and so not empty. */
const char *usage_name_of(const char *option, const char *arg,
			  const char *form);

#endif
