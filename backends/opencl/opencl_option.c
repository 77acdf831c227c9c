/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The values of the backend's options, which the core has checked for their
 * kinds. Keeps nothing; no locks.
 */
#include "opencl_plugin.h"

#include <string.h>

static const char *take_digits(const char *at, uint64_t *number,
			       uint64_t *scale)
{
	for (; *at >= '0' && *at <= '9'; at++) {
		*number = 10 * *number + (uint64_t)(*at - '0');
		*scale *= 10;
	}
	return at;
}

/* A number of bytes, or a percentage. strtod() would read that as the locale
 * has it. */
uint64_t gm_opencl_option_capacity(uint64_t total_bytes)
{
	uint64_t whole = 0, part = 0, scale = 1, unused = 1;
	char text[64] = "0";
	double bytes;
	const char *at;

	gm_opencl.services->option("opencl.capacity", text, sizeof(text));
	at = take_digits(text, &whole, &unused);
	if (!*at)
		return whole;
	if (*at == '.')
		take_digits(at + 1, &part, &scale);
	/* In this order: a hundredth of most totals is no double. */
	bytes = (double)total_bytes *
		((double)whole + (double)part / (double)scale) / 100;
	return bytes < 1 ? 1 : (uint64_t)bytes;
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
