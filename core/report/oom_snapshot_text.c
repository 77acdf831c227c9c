/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The text beside a snapshot: the sentence, what holds the memory by tag, the
 * largest blocks, the pools, the device. No lock is held but, while the pools
 * are printed, the registry's.
 */
#include "oom_snapshot.h"
#include "table.h"
#include "base/print.h"

#include <stdlib.h>
#include <string.h>

enum { TAGS_MAX = 16, BLOCKS_MAX = 20 };

static void write_text(const char *text, void *sink)
{
	gm_sink_write(text, strlen(text), sink);
}

static void say_tags(const struct gm_lines *lines, const struct gm_oom *oom)
{
	char size[GM_PRINT_BYTES_TEXT];
	struct gm_top_tag top[TAGS_MAX];

	gm_pool_top_tags(oom->pool, top, TAGS_MAX);
	gm_print_line(lines, "%s", "");
	gm_print_line(lines, "by tag, in pool \"%s\":", oom->pool->name);
	for (unsigned i = 0; i < TAGS_MAX && top[i].bytes; i++)
		gm_print_line(lines, "  %s  %s",
			      gm_print_bytes(size, top[i].bytes),
			      top[i].tag ? gm_tag_path(top[i].tag) : "no tag");
	if (!top[0].bytes)
		gm_print_line(lines, "  no block has a tag");
}

/* ---- the largest blocks ---- */

/* The list has `count` in descending order, and stays that way. */
static unsigned insert(const struct gm_found_block **list, unsigned count,
		       const struct gm_found_block *block)
{
	unsigned at = count < BLOCKS_MAX ? count++ : BLOCKS_MAX - 1;

	if (at == BLOCKS_MAX - 1 && list[at] &&
	    list[at]->requested_bytes >= block->requested_bytes)
		return count;
	for (; at && list[at - 1]->requested_bytes < block->requested_bytes;
	     at--)
		list[at] = list[at - 1];
	list[at] = block;
	return count;
}

static void say_blocks(const struct gm_lines *lines,
		       const struct gm_found *found)
{
	const struct gm_found_block *list[BLOCKS_MAX] = {NULL};
	char size[GM_PRINT_BYTES_TEXT];
	unsigned count = 0;

	for (size_t i = 0; i < found->block_count; i++)
		if (found->block[i].state == GPUMEM_BLOCK_LIVE)
			count = insert(list, count, &found->block[i]);
	gm_print_line(lines, "%s", "");
	gm_print_line(lines, "largest live blocks:");
	for (unsigned i = 0; i < count; i++)
		gm_print_line(lines, "  %s at %#llx on device %u%s%s",
			      gm_print_bytes(size, list[i]->requested_bytes),
			      (unsigned long long)list[i]->address,
			      list[i]->device, list[i]->tag ? ", tag " : "",
			      list[i]->tag ? gm_tag_path(list[i]->tag) : "");
	if (!count)
		gm_print_line(lines, "  none");
}

/* ---- pools and device ---- */

static bool say_pool(struct gpumem_pool *pool, void *user)
{
	const struct gm_lines *lines = user;

	gm_print_line(lines, "%s", "");
	gm_pool_print(pool, false, lines->write, lines->user);
	return true;
}

/* Left out where the driver does not answer. */
static void say_device(const struct gm_lines *lines, const struct gm_oom *oom)
{
	struct gpumem_device *device = oom->pool->device;
	struct gm_processes processes = {0};
	struct gm_table table = {0};

	if (gm_table_make(&table, &processes, device) == GPUMEM_OK) {
		gm_print_line(lines, "%s", "");
		gm_table_print_text(&table, &processes, device, lines->write,
				    lines->user);
	}
	gm_table_end(&table, &processes);
}

void gm_snapshot_text(const struct gm_found *found, const struct gm_oom *oom,
		      const char *text, struct gm_sink *sink)
{
	struct gm_lines lines = {write_text, sink};

	gm_print_line(&lines, "%s", text);
	say_tags(&lines, oom);
	say_blocks(&lines, found);
	gm_pools_visit(say_pool, &lines);
	say_device(&lines, oom);
}
