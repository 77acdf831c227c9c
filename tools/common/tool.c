/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See tool.h. Common to all tools.
 */
#include "tool.h"

#include "clean.h"
#include "output.h"
#include "progress.h"
#include "usage.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_BYTES = 256 * 1024 };

static const char *tool_name = "gpumem";

void tool_begin(const char *name)
{
	tool_name = name;
	usage_begin(name);
	output_begin(true);
}

void tool_begin_runner(const char *name)
{
	tool_name = name;
	usage_begin(name);
	output_begin(false);
}

/* glibc raises the size from which memory is mapped with the first large block
 * that is freed; a size that is said stays. */
void tool_expect_lists(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, LONG_BYTES);
#endif
}

/* One clean line, so that what others named commands no terminal. */
static void message(const char *format, va_list args, const char *more)
{
	char *line = clean_format(format, args);

	fflush(stdout);
	progress_wipe();
	fprintf(stderr, "%s: %s%s%s\n", tool_name,
		line ? line : "out of memory", more ? ": " : "",
		more ? more : "");
	free(line);
}

void tool_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args, NULL);
	va_end(args);
}

void tool_error_last(const char *format, ...)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	va_list args;

	gpumem_last_error(&error);
	va_start(args, format);
	message(format, args, error.text);
	va_end(args);
}

int tool_exit_of(gpumem_status status)
{
	switch (status) {
	case GPUMEM_OK:
		return TOOL_OK;
	case GPUMEM_INVALID:
		return TOOL_USAGE;
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

const char *tool_simulated(const struct gpumem_device_info *info)
{
	if (!(info->caps & GPUMEM_CAP_SIMULATED))
		return "";
	return "The device is simulated in the host's memory: times are not "
	       "those of a GPU.";
}

int tool_configured(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	gpumem_status status = gpumem_option_check();

	if (status == GPUMEM_OK)
		return TOOL_OK;
	gpumem_last_error(&error);
	tool_error("%s", error.text);
	return tool_exit_of(status);
}

gpumem_device *tool_open(const char *name, int *code_out)
{
	gpumem_device *device;
	gpumem_status status;
	int code = tool_configured();

	if (code) {
		*code_out = code;
		return NULL;
	}
	status = gpumem_device_open(name, &device);
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
