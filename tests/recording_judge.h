/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What was live when, of a recording that was read: blocks and bytes, also of
 * ends that were stamped before their beginnings. One thread at a time.
 */
#ifndef TESTS_RECORDING_JUDGE_H
#define TESTS_RECORDING_JUDGE_H

#include "recording.h"

struct rec_live {
	uint64_t address, bytes; /* address 0: nothing; bytes 0: it has ended */
	uint16_t pool;
	/* Ends that were stamped before their beginnings, as gpumem_record(5)
	 * has it: the last one that ended another block, the last of none. */
	const struct rec *other, *early;
};

static struct rec_live *rec_find(struct rec_live *table, size_t mask,
				 uint64_t address)
{
	size_t at = (address * 0x9e3779b97f4a7c15u >> 20) & mask;

	while (table[at].address && table[at].address != address)
		at = (at + 1) & mask;
	table[at].address = address;
	return &table[at];
}

/* Within 2 microseconds, in a recording that lost nothing. */
static bool rec_soon(const struct recording *recording,
		     const struct rec *before, const struct rec *event)
{
	const struct gpumem_record_header *header = &recording->header;
	uint64_t units = 2000;

	if (!before || header->lost_events || header->overwritten_events)
		return false;
	if (header->clock == GPUMEM_RECORD_TICKS)
		units = units * (header->end_ticks - header->begin_ticks) /
			(header->end_ns - header->begin_ns);
	return event->time - before->time <= units;
}

static void rec_begin(struct recording *recording, struct rec_live *block,
		      const struct rec *event)
{
	if (rec_soon(recording, block->early, event)) {
		recording->sizes += block->early->bytes != event->bytes;
		recording->early++;
		recording->unknown--;
		block->early = NULL;
		return;
	}
	recording->twice += block->bytes != 0;
	if (block->bytes) {
		recording->live_bytes -= block->bytes;
		recording->live--;
	}
	block->bytes = event->bytes;
	block->pool = event->pool;
	recording->live++;
	recording->live_bytes += event->bytes;
}

/* Of what is not live: it ended before, by an end that is early. */
static void rec_end_unknown(struct recording *recording, struct rec_live *block,
			    const struct rec *event)
{
	block->early = event;
	if (!rec_soon(recording, block->other, event))
		return;
	block->early = block->other;
	block->other = NULL;
	recording->sizes--;
}

static void rec_block(struct recording *recording, struct rec_live *block,
		      const struct rec *event)
{
	bool begins = event->kind == GPUMEM_RECORD_LIVE ||
		      event->kind == GPUMEM_RECORD_ALLOC;

	if (begins) {
		rec_begin(recording, block, event);
	} else if (!block->bytes) {
		recording->unknown++;
		if (event->kind == GPUMEM_RECORD_FREE)
			rec_end_unknown(recording, block, event);
	} else if (event->kind == GPUMEM_RECORD_FREE) {
		recording->sizes += block->bytes != event->bytes;
		block->other = block->bytes != event->bytes ? event : NULL;
		recording->live_bytes -= block->bytes;
		recording->live--;
		block->bytes = 0;
	} else if (event->kind == GPUMEM_RECORD_RESIZE) {
		recording->live_bytes += event->bytes - block->bytes;
		block->bytes = event->bytes;
	}
	if (recording->live_bytes > recording->peak_bytes)
		recording->peak_bytes = recording->live_bytes;
}

REC_USE void rec_judge(struct recording *recording)
{
	size_t room = 1024;
	struct rec_live *table;

	while (room < 2 * recording->count)
		room *= 2;
	table = calloc(room, sizeof(*table));
	if (!table)
		bail("no memory for a recording");
	for (size_t i = 0; i < recording->count; i++) {
		const struct rec *event = &recording->event[i];

		if (rec_is_block(event))
			rec_block(recording,
				  rec_find(table, room - 1, event->address),
				  event);
		else if (event->kind == GPUMEM_RECORD_POOL)
			recording->reserved_bytes += event->value[0];
		else if (event->kind == GPUMEM_RECORD_GROW)
			recording->reserved_bytes += event->value[0];
		else if (event->kind == GPUMEM_RECORD_SHRINK)
			recording->reserved_bytes -= event->value[0];
	}
	free(table);
}

#endif
