/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A level of virtual memory tried when a device is opened, before anything
 * stands on it: two granules are taken, written, read and given back in the way
 * of that level, with the slots that a pool uses, and the bytes have to have
 * come back. Keeps nothing; no lock.
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
#include "plugin.h"

#include <time.h>

/* The kernel may give memory back a little later, and others take and give at
 * the same time. */
enum { LOOKS = 20, TRIES = 3, PAGES = 2 };
#define LOOK_NS 1000000L
#define PATTERN 0xa5

static const char NOT_BACK[] = "memory that was given back stays taken";
static const char ADDRESSES_STAY[] = "addresses cannot be given back";

struct trial {
	struct gpu_device *device;
	uint64_t bytes; /* of a page */
	bool sysfs;	/* knows the device */
	uint64_t address;
	gpumem_page pages[PAGES];
	size_t created, mapped;
	bool raw; /* one raw allocation instead of pages */
};

/* The kernel's number rather than the runtime's, which has been wrong
 * (llama.cpp#24906). */
static uint64_t free_bytes(const struct trial *trial)
{
	struct gpumem_memory memory = {.size = sizeof(memory)};

	if (trial->sysfs)
		(void)gm_hip_sysfs_memory(trial->device->pci, &memory);
	else if (gm_hip_memory_info(trial->device, &memory) != GPUMEM_OK)
		return 0;
	return memory.free_bytes;
}

/* Each gives NULL, or what did not work. */

static const char *take(struct trial *trial)
{
	struct gpu_device *device = trial->device;

	if (trial->raw)
		return gm_hip_alloc(device, PAGES * trial->bytes,
				    &trial->address) == GPUMEM_OK
			       ? NULL
			       : "no allocation can be made of it";
	if (gm_hip_va_reserve(device, PAGES * trial->bytes, trial->bytes,
			      &trial->address) != GPUMEM_OK)
		return "no addresses can be reserved";
	for (; trial->created < PAGES; trial->created++)
		if (gm_hip_page_create(device, trial->bytes,
				       &trial->pages[trial->created]) !=
		    GPUMEM_OK)
			return "no memory can be taken";
	if (gm_hip_map(device, trial->address, trial->pages, PAGES,
		       trial->bytes) != GPUMEM_OK)
		return "memory cannot be mapped, or access not given";
	trial->mapped = PAGES;
	return NULL;
}

static gpumem_status write_and_read(const struct trial *trial,
				    gpumem_stream stream,
				    unsigned char found[PAGES])
{
	gpumem_status status =
		gm_hip_fill(trial->device, trial->address, PATTERN,
			    PAGES * trial->bytes, stream);

	for (size_t i = 0; i < PAGES && status == GPUMEM_OK; i++)
		status = gm_hip_copy(
			trial->device, (uintptr_t)&found[i],
			trial->address + (i + 1) * trial->bytes - 1, 1, stream);
	return status;
}

static const char *use(struct trial *trial)
{
	unsigned char found[PAGES] = {0};
	gpumem_status status, waited;
	gpumem_stream stream;

	status = gm_hip_stream_create(trial->device, &stream);
	if (status != GPUMEM_OK)
		return "a stream cannot be created";
	status = write_and_read(trial, stream, found);
	waited = gm_hip_stream_sync(trial->device, stream);
	(void)gm_hip_stream_destroy(trial->device, stream);
	if (status != GPUMEM_OK || waited != GPUMEM_OK || found[0] != PATTERN ||
	    found[1] != PATTERN)
		return "mapped memory cannot be written and read";
	return NULL;
}

static const char *give_raw(const struct trial *trial)
{
	struct gpu_device *device = trial->device;

	if (!trial->address)
		return NULL;
	if (gm_hip_free(device, trial->address, PAGES * trial->bytes) !=
	    GPUMEM_OK)
		return "an allocation made of it cannot be freed";
	return gm_hip_segments_left(device->segments) ? ADDRESSES_STAY : NULL;
}

/* As much as there is to give. What a faulty unmap leaves mapped cannot be told
 * from what it does not, and stays behind with its addresses. */
static const char *give_pages(struct trial *trial)
{
	const char *fault = NULL;

	if (trial->mapped &&
	    gm_hip_unmap(trial->device, trial->address, trial->mapped,
			 trial->bytes) != GPUMEM_OK)
		fault = "memory cannot be unmapped";
	trial->mapped = 0;
	while (trial->created)
		if (gm_hip_page_destroy(trial->device,
					trial->pages[--trial->created],
					trial->bytes) != GPUMEM_OK)
			fault = "memory cannot be given back";
	return fault;
}

static const char *give_addresses(const struct trial *trial)
{
	if (trial->raw || !trial->address)
		return NULL;
	return gm_hip_va_release(trial->device, trial->address,
				 PAGES * trial->bytes) == GPUMEM_OK
		       ? NULL
		       : ADDRESSES_STAY;
}

/* More than half of what was visibly taken is there again. If nothing was, the
 * number is of no use, and there is nothing to be seen. */
static const char *look(const struct trial *trial, uint64_t before,
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

static const char *try_once(struct gpu_device *device)
{
	struct trial trial = {
		.device = device,
		.bytes = device->traits.granularity_bytes,
		.raw = device->level == HIP_VM_RESERVE,
	};
	struct gpumem_memory memory;
	uint64_t before, taken;
	const char *fault, *end;

	trial.sysfs = gm_hip_sysfs_memory(device->pci, &memory);
	before = free_bytes(&trial);
	fault = take(&trial);
	taken = free_bytes(&trial);
	if (!fault)
		fault = use(&trial);
	end = trial.raw ? give_raw(&trial) : give_pages(&trial);
	if (!fault)
		fault = end ? end : look(&trial, before, taken);
	end = give_addresses(&trial);
	return fault ? fault : end;
}

/* What others do at the same time can look like that one fault. */
const char *gm_hip_try_level(struct gpu_device *device)
{
	const char *fault = try_once(device);

	for (int i = 1; i < TRIES && fault == NOT_BACK; i++)
		fault = try_once(device);
	return fault;
}
