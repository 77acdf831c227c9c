/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Virtual memory tried when a device is opened, before anything stands on it:
 * two granules are reserved, mapped, written, read, unmapped and given back,
 * with the slots of hip_virtual.c, and the bytes have to have come back. From
 * the highest level down until one works. Keeps nothing; nobody locks.
 *
 * What it finds are the faults known of ROCm:
 *
 *     FULL     ROCR-Runtime#285: one unmap takes only one of several mappings;
 *              runtimes that refuse to give access to several at once
 *     SINGLE   ROCm/hip#3781: memory stays taken until its addresses are free;
 *              access that cannot be given at all
 *
 * What #3781 leaves is OFF, not RESERVE: that gives memory back only when all
 * of a range is unmapped, while a pool counts on each page that it destroys.
 */
#include "hip_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The kernel may give memory back a little later, and others take and give at
 * the same time. */
enum { LOOKS = 20, TRIES = 3, PAGES = 2 };
#define LOOK_NS 1000000L
#define PATTERN 0xa5

static const char *const level_names[] = {
	[HIP_VM_OFF] = "off",
	[HIP_VM_RESERVE] = "reserve",
	[HIP_VM_SINGLE] = "single",
	[HIP_VM_FULL] = "full",
};

static const char NOT_BACK[] = "memory that was given back stays taken";

struct trial {
	struct hip_device *device;
	uint64_t bytes; /* of a page */
	bool sysfs;	/* knows the device */
	uint64_t address;
	gpumem_page pages[PAGES];
	size_t created, mapped;
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
	struct hip_device *device = trial->device;

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

/* As much as there is to give. What a faulty unmap leaves mapped cannot be told
 * from what it does not, and stays behind with its addresses. */
static const char *give(struct trial *trial)
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

static const char *try_once(struct hip_device *device)
{
	struct trial trial = {
		.device = device,
		.bytes = device->traits.granularity_bytes,
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
	end = give(&trial);
	if (!fault)
		fault = end ? end : look(&trial, before, taken);
	if (trial.address &&
	    gm_hip_va_release(device, trial.address, PAGES * trial.bytes) !=
		    GPUMEM_OK &&
	    !fault)
		fault = "addresses cannot be given back";
	return fault;
}

/* What others do at the same time can look like that one fault. */
static const char *try_level(struct hip_device *device)
{
	const char *fault = try_once(device);

	for (int i = 1; i < TRIES && fault == NOT_BACK; i++)
		fault = try_once(device);
	return fault;
}

gpumem_status gm_hip_wanted_level(enum hip_level *level_out, bool *forced_out)
{
	char value[32] = "";

	gm_hip.services->option("hip.vm", value, sizeof(value));
	*forced_out = strcmp(value, "auto") != 0;
	for (int i = HIP_VM_OFF; i <= HIP_VM_FULL; i++)
		if (!*forced_out || !strcmp(value, level_names[i])) {
			*level_out =
				*forced_out ? (enum hip_level)i : HIP_VM_FULL;
			return GPUMEM_OK;
		}
	return gm_hip_fail(GPUMEM_INVALID, hipSuccess,
			   "hip.vm is \"%s\", and has to be auto, full, "
			   "single, reserve or off",
			   value);
}

/* A level, and the table that it needs. */
static gpumem_status set_level(struct hip_device *device, enum hip_level level)
{
	bool needs = level == HIP_VM_SINGLE || level == HIP_VM_RESERVE;

	if (needs && !device->ranges)
		device->ranges = gm_hip_ranges_new();
	if (needs && !device->ranges)
		return gm_hip_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
				   "no host memory for a table of mappings");
	if (!needs) {
		gm_hip_ranges_free(device->ranges);
		device->ranges = NULL;
	}
	device->level = level;
	return GPUMEM_OK;
}

static gpumem_status step_down(struct hip_device *device,
			       char note_out[HIP_NOTE_BYTES])
{
	const char *fault = try_level(device), *first = fault, *last = fault;
	gpumem_status status = GPUMEM_OK;

	while (fault && status == GPUMEM_OK) {
		last = fault;
		status = set_level(device, device->level == HIP_VM_FULL
						   ? HIP_VM_SINGLE
						   : HIP_VM_OFF);
		fault = NULL;
		if (status == GPUMEM_OK && device->level != HIP_VM_OFF)
			fault = try_level(device);
	}
	if (status == GPUMEM_OK && first)
		snprintf(note_out, HIP_NOTE_BYTES,
			 "virtual memory: %s (hip.vm), as a trial showed that "
			 "%s%s%s",
			 level_names[device->level], first,
			 last == first ? "" : ", then that ",
			 last == first ? "" : last);
	return status;
}

gpumem_status gm_hip_try_virtual(struct hip_device *device,
				 char note_out[HIP_NOTE_BYTES])
{
	enum hip_level wanted;
	bool forced;
	gpumem_status status = gm_hip_wanted_level(&wanted, &forced);

	if (status != GPUMEM_OK || !device->traits.vm)
		return status;
	status = set_level(device, wanted);
	if (status != GPUMEM_OK)
		return status;
	if (!forced)
		return step_down(device, note_out);
	snprintf(note_out, HIP_NOTE_BYTES,
		 "virtual memory: %s, as hip.vm says, without a trial",
		 level_names[wanted]);
	return GPUMEM_OK;
}
