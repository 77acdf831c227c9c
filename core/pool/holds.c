/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The first live blocks of a pool, in a few words: for sentences of errors. */
#include "pool.h"

#include <stdio.h>

enum { TOLD_MAX = 3 };

struct telling {
	char *at;
	size_t room;
	unsigned told;
};

static void say(struct telling *telling, const char *text)
{
	int written = snprintf(telling->at, telling->room, "%s%s",
			       telling->told ? ", " : ": ", text);

	if (written < 0 || (size_t)written >= telling->room) {
		*telling->at = '\0';
		return;
	}
	telling->at += written;
	telling->room -= (size_t)written;
}

static bool tell_live(const struct gpumem_block *block, void *user)
{
	struct telling *telling = user;
	char text[GM_TAG_PATH_BYTES + 80];
	int written;

	if (block->state != GPUMEM_BLOCK_LIVE)
		return true;
	if (telling->told == TOLD_MAX) {
		say(telling, "and others");
		return false;
	}
	written = snprintf(text, sizeof(text), "%llu at %p",
			   (unsigned long long)block->requested_bytes,
			   block->ptr);
	if (block->tag)
		(void)snprintf(text + written, sizeof(text) - (size_t)written,
			       " of \"%s\"", gm_tag_path(block->tag));
	say(telling, text);
	telling->told++;
	return true;
}

void gm_pool_tell_live(struct gpumem_pool *pool, char *text, size_t bytes)
{
	struct telling telling = {.at = text, .room = bytes};

	*text = '\0';
	gm_block_visit_stopped(pool, tell_live, &telling);
}
