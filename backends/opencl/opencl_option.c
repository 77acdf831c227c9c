/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The values of the backend's options, which the core has checked for their
 * kinds. Keeps nothing; nobody locks.
 */
#include "opencl_plugin.h"

#include <string.h>

#define LETTERS "kmgtpe"

static const char *take_digits(const char *at, uint64_t *number,
			       uint64_t *scale)
{
	for (; *at >= '0' && *at <= '9'; at++) {
		*number = 10 * *number + (uint64_t)(*at - '0');
		*scale *= 10;
	}
	return at;
}

/* "4096", "64KiB", "1.5GiB". strtod() would read it as the locale has it. */
uint64_t gm_opencl_option_capacity(void)
{
	uint64_t whole = 0, part = 0, scale = 1, unused = 1;
	const char *letter, *at;
	char text[64] = "0";
	int shift = 0;

	gm_opencl.services->option("opencl.capacity", text, sizeof(text));
	at = take_digits(text, &whole, &unused);
	if (*at == '.')
		at = take_digits(at + 1, &part, &scale);
	letter = *at ? strchr(LETTERS, *at | 0x20) : NULL;
	if (letter)
		shift = 10 * (int)(letter - LETTERS + 1);
	return (whole << shift) + (uint64_t)((double)part / (double)scale *
					     (double)(UINT64_C(1) << shift));
}

gpumem_status gm_opencl_option_memory(enum opencl_wish *wish_out)
{
	static const char *const names[] = {
		[OPENCL_WISH_AUTO] = "auto",
		[OPENCL_WISH_BUFFER] = "buffer",
		[OPENCL_WISH_SVM] = "svm",
		[OPENCL_WISH_USM] = "usm",
	};
	char text[32] = "";
	unsigned i;

	gm_opencl.services->option("opencl.memory", text, sizeof(text));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*wish_out = (enum opencl_wish)i;
			return GPUMEM_OK;
		}
	return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
			      "option opencl.memory is \"%s\", and has to be "
			      "auto, buffer, svm or usm",
			      text);
}
