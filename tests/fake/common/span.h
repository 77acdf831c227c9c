/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Things sorted by address, none of which overlap: pointers to structs that
 * begin with a span. The caller locks.
 */
#ifndef GPUMEM_TESTS_FAKE_SPAN_H
#define GPUMEM_TESTS_FAKE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_span {
	uint64_t start, bytes;
};

struct fake_spans {
	void **items;
	size_t count, room;
};

/* False: no memory. */
bool fake_spans_add(struct fake_spans *spans, void *item);
void fake_spans_remove(struct fake_spans *spans, const void *item);
/* The one that holds the address, or NULL. */
void *fake_spans_find(const struct fake_spans *spans, uint64_t address);
/* The index of the first that ends after the address. */
size_t fake_spans_after(const struct fake_spans *spans, uint64_t address);
/* How many, from that of index *first_out on, make up exactly these addresses;
 * 0: none do. */
size_t fake_spans_exactly(const struct fake_spans *spans, uint64_t start,
			  uint64_t bytes, size_t *first_out);

#endif
