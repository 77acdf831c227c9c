/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Whether a page can be mapped at a second address, as a pool does with pages
 * of busy streams (GPUMEM_CAP_ALIAS): it is mapped twice, what is written
 * through one mapping has to be read through the other by the next work of the
 * stream, and has to be there still when the other mapping is gone. HIP
 * documents neither that it works nor that it does not. See hip_trial.h.
 *
 * What it cannot find: that a mapping waits for the work of others, and caches
 * that differ only once in a while.
 */
#include "hip_trial.h"

enum { FIRST = 0xa5, SECOND = 0x5a };

static const char *take(struct hip_trial *trial)
{
	const char *fault = gm_hip_trial_create(trial, 1);

	for (size_t i = 0; i < HIP_TRIAL_PAGES && !fault; i++) {
		trial->mapped[i] =
			gm_hip_map(trial->device, gm_hip_trial_place(trial, i),
				   trial->pages, 1, trial->bytes) == GPUMEM_OK;
		if (!trial->mapped[i])
			fault = "a page is mapped once only";
	}
	return fault;
}

/* Fills one place, and reads the other's last byte. */
static gpumem_status through(const struct hip_trial *trial, size_t from,
			     int value, gpumem_stream stream,
			     unsigned char *found)
{
	gpumem_status status =
		gm_hip_fill(trial->device, gm_hip_trial_place(trial, from),
			    value, trial->bytes, stream);

	if (status != GPUMEM_OK)
		return status;
	return gm_hip_copy(trial->device, (uintptr_t)found,
			   gm_hip_trial_place(trial, !from) + trial->bytes - 1,
			   1, stream);
}

static gpumem_status both_ways(const struct hip_trial *trial,
			       gpumem_stream stream,
			       struct hip_trial_found *found)
{
	gpumem_status status =
		through(trial, 0, FIRST, stream, &found->byte[0]);

	if (status != GPUMEM_OK)
		return status;
	return through(trial, 1, SECOND, stream, &found->byte[1]);
}

/* The first and the last byte of what is left. */
static gpumem_status read_left(const struct hip_trial *trial,
			       gpumem_stream stream,
			       struct hip_trial_found *found)
{
	uint64_t place = gm_hip_trial_place(trial, 1);
	gpumem_status status = gm_hip_copy(
		trial->device, (uintptr_t)&found->byte[0], place, 1, stream);

	if (status != GPUMEM_OK)
		return status;
	return gm_hip_copy(trial->device, (uintptr_t)&found->byte[1],
			   place + trial->bytes - 1, 1, stream);
}

static const char *use(struct hip_trial *trial)
{
	static const struct hip_trial_found each = {{FIRST, SECOND}},
					    left = {{SECOND, SECOND}};
	const char *fault = gm_hip_trial_do(trial, both_ways, &each,
					    "two mappings of a page differ");

	if (fault)
		return fault;
	trial->mapped[0] = false;
	if (gm_hip_unmap(trial->device, gm_hip_trial_place(trial, 0), 1,
			 trial->bytes) != GPUMEM_OK)
		return "memory cannot be unmapped";
	return gm_hip_trial_do(trial, read_left, &left,
			       "a mapping goes with another");
}

const char *gm_hip_try_alias(struct gpu_device *device)
{
	static const struct hip_trial_steps steps = {take, use,
						     gm_hip_trial_give};

	return gm_hip_try(device, &steps);
}
