/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of tags share: the rows of a pool, and the same worked out
 * from its blocks one by one. Only the main thread calls it.
 */
#ifndef LIB_TAGS_H
#define LIB_TAGS_H

#include "fixture.h"

static struct gpumem_tag tags_row[4096];
static unsigned tags_seen;

static bool tags_keep(const struct gpumem_tag *tag, void *unused)
{
	(void)unused;
	tags_row[tags_seen++] = *tag;
	return true;
}

LIB_USE void tags_read(gpumem_pool *pool)
{
	tags_seen = 0;
	must(gpumem_tag_visit(pool, tags_keep, NULL));
}

/* Zeros of a tag that the pool never had. */
LIB_USE struct gpumem_tag tag_row(gpumem_pool *pool, uint32_t tag)
{
	tags_read(pool);
	for (unsigned i = 0; i < tags_seen; i++)
		if (tags_row[i].tag == tag)
			return tags_row[i];
	return (struct gpumem_tag){.tag = tag};
}

static uint64_t tags_bytes[4096], tags_blocks[4096];

static bool tags_add(const struct gpumem_block *block, void *unused)
{
	(void)unused;
	if (block->state == GPUMEM_BLOCK_LIVE) {
		tags_bytes[block->tag] += block->requested_bytes;
		tags_blocks[block->tag]++;
	}
	return true;
}

/* The first row that is wrong, or NULL: no other thread uses the pool. */
LIB_USE const char *tags_wrong(gpumem_pool *pool)
{
	struct gpumem_gauge bytes = {0}, blocks = {0};
	struct gpumem_stats stats = stats_of(pool);

	memset(tags_bytes, 0, sizeof(tags_bytes));
	memset(tags_blocks, 0, sizeof(tags_blocks));
	must(gpumem_block_visit(pool, tags_add, NULL));
	tags_read(pool);
	if (tags_row[0].tag || tags_row[0].path[0])
		return "the first row is of a tag";
	for (unsigned i = 0; i < tags_seen; i++) {
		const struct gpumem_tag *row = &tags_row[i];

		if ((i && row->tag <= tags_row[i - 1].tag) ||
		    row->size != sizeof(*row) ||
		    (row->tag && row->path != gpumem_tag_path(row->tag)))
			return "a row is not in order";
		if (row->bytes.current != tags_bytes[row->tag] ||
		    row->blocks.current != tags_blocks[row->tag])
			return row->path;
		if (row->bytes.current > row->bytes.peak ||
		    row->blocks.current > row->blocks.peak)
			return "a peak";
		bytes.current += row->bytes.current;
		bytes.total += row->bytes.total;
		blocks.current += row->blocks.current;
		blocks.total += row->blocks.total;
		tags_blocks[row->tag] = 0;
	}
	for (unsigned i = 0; i < 4096; i++)
		if (tags_blocks[i])
			return "a block has a tag without a row";
	if (bytes.current != stats.requested.current ||
	    bytes.total != stats.requested.total ||
	    blocks.current != stats.blocks.current ||
	    blocks.total != stats.blocks.total)
		return "the sum over all rows";
	return NULL;
}

LIB_USE void tags_agree(gpumem_pool *pool)
{
	const char *wrong = tags_wrong(pool);

	ok(!wrong, "tags and blocks agree%s%s", wrong ? ", but not: " : "",
	   wrong ? wrong : "");
	sound(pool, "and the check");
}

#endif
