/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A level of virtual memory tried: two granules are taken, written, read and
 * given back in the way of that level, with the slots that a pool uses, and the
 * bytes have to have come back. See hip_trial.h.
 *
 * What it finds are the faults known of ROCm:
 *
 *     FULL     ROCR-Runtime#285: one unmap takes only one of several mappings;
 *              runtimes that refuse to give access to several at once
 *     SINGLE   ROCm/hip#3781: memory stays taken until its addresses are free
 *     RESERVE  memory that does not come back even then; access that cannot be
 *              given at all
 *
 * With #3781 there are no pages at RESERVE: a pool counts on each page that it
 * destroys, and memory would come back with a whole range only. Raw allocations
 * are given back whole anyway.
 */
#include "hip_trial.h"

enum { PAGES = HIP_TRIAL_PAGES };
#define PATTERN 0xa5

static const char *take_pages(struct hip_trial *trial)
{
	const char *fault = gm_hip_trial_create(trial, PAGES);

	if (fault)
		return fault;
	if (gm_hip_map(trial->device, trial->address, trial->pages, PAGES,
		       trial->bytes) != GPUMEM_OK)
		return "memory cannot be mapped, or access not given";
	for (size_t i = 0; i < PAGES; i++)
		trial->mapped[i] = true;
	return NULL;
}

static gpumem_status write_and_read(const struct hip_trial *trial,
				    gpumem_stream stream,
				    struct hip_trial_found *found)
{
	gpumem_status status =
		gm_hip_fill(trial->device, trial->address, PATTERN,
			    PAGES * trial->bytes, stream);

	for (size_t i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = gm_hip_copy(trial->device, (uintptr_t)&found->byte[i],
				     gm_hip_trial_place(trial, i + 1) - 1, 1,
				     stream);
	return status;
}

static const char *use(struct hip_trial *trial)
{
	static const struct hip_trial_found all = {{PATTERN, PATTERN}};

	return gm_hip_trial_do(trial, write_and_read, &all,
			       "mapped memory cannot be written and read");
}

static const char *take_raw(struct hip_trial *trial)
{
	return gm_hip_alloc(trial->device, PAGES * trial->bytes,
			    &trial->address) == GPUMEM_OK
		       ? NULL
		       : "no allocation can be made of it";
}

static const char *give_raw(struct hip_trial *trial)
{
	struct gpu_device *device = trial->device;

	if (!trial->address)
		return NULL;
	if (gm_hip_free(device, trial->address, PAGES * trial->bytes) !=
	    GPUMEM_OK)
		return "an allocation made of it cannot be freed";
	return gm_hip_segments_left(device->segments) ? gm_hip_addresses_stay
						      : NULL;
}

const char *gm_hip_try_level(struct gpu_device *device)
{
	static const struct hip_trial_steps pages = {take_pages, use,
						     gm_hip_trial_give},
					    raw = {take_raw, use, give_raw};

	return gm_hip_try(device,
			  device->level == HIP_VM_RESERVE ? &raw : &pages);
}
