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

gpumem_status GPU(peer_enable)(void *handle, void *other)
{
	const struct gpu_device *device = handle;

	return device->raw->open(device, other);
}
