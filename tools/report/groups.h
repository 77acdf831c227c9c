/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A report by pool and by device: each at its own peak, which the peak of all
 * together need not be. The source is read once more. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_GROUPS_H
#define GPUMEM_TOOLS_REPORT_GROUPS_H

#include "model.h"

/* A pool, or all pools of a device. */
struct group {
	char *device;		 /* as the recording has it, "-": not known */
	const char *name, *kind; /* of a pool; "-": it has none */
	uint16_t pool;
	bool is_device;
	size_t pools;		  /* of a device */
	struct model_moment peak; /* event, ns, requested, blocks only */
	uint64_t requested, reserved, peak_reserved, blocks;
};

/* Pools by number and then, if there are several, devices by their first pool.
 */
struct groups {
	struct group *list;
	size_t pools, count;
};

/* No rows where there is one pool only: it is the whole. False, and told;
 * groups_free() is right all the same. */
bool groups_read(struct groups *groups, const struct model *model);
void groups_free(struct groups *groups);

/* Has it a peak that no row before has? */
static inline bool group_says_more(const struct group *group)
{
	return group->peak.requested && (!group->is_device || group->pools > 1);
}

/* Is there more than one device? */
static inline bool groups_has_devices(const struct groups *groups)
{
	return groups->count > groups->pools;
}

/* "pool 1, framework on cuda:0" or "all of cuda:0"; for free(). NULL: out of
 * memory. */
char *group_title(const struct group *group);
/* A device with its pools, "cuda:0: pool 1, framework; pool 3"; for free().
 * NULL: out of memory. */
char *group_heading(const struct groups *groups, const struct group *device);
/* Which pools it is of, by number, SUMMARY_POOLS; for free(). NULL: out of
 * memory. */
bool *group_pools(const struct groups *groups, const struct group *group);
/* What tags have live at its peak; as model_tags(). */
struct model_tag *group_tags(const struct model *model,
			     const struct groups *groups,
			     const struct group *group, size_t *count_out);

#endif
