/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * API layer: allocation with options, what a block holds, and frees that know
 * less or more than the plain one. See api.c.
 */
#include "api_block.h"
#include "cache/hot.h"
#include "device/driver.h"
#include "heap/block.h"

/* ---- allocation ---- */

enum {
	FLAGS = GPUMEM_ALLOC_NO_WAIT | GPUMEM_ALLOC_NO_GROW |
		GPUMEM_ALLOC_ZERO | GPUMEM_ALLOC_WHOLE
};

/* From the thread's cache; NULL: it has none, not even when it is refilled. */
static void *alloc_cached(struct gm_heap *heap,
			  const struct gm_request *request)
{
	void *ptr;

	if (request->alignment > 1)
		return NULL;
	ptr = request->tag ? NULL
			   : gm_hot_alloc(heap, request->bytes, request->stream,
					  0, GM_HOT_PLAIN);
	return ptr ? ptr
		   : gm_local_alloc_again(heap, request->bytes, request->stream,
					  request->tag);
}

/* A failure frees the block: on its own stream, where nothing else uses it,
 * which cannot fail. */
static gpumem_status zero(struct gpumem_pool *pool, void *ptr, uint64_t bytes,
			  gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status =
		gm_fill(pool->device, (uintptr_t)ptr, 0, bytes, stream);

	if (status != GPUMEM_OK)
		(void)gm_heap_free(ptr, stream);
	return status;
}

static gpumem_status check_can_zero(const struct gpumem_device *device)
{
	if (gm_device_has(device, GPUMEM_CAP_COPY))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_UNSUPPORTED,
		       "%s cannot fill memory, so it has no zeroed blocks",
		       device->info.name);
}

static gpumem_status alloc(struct gpumem_pool *pool, struct gm_request *request,
			   void **ptr_out, uint64_t *usable_out)
{
	gpumem_status status = GPUMEM_OK;
	void *ptr;

	*usable_out = gm_heap_usable(&pool->heap, request);
	if (request->flags & GPUMEM_ALLOC_WHOLE)
		request->bytes = *usable_out;
	if (request->flags & GPUMEM_ALLOC_ZERO)
		status = check_can_zero(pool->device);
	if (status != GPUMEM_OK)
		return status;
	request->holds_out = usable_out;
	ptr = alloc_cached(&pool->heap, request);
	if (!ptr)
		status = gm_pool_alloc(pool, request, &ptr);
	if (status == GPUMEM_OK && request->flags & GPUMEM_ALLOC_ZERO)
		status = zero(pool, ptr, *usable_out, request->stream);
	if (status == GPUMEM_OK)
		*ptr_out = ptr;
	return status;
}

static gpumem_status take_options(const struct gpumem_alloc_options *options,
				  struct gm_request *request)
{
	struct gpumem_alloc_options all = {.size = sizeof(all)};
	gpumem_status status = gm_struct_take(
		&gm_structs[GM_STRUCT_gpumem_alloc_options], &all, options);

	if (status == GPUMEM_OK)
		status = gm_check_flags(all.flags, FLAGS);
	if (status == GPUMEM_OK)
		status = gm_check_tag(all.tag);
	if (status != GPUMEM_OK)
		return status;
	request->alignment = all.alignment ? all.alignment : 1;
	request->flags = all.flags;
	if (all.tag)
		request->tag = all.tag;
	return gm_alignment_fits(request->alignment)
		       ? GPUMEM_OK
		       : gm_alignment_refused(request->alignment);
}

gpumem_status gpumem_alloc_with(gpumem_pool *pool, size_t bytes,
				gpumem_stream stream,
				const struct gpumem_alloc_options *options,
				void **ptr_out, uint64_t *usable_bytes_out)
{
	struct gm_request request = {.bytes = bytes,
				     .alignment = 1,
				     .stream = stream,
				     .tag = gm_local_tag};
	gpumem_status status = GPUMEM_OK;
	uint64_t usable = 0;
	void *ptr = NULL;

	if (!pool)
		return gm_null_argument("pool");
	if (!ptr_out)
		return gm_null_argument("ptr_out");
	if (options)
		status = take_options(options, &request);
	if (status == GPUMEM_OK && bytes)
		status = alloc(pool, &request, &ptr, &usable);
	if (status != GPUMEM_OK)
		return status;
	*ptr_out = ptr;
	if (usable_bytes_out)
		*usable_bytes_out = usable;
	return GPUMEM_OK;
}

/* ---- what a block holds ---- */

static gpumem_status size_locked(const void *ptr, struct gm_block_size *size)
{
	GM_SCOPE;

	return gm_pool_explain(ptr, gm_block_size(ptr, size));
}

static gpumem_status size_of(const void *ptr, struct gm_block_size *size)
{
	return gm_block_peek(ptr, size) ? GPUMEM_OK : size_locked(ptr, size);
}

gpumem_status gpumem_usable_bytes(const void *ptr, uint64_t *bytes_out)
{
	struct gm_block_size size = {0, 0};
	gpumem_status status = GPUMEM_OK;

	if (!bytes_out)
		return gm_null_argument("bytes_out");
	if (ptr)
		status = size_of(ptr, &size);
	if (status == GPUMEM_OK)
		*bytes_out = size.usable;
	return status;
}

/* ---- the end of a block ---- */

static __attribute__((noinline)) gpumem_status free_own_slow(void *ptr)
{
	if (!ptr || gm_local_free_again(ptr, true, NULL))
		return GPUMEM_OK;
	GM_SCOPE;
	gpumem_status status = gm_pool_explain(ptr, gm_heap_free_own(ptr));

	gm_locals_end_call();
	return status;
}

/* Of a block that most likely has a word. */
static __attribute__((noinline)) gpumem_status free_own_more(void *ptr)
{
	return gm_hot_free(ptr, true, NULL, GM_HOT_AGAIN) ? GPUMEM_OK
							  : free_own_slow(ptr);
}

gpumem_status gpumem_free_own(void *ptr)
{
	if (__builtin_expect(
		    atomic_load_explicit(&gm_words_used, memory_order_relaxed),
		    false))
		return free_own_more(ptr);
	if (__builtin_expect(!gm_hot_free(ptr, true, NULL, GM_HOT_PLAIN),
			     false))
		return free_own_slow(ptr);
	return GPUMEM_OK;
}

gpumem_status gpumem_free_sized(void *ptr, size_t bytes, gpumem_stream stream)
{
	struct gm_block_size size;
	gpumem_status status;

	if (!ptr)
		return GPUMEM_OK;
	status = size_of(ptr, &size);
	if (status != GPUMEM_OK)
		return status;
	if (bytes < size.requested || bytes > size.usable)
		return gm_fail(GPUMEM_INVALID,
			       "%p is freed as %zu bytes, but %llu were "
			       "requested and it holds %llu",
			       ptr, bytes, (unsigned long long)size.requested,
			       (unsigned long long)size.usable);
	return gpumem_free(ptr, stream);
}
