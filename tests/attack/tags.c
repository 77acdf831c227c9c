/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls of tags. A thread keeps what it has pushed until another step. */
#include "attack.h"
#include "rows.h"

static const char *pick_name(void)
{
	static const char *const names[] = {"model", "layer", "kv", "a b", "x"};

	return names[random_below(COUNT(names))];
}

static uint32_t pick_tag(void)
{
	return one_in(4) ? 0 : gpumem_tag_get();
}

void attack_gpumem_tag_push(void)
{
	const char *name = pick_name();
	uint32_t before = gpumem_tag_get();

	if (rarely()) {
		name = one_in(4) ? NULL : one_in(2) ? "" : "a/b";
		wrong(B(INVALID));
	} else {
		step.perhaps |= B(INVALID); /* the path is too long */
	}
	if (!judge(gpumem_tag_push(name)))
		expect(gpumem_tag_get() == before, "a failure changed the tag");
}

void attack_gpumem_tag_pop(void)
{
	if (!gpumem_tag_get())
		wrong(B(INVALID));
	(void)judge(gpumem_tag_pop());
}

void attack_gpumem_tag_intern(void)
{
	const char *path = one_in(2) ? "model/layer" : pick_name();
	uint32_t *out;

	if (rarely()) {
		path = one_in(4) ? NULL : one_in(2) ? "/a" : "a//b";
		wrong(B(INVALID));
	}
	out = out_plain(sizeof(*out));
	if (judge(gpumem_tag_intern(path, out)))
		expect(!strcmp(gpumem_tag_path(*out), path), "another path");
}

void attack_gpumem_tag_set(void)
{
	uint32_t tag = pick_tag();

	if (rarely()) {
		tag = 4096 + (uint32_t)random_below(1u << 20);
		wrong(B(INVALID));
	}
	if (judge(gpumem_tag_set(tag)))
		expect(gpumem_tag_get() == tag, "another tag is set");
}

void attack_gpumem_tag_set_limit(void)
{
	static const uint64_t limits[] = {0,   0,	1,	   5000,
					  MIB, 8 * MIB, UINT64_MAX};
	struct pool *pool = pick_pool();
	uint32_t tag = gpumem_tag_get();

	if (!tag && gpumem_tag_intern("model", &tag))
		return;
	if (rarely()) {
		tag = one_in(2) ? 0 : UINT32_MAX;
		wrong(B(INVALID));
	}
	(void)judge(gpumem_tag_set_limit(pool_of(pool), tag,
					 limits[random_below(COUNT(limits))]));
}

void attack_gpumem_tag_set_sleep(void)
{
	uint32_t tag = gpumem_tag_get();
	gpumem_sleep sleep = (gpumem_sleep)random_below(3);

	if (!tag && gpumem_tag_intern("model", &tag))
		return;
	if (rarely()) {
		wrong(B(INVALID));
		if (one_in(2))
			tag = one_in(2) ? 0 : UINT32_MAX;
		else
			sleep = (gpumem_sleep)(5 + random_below(100));
	}
	(void)judge(gpumem_tag_set_sleep(tag, sleep));
}

void attack_gpumem_tag_get(void)
{
	uint32_t tag = gpumem_tag_get();

	expect(!tag || gpumem_tag_path(tag), "the thread's tag is none");
}

void attack_gpumem_tag_path(void)
{
	expect(!gpumem_tag_path(0) && !gpumem_tag_path(UINT32_MAX),
	       "a path of no tag");
}

struct tag_room {
	const char *path;
	uint64_t given, bytes;
};

static bool narrow(const struct gpumem_tag *tag, void *user)
{
	struct tag_room *room = user;
	size_t length = strlen(tag->path);
	uint64_t held = tag->held_bytes - room->given;
	uint64_t bytes = tag->limit_bytes > held ? tag->limit_bytes - held : 0;

	if (tag->limit_bytes && !strncmp(room->path, tag->path, length) &&
	    (!room->path[length] || room->path[length] == '/') &&
	    bytes < room->bytes)
		room->bytes = bytes;
	return true;
}

uint64_t tag_room(const struct block *block, uint64_t given)
{
	struct gpumem_block row = GPUMEM_INIT(struct gpumem_block);
	struct tag_room room = {.given = given, .bytes = UINT64_MAX};

	must(gpumem_query(block->ptr, &row));
	if (!row.tag)
		return UINT64_MAX;
	room.path = gpumem_tag_path(row.tag);
	must(gpumem_tag_visit(block->pool->handle, narrow, &room));
	return room.bytes;
}

struct tag_sum {
	uint64_t bytes, blocks;
	bool stops, stopped;
};

static bool add_tag(const struct gpumem_tag *tag, void *user)
{
	struct tag_sum *sum = user;

	expect(!sum->stopped && tag->size == sizeof(*tag) && tag->path &&
		       tag->bytes.current <= tag->bytes.peak,
	       "a row of tag %u", tag->tag);
	sum->bytes += tag->bytes.current;
	sum->blocks += tag->blocks.current;
	sum->stopped = sum->stops && one_in(4);
	return !sum->stopped;
}

void attack_gpumem_tag_visit(void)
{
	struct pool *pool = pick_pool();
	struct tag_sum sum = {.stops = one_in(2)};
	bool none = rarely();

	if (none)
		wrong(B(INVALID));
	if (judge(gpumem_tag_visit(pool_of(pool), none ? NULL : add_tag,
				   &sum)) &&
	    !sum.stopped)
		expect(sum.bytes == pool->requested &&
			       sum.blocks == pool->count,
		       "tags have %llu blocks of %llu bytes, not %llu of %llu",
		       (ull)sum.blocks, (ull)sum.bytes, (ull)pool->count,
		       (ull)pool->requested);
}
