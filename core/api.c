/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * API layer: blocks, pools and streams. It checks arguments and calls the
 * modules below. All public functions are defined here and in the other
 * api_*.c, but for those of the simulated GPU (backends/host/). The hot path is
 * inlined from cache/hot.h.
 */
#include <gpumem/gpumem.h>

#include "api_block.h"
#include "cache/hot.h"
#include "report/report.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- blocks ---- */

/* Arguments in registers, so that the hot path needs no frame to call it. */
static __attribute__((noinline)) gpumem_status
alloc_slow(gpumem_pool *pool, size_t bytes, size_t alignment,
	   gpumem_stream stream, void **ptr_out)
{
	const struct gm_request request = {.bytes = bytes,
					   .alignment = alignment,
					   .stream = stream,
					   .tag = gm_local_tag};

	if (!pool)
		return gm_null_argument("pool");
	if (!ptr_out)
		return gm_null_argument("ptr_out");
	if (!gm_alignment_fits(alignment))
		return gm_alignment_refused(alignment);
	if (!bytes) {
		*ptr_out = NULL;
		return GPUMEM_OK;
	}
	if (alignment == 1) {
		void *ptr = gm_local_alloc_again(&pool->heap, bytes, stream,
						 gm_local_tag);

		if (ptr) {
			*ptr_out = ptr;
			return GPUMEM_OK;
		}
	}
	return gm_pool_alloc(pool, &request, ptr_out);
}

/* The cache was entered, and is locked unless it is claimed: the thread has a
 * tag, or the heap is recorded. */
static __attribute__((noinline)) gpumem_status
alloc_stopped(gpumem_pool *pool, size_t bytes, gpumem_stream stream,
	      void **ptr_out, struct gm_local *local)
{
	uint32_t claimed = gm_local_claimed(local);
	void *ptr = NULL;

	if (!(claimed & GM_CLAIMED))
		ptr = gm_hot_take(local, &pool->heap, bytes, gm_local_tag,
				  GM_HOT_AGAIN, claimed);
	gm_local_unlock(local);
	if (UNLIKELY(!ptr))
		return alloc_slow(pool, bytes, 1, stream, ptr_out);
	*ptr_out = ptr;
	return GPUMEM_OK;
}

gpumem_status gpumem_alloc(gpumem_pool *pool, size_t bytes,
			   gpumem_stream stream, void **ptr_out)
{
	struct gm_local *local = gm_local_last;
	void *ptr;

	if (UNLIKELY(!pool || !ptr_out ||
		     !gm_local_is(local, &pool->heap, stream)))
		return alloc_slow(pool, bytes, 1, stream, ptr_out);
	if (UNLIKELY(gm_local_enter(local)))
		return alloc_stopped(pool, bytes, stream, ptr_out, local);
	ptr = gm_hot_take(local, &pool->heap, bytes, 0, GM_HOT_PLAIN, 0);
	gm_local_unlock(local);
	if (UNLIKELY(!ptr))
		return alloc_slow(pool, bytes, 1, stream, ptr_out);
	*ptr_out = ptr;
	return GPUMEM_OK;
}

gpumem_status gpumem_alloc_aligned(gpumem_pool *pool, size_t bytes,
				   size_t alignment, gpumem_stream stream,
				   void **ptr_out)
{
	return alloc_slow(pool, bytes, alignment ? alignment : 1, stream,
			  ptr_out);
}

/* stopped: the cache, which was entered, as of alloc_stopped(), and what the
 * map has there; or NULL. */
static __attribute__((noinline)) gpumem_status
free_slow(void *ptr, gpumem_stream stream, struct gm_local *stopped,
	  uintptr_t entry)
{
	if (stopped) {
		uint32_t claimed = gm_local_claimed(stopped);
		const struct gm_heap *heap = atomic_load_explicit(
			&stopped->heap, memory_order_relaxed);
		bool done = !(claimed & GM_CLAIMED) &&
			    gm_hot_put(stopped, heap, entry, ptr, GM_HOT_AGAIN,
				       claimed);

		gm_local_unlock(stopped);
		if (done)
			return GPUMEM_OK;
	}
	if (!ptr || gm_local_free_again(ptr, false, stream))
		return GPUMEM_OK;
	GM_SCOPE;
	gpumem_status status = gm_pool_explain(ptr, gm_heap_free(ptr, stream));

	gm_locals_end_call();
	return status;
}

gpumem_status gpumem_free(void *ptr, gpumem_stream stream)
{
	uintptr_t entry = gm_map_get((uintptr_t)ptr);
	struct gm_local *local = gm_local_last;
	const struct gm_heap *heap =
		atomic_load_explicit(&local->heap, memory_order_relaxed);
	bool done;

	if (UNLIKELY(!entry || !heap || local->stream != stream))
		return free_slow(ptr, stream, NULL, 0);
	if (UNLIKELY(gm_local_enter(local)))
		return free_slow(ptr, stream, local, entry);
	done = gm_hot_put(local, heap, entry, ptr, GM_HOT_PLAIN, 0);
	gm_local_unlock(local);
	return done ? GPUMEM_OK : free_slow(ptr, stream, NULL, 0);
}

gpumem_status gpumem_use_on(void *ptr, gpumem_stream stream)
{
	GM_SCOPE;

	return ptr ? gm_pool_explain(ptr, gm_heap_use_on(ptr, stream))
		   : gm_null_argument("ptr");
}

gpumem_status gpumem_query(const void *ptr, struct gpumem_block *block_out)
{
	struct gpumem_block block;
	GM_SCOPE;
	gpumem_status status;

	if (!block_out)
		return gm_null_argument("block_out");
	status = gm_check_struct(gpumem_block, block_out);
	if (status == GPUMEM_OK)
		status = gm_pool_query(ptr, &block);
	if (status == GPUMEM_OK)
		gm_struct_copy(block_out, &block);
	return status;
}

/* ---- pools ---- */

gpumem_status gpumem_pool_create(gpumem_device *device,
				 const struct gpumem_pool_config *config,
				 gpumem_pool **pool_out)
{
	struct gpumem_pool_config all = {.size = sizeof(all)};
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device, pool_out);

	if (status != GPUMEM_OK)
		return status;
	if (config)
		status = gm_struct_take(
			&gm_structs[GM_STRUCT_gpumem_pool_config], &all,
			config);
	return status != GPUMEM_OK
		       ? status
		       : gm_pool_create(device, &all, &gm_reports, pool_out);
}

gpumem_status gpumem_pool_destroy(gpumem_pool *pool, unsigned flags)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK)
		status = gm_check_flags(flags, GPUMEM_DESTROY_FORCE);
	if (status == GPUMEM_OK)
		status = gm_pool_destroy(pool, flags & GPUMEM_DESTROY_FORCE);
	return status;
}

gpumem_status gpumem_device_pool(gpumem_device *device, gpumem_pool **pool_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device, pool_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_default(device, &gm_reports, pool_out);
}

gpumem_status gpumem_pool_add_peer(gpumem_pool *pool, gpumem_device *peer)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_add_peer(pool, peer);
}

gpumem_status gpumem_pool_set_limit(gpumem_pool *pool, uint64_t limit_bytes)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_set_limit(pool, limit_bytes);
}

gpumem_status gpumem_pool_set_soft_limit(gpumem_pool *pool,
					 uint64_t soft_limit_bytes)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	gm_pool_set_soft_limit(pool, soft_limit_bytes);
	return GPUMEM_OK;
}

gpumem_status gpumem_pool_set_limit_percent(gpumem_pool *pool,
					    unsigned limit_percent)
{
	uint64_t bytes = 0;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK)
		status = gm_limit_of_percent(pool->device, limit_percent,
					     "limit_percent", &bytes);
	return status == GPUMEM_OK ? gm_pool_set_limit(pool, bytes) : status;
}

gpumem_status gpumem_pool_set_soft_limit_percent(gpumem_pool *pool,
						 unsigned soft_limit_percent)
{
	uint64_t bytes = 0;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK)
		status = gm_limit_of_percent(pool->device, soft_limit_percent,
					     "soft_limit_percent", &bytes);
	if (status == GPUMEM_OK)
		gm_pool_set_soft_limit(pool, bytes);
	return status;
}

gpumem_status gpumem_pool_pressure_add(gpumem_pool *pool, gpumem_pressure_fn fn,
				       void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!fn)
		return gm_null_argument("fn");
	return pool ? gm_pool_pressure_add(pool, fn, user)
		    : gm_null_argument("pool");
}

gpumem_status gpumem_pool_pressure_remove(gpumem_pool *pool,
					  gpumem_pressure_fn fn, void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!fn)
		return gm_null_argument("fn");
	return pool ? gm_pool_pressure_remove(pool, fn, user)
		    : gm_null_argument("pool");
}

gpumem_status gpumem_pool_trim(gpumem_pool *pool, uint64_t keep_bytes,
			       uint64_t *released_bytes_out)
{
	uint64_t released = 0;
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status == GPUMEM_OK)
		status = gm_heap_trim(&pool->heap, keep_bytes, &released);
	if (released_bytes_out)
		*released_bytes_out = released;
	return status;
}

gpumem_status gpumem_pool_drop_stream(gpumem_pool *pool, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_drop_stream(pool, stream);
}
