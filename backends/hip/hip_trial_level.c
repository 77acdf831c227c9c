/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A level of virtual memory tried: two granules are taken, written, read and
 * given back in the way of that level, with the slots that a pool uses, and the
 * bytes have to have come back. Pages also change places, and are destroyed and
 * created anew at the same addresses, as by a pool that moves pages, or sleeps
 * and wakes. See hip_trial.h.
 *
 * What it finds are the faults known of ROCm:
 *
 *     FULL     ROCR-Runtime#285: one unmap takes only one of several mappings;
 *              runtimes that refuse to give access to several at once
 *     SINGLE   ROCm/hip#3781: memory stays taken until its addresses are free;
 *              rocm-systems#11693: what is mapped is not there for work that
 *              begins then, which reads something else, and whose writes are
 *              lost
 *     RESERVE  memory that does not come back even then; access that cannot be
 *              given at all
 *
 * The last but one is seen only if it happens within these few rounds. With
 * #3781 there are no pages at RESERVE: a pool counts on each page that it
 * destroys, and memory would come back with a whole range only. Raw allocations
 * are given back whole anyway.
 */
#include "hip_trial.h"

enum { PAGES = HIP_TRIAL_PAGES, ROUNDS = 4 };
enum { FIRST = 0xa5, SECOND = 0x5a };

static const char *take_pages(struct hip_trial *trial)
{
	const char *fault = gm_hip_trial_create(trial, PAGES);

	return fault ? fault : gm_hip_trial_map(trial);
}

/* The last byte of each place. */
static gpumem_status read_all(const struct hip_trial *trial,
			      gpumem_stream stream,
			      struct hip_trial_found *found)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = gm_hip_copy(trial->device, (uintptr_t)&found->byte[i],
				     gm_hip_trial_place(trial, i + 1) - 1, 1,
				     stream);
	return status;
}

static gpumem_status write_and_read(const struct hip_trial *trial,
				    gpumem_stream stream,
				    struct hip_trial_found *found)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status =
			gm_hip_fill(trial->device, gm_hip_trial_place(trial, i),
				    i ? SECOND : FIRST, trial->bytes, stream);
	return status == GPUMEM_OK ? read_all(trial, stream, found) : status;
}

static const char *use(struct hip_trial *trial)
{
	static const struct hip_trial_found each = {{FIRST, SECOND}};

	return gm_hip_trial_do(trial, write_and_read, &each,
			       "mapped memory cannot be written and read");
}

/* Each page at the other's place. */
static const char *change_places(struct hip_trial *trial)
{
	static const struct hip_trial_found changed = {{SECOND, FIRST}};
	const char *fault = gm_hip_trial_unmap(trial);
	gpumem_page first = trial->pages[0];

	if (fault)
		return fault;
	trial->pages[0] = trial->pages[1];
	trial->pages[1] = first;
	if (gm_hip_trial_map(trial))
		return "what was unmapped cannot be mapped again";
	return gm_hip_trial_do(trial, read_all, &changed,
			       "pages that are mapped again have other "
			       "content");
}

static const char *use_pages(struct hip_trial *trial)
{
	const char *fault = use(trial);

	for (int i = 0; i < ROUNDS && !fault; i++) {
		fault = change_places(trial);
		if (!fault)
			fault = gm_hip_trial_give(trial);
		if (!fault)
			fault = take_pages(trial);
		if (!fault)
			fault = use(trial);
	}
	return fault;
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
	static const struct hip_trial_steps pages = {take_pages, use_pages,
						     gm_hip_trial_give},
					    raw = {take_raw, use, give_raw};

	return gm_hip_try(device,
			  device->level == HIP_VM_RESERVE ? &raw : &pages);
}
