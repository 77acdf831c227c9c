/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices opened and closed, and what they can do. What the trial of an open
 * one found is kept for its description; a mutex guards that.
 */
#include "plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What opening a device has found, from then on. */
struct found {
	bool known;
	bool no_ipc; /* the runtime has no names for allocations */
	bool alias;  /* a page can be mapped twice */
	enum hip_level level;
	char note[HIP_NOTE_BYTES];
};

_Static_assert(sizeof(struct hip_page_kind) == 32, "as in ROCm 5.7 to 7");
_Static_assert(offsetof(struct hip_page_kind, location) == 8, "the same");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct found found_of[GPU_DEVICES_MAX];

/* Pages are plain memory of the device that nobody else can be given: to share
 * one has to be asked for when it is created. */
gpumem_status gpu_describe_page(int device, struct hip_page_kind *page)
{
	*page = (struct hip_page_kind){
		.type = hipMemAllocationTypePinned,
		.location = {.type = hipMemLocationTypeDevice, .id = device},
	};
	return GPUMEM_OK;
}

static void note_no_virtual(char note_out[HIP_NOTE_BYTES])
{
	snprintf(note_out, HIP_NOTE_BYTES,
		 "virtual memory: off, as this runtime, %s, has none%s",
		 gpu.version,
		 gpu.vm	   ? " for this device"
		 : gpu.old ? "; ROCm 6.1 and later may"
			   : "");
}

/* Of a device that was not opened yet: what is claimed for it. */
static gpumem_status claim(const struct gpu_device *device, struct found *found)
{
	bool forced;
	gpumem_status status;

	if (device->traits.vm) {
		status = gm_hip_wanted_alias(&found->alias);
		return status == GPUMEM_OK
			       ? gm_hip_wanted_level(&found->level, &forced)
			       : status;
	}
	found->level = HIP_VM_OFF;
	note_no_virtual(found->note);
	return GPUMEM_OK;
}

/* A runtime that has names for allocations knows that there is none at 0; one
 * that has none says so. Between begin and end. */
static void try_ipc(struct found *found)
{
	hipIpcMemHandle_t ipc;
	size_t used = strlen(found->note);

	if (found->level == HIP_VM_RESERVE ||
	    gpu.IpcGetMemHandle(&ipc, NULL) != hipErrorNotSupported)
		return;
	found->no_ipc = true;
	snprintf(found->note + used, sizeof(found->note) - used,
		 "%ssharing by name: off, as this runtime, %s, has none",
		 used ? "; " : "", gpu.version);
}

static gpumem_status what_is_found(const struct gpu_device *device,
				   struct found *found_out)
{
	pthread_mutex_lock(&mutex);
	*found_out = found_of[device->device];
	pthread_mutex_unlock(&mutex);
	return found_out->known ? GPUMEM_OK : claim(device, found_out);
}

/* Of pages, and of what raw allocations are made: the runtime's own wait to be
 * freed, and only they have names for other processes. */
gpumem_status gpu_capabilities(const struct gpu_device *device,
			       struct gpumem_device_info *info)
{
	struct found found = {0};
	gpumem_status status = what_is_found(device, &found);

	if (status != GPUMEM_OK)
		return status;
	memcpy(info->note, found.note, sizeof(info->note));
	if (found.level >= HIP_VM_SINGLE)
		info->caps |= GPUMEM_CAP_VM | GPUMEM_CAP_SHARE_FD |
			      (found.alias ? GPUMEM_CAP_ALIAS : 0);
	if (found.level != HIP_VM_RESERVE)
		info->caps |= GPUMEM_CAP_FREE_WAITS |
			      (found.no_ipc ? 0 : GPUMEM_CAP_SHARE_IPC);
	return GPUMEM_OK;
}

static void remember(const struct gpu_device *device, const struct found *found)
{
	pthread_mutex_lock(&mutex);
	found_of[device->device] = *found;
	pthread_mutex_unlock(&mutex);
}

/* That it can be used at all, and how. */
static gpumem_status find_out(struct gpu_device *device, struct found *found)
{
	struct gpu_call call = gpu_begin(device);
	gpumem_status status = gpu_end(&call);

	if (status == GPUMEM_OK)
		status = gm_hip_try_virtual(device, found->note);
	if (status != GPUMEM_OK)
		return status;
	found->level = device->level;
	found->alias = device->alias;
	if (!device->traits.vm)
		note_no_virtual(found->note);
	call = gpu_begin(device);
	if (call.status == GPUMEM_OK)
		try_ipc(found);
	return gpu_end(&call);
}

gpumem_status gpu_open(struct gpu_device *device)
{
	struct found found = {.known = true};
	gpumem_status status = find_out(device, &found);

	if (status != GPUMEM_OK) {
		gpu_close(device);
		return status;
	}
	remember(device, &found);
	if (*found.note)
		gpu.services->log(GPUMEM_LOG_INFO, "hip:%d: %s", device->device,
				  found.note);
	return GPUMEM_OK;
}

void gpu_close(struct gpu_device *device)
{
	gm_hip_drop_level(device);
}
