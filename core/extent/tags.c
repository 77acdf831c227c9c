/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What blocks have by tag; see tags.h. */
#include "tags.h"
#include "base/fork.h"

struct gm_tags *gm_tags_new(void)
{
	return gm_fork_private(sizeof(struct gm_tags));
}

void gm_tags_end(struct gm_tags *tags)
{
	gm_fork_private_free(tags, sizeof(*tags));
}

struct gm_tag_deltas *gm_tag_deltas_new(void)
{
	return gm_fork_private(sizeof(struct gm_tag_deltas));
}

void gm_tag_deltas_end(struct gm_tag_deltas *deltas)
{
	gm_fork_private_free(deltas, sizeof(*deltas));
}

uint64_t gm_tags_host_bytes(void)
{
	return atomic_load(&gm_tag_count) * sizeof(struct gm_tag);
}

uint64_t gm_tag_deltas_host_bytes(void)
{
	return atomic_load(&gm_tag_count) *
	       (sizeof(struct gm_tag_delta) + sizeof(uint16_t));
}

static void fold_gauge(struct gm_gauge *gauge, struct gm_delta *delta,
		       _Atomic int64_t *above)
{
	struct gm_delta sum = {0};

	gm_delta_take(&sum, delta, above);
	gm_gauge_note(gauge, (int64_t)gauge->current + sum.high,
		      atomic_load(above), false);
	gauge->current += (uint64_t)gm_delta_now(&sum);
	gauge->total += sum.total;
}

void gm_tags_fold(struct gm_tags *tags, struct gm_tag_deltas *deltas)
{
	while (deltas->touched_count) {
		unsigned number = deltas->touched[--deltas->touched_count];
		struct gm_tag *tag = &tags->of[number];

		fold_gauge(&tag->bytes, &deltas->of[number].bytes,
			   &tag->above.bytes);
		fold_gauge(&tag->blocks, &deltas->of[number].blocks,
			   &tag->above.blocks);
	}
}

/* As gm_counters_raise() and _lower(): every level that there ever was is at
 * most max(peak, current + above). */
static void raise(struct gm_gauge *gauge, uint64_t n,
		  const _Atomic int64_t *above)
{
	gauge->current += n;
	gauge->total += n;
	gm_gauge_note(gauge, (int64_t)gauge->current, atomic_load(above),
		      false);
}

static void raise_bytes(struct gm_tag *tag, uint64_t promised)
{
	tag->promised_bytes -= promised;
	raise(&tag->bytes, promised, &tag->above.bytes);
}

static void lower_bytes(struct gm_tags *tags, uint32_t number, uint64_t bytes)
{
	struct gm_tag *tag = &tags->of[number];

	gm_counters_lower(&tag->bytes, bytes, &tag->above.bytes);
	gm_tag_unhold(tags, number, bytes);
}

void gm_tag_alloc(struct gm_tags *tags, uint32_t number, uint64_t bytes)
{
	struct gm_tag *tag = &tags->of[number];

	raise_bytes(tag, bytes);
	raise(&tag->blocks, 1, &tag->above.blocks);
}

void gm_tag_free(struct gm_tags *tags, uint32_t number, uint64_t bytes)
{
	struct gm_tag *tag = &tags->of[number];

	lower_bytes(tags, number, bytes);
	gm_counters_lower(&tag->blocks, 1, &tag->above.blocks);
}

void gm_tag_resize(struct gm_tags *tags, uint32_t number, uint64_t before,
		   uint64_t bytes)
{
	if (bytes > before)
		raise_bytes(&tags->of[number], bytes - before);
	else
		lower_bytes(tags, number, before - bytes);
}

void gm_tags_reset(struct gm_tags *tags, bool totals)
{
	uint32_t count = atomic_load(&gm_tag_count);

	for (uint32_t i = 1; i <= count; i++) {
		gm_gauge_reset(&tags->of[i].bytes, totals);
		gm_gauge_reset(&tags->of[i].blocks, totals);
	}
}
