/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See ranges.h. */
#include "space.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void call(const struct gm_range_hook *hook, gpumem_range_kind kind,
		 uintptr_t address, uint64_t bytes)
{
	const struct gpumem_range range = {.size = sizeof(range),
					   .kind = kind,
					   .ptr = (void *)address,
					   .bytes = bytes};

	hook->fn(hook->pool, &range, hook->user);
}

void gm_ranges_tell(const struct gm_heap *heap, gpumem_range_kind kind,
		    uintptr_t address, uint64_t bytes)
{
	const struct gm_ranges *ranges = &heap->space->ranges;

	for (size_t i = 0; i < ranges->hook_count; i++)
		call(&ranges->hooks[i], kind, address, bytes);
}

static void tell_one(uintptr_t address, uint64_t bytes, void *user)
{
	call(user, GPUMEM_RANGE_MAPPED, address, bytes);
}

gpumem_status gm_ranges_add(struct gm_heap *heap,
			    const struct gm_range_hook *hook)
{
	struct gm_ranges *ranges = &heap->space->ranges;
	struct gm_range_hook *more = realloc(
		ranges->hooks, (ranges->hook_count + 1) * sizeof(*more));

	if (!more)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a hook of ranges");
	ranges->hooks = more;
	more[ranges->hook_count++] = *hook;
	heap->space->model->mapped(heap, tell_one, (void *)(uintptr_t)hook);
	return GPUMEM_OK;
}

gpumem_status gm_ranges_remove(struct gm_heap *heap,
			       const struct gm_range_hook *hook)
{
	struct gm_ranges *ranges = &heap->space->ranges;

	for (size_t i = 0; i < ranges->hook_count; i++) {
		struct gm_range_hook *at = &ranges->hooks[i];

		if (at->fn != hook->fn || at->user != hook->user)
			continue;
		memmove(at, at + 1, (--ranges->hook_count - i) * sizeof(*at));
		return GPUMEM_OK;
	}
	return gm_fail(GPUMEM_NOT_FOUND, "no such hook of ranges");
}

/* For the pages of all spans. */
static bool make_room(struct gm_heap *heap)
{
	struct gm_ranges *ranges = &heap->space->ranges;
	size_t count = heap->spans.page_count;
	bool *more;

	if (count <= ranges->page_room)
		return true;
	more = calloc(count, sizeof(*more));
	if (!more)
		return false;
	if (ranges->page_room)
		memcpy(more, ranges->page, ranges->page_room * sizeof(*more));
	free(ranges->page);
	ranges->page = more;
	ranges->page_room = count;
	return true;
}

gpumem_status gm_ranges_pin(struct gm_heap *heap,
			    const struct gm_range_pin *pin)
{
	struct gm_ranges *ranges = &heap->space->ranges;
	struct gm_range_pin *more =
		realloc(ranges->pins, (ranges->pin_count + 1) * sizeof(*more));

	if (more)
		ranges->pins = more;
	if (!more || !make_room(heap))
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a pinned range");
	if (!heap->space->model->pin(heap, pin->address, pin->bytes, true))
		return gm_fail(GPUMEM_BAD_POINTER,
			       "%zu bytes at %#zx are not memory of the pool, "
			       "or are about to go: pin a live block, or again "
			       "once a hook has told that they are mapped",
			       pin->bytes, pin->address);
	more[ranges->pin_count++] = *pin;
	return GPUMEM_OK;
}

static bool are_same(const struct gm_range_pin *a, const struct gm_range_pin *b)
{
	return a->address == b->address && a->bytes == b->bytes &&
	       !strcmp(a->name, b->name);
}

/* Others may have pinned parts of it. */
gpumem_status gm_ranges_unpin(struct gm_heap *heap,
			      const struct gm_range_pin *pin)
{
	struct gm_ranges *ranges = &heap->space->ranges;
	const struct gm_model *model = heap->space->model;
	struct gm_range_pin *at = ranges->pins;
	struct gm_range_pin *end = at + ranges->pin_count;

	while (at < end && !are_same(at, pin))
		at++;
	if (at == end)
		return gm_fail(GPUMEM_NOT_FOUND,
			       "\"%s\" has not pinned %zu bytes at %#zx",
			       pin->name, pin->bytes, pin->address);
	*at = *--end;
	ranges->pin_count--;
	(void)model->pin(heap, pin->address, pin->bytes, false);
	for (at = ranges->pins; at < end; at++)
		(void)model->pin(heap, at->address, at->bytes, true);
	return GPUMEM_OK;
}

const char *gm_ranges_pinned(const struct gm_heap *heap, uintptr_t address,
			     uint64_t bytes)
{
	const struct gm_ranges *ranges = &heap->space->ranges;

	for (size_t i = 0; i < ranges->pin_count; i++) {
		const struct gm_range_pin *pin = &ranges->pins[i];

		if (pin->address < address + bytes &&
		    address < pin->address + pin->bytes)
			return pin->name;
	}
	return NULL;
}

static void tell_end(uintptr_t address, uint64_t bytes, void *user)
{
	gm_ranges_tell(user, GPUMEM_RANGE_UNMAPPING, address, bytes);
}

void gm_ranges_end(struct gm_heap *heap)
{
	struct gm_ranges *ranges = &heap->space->ranges;

	if (ranges->hook_count)
		heap->space->model->mapped(heap, tell_end, heap);
	free(ranges->hooks);
	free(ranges->pins);
	free(ranges->page);
	*ranges = (struct gm_ranges){0};
}
