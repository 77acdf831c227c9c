/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Groups PEERS and PROCESSES. All simulated devices live in one process, whose
 * threads could touch anything; so that a missing opening is noticed all the
 * same, a fill checks here first. A copy does not: on real devices it needs no
 * opening either. What host functions of a stream touch cannot be seen. Masks
 * of peers are under the `memory` of the device whose memory it is.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

gpumem_status gm_host_peer_query(void *handle, void *other, bool *can_out)
{
	const struct host_device *peer = other;
	gpumem_status status = gm_host_enter(handle, GPUMEM_SLOT_peer_query);

	if (status == GPUMEM_OK)
		*can_out = (peer->config.caps & GPUMEM_CAP_PEER) != 0;
	return status;
}

gpumem_status gm_host_peer_enable(void *handle, void *other)
{
	struct host_device *device = handle;
	const struct host_device *peer = other;
	gpumem_status status = gm_host_enter(device, GPUMEM_SLOT_peer_enable);

	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&device->memory);
	device->raw_peers |= UINT64_C(1) << peer->index;
	pthread_mutex_unlock(&device->memory);
	return GPUMEM_OK;
}

/* What is mapped at an address of the reservation is open to that peer; true
 * also where nothing is. */
static bool is_mapped_for(const struct host_device *device, uint64_t peer,
			  const struct host_range *range, uint64_t address)
{
	uint64_t granule =
		(address - range->address) / device->config.granularity;

	while (range->granules[granule] == HOST_GRANULE_MORE)
		granule--;
	return !range->granules[granule] || range->peers[granule] & peer;
}

/* True also where the device has nothing. */
static bool is_open_to(struct host_device *device, uint64_t peer,
		       uint64_t address)
{
	const struct host_range *range;
	bool open = true;

	pthread_mutex_lock(&device->memory);
	range = gm_host_range_find(&device->spaces, address);
	if (range)
		open = is_mapped_for(device, peer, range, address);
	else if (gm_host_range_find(&device->raws, address))
		open = (device->raw_peers & peer) != 0;
	pthread_mutex_unlock(&device->memory);
	return open;
}

gpumem_status gm_host_may_touch(const struct host_device *device,
				uint64_t address, uint64_t bytes)
{
	uint64_t self = UINT64_C(1) << device->index;
	bool open = true;
	int other;

	gm_host_devices_lock();
	for (other = 0; other < HOST_DEVICES_MAX && open; other++) {
		struct host_device *owner = gm_host_device_at(other);

		if (owner && owner != device)
			open = is_open_to(owner, self, address) &&
			       is_open_to(owner, self, address + bytes - 1);
	}
	gm_host_device_leave();
	if (open)
		return GPUMEM_OK;
	return gm_host_fail(GPUMEM_INVALID,
			    "0x%llx is memory of host:%d, which is not opened "
			    "to host:%d",
			    (unsigned long long)address, other - 1,
			    device->index);
}

/* No other process can use a simulated device. */
gpumem_status gm_host_device_processes(
	void *handle,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user)
{
	struct host_device *device = handle;
	struct gpumem_process process = GPUMEM_INIT(struct gpumem_process);
	gpumem_status status =
		gm_host_enter(device, GPUMEM_SLOT_device_processes);

	if (status != GPUMEM_OK)
		return status;
	process.pid = (uint64_t)getpid();
	process.bytes = atomic_load(&device->used_bytes);
	snprintf(process.name, sizeof(process.name), "%s",
		 program_invocation_short_name);
	(void)fn(&process, user);
	return GPUMEM_OK;
}
