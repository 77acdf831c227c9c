/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group PEERS, but for map_peers, which is a map like any other (see
 * hip_virtual.c). The runtime keeps what was enabled, or hip_segment.c; nobody
 * locks.
 */
#include "hip_segment.h"

gpumem_status gm_hip_peer_query(void *handle, void *other, bool *can_out)
{
	const struct hip_device *device = handle, *peer = other;
	bool clean = gm_hip_is_clean();
	gpumem_status status;
	int can = 0;

	status = gm_hip_check(
		gm_hip.DeviceCanAccessPeer(&can, peer->device, device->device),
		"hipDeviceCanAccessPeer of device %d to %d", peer->device,
		device->device);
	gm_hip_clean(clean);
	if (status == GPUMEM_OK)
		*can_out = can != 0;
	return status;
}

static gpumem_status open_segments(const struct hip_device *device,
				   const struct hip_device *peer)
{
	struct hip_visit visit;
	gpumem_status status = gm_hip_enter(&visit, device);

	if (status != GPUMEM_OK)
		return status;
	status = gm_hip_segments_open(device->segments, peer->device);
	gm_hip_leave(&visit);
	return status;
}

/* The runtime's word goes from who accesses to what is accessed: the peer's
 * context is given the device's. It is of all allocations at once, and is not
 * taken back at the end: others of the process may count on it. */
gpumem_status gm_hip_peer_enable(void *handle, void *other)
{
	const struct hip_device *device = handle;
	struct hip_visit visit;
	gpumem_status status;
	hipError_t error;

	if (device->segments)
		return open_segments(device, other);
	status = gm_hip_enter(&visit, other);
	if (status != GPUMEM_OK)
		return status;
	error = gm_hip.CtxEnablePeerAccess(device->device, 0);
	if (error != hipErrorPeerAccessAlreadyEnabled)
		status = gm_hip_check(error, "hipDeviceEnablePeerAccess");
	gm_hip_leave(&visit);
	return status;
}
