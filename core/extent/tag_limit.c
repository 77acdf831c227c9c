/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Limits of tags: what a tag and all tags inside it may hold; see tags.h. */
#include "tags.h"

/* The innermost tag with a limit that is `tag` or around it; 0: none. */
static uint32_t limited_at(const struct gm_tags *tags, uint32_t tag)
{
	while (tag && !tags->of[tag].limit_bytes)
		tag = gm_tag_parent(tag);
	return tag;
}

static uint32_t limited_around(const struct gm_tags *tags, uint32_t tag)
{
	return limited_at(tags, gm_tag_parent(tag));
}

bool gm_tag_choose(const struct gm_tags *tags, struct gm_tag_deltas *deltas,
		   unsigned tag)
{
	if (tags->limit_count && limited_at(tags, tag))
		return false;
	deltas->last = tag;
	deltas->last_delta = &deltas->of[tag];
	return true;
}

/* Is it that tag, or inside it? */
static bool is_inside(uint32_t tag, uint32_t outer)
{
	while (tag > outer)
		tag = gm_tag_parent(tag);
	return tag == outer;
}

static void hold(struct gm_tags *tags, uint32_t tag, int64_t bytes)
{
	if (!tags->limit_count)
		return;
	for (tag = limited_at(tags, tag); tag; tag = limited_around(tags, tag))
		tags->of[tag].held_bytes += (uint64_t)bytes;
}

static uint64_t room_of(const struct gm_tag *tag)
{
	return tag->limit_bytes > tag->held_bytes
		       ? tag->limit_bytes - tag->held_bytes
		       : 0;
}

bool gm_tag_promise(struct gm_tags *tags, uint32_t tag, uint64_t bytes,
		    struct gm_tag_over *over)
{
	for (uint32_t at = tags->limit_count ? limited_at(tags, tag) : 0; at;
	     at = limited_around(tags, at)) {
		if (bytes <= room_of(&tags->of[at]))
			continue;
		*over = (struct gm_tag_over){
			.tag = at,
			.limit_bytes = tags->of[at].limit_bytes,
			.held_bytes = tags->of[at].held_bytes};
		return false;
	}
	tags->of[tag].promised_bytes += bytes;
	hold(tags, tag, (int64_t)bytes);
	return true;
}

void gm_tag_withdraw(struct gm_tags *tags, uint32_t tag, uint64_t bytes)
{
	tags->of[tag].promised_bytes -= bytes;
	hold(tags, tag, -(int64_t)bytes);
}

void gm_tag_unhold(struct gm_tags *tags, uint32_t tag, uint64_t bytes)
{
	hold(tags, tag, -(int64_t)bytes);
}

uint64_t gm_tag_room(const struct gm_tags *tags, uint32_t tag)
{
	uint64_t room = UINT64_MAX;

	for (tag = limited_at(tags, tag); tag; tag = limited_around(tags, tag))
		if (room_of(&tags->of[tag]) < room)
			room = room_of(&tags->of[tag]);
	return room;
}

uint64_t gm_tag_held(const struct gm_tags *tags, uint32_t tag)
{
	uint32_t count = atomic_load(&gm_tag_count);
	uint64_t bytes = 0;

	for (uint32_t i = tag; i <= count; i++)
		if (is_inside(i, tag))
			bytes += tags->of[i].bytes.current +
				 tags->of[i].promised_bytes;
	return bytes;
}

void gm_tag_set_limit(struct gm_tags *tags, uint32_t tag, uint64_t limit_bytes)
{
	struct gm_tag *of = &tags->of[tag];

	if (of->limit_bytes)
		tags->limit_count--;
	if (limit_bytes)
		tags->limit_count++;
	of->limit_bytes = limit_bytes;
	of->held_bytes = limit_bytes ? gm_tag_held(tags, tag) : 0;
}
