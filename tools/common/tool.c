/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See tool.h. Knows nothing of any one tool.
 */
#include "tool.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *tool_name = "gpumem";

static void print_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "%s %s\n", tool_name, gpumem_version());
}

void tool_begin(const char *name)
{
	tool_name = name;
	argp_err_exit_status = TOOL_USAGE;
	argp_program_version_hook = print_version;
}

int tool_end(int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	tool_error("cannot write the output: %s", strerror(errno));
	return code ? code : TOOL_FAILED;
}

static void message(const char *format, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", tool_name);
	vfprintf(stderr, format, args);
}

void tool_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
	fputc('\n', stderr);
}

void tool_error_last(const char *format, ...)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	va_list args;

	gpumem_last_error(&error);
	va_start(args, format);
	message(format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", error.text);
}

int tool_exit_of(gpumem_status status)
{
	switch (status) {
	case GPUMEM_OK:
		return TOOL_OK;
	case GPUMEM_NOT_FOUND:
	case GPUMEM_NO_DRIVER:
	case GPUMEM_NO_DEVICE:
	case GPUMEM_UNSUPPORTED:
	case GPUMEM_ABI:
		return TOOL_ABSENT;
	default:
		return TOOL_FAILED;
	}
}

gpumem_device *tool_open(const char *name, int *code_out)
{
	gpumem_device *device;
	gpumem_status status = gpumem_device_open(name, &device);

	if (status == GPUMEM_OK)
		return device;
	tool_error_last("cannot open %s", name ? name : "the default device");
	*code_out = tool_exit_of(status);
	return NULL;
}

int tool_close(gpumem_device *device, int code)
{
	if (!device || gpumem_device_close(device) == GPUMEM_OK)
		return code;
	tool_error_last("cannot close the device");
	return code ? code : TOOL_FAILED;
}

bool tool_parse_count(const char *text, uint64_t max, uint64_t *count_out)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long long value;

	if (!digits || text[digits])
		return false;
	errno = 0;
	value = strtoull(text, NULL, 10);
	if (errno || value > max)
		return false;
	*count_out = value;
	return true;
}

bool tool_parse_seconds(const char *text, double max, double *seconds_out)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0.0 ||
	    value > max)
		return false;
	*seconds_out = value;
	return true;
}
