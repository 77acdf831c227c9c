/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* How large a block of a pool can be: the heap's numbers and the driver's. */
#include "pool.h"
#include "device/claim.h"

gpumem_status gm_pool_capacity(struct gpumem_pool *pool, gpumem_stream stream,
			       uint32_t tag,
			       struct gpumem_capacity *capacity_out)
{
	struct gpumem_memory memory = {.size = sizeof(memory)};
	struct gm_heap *heap = &pool->heap;
	struct gm_capacity capacity;
	gpumem_status status = GPUMEM_OK;
	uint64_t room;

	/* Of what is no device memory no driver says how much there is. */
	if (heap->driver.kind == GPUMEM_KIND_DEVICE)
		status = gm_driver_memory_info(&heap->driver, &memory);
	if (status != GPUMEM_OK)
		return status;
	room = gm_claim_room(pool->device);
	capacity = gm_heap_capacity(heap, stream, tag,
				    memory.free_bytes < room ? memory.free_bytes
							     : room);
	*capacity_out =
		(struct gpumem_capacity){.size = sizeof(*capacity_out),
					 .max_alloc_bytes = capacity.most_bytes,
					 .now_bytes = capacity.now_bytes};
	return GPUMEM_OK;
}
