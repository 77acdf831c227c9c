/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What reports want of a pool while it lives, as options say; see
 * gm_pool_reports in pool/pool.h. */
#include "leaks.h"
#include "oom_snapshot.h"
#include "base/option.h"

/* A snapshot shows what came before the failure. */
static void begin(void)
{
	if (gm_snapshot_wanted())
		gm_pools_record_unnamed();
}

static void made(struct gpumem_pool *pool)
{
	uint64_t frames = gm_option_count(GM_COUNT_track_frames);

	if (!gm_leaks_wanted() && !gm_option_bool(GM_BOOL_track))
		return;
	gm_heap_track_begin(&pool->heap, frames < GM_FRAMES_MAX
						 ? (unsigned)frames
						 : GM_FRAMES_MAX);
}

const struct gm_pool_reports gm_reports = {
	.begin = begin,
	.made = made,
	.tell_live = gm_pool_tell_leaks,
	.failed = gm_pool_report,
};
