/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The purge steps that give idle memory back; see decay.h. */
#include "heap.h"
#include "base/error.h"

/* The steps of one tick follow each other at this distance, each as small as
 * this. */
static const uint64_t pause_ns = 1000 * 1000;
enum { PURGE_PAGES = 16, PURGE_BATCHES = 64 };
/* In one tick; then the driver is left alone until the next. */
enum { REFUSALS = 8 };

/* The newest free that is a whole period old; false: none is known to be. */
static bool old_seqno(const struct gm_decay *decay, uint64_t now_ns,
		      uint64_t *seqno_out)
{
	bool found = false;

	for (unsigned i = 0; i < GM_DECAY_NOTES && i < decay->noted; i++) {
		if (decay->note[i].ns + decay->period_ns > now_ns ||
		    (found && decay->note[i].seqno < *seqno_out))
			continue;
		*seqno_out = decay->note[i].seqno;
		found = true;
	}
	return found;
}

/* Caches grow older by a tick; those that were used have been young since they
 * were folded in. */
static void tick(struct gm_heap *heap, uint64_t now_ns)
{
	struct gm_decay *decay = &heap->policy->decay;
	unsigned at = (unsigned)(decay->noted++ % GM_DECAY_NOTES);
	struct gm_local *local;

	decay->note[at].ns = now_ns;
	decay->note[at].seqno = heap->seqno;
	decay->tick_ns = now_ns + decay->period_ns / GM_DECAY_TICKS;
	decay->refused = 0;
	gm_locals_stop(heap);
	gm_locals_fold(heap);
	for (local = heap->caches->locals; local; local = local->next)
		atomic_fetch_add(&local->idle_ticks, 1);
	gm_locals_go(heap);
}

static bool is_idle(const struct gm_local *local)
{
	const struct gm_group *group = local->group;

	return local->idle_ticks > GM_DECAY_QUIET &&
	       (group->used != local || !gm_counts_any(&group->counts));
}

/* Stops all caches only if that may be of use. */
static bool may_be_idle(const struct gm_heap *heap)
{
	const struct gm_local *local = heap->caches->locals;

	while (local && local->idle_ticks <= GM_DECAY_QUIET)
		local = local->next;
	return local || !heap->caches->locals;
}

/* One cache that is idle, or else part of the depots, if all are.
 * False: there is nothing of the kind. */
static bool empty_caches(struct gm_heap *heap)
{
	struct gm_local *local;
	bool done = true;

	if (!may_be_idle(heap))
		return false;
	gm_locals_stop(heap);
	for (local = heap->caches->locals; local; local = local->next) {
		bool idle = is_idle(local);

		if (idle && gm_local_holds(local))
			break;
		done = done && idle;
	}
	if (local) {
		gm_local_flush(local);
		done = true;
	} else if (done) {
		done = gm_depots_empty(heap, PURGE_BATCHES);
	}
	gm_locals_go(heap);
	return done;
}

/* What the driver does not take is passed over until the next tick. */
static bool give_back(struct gm_heap *heap, uint64_t now_ns)
{
	struct gm_decay *decay = &heap->policy->decay;
	struct gm_release leave = {.bytes = PURGE_PAGES * heap->page_bytes,
				   .skip = decay->refused};
	uint64_t bytes;
	bool refused;

	if (decay->refused == REFUSALS ||
	    !old_seqno(decay, now_ns, &leave.newest))
		return false;
	gm_slabs_purge_all(heap);
	if (!gm_arenas_poll(heap))
		return false;
	refused = gm_space_release(heap, &leave, &bytes) != GPUMEM_OK;
	heap->counters.decayed_bytes += bytes;
	decay->refused += refused;
	return bytes > 0 || refused;
}

bool gm_decay_step(struct gm_heap *heap, uint64_t now_ns)
{
	struct gpumem_error error = {.size = sizeof(error)};
	struct gm_decay *decay = &heap->policy->decay;
	bool more;

	if (now_ns < decay->next_ns)
		return false;
	gm_error_get(&error);
	if (now_ns >= decay->tick_ns)
		tick(heap, now_ns);
	/* Also then: who comes seldom meets nothing but ticks. */
	more = empty_caches(heap) || give_back(heap, now_ns);
	gm_error_set(&error);
	decay->next_ns = more ? now_ns + pause_ns : decay->tick_ns;
	return more;
}
