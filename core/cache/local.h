/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The caches of threads: for one thread, one heap and one stream, a stack of
 * cached slots per size class, and a few cached large blocks, which are used
 * again for exactly their size. A hit takes no lock and makes no atomic
 * read-modify-write: hot.h. A cache that is full is flushed to, and one
 * that is empty refilled from, the depot of its arena (depot.h), then the
 * slabs.
 *
 * Other threads must be able to stop a cache, to read or empty it. It is a lock
 * biased to its owner (as in Dice, Moir and Scherer, Quickly Reacquirable
 * Locks, 2003, with the fence made asymmetric by membarrier(2)):
 *
 *     owner:  busy = 1; if (!claimed) { work }; busy = 0
 *     other:  claimed = 1; membarrier(); wait for busy == 0; work; claimed = 0
 *
 * Either the owner sees the claim, and takes the slow path under the heap's
 * mutex, or the claimer sees it busy and spins for a few nanoseconds. Claims
 * are made under that mutex. Where membarrier is missing the owner's `busy = 1`
 * is an exchange.
 *
 * While a heap is recorded (record/record.h) its caches have a second bit of
 * the claim, which keeps the owner out of the hot path, and lets it in again
 * where events are written: gm_local_lock_recorded(). Who stops a cache, so,
 * waits for an event that is being written too.
 *
 * The tag of a thread (extent/tags.h) stands beside the claim of the cache that
 * it used last, so that the hot path finds out about both by one look.
 *
 * The memory of a cache reads as zero in a forked child (base/fork.h): there it
 * belongs to no heap, and the slow path returns FORKED.
 */
#ifndef GM_CACHE_LOCAL_H
#define GM_CACHE_LOCAL_H

#include "cached.h"
#include "slab.h"
#include "extent/heap_core.h"

enum {
	/* Of one thread for one heap: with more streams the oldest is emptied
	 * and serves the next. */
	GM_LOCALS_MAX = 32,
	/* By how much a thread changes the counters before they are folded in.
	 */
	GM_DRIFT_BYTES = 8 * 1024 * 1024
};

/* Bits of a claim. */
enum { GM_CLAIMED = 1, GM_CLAIM_RECORDED = 2 };

/* What all caches of one thread for one heap have in common: locking one of
 * them, or claiming all, gives access. */
struct gm_group {
	struct gm_counts counts;
	struct gm_above *above;	    /* the heap's */
	struct gm_local *used;	    /* the one that was used last, or NULL */
	struct gm_tag_deltas *tags; /* NULL: nothing was counted by tag */
	_Atomic unsigned count;	    /* of caches; 0: of no heap */
};

struct gm_bin {
	uint32_t count;
	struct gm_slot slot[GM_BIN_SLOTS];
};

struct gm_local {
	_Atomic(struct gm_heap *) heap; /* NULL: none */
	gpumem_stream stream;
	_Atomic uint32_t busy;
	union {
		_Atomic uint64_t stops; /* 0: nothing keeps the owner out */
		struct {
			_Atomic uint32_t claimed;
			_Atomic uint32_t tag; /* of gm_local_last: the owner's,
						 who alone writes it */
		};
	};
	bool exchange;	       /* no membarrier */
	unsigned arena_number; /* of `arena`; or one that no arena has */
	unsigned shard;	       /* of the arena's depot, to be tried first */
	unsigned serial;       /* of the heap: the lower, the older */
	struct gm_group *group;
	struct gm_arena *arena;
	struct gm_local *next_of_thread;
	struct gm_local *next, *prev; /* of the heap; under its mutex */
	_Atomic unsigned idle_ticks;  /* since it was used: decay.h */
	struct gm_cached cached;
	struct gm_bin bin[GM_CLASS_COUNT];
	/* Room for a group, of any heap: as many as caches are enough. It lives
	 * as long as the thread does. */
	struct gm_group room;
};

/* The cache that the calling thread used last, and its tag. Never NULL. */
extern __attribute__((tls_model(
	"initial-exec"))) _Thread_local struct gm_local *gm_local_last;
extern __attribute__((
	tls_model("initial-exec"))) _Thread_local uint32_t gm_local_tag;
/* All caches of the calling thread, linked by next_of_thread; also those that
 * lost their heap. As quick to find as the last one. */
extern __attribute__((
	tls_model("initial-exec"))) _Thread_local struct gm_local *gm_local_own;

/* The cache is the one that the calling thread used last. The owner has entered
 * it, or holds the heap's mutex. */
static inline void gm_local_use(struct gm_local *local)
{
	gm_local_last = local;
	atomic_store_explicit(&local->tag, gm_local_tag, memory_order_relaxed);
	local->group->used = local;
	atomic_store_explicit(&local->idle_ticks, 0, memory_order_relaxed);
}

/* The owner enters a cache that it has seen to be a heap's. 0: it has. Else it
 * has only if the cache is not claimed, and the thread has a tag. Who takes a
 * cache away from its heap leaves it claimed, so one that is entered is still
 * the same heap's. */
static inline uint64_t gm_local_enter(struct gm_local *local)
{
	if (__builtin_expect(local->exchange, false)) {
		atomic_exchange(&local->busy, 1);
	} else {
		atomic_store_explicit(&local->busy, 1, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
	}
	return atomic_load(&local->stops);
}

static inline void gm_local_unlock(struct gm_local *local)
{
	atomic_store_explicit(&local->busy, 0, memory_order_release);
}

/* The same; false, and it has not, if somebody claims the cache or the thread
 * has a tag. */
static inline bool gm_local_lock(struct gm_local *local)
{
	if (__builtin_expect(!gm_local_enter(local), true))
		return true;
	gm_local_unlock(local);
	return false;
}

/* What a cache that was entered says of claims. GM_CLAIMED: it is nobody's to
 * use. */
static inline uint32_t gm_local_claimed(struct gm_local *local)
{
	return atomic_load_explicit(&local->claimed, memory_order_acquire);
}

/* As gm_local_lock(), also with a tag, and if the heap is recorded, which
 * *claimed_out says. */
static inline bool gm_local_lock_recorded(struct gm_local *local,
					  uint32_t *claimed_out)
{
	(void)gm_local_enter(local);
	*claimed_out = gm_local_claimed(local);
	if (__builtin_expect(!(*claimed_out & GM_CLAIMED), true))
		return true;
	gm_local_unlock(local);
	return false;
}

/* An event of a block of a recorded heap, on the cache's stream, while its
 * owner has locked it. */
static inline void gm_local_record(const struct gm_local *local,
				   enum gpumem_record_kind kind, uint64_t time,
				   const void *ptr, uint64_t bytes,
				   uint32_t tag)
{
	const struct gm_heap *heap =
		atomic_load_explicit(&local->heap, memory_order_relaxed);
	const struct gm_record_block block = {.time = time,
					      .address = (uintptr_t)ptr,
					      .bytes = bytes,
					      .stream = local->stream,
					      .pool = heap->record,
					      .tag = (uint16_t)tag,
					      .kind = (uint8_t)kind};

	gm_record_block(&block);
}

/* The calling thread's blocks get this tag from now on; 0: none. */
void gm_local_set_tag(uint32_t tag);

static inline bool gm_local_is(const struct gm_local *local,
			       const struct gm_heap *heap, gpumem_stream stream)
{
	return atomic_load_explicit(&local->heap, memory_order_relaxed) ==
		       heap &&
	       local->stream == stream;
}

/* ---- without the mutex: the cache is empty, or full; but the thread may have
 * another cache for this heap and stream than the one it used last, or the
 * depot refills or takes. True: the same again may succeed. */

bool gm_local_refill_for(const struct gm_heap *heap, size_t bytes,
			 gpumem_stream stream);
bool gm_local_flush_for(const void *ptr, gpumem_stream stream);
/* The same of a block that is freed on its own stream, whichever that is. */
bool gm_local_flush_for_own(const void *ptr);

/* after.c: what to do without the mutex after gm_hot_alloc(), or gm_hot_free(),
 * found nothing: the same with tags, and with an event if the heap is recorded;
 * and then with the depot. NULL, or false: take the slow path. */
void *gm_local_alloc_again(struct gm_heap *heap, size_t bytes,
			   gpumem_stream stream, uint32_t tag);
bool gm_local_free_again(void *ptr, bool any, gpumem_stream stream);

/* Some block of the process has had a word of the caller's (heap/user.c). */
extern _Atomic bool gm_words_used;

/* resize_local.c: a small block that is used on its own stream, without the
 * mutex. OK: it has `bytes` requested bytes now, and holds *holds_out; BUSY:
 * its slot is too small, and nothing has changed. NOT_READY, without a
 * sentence: take the slow path. */
gpumem_status gm_local_resize(void *ptr, size_t bytes, gpumem_stream stream,
			      uint64_t *holds_out);
/* The BUSY of a slot. */
gpumem_status gm_slot_too_small(void);

/* ---- the slow path, under the heap's mutex ---- */

/* The calling thread's cache for the heap and stream, made when there is none;
 * it becomes gm_local_last. OK or NO_HOST_MEMORY. */
gpumem_status gm_local_of(struct gm_heap *heap, struct gm_arena *arena,
			  struct gm_local **local_out);
/* tag_counts.c: what counts by tag is made where the heap, or the calling
 * thread of it, has none; a thread that gets none goes without its cache. OK,
 * or NO_HOST_MEMORY of the heap's. */
gpumem_status gm_local_make_tags(struct gm_heap *heap);

/* Between gm_locals_stop() and gm_locals_go(): each thread has to choose its
 * tag anew, after a change of limits. */
void gm_locals_forget_tags(struct gm_heap *heap);

/* Adds what the cache, and the others of its group, did to the counters. */
void gm_local_fold(struct gm_local *local);
/* Fills an empty bin from the arena's depot or slabs, up to half of what it may
 * hold. False: they have none. */
bool gm_local_refill(struct gm_local *local, unsigned class_index);
/* Gives the older half of a bin to the depot, or back to the slabs. */
void gm_local_spill(struct gm_local *local, unsigned class_index);
/* Gives cached large blocks back until there is room for one of `bytes`: first
 * those that are in its way by size. */
void gm_local_make_room(struct gm_local *local, size_t bytes);
/* Gives all cached blocks back. */
void gm_local_flush(struct gm_local *local);
/* Between gm_locals_stop() and gm_locals_go(), or of the calling thread's: is
 * anything ready? */
bool gm_local_holds(const struct gm_local *local);

/* Without any lock, when a call that made a cache is over: a thread whose
 * caches have ended keeps none, for nobody would end it. */
void gm_locals_end_call(void);

/* Folds in what the calling thread did: before each change of the counters, so
 * that the peaks of a lone thread are exact. While several threads use the heap
 * and the peaks would become too uncertain, all are stopped and folded in. So
 * many bytes may become active next. */
void gm_locals_fold_own(struct gm_heap *heap, size_t bytes);
/* Empties the calling thread's caches of this heap. */
void gm_locals_flush_own(struct gm_heap *heap);
/* Gives the huge blocks of the calling thread's caches of this heap back, which
 * are folded in: what is looked for next may be part of them. */
void gm_locals_flush_huge(struct gm_heap *heap);
/* If one of the calling thread's caches has this cached large block, gives it
 * back. False: none has. */
bool gm_locals_give_back(struct gm_heap *heap, struct gm_extent *extent);
/* Have other threads caches of it? */
bool gm_locals_others(const struct gm_heap *heap);
/* Stops all other threads' caches until gm_locals_go(): then every cache of the
 * heap may be read and emptied. While the heap is gated (cache.h) they stay
 * stopped, and their owners use them under the mutex. */
void gm_locals_stop(struct gm_heap *heap);
void gm_locals_go(struct gm_heap *heap);
/* Between the two: adds what all threads did to the counters, as if their
 * highest points had come together; empties all, and the depots. */
void gm_locals_fold(struct gm_heap *heap);
void gm_locals_flush(struct gm_heap *heap);
/* Between the two: empties depots, of at most so many batches; true: there were
 * some. */
bool gm_depots_empty(struct gm_heap *heap, unsigned batches);
/* Between the two: bytes of cached blocks; of the largest block in caches, and
 * where no large one is, in depots and slabs. */
uint64_t gm_locals_cached_bytes(const struct gm_heap *heap);
uint64_t gm_locals_largest_bytes(const struct gm_heap *heap);

/* Between the two: caches of this arena, or with NULL all, become nobody's;
 * they are empty and folded in. */
void gm_locals_drop(struct gm_heap *heap, const struct gm_arena *arena);

/* Without the mutex: no thread has a cache of the heap any more; what was in
 * them is forgotten. */
void gm_locals_detach(struct gm_heap *heap);

/* ---- between the files of this module ---- */

int gm_membarrier(int command);
/* Takes the cache off its heap's list: it is nobody's now. */
void gm_local_unlink(struct gm_local *local);
/* The calling thread's cache of the arena that a block belongs to, if `stream`
 * is that arena's; or NULL. The entry is the block's in the map of addresses.
 */
struct gm_local *gm_local_home(uintptr_t entry, gpumem_stream stream);
/* What the calling thread has of this heap, or NULL. */
struct gm_group *gm_group_own(const struct gm_heap *heap);
/* The cache is in the group of its thread and heap from now on, or no more. */
void gm_group_join(struct gm_heap *heap, struct gm_local *local);
void gm_group_leave(struct gm_heap *heap, struct gm_local *local);

#endif
