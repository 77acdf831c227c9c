/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that has said of its tags what becomes of them in a sleep: blocks
 * of one size are of one tag, whichever; each tag has a word, so that none
 * shares a handle with another. Traces have the tags of others' programs, of
 * which nothing is known.
 */
#include "replay.h"

#include <stdio.h>

bool replay_tags_open(struct replay *replay)
{
	char name[32];

	for (uint32_t i = 0; i < replay->config->tags; i++) {
		snprintf(name, sizeof(name), "replay/%u", (unsigned)i + 1);
		if (gpumem_tag_intern(name, &replay->tag[i]) != GPUMEM_OK ||
		    gpumem_tag_set_sleep(replay->tag[i], GPUMEM_SLEEP_DROP) !=
			    GPUMEM_OK)
			return replay_fail_last(replay, "cannot make a tag");
	}
	return true;
}

gpumem_status replay_tags_event(const struct replay *replay,
				const struct trace_event *event)
{
	uint64_t hash = (event->bytes * 0x9e3779b97f4a7c15u) >> 40;

	return replay_begins(event)
		       ? gpumem_tag_set(
				 replay->tag[hash % replay->config->tags])
		       : GPUMEM_OK;
}
