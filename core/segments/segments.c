/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The model of segments: what they come to, their end, their check, and the
 * table. See segments.h. */
#include "segments.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/option.h"
#include "extent/check.h"

static void init(struct gm_heap *heap)
{
	heap->space->budget.segment_wait_ns =
		gm_ns_of_ms(gm_option_count(GM_COUNT_segment_wait_ms));
}

static gpumem_status start(struct gm_heap *heap)
{
	(void)heap;
	return GPUMEM_OK;
}

static void end(struct gm_heap *heap, struct gm_first *first)
{
	const struct gm_span *span = heap->spans.first;

	for (; span; span = span->next)
		gm_first_keep(first,
			      gm_driver_free(&heap->driver, span->address,
					     span->bytes));
}

static uint64_t need(const struct gm_heap *heap, uint64_t bytes)
{
	const struct gm_class *class;

	if (bytes > GM_SMALL_MAX)
		return gm_segment_least(heap, bytes, heap->unit);
	class = &heap->classes.of[gm_class_of(&heap->classes, bytes)];
	return gm_segment_least(heap, class->run_bytes, GM_RUN_UNIT);
}

static bool gather(const struct gm_transfer *transfer, bool grows)
{
	(void)grows;
	return gm_segment_transfer(transfer);
}

static uint64_t whole_bytes(const struct gm_heap *heap)
{
	const struct gm_span *span = heap->spans.first;
	uint64_t bytes = 0;

	for (; span; span = span->next)
		if (gm_segment_whole(span))
			bytes += span->bytes;
	return bytes;
}

static uint64_t completed_bytes(const struct gm_heap *heap)
{
	const struct gm_span *span = heap->spans.first;
	uint64_t bytes = 0;

	for (; span; span = span->next)
		if (gm_segment_completed(span))
			bytes += span->bytes;
	return bytes;
}

static uint64_t busy_bytes(const struct gm_heap *heap)
{
	return whole_bytes(heap) - completed_bytes(heap);
}

static uint64_t rest_bytes(const struct gm_heap *heap)
{
	const struct gm_span *span = heap->spans.first;
	uint64_t bytes = 0;

	for (; span; span = span->next)
		bytes += gm_segment_slack(heap, span);
	return bytes;
}

/* The largest block in what the driver gives for so many bytes. */
static uint64_t block_in(const struct gm_heap *heap, uint64_t bytes)
{
	const struct gpumem_device *device = heap->driver.device;
	uint64_t extra = device->raw_alignment < heap->unit ? heap->unit : 0;

	if (bytes > heap->capacity_bytes)
		bytes = heap->capacity_bytes;
	if (bytes > heap->max_alloc_bytes)
		bytes = heap->max_alloc_bytes;
	bytes -= bytes % device->info.granularity_bytes;
	if (bytes <= extra)
		return 0;
	bytes -= extra;
	return bytes - bytes % heap->unit;
}

static uint64_t most_bytes(const struct gm_heap *heap)
{
	return block_in(heap, gm_limit_hard(heap));
}

static uint64_t now_bytes(struct gm_heap *heap,
			  const struct gm_attempt *attempt,
			  gpumem_stream stream, uint64_t driver_bytes)
{
	uint64_t bytes = 0;

	if (!gm_capture_would_forbid(heap, attempt, stream))
		bytes = completed_bytes(heap);
	return block_in(heap, gm_limit_beside(heap, bytes, driver_bytes));
}

static struct gm_unit unit(const struct gm_heap *heap,
			   const struct gm_span *span, uintptr_t address)
{
	(void)heap;
	(void)address;
	return (struct gm_unit){.address = span->address, .bytes = span->bytes};
}

/* A segment is mapped by the driver, and moves nowhere. */
void gm_segment_record(const struct gm_heap *heap, const struct gm_span *span)
{
	GM_RECORD(heap->record, GPUMEM_RECORD_MAP, span->address, span->bytes,
		  0, 0);
}

void gm_segment_record_end(const struct gm_heap *heap,
			   const struct gm_span *span)
{
	GM_RECORD(heap->record, GPUMEM_RECORD_UNMAP, span->address,
		  span->bytes);
}

static void record(const struct gm_heap *heap)
{
	const struct gm_span *span = heap->spans.first;

	for (; span; span = span->next)
		gm_segment_record(heap, span);
}

static void mapped(const struct gm_heap *heap,
		   void (*fn)(uintptr_t address, uint64_t bytes, void *user),
		   void *user)
{
	const struct gm_span *span = heap->spans.first;

	for (; span; span = span->next)
		fn(span->address, span->bytes, user);
}

static bool pin(struct gm_heap *heap, uintptr_t address, size_t bytes,
		bool pinned)
{
	struct gm_span *span =
		heap->spans.first ? gm_span_of(&heap->spans, address) : NULL;

	if (!span || address - span->address >= span->bytes ||
	    bytes > span->bytes - (address - span->address))
		return false;
	span->pinned = pinned;
	return true;
}

static gpumem_status open(struct gm_heap *heap, struct gpumem_device *peer)
{
	return gm_device_peer_enable(heap->driver.device, peer);
}

static gpumem_status check_free(const struct gm_heap *heap,
				const struct gm_extent *extent,
				struct gm_tally *tally)
{
	const struct gm_span *span = gm_span_of(&heap->spans, extent->address);

	if (extent->arena->graph) {
		tally->graph_bytes += extent->bytes;
	} else if (gm_segment_whole(span)) {
		/* The ends are among the parts of all (rest_bytes). */
		tally->whole_bytes += span->bytes;
		tally->handle_part_bytes -= gm_segment_slack(heap, span);
	} else {
		tally->handle_part_bytes += extent->bytes;
	}
	return GPUMEM_OK;
}

static gpumem_status check(const struct gm_heap *heap,
			   const struct gm_tally *tally)
{
	const struct gm_span *span = heap->spans.first;
	uint64_t bytes = heap->space->releasing_bytes;

	(void)tally;
	for (; span; span = span->next)
		bytes += span->bytes;
	EXPECT(bytes == heap->counters.reserved.current,
	       "segments of %llu bytes, but %llu reserved",
	       (unsigned long long)bytes,
	       (unsigned long long)heap->counters.reserved.current);
	return GPUMEM_OK;
}

/* Nothing goes before a trim. */
const struct gm_model gm_segments = {
	.with = GM_WITH_SEGMENTS,
	.waste = GM_PERCENT_segment_waste,
	.waste_max = GM_PERCENT_segment_waste,
	.init = init,
	.start = start,
	.end = end,
	.need = need,
	.grow = gm_segment_grow,
	.gather = gather,
	.settle = start,
	.release = gm_segment_release,
	.whole_bytes = whole_bytes,
	.busy_bytes = busy_bytes,
	.rest_bytes = rest_bytes,
	.most_bytes = most_bytes,
	.now_bytes = now_bytes,
	.unit = unit,
	.record = record,
	.mapped = mapped,
	.pin = pin,
	.open = open,
	.check_free = check_free,
	.check = check,
};
