/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group PEERS, but for map_peers, which is a map like any other (see
 * cuda_virtual.c). The driver keeps what was enabled; nobody locks.
 */
#include "plugin.h"

gpumem_status gm_cuda_peer_query(void *handle, void *other, bool *can_out)
{
	const struct cuda_device *device = handle, *peer = other;
	gpumem_status status;
	int can = 0;

	status = gm_cuda_check(
		gm_cuda.DeviceCanAccessPeer(&can, peer->device, device->device),
		"cuDeviceCanAccessPeer of device %d to %d", peer->device,
		device->device);
	if (status == GPUMEM_OK)
		*can_out = can != 0;
	return status;
}

/* The driver's word goes from who accesses to what is accessed: the peer's
 * context is given the device's. It is of all allocations at once, and is not
 * taken back at the end: others of the process may count on it. */
gpumem_status gm_cuda_peer_enable(void *handle, void *other)
{
	const struct cuda_device *device = handle;
	struct cuda_visit visit;
	gpumem_status status = gm_cuda_enter(&visit, other);
	CUresult result;

	if (status != GPUMEM_OK)
		return status;
	result = gm_cuda.CtxEnablePeerAccess(device->context, 0);
	if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
		status = gm_cuda_check(result, "cuCtxEnablePeerAccess");
	gm_cuda_leave(&visit);
	return status;
}
