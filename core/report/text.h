/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A sentence that is put together piece by piece in a buffer of the caller's;
 * what does not fit is left out. No lock, no memory. */
#ifndef GM_REPORT_TEXT_H
#define GM_REPORT_TEXT_H

#include <gpumem/backend.h>

struct gm_text {
	char *at;
	size_t room; /* with the NUL that is at `at` */
};

void gm_text_say(struct gm_text *text, const char *format, ...)
	GPUMEM_PRINTF(2, 3);
/* "1.50 GiB", behind what is before it. */
void gm_text_say_bytes(struct gm_text *text, const char *before,
		       uint64_t bytes);

#endif
