/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A hash table with chains; see uses.h. */
#include "order.h"
#include "base/error.h"
#include "device/event.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 64 };

static size_t hash(const struct gm_uses *uses, uintptr_t key)
{
	uint64_t product = (uint64_t)key * 0x9e3779b97f4a7c15u;

	return (product >> 32) & (uses->bucket_count - 1);
}

static struct gm_use **bucket_of(const struct gm_uses *uses, uintptr_t address)
{
	return &uses->bucket[hash(uses, address)];
}

static struct gm_use **bucket_of_view(const struct gm_uses *uses,
				      const void *view)
{
	return &uses->bucket[uses->bucket_count + hash(uses, (uintptr_t)view)];
}

static void link_view(struct gm_uses *uses, struct gm_use *use)
{
	struct gm_use **link;

	if (!use->view)
		return;
	link = bucket_of_view(uses, use->view);
	use->next_by_view = *link;
	*link = use;
	uses->view_count++;
}

static void unlink_view(struct gm_uses *uses, struct gm_use *use)
{
	struct gm_use **link;

	if (!use->view)
		return;
	link = bucket_of_view(uses, use->view);
	while (*link != use)
		link = &(*link)->next_by_view;
	*link = use->next_by_view;
	uses->view_count--;
}

static struct gm_use **find(const struct gm_uses *uses, uintptr_t address)
{
	struct gm_use **link = bucket_of(uses, address);

	while (*link && (*link)->address != address)
		link = &(*link)->next;
	return link;
}

static gpumem_status out_of_memory(void)
{
	return gm_fail(GPUMEM_NO_HOST_MEMORY,
		       "no host memory for a block's stream uses");
}

/* Doubles the table when it is full; a table that is too full still works, so
 * only the first one must succeed. */
static gpumem_status grow(struct gm_uses *uses)
{
	struct gm_uses larger = {
		.bucket_count = uses->bucket_count ? uses->bucket_count * 2
						   : FIRST_BUCKETS};

	if (uses->count < uses->bucket_count)
		return GPUMEM_OK;
	larger.bucket = calloc(2 * larger.bucket_count, sizeof(*larger.bucket));
	if (!larger.bucket)
		return uses->bucket ? GPUMEM_OK : out_of_memory();
	for (size_t i = 0; i < uses->bucket_count; i++) {
		struct gm_use *use, *next;

		for (use = uses->bucket[i]; use; use = next) {
			next = use->next;
			gm_uses_put(&larger, use);
		}
	}
	free(uses->bucket);
	*uses = larger;
	return GPUMEM_OK;
}

void gm_uses_put(struct gm_uses *uses, struct gm_use *use)
{
	struct gm_use **link = bucket_of(uses, use->address);

	use->next = *link;
	*link = use;
	uses->count++;
	link_view(uses, use);
}

static bool is_same(const struct gm_wait *one, const struct gm_wait *other)
{
	return one->stream == other->stream && one->dropped == other->dropped &&
	       one->recording == other->recording;
}

static bool has(const struct gm_use *use, const struct gm_wait *wait)
{
	for (size_t i = 0; use && i < use->count; i++)
		if (is_same(&use->wait[i], wait))
			return true;
	return false;
}

/* The entry at a link with room for `count` waits, made when there is none;
 * NULL, and nothing has changed: no host memory. */
static struct gm_use *make_room(struct gm_uses *uses, struct gm_use **link,
				uintptr_t address, size_t count)
{
	struct gm_use *use;

	/* It may move. */
	if (*link)
		unlink_view(uses, *link);
	use = realloc(*link, sizeof(*use) + count * sizeof(use->wait[0]));
	if (use && !*link) {
		*use = (struct gm_use){.address = address};
		uses->count++;
	}
	if (use)
		*link = use;
	if (*link)
		link_view(uses, *link);
	return use;
}

/* *added_out: it was not there already. */
static gpumem_status add(struct gm_uses *uses, uintptr_t address,
			 const struct gm_wait *wait, bool *added_out)
{
	struct gm_use **link, *use;
	gpumem_status status = grow(uses);

	if (status != GPUMEM_OK)
		return status;
	link = find(uses, address);
	*added_out = !has(*link, wait);
	if (!*added_out)
		return GPUMEM_OK;
	use = make_room(uses, link, address, *link ? (*link)->count + 1 : 1);
	if (!use)
		return out_of_memory();
	use->wait[use->count++] = *wait;
	return GPUMEM_OK;
}

gpumem_status gm_uses_add(struct gm_uses *uses, uintptr_t address,
			  gpumem_stream stream)
{
	const struct gm_wait wait = {.stream = stream};
	bool added;

	return add(uses, address, &wait, &added);
}

gpumem_status gm_uses_until(struct gm_heap *heap, uintptr_t address,
			    struct gm_recording *recording, bool *waits_out)
{
	const struct gm_wait wait = {.event = recording->native,
				     .dropped = true,
				     .recording = recording};
	gpumem_status status;
	bool added = false;

	/* What cannot be asked now is asked by the next poll. */
	*waits_out = gm_driver_event_query(&heap->driver, recording->native) !=
		     GPUMEM_OK;
	if (!*waits_out)
		return GPUMEM_OK;
	status = add(&heap->order->uses, address, &wait, &added);
	if (status == GPUMEM_OK && added)
		gm_recording_keep(recording);
	return status;
}

void gm_wait_end(struct gm_heap *heap, struct gm_wait *wait)
{
	if (wait->recording)
		(void)gm_recording_drop(wait->recording);
	else if (wait->event)
		gm_events_give(heap, wait->event);
	wait->event = NULL;
	wait->recording = NULL;
}

gpumem_status gm_uses_of(struct gm_uses *uses, uintptr_t address,
			 struct gm_use **use_out)
{
	struct gm_use **link;
	gpumem_status status = grow(uses);

	if (status != GPUMEM_OK)
		return status;
	link = find(uses, address);
	if (!*link && !make_room(uses, link, address, 0))
		return out_of_memory();
	*use_out = *link;
	return GPUMEM_OK;
}

struct gm_use *gm_uses_find(const struct gm_uses *uses, uintptr_t address)
{
	return uses->bucket_count ? *find(uses, address) : NULL;
}

struct gm_use *gm_uses_take(struct gm_uses *uses, uintptr_t address)
{
	struct gm_use **link, *use;

	if (!uses->bucket_count)
		return NULL;
	link = find(uses, address);
	use = *link;
	if (use) {
		*link = use->next;
		uses->count--;
		unlink_view(uses, use);
	}
	return use;
}

struct gm_use *gm_uses_find_view(const struct gm_uses *uses, const void *view)
{
	struct gm_use *use;

	if (!uses->view_count)
		return NULL;
	use = *bucket_of_view(uses, view);
	while (use && use->view != view)
		use = use->next_by_view;
	return use;
}

void gm_uses_set_view(struct gm_uses *uses, struct gm_use *use, void *view)
{
	unlink_view(uses, use);
	use->view = view;
	link_view(uses, use);
}

static gpumem_status drop(struct gm_heap *heap, struct gm_use *use,
			  gpumem_stream stream)
{
	for (size_t i = 0; i < use->count; i++) {
		struct gm_wait *wait = &use->wait[i];
		gpumem_status status;

		if (wait->stream != stream || wait->dropped)
			continue;
		status = gm_events_record(heap, stream, &wait->event);
		if (status != GPUMEM_OK)
			return status;
		wait->dropped = true;
	}
	return GPUMEM_OK;
}

gpumem_status gm_uses_drop(struct gm_heap *heap, gpumem_stream stream)
{
	struct gm_uses *uses = &heap->order->uses;
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < uses->bucket_count && status == GPUMEM_OK; i++) {
		struct gm_use *use = uses->bucket[i];

		for (; use && status == GPUMEM_OK; use = use->next)
			status = drop(heap, use, stream);
	}
	return status;
}

gpumem_status gm_uses_each_view(struct gm_heap *heap,
				gpumem_status (*fn)(struct gm_heap *heap,
						    struct gm_use *use,
						    void *user),
				void *user)
{
	const struct gm_uses *uses = &heap->order->uses;
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < uses->bucket_count && status == GPUMEM_OK; i++) {
		struct gm_use *use = uses->bucket[i];

		for (; use && status == GPUMEM_OK; use = use->next)
			if (use->view)
				status = fn(heap, use, user);
	}
	return status;
}

static void forget(struct gm_heap *heap, struct gm_use *use)
{
	for (size_t i = 0; i < use->count; i++)
		gm_wait_end(heap, &use->wait[i]);
	free(use);
}

void gm_uses_fini(struct gm_heap *heap)
{
	struct gm_uses *uses = &heap->order->uses;

	for (size_t i = 0; i < uses->bucket_count; i++) {
		while (uses->bucket[i]) {
			struct gm_use *next = uses->bucket[i]->next;

			forget(heap, uses->bucket[i]);
			uses->bucket[i] = next;
		}
	}
	free(uses->bucket);
	*uses = (struct gm_uses){0};
}
