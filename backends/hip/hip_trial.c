/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A trial of virtual memory, whatever is tried; see hip_trial.h. It can have
 * failed for what others did at the same time, so it is repeated then.
 */
#include "hip_trial.h"

#include <string.h>
#include <time.h>

/* The kernel may give memory back a little later, and others take and give at
 * the same time. */
enum { LOOKS = 20, TRIES = 3 };
#define LOOK_NS 1000000L

static const char NOT_BACK[] = "memory that was given back stays taken";
const char gm_hip_addresses_stay[] = "addresses cannot be given back";

/* The kernel's number rather than the runtime's, which has been wrong
 * (llama.cpp#24906). */
static uint64_t free_bytes(const struct hip_trial *trial)
{
	struct gpumem_memory memory = {.size = sizeof(memory)};

	if (trial->sysfs)
		(void)gm_hip_sysfs_memory(trial->device->pci, &memory);
	else if (gm_hip_memory_info(trial->device, &memory) != GPUMEM_OK)
		return 0;
	return memory.free_bytes;
}

const char *gm_hip_trial_create(struct hip_trial *trial, size_t pages)
{
	struct gpu_device *device = trial->device;

	if (!trial->reserved &&
	    gm_hip_va_reserve(device, HIP_TRIAL_PAGES * trial->bytes,
			      trial->bytes, &trial->address) != GPUMEM_OK)
		return "no addresses can be reserved";
	trial->reserved = true;
	for (; trial->created < pages; trial->created++)
		if (gm_hip_page_create(device, trial->bytes,
				       &trial->pages[trial->created]) !=
		    GPUMEM_OK)
			return "no memory can be taken";
	return NULL;
}

const char *gm_hip_trial_map(struct hip_trial *trial)
{
	if (gm_hip_map(trial->device, trial->address, trial->pages,
		       HIP_TRIAL_PAGES, trial->bytes) != GPUMEM_OK)
		return "memory cannot be mapped, or access not given";
	for (size_t i = 0; i < HIP_TRIAL_PAGES; i++)
		trial->mapped[i] = true;
	return NULL;
}

const char *gm_hip_trial_do(const struct hip_trial *trial, hip_trial_work *work,
			    const struct hip_trial_found *wanted,
			    const char *fault)
{
	struct hip_trial_found found = {{0}};
	gpumem_status status, waited;
	gpumem_stream stream;

	status = gm_hip_stream_create(trial->device, &stream);
	if (status != GPUMEM_OK)
		return "a stream cannot be created";
	status = work(trial, stream, &found);
	waited = gm_hip_stream_sync(trial->device, stream);
	(void)gm_hip_stream_destroy(trial->device, stream);
	if (status != GPUMEM_OK || waited != GPUMEM_OK ||
	    memcmp(&found, wanted, sizeof(found)) != 0)
		return fault;
	return NULL;
}

/* How many places from `first` on are mapped. */
static size_t mapped_from(const struct hip_trial *trial, size_t first)
{
	size_t count = 0;

	while (first + count < HIP_TRIAL_PAGES && trial->mapped[first + count])
		count++;
	return count;
}

/* What a faulty unmap leaves mapped cannot be told from what it does not, and
 * stays behind with its addresses. */
const char *gm_hip_trial_unmap(struct hip_trial *trial)
{
	const char *fault = NULL;

	for (size_t i = 0; i < HIP_TRIAL_PAGES; i++) {
		size_t count = mapped_from(trial, i);

		if (!count)
			continue;
		if (gm_hip_unmap(trial->device, gm_hip_trial_place(trial, i),
				 count, trial->bytes) != GPUMEM_OK)
			fault = "memory cannot be unmapped";
		i += count;
	}
	memset(trial->mapped, 0, sizeof(trial->mapped));
	return fault;
}

const char *gm_hip_trial_give(struct hip_trial *trial)
{
	const char *fault = gm_hip_trial_unmap(trial);

	while (trial->created)
		if (gm_hip_page_destroy(trial->device,
					trial->pages[--trial->created],
					trial->bytes) != GPUMEM_OK)
			fault = "memory cannot be given back";
	return fault;
}

static const char *give_addresses(const struct hip_trial *trial)
{
	if (!trial->reserved)
		return NULL;
	return gm_hip_va_release(trial->device, trial->address,
				 HIP_TRIAL_PAGES * trial->bytes) == GPUMEM_OK
		       ? NULL
		       : gm_hip_addresses_stay;
}

/* More than half of what was visibly taken is there again. If nothing was, the
 * number is of no use, and there is nothing to be seen. */
static const char *look(const struct hip_trial *trial, uint64_t before,
			uint64_t taken)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	if (before < taken + trial->bytes)
		return NULL;
	for (int i = 0; i < LOOKS; i++) {
		if (free_bytes(trial) > taken + (before - taken) / 2)
			return NULL;
		(void)nanosleep(&pause, NULL);
	}
	return NOT_BACK;
}

static const char *try_once(struct gpu_device *device,
			    const struct hip_trial_steps *steps)
{
	struct hip_trial trial = {
		.device = device,
		.bytes = device->traits.granularity_bytes,
	};
	struct gpumem_memory memory;
	uint64_t before, taken;
	const char *fault, *end;

	trial.sysfs = gm_hip_sysfs_memory(device->pci, &memory);
	before = free_bytes(&trial);
	fault = steps->take(&trial);
	taken = free_bytes(&trial);
	if (!fault)
		fault = steps->use(&trial);
	end = steps->give(&trial);
	if (!fault)
		fault = end ? end : look(&trial, before, taken);
	end = give_addresses(&trial);
	return fault ? fault : end;
}

const char *gm_hip_try(struct gpu_device *device,
		       const struct hip_trial_steps *steps)
{
	const char *fault = try_once(device, steps);

	for (int i = 1; i < TRIES && fault == NOT_BACK; i++)
		fault = try_once(device, steps);
	return fault;
}
