/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An array of pointers, searched by halves.
 */
#include "span.h"

#include <stdlib.h>
#include <string.h>

size_t fake_spans_after(const struct fake_spans *spans, uint64_t address)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct fake_span *span = spans->items[middle];

		if (span->start + span->bytes > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool fake_spans_add(struct fake_spans *spans, void *item)
{
	const struct fake_span *span = item;
	size_t at = fake_spans_after(spans, span->start);

	if (spans->count == spans->room) {
		size_t room = spans->room ? spans->room * 2 : 64;
		void **items = realloc(spans->items, room * sizeof(*items));

		if (!items)
			return false;
		spans->items = items;
		spans->room = room;
	}
	memmove(spans->items + at + 1, spans->items + at,
		(spans->count - at) * sizeof(void *));
	spans->items[at] = item;
	spans->count++;
	return true;
}

void fake_spans_remove(struct fake_spans *spans, const void *item)
{
	const struct fake_span *span = item;
	size_t at = fake_spans_after(spans, span->start);

	spans->count--;
	memmove(spans->items + at, spans->items + at + 1,
		(spans->count - at) * sizeof(void *));
}

void *fake_spans_find(const struct fake_spans *spans, uint64_t address)
{
	size_t at = fake_spans_after(spans, address);
	struct fake_span *span;

	if (at == spans->count)
		return NULL;
	span = spans->items[at];
	return span->start <= address ? span : NULL;
}

size_t fake_spans_exactly(const struct fake_spans *spans, uint64_t start,
			  uint64_t bytes, size_t *first_out)
{
	uint64_t here = start, end = start + bytes;
	size_t i = fake_spans_after(spans, start);

	*first_out = i;
	for (; here < end && i < spans->count; i++) {
		const struct fake_span *span = spans->items[i];

		if (span->start != here)
			return 0;
		here += span->bytes;
	}
	return here == end ? i - *first_out : 0;
}
