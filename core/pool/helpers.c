/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pool adds to its heap: the help of other pools and of the program, the
 * sentence of an out of memory, that of a pointer that is no block of ours, and
 * its name where a block is exported.
 */
#include "pool.h"
#include "base/error.h"
#include "base/scope.h"
#include "share/shared.h"

static void trim_others(struct gm_heap *heap)
{
	gm_pool_trim_siblings(gm_pool_of_heap(heap));
}

static bool wait_for_others(struct gm_heap *heap, bool *waited_out)
{
	return gm_pool_wait_for_siblings(gm_pool_of_heap(heap), waited_out);
}

static bool ask_program(struct gm_heap *heap, uint64_t needed_bytes,
			gpumem_status why)
{
	return gm_pool_ask_pressure(gm_pool_of_heap(heap), needed_bytes, why);
}

const struct gm_helpers gm_pool_helpers = {
	.trim_others = trim_others,
	.wait_for_others = wait_for_others,
	.ask_program = ask_program,
};

gpumem_status gm_pool_alloc(struct gpumem_pool *pool,
			    const struct gm_request *request, void **ptr_out)
{
	GM_SCOPE;
	struct gm_tag_over over = {0};
	bool device_limit = false;
	struct gm_request asked = *request;
	gpumem_status status;

	asked.over = &over;
	asked.device_limit_out = &device_limit;
	status = gm_heap_alloc(&pool->heap, &asked, ptr_out);
	if (pool->reports &&
	    (status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT))
		status = pool->reports->failed(pool, status, &asked);
	gm_locals_end_call();
	return status;
}

gpumem_status gm_pool_explain(const void *ptr, gpumem_status status)
{
	if (status == GPUMEM_BAD_POINTER && gm_import_holds(ptr))
		return gm_fail(GPUMEM_BAD_POINTER,
			       "%p was imported: gpumem_import_close() is its "
			       "end",
			       ptr);
	return status;
}

gpumem_status gm_pool_export(const void *ptr, struct gpumem_shared *shared_out,
			     int *fds_out, size_t fd_room)
{
	struct gm_block block;
	gpumem_status status = gm_pool_explain(ptr, gm_block_lock(ptr, &block));

	if (status != GPUMEM_OK)
		return status;
	status = gm_block_refuse_away(&block, "exported");
	if (status == GPUMEM_OK)
		status = gm_share_export(&block,
					 gm_pool_of_heap(block.heap)->name,
					 shared_out, fds_out, fd_room);
	if (status == GPUMEM_OK && fds_out)
		block.heap->exported = true;
	pthread_mutex_unlock(&block.heap->mutex);
	return status;
}
