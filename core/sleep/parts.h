/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Internal to the module: see sleep.h. */
#ifndef GM_SLEEP_PARTS_H
#define GM_SLEEP_PARTS_H

#include "sleep.h"
#include "pages/away.h"

/* ---- lists: areas.c ---- */

/* Ranges of addresses, in order, none of which meet but those of two fates. */
struct gm_area {
	uintptr_t start;
	size_t bytes;
	uint32_t fate; /* of the blocks there, where new handles are for it */
};

struct gm_areas {
	struct gm_area *area;
	size_t count, room;
};

/* Behind all that there are, or over the end of the last, whose fate stays. OK
 * or NO_HOST_MEMORY. */
gpumem_status gm_areas_add(struct gm_areas *areas, uintptr_t start,
			   size_t bytes, uint32_t fate);
void gm_areas_free(struct gm_areas *areas);

/* What is kept of a range: `at` is where in the store. In order of both. */
struct gm_piece {
	uintptr_t address;
	size_t bytes;
	uint64_t at;
};

struct gm_pieces {
	struct gm_piece *piece;
	size_t count, room;
	uint64_t bytes; /* of all */
};

gpumem_status gm_pieces_add(struct gm_pieces *pieces, uintptr_t address,
			    size_t bytes);
void gm_pieces_free(struct gm_pieces *pieces);

/* ---- chunks.c: the host's memory ---- */

/* In which copies run at the full speed of the link, where the device has such;
 * or ordinary, in huge pages where the system has some. */
enum gm_chunk_kind { GM_CHUNK_PINNED, GM_CHUNK_ORDINARY };

/* Whose memory it is, and whether the driver has pinned it. */
enum gm_chunk_maker { GM_CHUNK_OURS, GM_CHUNK_OURS_PINNED, GM_CHUNK_DRIVERS };

struct gm_chunk {
	struct gm_chunk *next;
	unsigned char *memory; /* begins at a page of the host */
	size_t bytes;
	enum gm_chunk_kind kind;
	enum gm_chunk_maker maker;
};

/* memory.c: of its bytes and kind. OK, NO_HOST_MEMORY, NO_MEMORY, or another
 * error of the driver. */
gpumem_status gm_chunk_make(struct gm_heap *heap, struct gm_chunk *chunk);
/* False: the driver does not take it back, and it stays as it is. */
bool gm_chunk_unmake(struct gm_heap *heap, const struct gm_chunk *chunk);
/* After that, at the end of the heap: its pages go when the driver has let go
 * of them, and its addresses stay taken, since the driver knows them. */
void gm_chunk_abandon(const struct gm_chunk *chunk);

/* Of at least so many bytes: a retained one, or a new one. OK, NO_HOST_MEMORY,
 * NO_MEMORY, or another error of the driver. Without the mutex. */
gpumem_status gm_chunk_take(struct gm_heap *heap, enum gm_chunk_kind kind,
			    size_t bytes, struct gm_chunk **chunk_out);
/* How many of at least so many bytes are retained. */
size_t gm_chunks_retained(struct gm_heap *heap, enum gm_chunk_kind kind,
			  size_t bytes);
/* Of all that are. */
uint64_t gm_chunks_retained_bytes(struct gm_heap *heap);
/* All that are retained end, but for those that the driver does not take. */
void gm_chunks_end(struct gm_heap *heap);
/* It is retained, or ends. */
void gm_chunk_give(struct gm_heap *heap, struct gm_chunk *chunk, bool retain);

/* ---- queue.c ---- */

struct gm_queue {
	struct gm_queue *next;
	gpumem_stream stream;
	bool unsure; /* its work may go on */
};

/* OK, NO_HOST_MEMORY, or an error of the driver. Without the mutex, as all of
 * these. */
gpumem_status gm_queue_begin(struct gm_heap *heap, struct gm_queue **queue_out);
/* All its work is over: OK; else it is unsure. */
gpumem_status gm_queue_sync(struct gm_heap *heap, struct gm_queue *queue);
void gm_queue_end(struct gm_heap *heap, struct gm_queue *queue);
/* Is any unsure? Before a sleep or a wake none may be: OK, or the driver's
 * error. */
bool gm_queues_unsure(struct gm_heap *heap);
gpumem_status gm_queues_settle(struct gm_heap *heap);
/* The heap ends. */
void gm_queues_forget(struct gm_heap *heap);

/* ---- store.c ---- */

enum gm_store_kind { GM_STORE_PINNED, GM_STORE_PAGEABLE, GM_STORE_FILE };

/* The content of what one sleep took.
 *
 *     chunk_count == kept.bytes / chunk_bytes, rounded up
 */
struct gm_store {
	struct gm_store *next;
	uint64_t number; /* pages that are away have it */
	struct gm_pieces kept, zeros;
	enum gm_store_kind kind;
	bool retain;
	bool pins; /* PINNED: some chunks are not there yet */
	size_t chunk_bytes, chunk_count;
	struct gm_chunk **chunk;   /* PINNED: where each is; NULL: not yet */
	struct gm_chunk *ordinary; /* PAGEABLE: where all of it is */
	int fd;			   /* FILE; else -1 */
};

/* Of a heap that slept once. Under the heap's mutex, but for the chunks. */
struct gm_sleep {
	uint64_t number; /* of the newest sleep */
	struct gm_store *stores;
	_Atomic uint64_t host_bytes; /* of all chunks */
	pthread_mutex_t mutex;	     /* of these: */
	struct gm_queue *unsure;
	struct gm_chunk *chunks; /* retained */
	struct gm_driver pinned; /* constant, but for its counters */
};

/* What the host's pages and O_DIRECT want. */
static inline uint64_t gm_store_round(uint64_t bytes)
{
	return (bytes + 4095) & ~(uint64_t)4095;
}

/* Room for what store->kept says. OK; LIMIT: host_limit_bytes; NO_HOST_MEMORY;
 * INVALID: the folder. */
gpumem_status gm_store_open(struct gm_heap *heap, struct gm_store *store,
			    const struct gpumem_sleep_options *options);
/* host_limit.c: what an open store asks for besides what is retained; and OK or
 * LIMIT, whether that is within what all sleeps may hold (0: any), for which
 * what is retained goes where that is enough. */
uint64_t gm_store_needs(struct gm_heap *heap, const struct gm_store *store);
gpumem_status gm_store_fit(struct gm_heap *heap, const struct gm_store *store,
			   uint64_t limit_bytes);
/* With all that it has; it may be open or not. Without the mutex. */
void gm_store_close(struct gm_heap *heap, struct gm_store *store);

/* Those of which no page is away, also because all was freed, end. There may be
 * none yet. Without the mutex; the error stays what it was. */
void gm_stores_end(struct gm_heap *heap);

/* How many threads copy it, each with a buffer if it is not PINNED. Those with
 * buffers are as slow as the host's memory, and more of them; so are those that
 * make the pages of new chunks. Four keep the link busy. */
enum {
	GM_STORE_WORKERS = 16,
	GM_STORE_PINNING_WORKERS = 8,
	GM_STORE_PINNED_WORKERS = 4
};
size_t gm_store_workers(const struct gm_store *store);
/* How many bytes a chunk has. */
size_t gm_store_chunk(const struct gm_store *store, size_t number);
/* It will be written soon: the host's pages for it are made meanwhile. */
void gm_store_expect(const struct gm_store *store, size_t number);
/* A chunk from a buffer to where it is kept, or back; not of PINNED. OK,
 * NO_HOST_MEMORY or DRIVER. */
gpumem_status gm_store_write(const struct gm_store *store, size_t number,
			     const unsigned char *buffer);
gpumem_status gm_store_read(const struct gm_store *store, size_t number,
			    unsigned char *buffer);

/* ---- move.c ---- */

/* Threads that copy the content of a store between its blocks and the host. */
struct gm_move;

/* Down: all of it. Returns when that is over. OK, or the first error. */
gpumem_status gm_move_down(struct gm_heap *heap, struct gm_store *store);
/* Up: what lies in these areas, which are mapped by and by. OK or
 * NO_HOST_MEMORY. */
gpumem_status gm_move_up_begin(struct gm_heap *heap, struct gm_store *store,
			       const struct gm_areas *areas,
			       struct gm_move **move_out);
/* All areas up to this address are mapped. */
void gm_move_up_to(struct gm_move *move, uintptr_t address);
/* Waits for the threads, after all was mapped, or else stops them. OK, or the
 * first error. *bytes_out: how many were copied. */
gpumem_status gm_move_up_end(struct gm_move *move, bool stop,
			     uint64_t *bytes_out);
/* Fills what comes back as zeros. OK, or the driver's error. */
gpumem_status gm_move_zeros(struct gm_heap *heap, const struct gm_store *store,
			    const struct gm_areas *areas);

/* ---- sleep.c ---- */

/* One begins, or a wake, of which there is one at a time: OK or BUSY; it ends.
 * Without the mutex. */
gpumem_status gm_sleep_begin(struct gm_heap *heap);
void gm_sleep_over(struct gm_heap *heap);

/* ---- plan.c, mark.c and streams.c ---- */

/* What becomes of the blocks of each tag: a gpumem_sleep; 0: it is not asked
 * for. */
struct gm_choice {
	bool all;
	uint8_t of[GM_TAGS_MAX];
};

void gm_choose(struct gm_choice *choice, uint32_t tag);

struct gm_taking {
	const struct gm_choice *choice;
	struct gm_areas areas; /* of whole handles */
	struct gm_pieces kept, zeros;
	uint64_t dropped_bytes;
	/* It has to wait for this; what is in the way else. */
	const struct gm_extent *busy;
};

/* While the heap is stopped, and its caches are empty: which handles go. OK;
 * NO_HOST_MEMORY; NOT_READY: taking->busy. */
gpumem_status gm_plan_areas(struct gm_heap *heap, struct gm_taking *taking);
/* And what is copied of them. OK or NO_HOST_MEMORY. */
gpumem_status gm_plan_pieces(struct gm_heap *heap, struct gm_taking *taking);
/* They are away from now on. OK; NO_HOST_MEMORY: nothing happened. */
gpumem_status gm_plan_mark(struct gm_heap *heap, const struct gm_taking *taking,
			   uint64_t number);
void gm_plan_free(struct gm_taking *taking);
/* The pages of a sleep, or a wake, are as they will be: counts what sleeps,
 * wakes slabs, and settles what is free. While the heap is stopped. */
void gm_plan_settle(struct gm_heap *heap);

/* Of all extents on pages that are away, those that a wake is asked for. OK or
 * NO_HOST_MEMORY. */
gpumem_status gm_plan_wake(struct gm_heap *heap, const struct gm_choice *choice,
			   struct gm_areas *areas);

/* Waits for the work so far of the streams that use blocks that go, until
 * deadline_ns. OK; BUSY, with which; CAPTURING becomes that. Without the mutex.
 */
gpumem_status gm_wait_streams(struct gm_heap *heap,
			      const struct gm_choice *choice,
			      uint64_t deadline_ns);
/* A while for what is in the way of a plan, until deadline_ns at most. With the
 * mutex, which is free when it returns. OK: nothing is as it was; BUSY: a
 * stream is captured; or why the driver does not say whether work is over. */
gpumem_status gm_wait_for(struct gm_heap *heap, const struct gm_extent *busy,
			  uint64_t deadline_ns);
/* The same as a sentence; BUSY. */
gpumem_status gm_wait_refuse(const struct gm_extent *busy);

/* ---- regain.c ---- */

/* New handles for areas, side by side in each. */
struct gm_taken {
	uintptr_t start;
	size_t pages;
	gpumem_page page;
	bool mapped;
};

struct gm_takes {
	struct gm_taken *take;
	size_t count, room;
	uint64_t bytes;
	bool device_limit;
};

/* All that the areas need, in as large handles as may be, but for pages that
 * have memory. OK; LIMIT; NO_MEMORY; NO_HOST_MEMORY; or another error of the
 * driver: there are none then. Without the mutex. */
gpumem_status gm_take(struct gm_heap *heap, const struct gm_areas *areas,
		      struct gm_takes *takes);
/* Gives those back that are not mapped. Without the mutex. */
void gm_take_undo(struct gm_heap *heap, struct gm_takes *takes);

#endif
