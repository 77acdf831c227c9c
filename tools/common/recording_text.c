/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See recording.h: the text that a REPORT holds in its VALUEs. */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

char *recording_text(const struct recording_event *event)
{
	uint64_t bytes = event->value[0];
	char *text;

	if (event->kind != GPUMEM_RECORD_REPORT || !event->behind_count ||
	    bytes > event->behind_count * sizeof(uint64_t))
		return NULL;
	text = malloc(event->behind_count * sizeof(uint64_t) + 1);
	if (!text)
		return NULL;
	for (size_t i = 0; i < event->behind_count; i++) {
		struct gpumem_record_event piece;

		memcpy(&piece, event->behind + i * sizeof(piece),
		       sizeof(piece));
		memcpy(text + i * sizeof(piece.value), &piece.value,
		       sizeof(piece.value));
	}
	text[bytes] = '\0';
	return text;
}
