/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See parts.h. Small requests have segments of one page of the driver, middle
 * ones share a few pages, and a larger one has a segment of its own, of which
 * smaller ones get parts when it is free.
 */
#include "parts.h"

#define PAGE ((uint64_t)2 << 20)
#define MIDDLE ((uint64_t)10 << 20)
#define MIDDLE_SEGMENT ((uint64_t)20 << 20) /* of which as many as fit */
#define BYTES_END ((uint64_t)1 << 47)
#define LOOKS 64 /* at entries of a bin, at most */

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

uint64_t parts_segment_bytes(uint64_t bytes)
{
	if (bytes >= BYTES_END)
		return 0;
	if (bytes <= PARTS_SMALL)
		return PAGE;
	bytes = round_up(bytes, PARTS_UNIT);
	if (bytes <= MIDDLE)
		bytes *= MIDDLE_SEGMENT / bytes;
	return round_up(bytes, PAGE);
}

/* ---- lists ---------------------------------------------------------------
 */

static struct part *part_at(const struct parts *parts, uint32_t number)
{
	return (struct part *)parts->parts.entries + number;
}

static struct segment *segment_at(const struct parts *parts, uint32_t number)
{
	return (struct segment *)parts->segments.entries + number;
}

static struct cache_list *bin_of(struct parts *parts, const struct part *part)
{
	const struct segment *segment = segment_at(parts, part->segment);

	return &parts->bins[segment->device * 2 + segment->small]
			   [cache_bin(part->bytes)];
}

static void put_in(struct parts *parts, uint32_t number)
{
	struct part *part = part_at(parts, number);

	part->free = true;
	table_append(&parts->parts, sizeof(struct part), bin_of(parts, part),
		     number);
}

static void take_out(struct parts *parts, uint32_t number)
{
	struct part *part = part_at(parts, number);

	part->free = false;
	table_unlink(&parts->parts, sizeof(struct part), bin_of(parts, part),
		     number);
}

static void age(struct parts *parts, uint32_t number, bool is_idle)
{
	struct cache_list *ages =
		&parts->ages[segment_at(parts, number)->device];

	(is_idle ? table_append : table_unlink)(
		&parts->segments, sizeof(struct segment), ages, number);
}

const struct part *parts_at(const struct parts *parts, uint32_t number)
{
	return part_at(parts, number);
}

const struct segment *parts_segment_of(const struct parts *parts,
				       uint32_t number)
{
	return segment_at(parts, part_at(parts, number)->segment);
}

/* ---- taking and giving -----------------------------------------------------
 */

static uint32_t best_of(const struct parts *parts, const struct cache_list *bin,
			const void *context, uint64_t bytes, uint64_t done)
{
	uint32_t best = 0, number = bin->first;

	for (int looks = 0; number && looks < LOOKS; looks++) {
		const struct part *part = part_at(parts, number);

		if (part->bytes >= bytes && part->epoch <= done &&
		    segment_at(parts, part->segment)->context == context &&
		    (!best || part->bytes < part_at(parts, best)->bytes))
			best = number;
		number = part->beside.last;
	}
	return best;
}

/* What is behind the first bytes is a part of its own, unless there is no
 * memory to write that down. */
static void cut(struct parts *parts, uint32_t number, uint64_t bytes)
{
	uint32_t rest = 0;
	struct part *part;

	if (part_at(parts, number)->bytes > bytes)
		rest = table_new(&parts->parts, sizeof(struct part));
	if (!rest)
		return;
	part = part_at(parts, number);
	*part_at(parts, rest) = (struct part){.before = number,
					      .after = part->after,
					      .segment = part->segment,
					      .address = part->address + bytes,
					      .bytes = part->bytes - bytes,
					      .epoch = part->epoch};
	if (part->after)
		part_at(parts, part->after)->before = rest;
	part->after = rest;
	part->bytes = bytes;
	put_in(parts, rest);
}

uint32_t parts_find(const struct parts *parts, const void *context, int device,
		    uint64_t bytes, uint64_t done)
{
	const struct cache_list *bins =
		parts->bins[device * 2 + (bytes <= PARTS_SMALL)];
	uint32_t number = 0;

	if (!parts->segment_count || bytes >= BYTES_END)
		return 0;
	bytes = round_up(bytes, PARTS_UNIT);
	for (unsigned bin = cache_bin(bytes); !number && bin < CACHE_BINS;
	     bin++)
		number = best_of(parts, &bins[bin], context, bytes, done);
	return number;
}

/* A free one is live, and what is behind the first bytes is cut off. */
static void take(struct parts *parts, uint32_t number, uint64_t bytes)
{
	struct segment *segment;

	take_out(parts, number);
	cut(parts, number, bytes);
	segment = segment_at(parts, part_at(parts, number)->segment);
	if (!segment->live++)
		age(parts, part_at(parts, number)->segment, false);
	segment->free_bytes -= part_at(parts, number)->bytes;
}

uint32_t parts_take(struct parts *parts, const void *context, int device,
		    uint64_t bytes, uint64_t done)
{
	uint32_t number = parts_find(parts, context, device, bytes, done);

	if (number)
		take(parts, number, round_up(bytes, PARTS_UNIT));
	return number;
}

uint32_t parts_add(struct parts *parts, const struct cached *block,
		   uint64_t bytes)
{
	uint32_t segment = table_new(&parts->segments, sizeof(struct segment));
	uint32_t part = table_new(&parts->parts, sizeof(struct part));

	if (!segment || !part) {
		if (segment)
			table_end(&parts->segments, sizeof(struct segment),
				  segment);
		if (part)
			table_end(&parts->parts, sizeof(struct part), part);
		return 0;
	}
	*segment_at(parts, segment) =
		(struct segment){.address = block->address,
				 .bytes = block->bytes,
				 .free_bytes = block->bytes,
				 .stamp = block->stamp,
				 .context = block->context,
				 .first = part,
				 .device = (uint8_t)block->device,
				 .small = block->bytes == PAGE};
	*part_at(parts, part) = (struct part){.segment = segment,
					      .address = block->address,
					      .bytes = block->bytes};
	put_in(parts, part);
	age(parts, segment, true);
	parts->segment_count++;
	take(parts, part, round_up(bytes, PARTS_UNIT));
	return part;
}

/* Of two neighbours that are free the first is both. */
static void join(struct parts *parts, uint32_t first, uint32_t second)
{
	struct part *part = part_at(parts, first);
	const struct part *other = part_at(parts, second);

	part->bytes += other->bytes;
	part->after = other->after;
	if (other->epoch > part->epoch)
		part->epoch = other->epoch;
	if (part->after)
		part_at(parts, part->after)->before = first;
	table_end(&parts->parts, sizeof(struct part), second);
}

void parts_give(struct parts *parts, uint32_t number, uint64_t epoch,
		uint64_t stamp)
{
	struct part *part = part_at(parts, number);
	uint32_t before = part->before, after = part->after;
	uint32_t owner = part->segment;
	struct segment *segment = segment_at(parts, owner);

	part->epoch = epoch;
	parts->not_yet |= epoch == PARTS_NOT_YET;
	segment->free_bytes += part->bytes;
	segment->stamp = stamp;
	if (after && part_at(parts, after)->free) {
		take_out(parts, after);
		join(parts, number, after);
	}
	if (before && part_at(parts, before)->free) {
		take_out(parts, before);
		join(parts, before, number);
		number = before;
	}
	put_in(parts, number);
	if (!--segment->live)
		age(parts, owner, true);
}

void parts_begin(struct parts *parts, uint64_t epoch)
{
	if (!parts->not_yet)
		return;
	for (uint32_t i = 1; i < parts->parts.used; i++)
		if (part_at(parts, i)->epoch == PARTS_NOT_YET)
			part_at(parts, i)->epoch = epoch;
	parts->not_yet = false;
}

/* ---- segments --------------------------------------------------------------
 */

const struct segment *parts_around(const struct parts *parts, uint64_t address)
{
	for (uint32_t i = 1; i < parts->segments.used; i++) {
		const struct segment *segment = segment_at(parts, i);

		if (segment->context &&
		    address - segment->address < segment->bytes)
			return segment;
	}
	return NULL;
}

const struct segment *parts_oldest(const struct parts *parts, int device)
{
	uint32_t number = parts->ages[device].first;

	return number ? segment_at(parts, number) : NULL;
}

static void remove_segment(struct parts *parts, uint32_t number,
			   struct segment *segment_out)
{
	uint32_t part, after;

	*segment_out = *segment_at(parts, number);
	if (!segment_out->live)
		age(parts, number, false);
	for (part = segment_out->first; part; part = after) {
		after = part_at(parts, part)->after;
		if (part_at(parts, part)->free)
			take_out(parts, part);
		table_end(&parts->parts, sizeof(struct part), part);
	}
	table_end(&parts->segments, sizeof(struct segment), number);
	parts->segment_count--;
}

bool parts_take_oldest(struct parts *parts, int device,
		       struct cached *segment_out)
{
	uint32_t number = parts->ages[device].first;
	struct segment segment;

	if (!number)
		return false;
	remove_segment(parts, number, &segment);
	*segment_out = (struct cached){.address = segment.address,
				       .bytes = segment.bytes,
				       .context = segment.context,
				       .device = device};
	return true;
}

bool parts_take_of(struct parts *parts, const void *context, bool idle,
		   struct segment *segment_out)
{
	for (uint32_t i = 1; context && i < parts->segments.used; i++) {
		const struct segment *segment = segment_at(parts, i);

		if (segment->context != context || (idle && segment->live))
			continue;
		remove_segment(parts, i, segment_out);
		return true;
	}
	return false;
}

void parts_rename(struct parts *parts, const void *from, const void *to)
{
	for (uint32_t i = 1; from && i < parts->segments.used; i++)
		if (segment_at(parts, i)->context == from)
			segment_at(parts, i)->context = to;
}
