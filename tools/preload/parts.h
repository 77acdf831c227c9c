/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Segments, which are allocations of the driver, and their parts: live ones,
 * which the program has, and free ones. Of neighbours in a segment at most one
 * is free, as free ones become one; it is over when both would be. It knows
 * neither the driver nor when a part may be handed out; its pages are its own,
 * as those of blocks.h. The caller locks. All of zeros is empty.
 */
#ifndef GPUMEM_PRELOAD_PARTS_H
#define GPUMEM_PRELOAD_PARTS_H

#include "cache.h"
#include "table.h"

#define PARTS_UNIT ((uint64_t)512)	/* of addresses and sizes */
#define PARTS_SMALL ((uint64_t)1 << 20) /* these have segments of theirs */
#define PARTS_ROWS (CACHE_DEVICES * 2)	/* of small ones, of others */
#define PARTS_NOT_YET UINT64_MAX	/* the next one that begins */

/* Numbers of entries, 0: none. `beside` comes first in what is in lists. */
struct part {
	struct cache_list beside; /* of its bin, if it is free */
	uint32_t before, after;	  /* neighbours, by address */
	uint32_t segment;
	bool free;
	uint64_t address, bytes;
	uint64_t epoch; /* of a free one: when that is over, nothing uses it */
};

/* bytes == bytes of its live parts + free_bytes */
struct segment {
	struct cache_list beside; /* by age, if no part is live */
	uint64_t address, bytes;  /* as the driver allocated it */
	uint64_t free_bytes;
	uint64_t stamp;	     /* frees of its device when the last one was */
	const void *context; /* NULL: there is no such segment */
	uint32_t first;	     /* part */
	uint32_t live;	     /* parts */
	uint8_t device;
	bool small;
};

/* A part is in a bin <=> it is free; a segment is in a list <=> it has no live
 * part, and then it is one part. */
struct parts {
	struct table parts, segments;
	struct cache_list bins[PARTS_ROWS][CACHE_BINS];
	struct cache_list ages[CACHE_DEVICES];
	uint32_t segment_count;
	bool not_yet; /* some free part is PARTS_NOT_YET */
};

/* What the driver is asked for if nothing fits; 0: that is too much. */
uint64_t parts_segment_bytes(uint64_t bytes);

/* A segment whose first bytes are live: the number of that part. 0: no memory.
 */
uint32_t parts_add(struct parts *parts, const struct cached *segment,
		   uint64_t bytes);
/* The smallest free one that fits and whose epoch is at most `done`: its
 * number. 0: there is none. */
uint32_t parts_find(const struct parts *parts, const void *context, int device,
		    uint64_t bytes, uint64_t done);
/* Makes that one live, and cuts off what is too much. */
uint32_t parts_take(struct parts *parts, const void *context, int device,
		    uint64_t bytes, uint64_t done);
/* Valid until the next call that takes or adds. */
const struct part *parts_at(const struct parts *parts, uint32_t number);
const struct segment *parts_segment_of(const struct parts *parts,
				       uint32_t number);
/* A live one is free, until `epoch` is over in use. */
void parts_give(struct parts *parts, uint32_t number, uint64_t epoch,
		uint64_t stamp);
/* Those that wait for the next epoch have this one. */
void parts_begin(struct parts *parts, uint64_t epoch);

/* The segment that has that address inside. NULL: none. */
const struct segment *parts_around(const struct parts *parts, uint64_t address);
/* The one without live parts that was freed first. NULL: there is none. */
const struct segment *parts_oldest(const struct parts *parts, int device);
/* Takes that one. False: there is none. */
bool parts_take_oldest(struct parts *parts, int device,
		       struct cached *segment_out);
/* Takes some segment of that context, or one without live parts only: its free
 * bytes and its device. False: it has none. */
bool parts_take_of(struct parts *parts, const void *context, bool idle,
		   struct segment *segment_out);
void parts_rename(struct parts *parts, const void *from, const void *to);

#endif
