/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Makes a status and a sentence of a driver's result: the driver's name and
 * text for it and, from the plugin's table, what one can do about it. Keeps
 * nothing; no lock.
 */
#include "plugin.h"

#include <stdarg.h>
#include <stdio.h>

static const struct gpu_meaning *meaning_of(gpu_result result)
{
	static const struct gpu_meaning unknown = {.status = GPUMEM_DRIVER};
	const struct gpu_meaning *row;

	for (row = gpu_meanings; row->status != GPUMEM_OK; row++)
		if ((int)result >= row->first && (int)result <= row->last)
			return row;
	return &unknown;
}

gpumem_status gpu_check(gpu_result result, const char *what, ...)
{
	const struct gpu_meaning *meaning;
	char text[256];
	va_list args;

	if (result == GPU_SUCCESS)
		return GPUMEM_OK;
	if (result == GPU_NOT_READY)
		return GPUMEM_NOT_READY;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	meaning = meaning_of(result);
	gpu.services->error(result, gpu_error_name(result), "%s: %s%s%s", text,
			    gpu_error_text(result), meaning->advice ? "; " : "",
			    meaning->advice ? meaning->advice : "");
	return meaning->status;
}

gpumem_status gpu_check_memory(gpu_result result, const char *name,
			       uint64_t bytes, uint64_t address)
{
	if (!address)
		return gpu_check(result, "%s of %llu bytes", name,
				 (unsigned long long)bytes);
	return gpu_check(result, "%s of %llu bytes at 0x%llx", name,
			 (unsigned long long)bytes,
			 (unsigned long long)address);
}

gpumem_status gpu_fail(gpumem_status status, gpu_result result,
		       const char *sentence, ...)
{
	char text[512];
	va_list args;

	va_start(args, sentence);
	vsnprintf(text, sizeof(text), sentence, args);
	va_end(args);
	gpu.services->error(result, result ? gpu_error_name(result) : "", "%s",
			    text);
	return status;
}
