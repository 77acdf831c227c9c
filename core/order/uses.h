/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The stream uses of live blocks: which streams besides its own a block is used
 * on, and its view. A hash table by the block's address, for the few blocks
 * that have any; these, and no others, are tracked (marked as shared), and
 * their free takes the slow path. A second one has those of the same entries
 * that have a view, by the view.
 *
 *     entry in the table  <=>  GM_MORE_SHARED (extent/tags.h)
 *     entry found by its view  <=>  in the table with view != NULL
 *     count, view_count == how many entries there are of each
 *
 * The heap's mutex guards it.
 */
#ifndef GM_ORDER_USES_H
#define GM_ORDER_USES_H

#include <gpumem/backend.h>

struct gm_heap;
struct gm_recording;

/*
 * A use that a free must wait for: of a stream, whose event is recorded when
 * the block is freed; of a stream that was dropped, whose event was recorded
 * after its last work; or of what an event of the program stood for when the
 * block was freed after it.
 *
 *     recording  =>  dropped, and event is that of the recording
 *     dropped    =>  event
 */
struct gm_wait {
	gpumem_stream stream;
	void *event;  /* NULL: not recorded yet */
	bool dropped; /* nothing more is recorded for it */
	/* NULL: the event is of the heap's store. Else a reference is held. */
	struct gm_recording *recording;
};

struct gm_use {
	struct gm_use *next;	     /* in the bucket */
	struct gm_use *next_by_view; /* in its bucket of views */
	uintptr_t address;
	void *view; /* NULL: none; set by gm_uses_set_view() */
	size_t count;
	struct gm_wait wait[];
};

struct gm_uses {
	struct gm_use **bucket; /* and behind them as many by view */
	size_t bucket_count;	/* a power of two, or 0 */
	size_t count, view_count;
};

/* OK or NO_HOST_MEMORY. A stream that is there already is not added again. */
gpumem_status gm_uses_add(struct gm_uses *uses, uintptr_t address,
			  gpumem_stream stream);
/* The block is also used by the work of a recording, as far as that is not over
 * already; then, and if it is known already, nothing is added. True in
 * *waits_out: the block has an entry for it. OK or NO_HOST_MEMORY. */
gpumem_status gm_uses_until(struct gm_heap *heap, uintptr_t address,
			    struct gm_recording *recording, bool *waits_out);
/* The entry of a block, made when there is none. OK or NO_HOST_MEMORY. */
gpumem_status gm_uses_of(struct gm_uses *uses, uintptr_t address,
			 struct gm_use **use_out);
/* Or NULL: none. */
struct gm_use *gm_uses_find(const struct gm_uses *uses, uintptr_t address);
/* The entry of the block whose view this is, or NULL. */
struct gm_use *gm_uses_find_view(const struct gm_uses *uses, const void *view);
/* Sets the view of an entry of the table; NULL: none any more. */
void gm_uses_set_view(struct gm_uses *uses, struct gm_use *use, void *view);
/* Takes the entry out; the caller frees it with free(). NULL: none. */
struct gm_use *gm_uses_take(struct gm_uses *uses, uintptr_t address);
/* Puts back what was taken. */
void gm_uses_put(struct gm_uses *uses, struct gm_use *use);

/* The stream is to be dropped: its uses get an event. OK, or why the driver did
 * not record. */
gpumem_status gm_uses_drop(struct gm_heap *heap, gpumem_stream stream);
/* Calls fn for every entry that has a view until it does not return OK. */
gpumem_status gm_uses_each_view(struct gm_heap *heap,
				gpumem_status (*fn)(struct gm_heap *heap,
						    struct gm_use *use,
						    void *user),
				void *user);
/* The use is over, or forgotten: its event goes back to where it is from. */
void gm_wait_end(struct gm_heap *heap, struct gm_wait *wait);
/* All uses are forgotten. */
void gm_uses_fini(struct gm_heap *heap);

struct gm_tally;

/* check_uses.c, as extent/check.h has it. */
gpumem_status gm_check_uses(const struct gm_heap *heap,
			    const struct gm_tally *tally);

#endif
