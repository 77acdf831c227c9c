/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Addresses for the pages of heaps. A heap's first span has as many as the heap
 * will ever need, so that moving pages never runs out of them, as long as few
 * heaps do that: each gets a part of what all those before it have left of the
 * process's budget (extent/addresses.h), and a page at least. When a span has
 * no room for a request, another is added that doubles what there is, or less
 * if the budget is used up, but always what the request needs. See space.h.
 */
#include "handle.h"
#include "extent/addresses.h"
#include "base/error.h"
#include "base/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Addresses per byte of memory: at most 18 were used by any recorded program.
 */
enum { SPACE_FACTOR = 32 };

/* Where the system has little it is tried with half as much, down to this. */
static const uint64_t span_least = 64ull << 20;

/* Half of what the map of addresses can hold. */
static const uint64_t space_most = 1ull << (GM_ADDRESS_BITS - 1);

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Half as much each time the system says no, down to `least`. */
static gpumem_status reserve(struct gm_heap *heap, uint64_t least,
			     uint64_t *bytes, uint64_t *address_out)
{
	for (;; *bytes /= 2) {
		uint64_t alignment;
		gpumem_status status;

		*bytes = round_up(most_of(*bytes, least), heap->page_bytes);
		alignment = 1ull << (63 - __builtin_clzll(*bytes));
		alignment = least_of(alignment, GM_SPAN_ALIGNMENT);
		status = gm_driver_va_reserve(&heap->driver, *bytes, alignment,
					      address_out);
		if (status == GPUMEM_OK)
			gm_addresses_add(*bytes);
		if (status == GPUMEM_OK || status == GPUMEM_LOST ||
		    *bytes <= least)
			return status;
	}
}

gpumem_status gm_range_release(struct gm_heap *heap, const struct gm_span *span)
{
	gpumem_status status =
		gm_driver_va_release(&heap->driver, span->address, span->bytes);

	if (status == GPUMEM_OK)
		gm_addresses_sub(span->bytes);
	return status;
}

/* With one reserved node. */
static void add_span(struct gm_heap *heap, struct gm_span *span)
{
	span->first = gm_nodes_take(&heap->nodes);
	span->first->address = span->address;
	span->first->bytes = span->bytes;
	gm_hole_insert(heap, span->first);
	gm_span_link(&heap->spans, span);
	heap->space->span_bytes += span->bytes;
}

/* No addresses, and what can be done; the driver's own number and name stay
 * with the error. To a heap that has some it is an out of memory like any
 * other. Any other failure is as it was. */
static gpumem_status explain(const struct gm_heap *heap, gpumem_status status,
			     uint64_t least)
{
	struct gpumem_error cause = {.size = sizeof(cause)};
	uint64_t limit = gm_addresses_limit();
	char raise[128] = "", text[sizeof(cause.text)];

	if (status != GPUMEM_NO_MEMORY && status != GPUMEM_NO_HOST_MEMORY)
		return status;
	if (heap->spans.first)
		status = GPUMEM_NO_MEMORY;
	gm_error_get(&cause);
	if (limit != UINT64_MAX)
		snprintf(raise, sizeof(raise),
			 "raise the process's limit of %llu (ulimit -v, "
			 "RLIMIT_AS), ",
			 (unsigned long long)limit);
	snprintf(text, sizeof(text),
		 "%.600s; the pool needs a range of %llu bytes of addresses: "
		 "%sdestroy pools that are not needed, or do without virtual "
		 "memory (GPUMEM_CONF=vm:off)",
		 cause.text, (unsigned long long)least, raise);
	memcpy(cause.text, text, sizeof(text));
	cause.status = status;
	gm_error_set(&cause);
	return status;
}

/* A span of `bytes`, or of fewer, but not of fewer than `least`, which is whole
 * pages. */
static gpumem_status create_span(struct gm_heap *heap, uint64_t bytes,
				 uint64_t least)
{
	struct gm_span *span = calloc(1, sizeof(*span));
	size_t first_page = heap->spans.page_count;
	gpumem_status status;
	uint64_t address;

	if (!span || gm_nodes_reserve(&heap->nodes, 1) != GPUMEM_OK) {
		status = gm_fail(GPUMEM_NO_HOST_MEMORY,
				 "no host memory for a span of addresses");
		goto free_span;
	}
	status = explain(heap, reserve(heap, least, &bytes, &address), least);
	if (status != GPUMEM_OK)
		goto free_span;
	*span = (struct gm_span){.address = (uintptr_t)address,
				 .bytes = bytes,
				 .first_page = first_page};
	if (!gm_spans_extend_table(&heap->spans, bytes / heap->page_bytes)) {
		(void)gm_range_release(heap, span);
		status = gm_fail(GPUMEM_NO_HOST_MEMORY,
				 "no host memory for the table of pages");
		goto free_span;
	}
	add_span(heap, span);
	return GPUMEM_OK;

free_span:
	free(span);
	return status;
}

gpumem_status gm_range_start(struct gm_heap *heap)
{
	uint64_t asked = gm_option_bytes(GM_BYTES_space), bytes, least;

	bytes = asked ? asked
		      : SPACE_FACTOR * heap->driver.device->info.total_bytes;
	bytes = least_of(bytes, space_most);
	if (heap->page_bytes > bytes)
		return gm_fail(GPUMEM_INVALID,
			       "a page of %zu bytes is more than the pool's "
			       "addresses (option `space`)",
			       heap->page_bytes);
	heap->space->most_bytes =
		asked ? round_up(bytes, heap->page_bytes) : space_most;
	if (!asked)
		bytes = least_of(bytes, gm_addresses_share());
	bytes = most_of(bytes, heap->page_bytes);
	least = round_up(least_of(bytes, span_least), heap->page_bytes);
	return create_span(heap, bytes, least);
}

gpumem_status gm_range_extend(struct gm_heap *heap, size_t bytes,
			      size_t alignment)
{
	const struct gm_space *space = heap->space;
	uint64_t room = space->most_bytes - space->span_bytes, least, share;

	least = bytes <= heap->capacity_bytes
			? round_up(bytes, heap->page_bytes)
			: UINT64_MAX / 2;
	if (alignment > heap->page_bytes)
		least += alignment;
	if (least > room)
		return gm_fail(GPUMEM_NO_MEMORY,
			       "no range of %zu bytes is left among the %llu "
			       "bytes of addresses of the pool (option "
			       "`space`)",
			       bytes, (unsigned long long)space->span_bytes);
	share = most_of(gm_addresses_share(), span_least);
	return create_span(heap,
			   least_of(least_of(space->span_bytes, share), room),
			   least);
}
