/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's hook. While one is set, no thread uses its cache without the
 * heap's mutex (struct gm_caches, gated): so every block passes the slow path,
 * in alloc.c and free.c, which calls it with the mutex held. The hot path knows
 * nothing of it: it finds its cache claimed.
 */
#include "heap.h"
#include "extent/map.h"

void gm_hook_set(struct gm_heap *heap, const struct gm_hook *hook)
{
	gm_heap_stop(heap);
	heap->policy->hook = *hook;
	gm_heap_gate(heap);
	gm_heap_go(heap);
}

struct gpumem_hook_event gm_hook_event(uintptr_t address, gpumem_hook_kind kind,
				       gpumem_stream stream)
{
	uintptr_t entry = gm_map_get(address);
	const struct gm_slab *slab = gm_slab_of_entry(entry);
	const struct gm_extent *extent = (const struct gm_extent *)entry;
	struct gpumem_hook_event event = {
		.size = sizeof(event),
		.kind = kind,
		.ptr = (void *)address,
		.stream = stream == &gm_stream_gone ? NULL : stream};

	if (slab) {
		uint32_t slot = gm_class_slot(&slab->class,
					      gm_entry_offset(entry, address));

		event.requested_bytes =
			gm_mark_bytes(atomic_load(gm_slab_mark(slab, slot)));
		event.bytes = slab->class.bytes;
	} else {
		event.requested_bytes = extent->requested;
		event.bytes = extent->bytes;
	}
	return event;
}

/* Where a block that begins comes from; NULL: that is not known. */
static const struct gm_stack *stack_of(const struct gm_heap *heap,
				       enum gpumem_record_kind kind,
				       uintptr_t address)
{
	const struct gm_track_entry *entry;

	if (!heap->policy->tracked ||
	    (kind != GPUMEM_RECORD_ALLOC && kind != GPUMEM_RECORD_LIVE))
		return NULL;
	entry = gm_track_find(&heap->policy->track, address);
	return entry ? entry->stack : NULL;
}

void gm_heap_record(const struct gm_heap *heap, enum gpumem_record_kind kind,
		    uint64_t time, uintptr_t address, uint64_t bytes,
		    uint32_t tag, gpumem_stream stream)
{
	const struct gm_record_block block = {
		.time = time,
		.address = address,
		.bytes = bytes,
		.stream = stream == &gm_stream_gone ? NULL : stream,
		.pool = heap->record,
		.tag = (uint16_t)tag,
		.kind = (uint8_t)kind};
	const struct gm_stack *stack = stack_of(heap, kind, address);

	if (stack)
		gm_record_block_with_stack(&block, stack);
	else
		gm_record_block(&block);
}

void gm_heap_record_alloc(const struct gm_heap *heap,
			  const struct gm_request *request, uintptr_t address,
			  enum gpumem_served served)
{
	uint64_t time = gm_record_now_after();

	if (served)
		gm_record_served(time, heap->record, request->stream, served);
	gm_heap_record(heap, GPUMEM_RECORD_ALLOC, time, address, request->bytes,
		       request->tag, request->stream);
}

void gm_hook_call(const struct gm_heap *heap,
		  const struct gpumem_hook_event *event)
{
	const struct gm_hook *hook = &heap->policy->hook;

	hook->fn(hook->pool, event, hook->user);
}

void gm_hook_tell(struct gm_heap *heap, uintptr_t address,
		  gpumem_hook_kind kind, gpumem_stream stream)
{
	struct gpumem_hook_event event = gm_hook_event(address, kind, stream);

	gm_hook_call(heap, &event);
}
