/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group PEERS, but for map_peers, which is a map like any other (see
 * virtual.c). The driver keeps what was enabled; no lock.
 */
#include "plugin.h"

gpumem_status GPU(peer_query)(void *handle, void *other, bool *can_out)
{
	const struct gpu_device *device = handle, *peer = other;
	bool clean = gpu_is_clean();
	gpumem_status status;
	int can = 0;

	status = gpu_check(
		gpu.DeviceCanAccessPeer(&can, peer->device, device->device),
		PREFIX "DeviceCanAccessPeer of device %d to %d", peer->device,
		device->device);
	gpu_clean(clean);
	if (status == GPUMEM_OK)
		*can_out = can != 0;
	return status;
}

/* The driver's word goes from who accesses to what is accessed: the peer's
 * context is given the device's. It is of all allocations at once, and is not
 * taken back at the end: others of the process may count on it. */
gpumem_status gpu_raw_open(const struct gpu_device *device,
			   const struct gpu_device *peer)
{
	struct gpu_call call = gpu_begin(peer);
	gpu_result result;

	if (call.status != GPUMEM_OK)
		return gpu_end(&call);
	result = gpu.CtxEnablePeerAccess(GPU_CONTEXT(device), 0);
	if (result != GPU_PEER_ALREADY_ENABLED)
		call.status = gpu_check(result, CTX_ENABLE_PEER_ACCESS);
	return gpu_end(&call);
}

gpumem_status GPU(peer_enable)(void *handle, void *other)
{
	const struct gpu_device *device = handle;

	return device->way->open(device, other);
}
