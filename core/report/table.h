/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the memory of a device is, as rows that add up: see
 * gpumem_device_report(). A table belongs to one thread; nothing is locked.
 *
 *     of the rows that are not beside:
 *         those of a pool add up to what it has reserved
 *         all add up to the total of the device
 */
#ifndef GM_REPORT_TABLE_H
#define GM_REPORT_TABLE_H

#include "report.h"
#include "base/print.h"

/* name, in JSON; text, for people */
#define GM_PLACE_LIST(X)                                                       \
	X(live, "live")                                                        \
	X(rounding, "rounding of live blocks")                                 \
	X(pending, "pending")                                                  \
	X(held, "freed, but the program holds a view")                         \
	X(cached, "free, cached by threads")                                   \
	X(busy, "free, in use by streams")                                     \
	X(whole, "free, can be moved or given back")                           \
	X(page_part, "free, in pages that blocks have a part of")              \
	X(handle_part, "free, in handles that blocks have a part of")          \
	X(segment_part, "free, in segments that blocks have a part of")        \
	X(slab_part, "free, in slabs")                                         \
	X(graph, "free, kept for graphs")                                      \
	X(outside, "outside gpumem")                                           \
	X(free, "free on the device")                                          \
	X(bookkeeping, "bookkeeping, in host memory")                          \
	X(stale, "stale addresses, of memory that serves elsewhere by now")    \
	X(sleeping, "live, but asleep: without memory")

enum gm_place {
#define GM_PLACE_ENUM(name, text) GM_PLACE_##name,
	GM_PLACE_LIST(GM_PLACE_ENUM)
#undef GM_PLACE_ENUM
};

struct gm_row {
	enum gm_place place;
	unsigned number; /* of the pool in the list, from 1 on; 0: of none */
	bool beside;	 /* it is no memory of the device */
	bool has_stream; /* pending */
	gpumem_kind kind;
	uint32_t tag; /* live; 0: none */
	/* Of the tag; 0: it has no limit. See struct gpumem_tag. */
	uint64_t limit_bytes, held_bytes;
	gpumem_stream stream;
	uint64_t blocks; /* live */
	uint64_t bytes;
	char pool[64];
};

struct gm_table {
	struct gm_row *row;
	size_t count, room;
	bool no_memory;		 /* rows are missing */
	unsigned pools;		 /* that have been added */
	uint64_t reserved_bytes; /* of the rows of pools that are not beside */
	uint64_t total_bytes;	 /* of all rows that are not beside */
};

/* Adds a row, unless it has no bytes. */
void gm_table_add(struct gm_table *table, const struct gm_row *row);
/* One of its rows has so many bytes more. */
void gm_table_grow(struct gm_table *table, struct gm_row *row, uint64_t bytes);

/* table_pool.c: the rows of a pool. Locks its heap. */
void gm_table_add_pool(struct gm_table *table, struct gpumem_pool *pool);

/* The processes that use a device. */
struct gm_processes {
	struct gpumem_process *list;
	size_t count, room;
	bool no_memory; /* some are missing */
	bool known;	/* the driver reports them */
};

/* table.c. Both are zeroed before, and ended afterwards also after a failure.
 * OK, NO_HOST_MEMORY, or what the driver said. */
gpumem_status gm_table_make(struct gm_table *table,
			    struct gm_processes *processes,
			    struct gpumem_device *device);
void gm_table_end(struct gm_table *table, struct gm_processes *processes);

/* table_print.c */
void gm_table_print_text(const struct gm_table *table,
			 const struct gm_processes *processes,
			 const struct gpumem_device *device,
			 void (*write)(const char *text, void *user),
			 void *user);
/* Members of an object that is open. */
void gm_table_print_json(const struct gm_table *table,
			 const struct gm_processes *processes,
			 const struct gpumem_device *device,
			 struct gm_print *print);

#endif
