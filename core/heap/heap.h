/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A heap: one pool's memory, composed of the modules below, and the policy:
 * which source an allocation comes from, in which order (ladder.h); when idle
 * memory is given back (decay.h); what a trim gives back. The pool above has
 * callbacks, statistics and reports.
 *
 * It decides when; the modules below do it:
 *
 *     a page is stolen                  a growth: pages/steal.c
 *     a limit is enforced               gm_limit_check(): space/budget.h
 *     a freed block waits for an event  order: order/pending.h
 *     other streams' free memory waits  order: order/arena.h
 *
 * Nothing waits for the device but, by option `wait`, the last rows of the
 * ladder, a growth that has too many pages mapped twice (growing.c), and with
 * segments, for a bounded time, what would reserve more than ever
 * (segments/drain.c); and the pool when it ends.
 *
 * Locks, in this order: heap/heap.h:trim_mutex, extent/heap_core.h:mutex.
 * gm_heap_alloc(), _free(), _use_on(), _resize(), _trim() and _decay() lock
 * themselves; the other functions are called with the heap's held unless they
 * say otherwise.
 */
#ifndef GM_HEAP_HEAP_H
#define GM_HEAP_HEAP_H

#include "decay.h"
#include "ladder.h"
#include "base/track.h"
#include "cache/cache.h"
#include "order/order.h"
#include "pages/pages.h"
#include "segments/segments.h"

/* The program's function for what becomes of blocks; fn NULL: none. */
struct gm_hook {
	gpumem_hook_fn fn;
	gpumem_pool *pool;
	void *user;
};

/*
 *     caches gated  <=>  hook.fn, or tracked, or pages are away: who frees a
 *                        block that sleeps takes the slow path
 */
struct gm_policy {
	struct gm_hook hook;   /* under the mutex */
	bool tracked;	       /* under the mutex */
	struct gm_track track; /* under the mutex; empty unless tracked */
	_Atomic unsigned track_frames; /* of each stack; 0: no stacks */
	struct gm_decay decay;
	pthread_mutex_t trim_mutex;	  /* one gives memory back at a time */
	const struct gm_helpers *helpers; /* constant */
	bool wait;			  /* constant: option `wait` */
	struct {
		pthread_t thread;
		pthread_cond_t wake; /* with the trim mutex */
		bool runs, stop;     /* stop: under the trim mutex */
	} background;		     /* option `decay_thread` */
};

struct gm_heap_config {
	uint64_t limit_bytes, soft_limit_bytes, page_bytes;
	gpumem_kind kind;
	void *const *peers; /* kept: see struct gm_driver */
	size_t peer_count;
	uint32_t share;			  /* gpumem_share */
	const struct gm_helpers *helpers; /* NULL: none */
};

/* Without the mutex. OK, NO_HOST_MEMORY, or what the driver said. */
gpumem_status gm_heap_init(struct gm_heap *heap, struct gpumem_device *device,
			   const struct gm_heap_config *config);
/* Without the mutex; no other thread uses the heap. Live blocks are given back
 * too. OK, or the driver's first error. */
gpumem_status gm_heap_fini(struct gm_heap *heap);

/* Blocks, without the mutex: OK, or what gpumem_alloc(), gpumem_free(),
 * gpumem_free_after() and gpumem_use_on() may return; a LIMIT or NO_MEMORY
 * without the figures. */
gpumem_status gm_heap_alloc(struct gm_heap *heap,
			    const struct gm_request *request, void **ptr_out);
gpumem_status gm_heap_free(void *ptr, gpumem_stream stream);
/* The same on the stream that the block was allocated on. */
gpumem_status gm_heap_free_own(void *ptr);
gpumem_status gm_heap_free_after(void *ptr, struct gm_recording *recording);
gpumem_status gm_heap_use_on(void *ptr, gpumem_stream stream);
/* As gpumem_resize(); *holds_out is not NULL. */
gpumem_status gm_heap_resize(void *ptr, size_t bytes, gpumem_stream stream,
			     uint64_t *holds_out);

/* What a large block of so many requested bytes holds: the map of addresses
 * knows one per granule. */
static inline size_t gm_heap_large_bytes(const struct gm_heap *heap,
					 size_t bytes)
{
	bytes = (bytes + heap->unit - 1) & ~(heap->unit - 1);
	return bytes > GM_SMALL_MAX ? bytes : GM_SMALL_MAX + heap->unit;
}

/* What a block for the request holds. No lock: this is constant. */
size_t gm_heap_usable(const struct gm_heap *heap,
		      const struct gm_request *request);

/* tagged.c: the block at ptr, just allocated, has a tag from now on; one that
 * has ended had one; what a live block has more is its tag alone, or nothing.
 */
void gm_heap_tag_alloc(struct gm_heap *heap, const void *ptr, uint32_t tag,
		       uint64_t bytes);
void gm_heap_tag_free(struct gm_heap *heap, uint32_t tag, uint64_t bytes);
/* The request's bytes, or so many more of a live block, are promised to its
 * tag (extent/tags.h): afterwards the block gets them, or they are withdrawn.
 * OK; NO_HOST_MEMORY; LIMIT, and then *over_out is set; of a block BUSY. */
gpumem_status gm_heap_tag_promise(struct gm_heap *heap,
				  const struct gm_request *request,
				  bool *over_out);
gpumem_status gm_heap_tag_grow(struct gm_heap *heap, uint32_t tag,
			       uint64_t bytes);
/* Without the mutex: the tag and all inside it may hold so many bytes; 0: any
 * number. OK or NO_HOST_MEMORY. */
gpumem_status gm_heap_tag_limit(struct gm_heap *heap, uint32_t tag,
				uint64_t limit_bytes);
/* Without the mutex: how many more bytes a tag may have; UINT64_MAX: any. */
uint64_t gm_heap_tag_room(struct gm_heap *heap, uint32_t tag);

/* hook.c. Without the mutex: afterwards no thread is in the old hook. */
void gm_hook_set(struct gm_heap *heap, const struct gm_hook *hook);
/* Under the mutex, where a hook is set: tells it of a live block; or in two
 * steps, of one that is not live any more by the second. */
void gm_hook_tell(struct gm_heap *heap, uintptr_t address,
		  gpumem_hook_kind kind, gpumem_stream stream);
struct gpumem_hook_event gm_hook_event(uintptr_t address, gpumem_hook_kind kind,
				       gpumem_stream stream);
void gm_hook_call(const struct gm_heap *heap,
		  const struct gpumem_hook_event *event);

/* tracked.c. Without the mutex: live blocks are tracked from now on, with so
 * many frames of their stacks, or no longer. One that is tracked stays so, with
 * what is known. */
void gm_heap_track_begin(struct gm_heap *heap, unsigned frames);
void gm_heap_track_end(struct gm_heap *heap);
/* Under the mutex, after the two above, a change of the hook, and when pages
 * have gone away or come back, before gm_heap_go(). */
void gm_heap_gate(struct gm_heap *heap);

/* hook.c. Under the mutex, where the heap is recorded: an event of a block, and
 * if it begins and is tracked, where it comes from. */
void gm_heap_record(const struct gm_heap *heap, enum gpumem_record_kind kind,
		    uint64_t time, uintptr_t address, uint64_t bytes,
		    uint32_t tag, gpumem_stream stream);
/* The same of one that begins now, and what served it. */
void gm_heap_record_alloc(const struct gm_heap *heap,
			  const struct gm_request *request, uintptr_t address,
			  enum gpumem_served served);

/* Without the mutex: gives back what is unused and completed until keep_bytes
 * are reserved. OK, LOST, or the driver's first error. */
gpumem_status gm_heap_trim(struct gm_heap *heap, uint64_t keep_bytes,
			   uint64_t *released_out);
/* Locks the heap, when everything unused has gone from the caches down to free
 * extents, and what is completed of them to one stream. */
void gm_heap_gather(struct gm_heap *heap);

/* How large a block can be. */
struct gm_capacity {
	uint64_t most_bytes; /* whatever becomes free */
	uint64_t now_bytes;  /* at least: without waiting; 0: a small one may */
};

/* Without the mutex, of a block on `stream` and with a tag, when the driver has
 * so many bytes free. Empties the caches of threads, as an allocation that
 * finds nothing would. */
struct gm_capacity gm_heap_capacity(struct gm_heap *heap, gpumem_stream stream,
				    uint32_t tag, uint64_t driver_bytes);

/* Without the mutex: one purge step of decay if one is due; nothing while
 * another thread gives memory back. */
void gm_heap_decay(struct gm_heap *heap);
/* The background thread of decay, where option `decay_thread` is on. OK, or
 * NO_HOST_MEMORY. */
gpumem_status gm_background_start(struct gm_heap *heap);
void gm_background_stop(struct gm_heap *heap);

/* Locks the heap with all caches of threads stopped and folded in: the counters
 * are then exact. */
void gm_heap_stop(struct gm_heap *heap);
void gm_heap_go(struct gm_heap *heap);

/* Arenas of dropped streams that are completed are destroyed, and the completed
 * free extents of all other arenas become `receiver`'s; of more than
 * GM_ARENA_LOOKS if everywhere. */
void gm_heap_transfer(struct gm_arena *receiver,
		      const struct gm_attempt *attempt, bool everywhere);
/* The first part of it alone, whatever their fate: so many arenas are looked
 * at.
 */
void gm_heap_reap(struct gm_arena *receiver, const struct gm_attempt *attempt,
		  size_t most);
/* gm_arena_drop(), with the arena's slabs. */
gpumem_status gm_heap_drop(struct gm_arena *arena);
/* A private arena that serves no stream ends, with its slabs; the caches of
 * threads are stopped and empty. Its stream first waits for what `stream` has
 * to do by now. OK; CAPTURING, DRIVER, LOST or NO_HOST_MEMORY: it is as it
 * was. */
gpumem_status gm_heap_return(struct gm_arena *arena, gpumem_stream stream);

/* Host memory that the heap's bookkeeping takes. */
uint64_t gm_heap_host_bytes(const struct gm_heap *heap);

/* Walks everything; OK, or CORRUPT with what does not hold. The caches of other
 * threads are stopped (gm_locals_stop) by the caller. */
gpumem_status gm_heap_check(struct gm_heap *heap);

#endif
