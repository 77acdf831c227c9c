/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How far a device's virtual memory is used: as hip.vm says, or from the
 * highest level down to the first that passes its trial (see hip_trial.h); and
 * whether pages are mapped twice, which is tried whatever hip.vm says. A device
 * has its level, and the table that it needs, from when it is opened until it
 * is closed. No lock.
 */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name; /* as hip.vm has it */
	const struct gpu_raw *raw;
	const struct gpu_pages *pages;
} levels[] = {
	[HIP_VM_OFF] = {"off", &gpu_raw_own, NULL},
	[HIP_VM_RESERVE] = {"reserve", &gm_hip_raw_segments, NULL},
	[HIP_VM_SINGLE] = {"single", &gpu_raw_own, &gm_hip_pages_single},
	[HIP_VM_FULL] = {"full", &gpu_raw_own, &gpu_pages_whole},
};

gpumem_status gm_hip_wanted_level(enum hip_level *level_out, bool *forced_out)
{
	char value[32] = "";

	gpu.services->option("hip.vm", value, sizeof(value));
	*forced_out = strcmp(value, "auto") != 0;
	for (int i = HIP_VM_OFF; i <= HIP_VM_FULL; i++)
		if (!*forced_out || !strcmp(value, levels[i].name)) {
			*level_out =
				*forced_out ? (enum hip_level)i : HIP_VM_FULL;
			return GPUMEM_OK;
		}
	return gpu_fail(GPUMEM_INVALID, hipSuccess,
			"hip.vm is \"%s\", and has to be auto, full, "
			"single, reserve or off",
			value);
}

gpumem_status gm_hip_wanted_alias(bool *wanted_out)
{
	char value[32] = "";

	gpu.services->option("hip.alias", value, sizeof(value));
	*wanted_out = strcmp(value, "off") != 0;
	if (!*wanted_out || !strcmp(value, "auto"))
		return GPUMEM_OK;
	return gpu_fail(GPUMEM_INVALID, hipSuccess,
			"hip.alias is \"%s\", and has to be auto or off",
			value);
}

static void use(struct gpu_device *device, enum hip_level level)
{
	device->level = level;
	device->raw = levels[level].raw;
	device->pages = levels[level].pages;
}

void gm_hip_drop_level(struct gpu_device *device)
{
	gm_hip_segments_drop(device);
	gm_hip_ranges_free(device->ranges);
	device->ranges = NULL;
	use(device, HIP_VM_OFF);
}

/* A level, and the table that it needs. */
static gpumem_status set_level(struct gpu_device *device, enum hip_level level)
{
	gm_hip_drop_level(device);
	if (level == HIP_VM_SINGLE)
		device->ranges = gm_hip_ranges_new();
	if (level == HIP_VM_RESERVE)
		device->segments = gm_hip_segments_new(device->device);
	if ((level == HIP_VM_SINGLE && !device->ranges) ||
	    (level == HIP_VM_RESERVE && !device->segments))
		return gpu_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
				"no host memory for a table of mappings");
	use(device, level);
	return GPUMEM_OK;
}

static gpumem_status step_down(struct gpu_device *device,
			       char note_out[HIP_NOTE_BYTES])
{
	const char *fault = gm_hip_try_level(device), *first = fault,
		   *last = fault;
	gpumem_status status = GPUMEM_OK;

	while (fault && status == GPUMEM_OK) {
		last = fault;
		status = set_level(device, (enum hip_level)(device->level - 1));
		fault = NULL;
		if (status == GPUMEM_OK && device->level != HIP_VM_OFF)
			fault = gm_hip_try_level(device);
	}
	if (status == GPUMEM_OK && first)
		snprintf(note_out, HIP_NOTE_BYTES,
			 "virtual memory: %s (hip.vm), as a trial showed that "
			 "%s%s%s",
			 levels[device->level].name, first,
			 last == first ? "" : ", then that ",
			 last == first ? "" : last);
	return status;
}

static gpumem_status find_level(struct gpu_device *device,
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
		 levels[wanted].name);
	return GPUMEM_OK;
}

gpumem_status gm_hip_try_virtual(struct gpu_device *device,
				 char note_out[HIP_NOTE_BYTES])
{
	const char *fault = "hip.alias says so";
	gpumem_status status = find_level(device, note_out);
	size_t used = strlen(note_out);
	bool wanted;

	if (status == GPUMEM_OK)
		status = gm_hip_wanted_alias(&wanted);
	if (status != GPUMEM_OK || !device->pages)
		return status;
	if (wanted)
		fault = gm_hip_try_alias(device);
	device->alias = !fault;
	if (fault)
		snprintf(note_out + used, HIP_NOTE_BYTES - used,
			 "%ssecond mappings: off, as %s", used ? "; " : "",
			 fault);
	return GPUMEM_OK;
}
