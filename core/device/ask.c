/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Queries of a device about others: which devices can map its memory, and which
 * processes have some. Not counted; else as driver.c.
 */
#include "driver_call.h"
#include "base/error.h"

#include <string.h>

gpumem_status gm_device_peer(struct gpumem_device *device,
			     struct gpumem_device *other, bool *can_out)
{
	struct gm_call call;
	bool can = false;

	if (device == other || device->ops != other->ops ||
	    !gm_device_has(device, GPUMEM_CAP_PEER)) {
		*can_out = device == other;
		return GPUMEM_OK;
	}
	call = gm_call_begin(device, GPUMEM_SLOT_peer_query);
	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->peer_query(call.handle, other->handle, &can);
	if (call.status == GPUMEM_OK)
		*can_out = can;
	return gm_call_end(&call);
}

gpumem_status gm_device_peer_enable(struct gpumem_device *device,
				    struct gpumem_device *peer)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_peer_enable);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->peer_enable(call.handle, peer->handle);
	return gm_call_end(&call);
}

gpumem_status gm_device_open_mapped(struct gpumem_device *device,
				    struct gpumem_device *peer,
				    uint64_t address, size_t count,
				    uint64_t page_bytes)
{
	void *const peers[] = {peer->handle};
	struct gm_call call;

	if (!device->ops->open_mapped)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "backend %s opens memory to %s only when it is "
			       "mapped: name the peer when the pool is created",
			       device->ops->name, peer->info.name);
	call = gm_call_begin(device, GPUMEM_SLOT_open_mapped);
	if (call.status == GPUMEM_OK)
		call.status = call.ops->open_mapped(call.handle, address, count,
						    page_bytes, peers, 1);
	return gm_call_end(&call);
}

struct visit {
	bool (*fn)(const struct gpumem_process *process, void *user);
	void *user;
	bool lied; /* a process that is NULL */
};

/* The plugin's struct may be shorter or longer than ours, and its text may not
 * be ended. */
static bool pass_on(const struct gpumem_process *process, void *user)
{
	struct gpumem_process whole = GPUMEM_INIT(struct gpumem_process);
	struct visit *visit = user;

	visit->lied = visit->lied || !process;
	if (visit->lied)
		return false;

	memcpy(&whole, process,
	       process->size < sizeof(whole) ? process->size : sizeof(whole));
	whole.size = sizeof(whole);
	whole.name[sizeof(whole.name) - 1] = '\0';
	return visit->fn(&whole, visit->user);
}

gpumem_status gm_process_visit(struct gpumem_device *device,
			       bool (*fn)(const struct gpumem_process *process,
					  void *user),
			       void *user)
{
	struct visit visit = {.fn = fn, .user = user};
	struct gm_call call;

	if (!device->ops->device_processes)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "the processes that use %s cannot be listed: "
			       "its backend has no slot device_processes",
			       device->info.name);
	call = gm_call_begin(device, GPUMEM_SLOT_device_processes);
	if (call.status == GPUMEM_OK)
		call.status = call.ops->device_processes(call.handle, pass_on,
							 &visit);
	gm_call_check_set(&call, !visit.lied, "process, but NULL");
	return gm_call_end(&call);
}
