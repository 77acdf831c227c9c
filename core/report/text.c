/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See text.h. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

void gm_text_say(struct gm_text *text, const char *format, ...)
{
	va_list args;
	int written;

	va_start(args, format);
	written = vsnprintf(text->at, text->room, format, args);
	va_end(args);
	if (written < 0)
		return;
	if ((size_t)written >= text->room)
		written = (int)text->room - 1;
	text->at += written;
	text->room -= (size_t)written;
}

void gm_text_say_bytes(struct gm_text *text, const char *before, uint64_t bytes)
{
	static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes;
	unsigned i = 0;

	for (; value >= 1024 && i < 4; i++)
		value /= 1024;
	gm_text_say(text, i ? "%s%.2f %s" : "%s%.0f %s", before, value,
		    unit[i]);
}
