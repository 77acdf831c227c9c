/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices counted, described, opened and closed. What the trial of an open one
 * found is kept for its description; a mutex guards that.
 */
#include "plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the runtime gives every allocation. */
#define ALIGNMENT_BYTES 256

/* What opening a device has found, from then on. */
struct found {
	bool known;
	bool no_ipc; /* the runtime has no names for allocations */
	enum hip_level level;
	char note[HIP_NOTE_BYTES];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct found found_of[GPU_DEVICES_MAX];

gpumem_status gm_hip_device_count(int *count_out)
{
	bool clean = gm_hip_is_clean();
	gpumem_status status;
	int count = 0;

	status = gm_hip_check(gm_hip.DeviceGetCount(&count),
			      "hipGetDeviceCount");
	gm_hip_clean(clean);
	if (status != GPUMEM_OK)
		return status;
	if (count <= 0)
		return gm_hip_fail(GPUMEM_NO_DEVICE, hipSuccess,
				   "the runtime shows no device; see rocminfo "
				   "and HIP_VISIBLE_DEVICES");
	*count_out = count;
	return GPUMEM_OK;
}

/* A UUID of zeros is none. */
static void format_uuid(const hipUUID *uuid, char *text_out)
{
	static const hipUUID none;
	char *end = text_out;

	if (!memcmp(uuid, &none, sizeof(none)))
		return;
	for (size_t i = 0; i < sizeof(uuid->bytes); i++)
		end += sprintf(end, "%s%02x",
			       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       (unsigned char)uuid->bytes[i]);
}

/* "" where the runtime does not know it. */
static gpumem_status read_uuid(const struct hip_device *device, char *text_out)
{
	hipError_t error = hipErrorNotSupported;
	hipUUID uuid;

	if (gm_hip.DeviceGetUuid)
		error = gm_hip.DeviceGetUuid(&uuid, device->device);
	if (error == hipErrorNotSupported)
		return GPUMEM_OK;
	if (error == hipSuccess)
		format_uuid(&uuid, text_out);
	return gm_hip_check(error, "hipDeviceGetUuid");
}

static gpumem_status read_identity(const struct hip_device *device,
				   struct gpumem_device_info *info)
{
	gpumem_status status;
	size_t total;

	status = gm_hip_check(gm_hip.DeviceGetName(info->product,
						   sizeof(info->product),
						   device->device),
			      "hipDeviceGetName");
	if (status == GPUMEM_OK)
		status = read_uuid(device, info->uuid);
	if (status == GPUMEM_OK)
		status = gm_hip_check(
			gm_hip.DeviceTotalMem(&total, device->device),
			"hipDeviceTotalMem");
	if (status != GPUMEM_OK)
		return status;
	memcpy(info->pci, device->pci, sizeof(device->pci));
	info->total_bytes = total;
	info->max_alloc_bytes = total;
	return GPUMEM_OK;
}

static void note_no_virtual(char note_out[HIP_NOTE_BYTES])
{
	snprintf(note_out, HIP_NOTE_BYTES,
		 "virtual memory: off, as this runtime, %s, has none%s",
		 gm_hip.version,
		 gm_hip.vm    ? " for this device"
		 : gm_hip.old ? "; ROCm 6.1 and later may"
			      : "");
}

/* Of a device that was not opened yet: what is claimed for it. */
static gpumem_status claim(const struct hip_device *device, struct found *found)
{
	bool forced;

	if (device->traits.vm)
		return gm_hip_wanted_level(&found->level, &forced);
	found->level = HIP_VM_OFF;
	note_no_virtual(found->note);
	return GPUMEM_OK;
}

/* A runtime that has names for allocations knows that there is none at 0; one
 * that has none says so. Between enter and leave. */
static void try_ipc(struct found *found)
{
	hipIpcMemHandle_t ipc;
	size_t used = strlen(found->note);

	if (found->level == HIP_VM_RESERVE ||
	    gm_hip.IpcGetMemHandle(&ipc, NULL) != hipErrorNotSupported)
		return;
	found->no_ipc = true;
	snprintf(found->note + used, sizeof(found->note) - used,
		 "%ssharing by name: off, as this runtime, %s, has none",
		 used ? "; " : "", gm_hip.version);
}

static gpumem_status what_is_found(const struct hip_device *device,
				   struct found *found_out)
{
	pthread_mutex_lock(&mutex);
	*found_out = found_of[device->device];
	pthread_mutex_unlock(&mutex);
	return found_out->known ? GPUMEM_OK : claim(device, found_out);
}

/* Of pages, and of what raw allocations are made: the runtime's own wait to be
 * freed, and only they have names for other processes. */
static uint32_t caps_of(const struct found *found)
{
	uint32_t caps = 0;

	if (found->level >= HIP_VM_SINGLE)
		caps |= GPUMEM_CAP_VM | GPUMEM_CAP_SHARE_FD;
	if (found->level != HIP_VM_RESERVE)
		caps |= GPUMEM_CAP_FREE_WAITS |
			(found->no_ipc ? 0 : GPUMEM_CAP_SHARE_IPC);
	return caps;
}

gpumem_status gm_hip_device_info(int index, struct gpumem_device_info *info)
{
	struct gpumem_device_info whole = {.size = info->size};
	struct hip_device device = {0};
	struct found found = {0};
	bool clean = gm_hip_is_clean();
	gpumem_status status;

	status = gm_hip_describe(index, &device);
	if (status == GPUMEM_OK)
		status = read_identity(&device, &whole);
	gm_hip_clean(clean);
	if (status == GPUMEM_OK)
		status = what_is_found(&device, &found);
	if (status != GPUMEM_OK)
		return status;
	memcpy(whole.note, found.note, sizeof(whole.note));
	whole.granularity_bytes = device.traits.granularity_bytes;
	whole.alignment_bytes = ALIGNMENT_BYTES;
	whole.caps = GPUMEM_CAP_STREAMS | GPUMEM_CAP_COPY | GPUMEM_CAP_CAPTURE |
		     GPUMEM_CAP_MEMORY_INFO | GPUMEM_CAP_PINNED |
		     GPUMEM_CAP_PEER | caps_of(&found) |
		     (device.traits.managed ? GPUMEM_CAP_MANAGED : 0);
	memcpy(info, &whole,
	       whole.size < sizeof(whole) ? whole.size : sizeof(whole));
	return GPUMEM_OK;
}

static void remember(const struct hip_device *device, const struct found *found)
{
	pthread_mutex_lock(&mutex);
	found_of[device->device] = *found;
	pthread_mutex_unlock(&mutex);
}

gpumem_status gm_hip_device_open(int index, void **device_out)
{
	struct hip_device *device = calloc(1, sizeof(*device));
	struct found found = {.known = true};
	bool clean = gm_hip_is_clean();
	struct hip_visit visit;
	gpumem_status status;

	if (!device)
		return gm_hip_fail(GPUMEM_NO_HOST_MEMORY, hipSuccess,
				   "no host memory for a device");
	status = gm_hip_describe(index, device);
	gm_hip_clean(clean);
	/* That it can be used at all. */
	if (status == GPUMEM_OK)
		status = gm_hip_enter(&visit, device);
	if (status != GPUMEM_OK)
		goto close;
	gm_hip_leave(&visit);
	status = gm_hip_try_virtual(device, found.note);
	if (status != GPUMEM_OK)
		goto close;
	found.level = device->level;
	if (!device->traits.vm)
		note_no_virtual(found.note);
	status = gm_hip_enter(&visit, device);
	if (status != GPUMEM_OK)
		goto close;
	try_ipc(&found);
	gm_hip_leave(&visit);
	remember(device, &found);
	if (*found.note)
		gm_hip.services->log(GPUMEM_LOG_INFO, "hip:%d: %s", index,
				     found.note);
	*device_out = device;
	return GPUMEM_OK;

close:
	gm_hip_device_close(device);
	return status;
}

void gm_hip_device_close(void *handle)
{
	struct hip_device *device = handle;

	gm_hip_drop_level(device);
	free(device);
}
