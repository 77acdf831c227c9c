/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which other streams' work a stream comes after, and what is known to be over
 * when its own is. See struct gm_follows in arena.h.
 */
#include "order.h"

#include <stdlib.h>

bool gm_arena_follows(const struct gm_arena *arena, const struct gm_arena *of,
		      uint64_t seqno)
{
	const struct gm_clock *now =
		arena->follows ? &arena->follows->now : NULL;

	for (unsigned i = 0; now && i < now->count; i++)
		if (now->follow[i].of == of)
			return seqno <= now->follow[i].seqno;
	return false;
}

static bool is_over(const struct gm_follow *follow)
{
	return gm_arena_completed(follow->of, follow->seqno);
}

/* Its place, or a new one, or that of one which is over. NULL: there is none.
 */
static struct gm_follow *place_of(struct gm_clock *clock,
				  const struct gm_arena *of)
{
	struct gm_follow *over = NULL;

	for (unsigned i = 0; i < clock->count; i++) {
		if (clock->follow[i].of == of)
			return &clock->follow[i];
		if (is_over(&clock->follow[i]))
			over = &clock->follow[i];
	}
	if (!over && clock->count < GM_FOLLOWS)
		over = &clock->follow[clock->count++];
	if (over)
		*over = (struct gm_follow){0};
	return over;
}

static bool add(struct gm_clock *clock, const struct gm_follow *follow)
{
	struct gm_follow *place;

	if (is_over(follow))
		return true;
	place = place_of(clock, follow->of);
	if (place && place->seqno < follow->seqno)
		*place = *follow;
	return place;
}

static const struct gm_clock *clock_of(const struct gm_arena *arena,
				       const struct gm_fence *fence)
{
	return &arena->follows->of_fence[fence - arena->fence];
}

/* What the arena comes after when it comes after that number of the other,
 * which came after what its clock says. */
static bool add_all(struct gm_clock *clock, const struct gm_arena *arena,
		    struct gm_arena *of, uint64_t seqno,
		    const struct gm_clock *its)
{
	const struct gm_follow latest = {.of = of, .seqno = seqno};
	bool room = add(clock, &latest);

	for (unsigned i = 0; room && its && i < its->count; i++)
		room = its->follow[i].of == arena ||
		       add(clock, &its->follow[i]);
	return room;
}

/* Its clock then; false: it would come after too many, or no host memory. */
static bool clock_after(struct gm_arena *arena, struct gm_arena *of,
			uint64_t seqno, const struct gm_clock *its,
			struct gm_clock *clock_out)
{
	if (!arena->follows)
		arena->follows = calloc(1, sizeof(*arena->follows));
	if (!arena->follows)
		return false;
	*clock_out = arena->follows->now;
	return add_all(clock_out, arena, of, seqno, its);
}

static void set_clock(struct gm_arena *arena, const struct gm_clock *clock)
{
	arena->follows->now = *clock;
	for (unsigned i = 0; i < clock->count; i++)
		clock->follow[i].of->followed = true;
}

bool gm_follow_wait(struct gm_arena *arena, struct gm_arena *of,
		    const struct gm_fence *fence)
{
	struct gm_clock clock;

	if (!clock_after(arena, of, fence->seqno,
			 of->follows ? clock_of(of, fence) : NULL, &clock) ||
	    gm_stream_wait(arena->heap->driver.device, arena->stream,
			   fence->event) != GPUMEM_OK)
		return false;
	set_clock(arena, &clock);
	return true;
}

bool gm_follow_number(struct gm_arena *arena, struct gm_arena *of,
		      uint64_t seqno, uint64_t *seqno_out)
{
	struct gm_clock clock;

	*seqno_out = seqno;
	if (arena == of)
		return true;
	if (gm_arena_completed(of, seqno)) {
		if (seqno > arena->completed)
			*seqno_out = arena->completed;
		return true;
	}
	if (!clock_after(arena, of, seqno,
			 of->follows ? &of->follows->now : NULL, &clock))
		return false;
	set_clock(arena, &clock);
	arena->idle = false;
	*seqno_out = arena->seqno = ++arena->heap->seqno;
	return true;
}

void gm_follow_record(struct gm_arena *arena, const struct gm_fence *fence)
{
	if (arena->follows)
		arena->follows->of_fence[fence - arena->fence] =
			arena->follows->now;
}

static void complete(const struct gm_clock *clock)
{
	for (unsigned i = 0; i < clock->count; i++)
		if (!is_over(&clock->follow[i]))
			gm_arena_complete(clock->follow[i].of,
					  clock->follow[i].seqno);
}

void gm_follow_complete(struct gm_arena *arena, const struct gm_fence *fence)
{
	if (arena->follows)
		complete(clock_of(arena, fence));
}

void gm_follow_complete_all(struct gm_arena *arena)
{
	if (arena->follows)
		complete(&arena->follows->now);
}

static void forget(struct gm_clock *clock, const struct gm_arena *of)
{
	for (unsigned i = 0; i < clock->count;)
		if (clock->follow[i].of == of)
			clock->follow[i] = clock->follow[--clock->count];
		else
			i++;
}

void gm_follow_fini(struct gm_arena *arena)
{
	struct gm_heap *heap = arena->heap;
	struct gm_arena *other = arena->followed ? gm_arena_first(heap) : NULL;

	for (; other; other = gm_arena_after(heap, other)) {
		if (!other->follows)
			continue;
		forget(&other->follows->now, arena);
		for (unsigned i = 0; i < GM_FENCES; i++)
			forget(&other->follows->of_fence[i], arena);
	}
	free(arena->follows);
}
