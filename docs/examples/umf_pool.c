/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem as a pool of the Unified Memory Framework (UMF 1.1 or later):
 *
 *	cc -c umf_pool.c $(pkg-config --cflags gpumem libumf)
 *
 * UMF's calls have no stream: blocks are of the default stream, and what is
 * zeroed or copied is there when the call returns. The provider is not used; a
 * pool has its memory from the device. Nothing but the pool is kept here: what
 * a block holds, and which stream it is of, gpumem knows.
 */
#include "umf_pool.h"

#include <gpumem/gpumem.h>
#include <stdint.h>
#include <stdlib.h>

struct umf_pool {
	gpumem_device *device;
	gpumem_pool *pool;
};

static umf_result_t result_of(gpumem_status status)
{
	switch (status) {
	case GPUMEM_OK:
		return UMF_RESULT_SUCCESS;
	case GPUMEM_NO_MEMORY:
	case GPUMEM_LIMIT:
	case GPUMEM_NO_HOST_MEMORY:
		return UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	case GPUMEM_INVALID:
	case GPUMEM_BAD_POINTER:
		return UMF_RESULT_ERROR_INVALID_ARGUMENT;
	case GPUMEM_UNSUPPORTED:
		return UMF_RESULT_ERROR_NOT_SUPPORTED;
	default:
		return UMF_RESULT_ERROR_UNKNOWN;
	}
}

static umf_result_t finalize(void *user)
{
	struct umf_pool *self = user;
	gpumem_status status = GPUMEM_OK;

	if (self->pool)
		status = gpumem_pool_destroy(self->pool, GPUMEM_DESTROY_FORCE);
	if (status == GPUMEM_OK && self->device)
		status = gpumem_device_close(self->device);
	free(self);
	return result_of(status);
}

static umf_result_t initialize(umf_memory_provider_handle_t provider,
			       const void *params, void **pool_out)
{
	struct umf_pool *self = calloc(1, sizeof(*self));
	gpumem_status status;

	(void)provider;
	if (!self)
		return UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
	status = gpumem_device_open(params, &self->device);
	if (status == GPUMEM_OK)
		status = gpumem_pool_create(self->device, NULL, &self->pool);
	if (status == GPUMEM_OK)
		*pool_out = self;
	else
		(void)finalize(self);
	return result_of(status);
}

static void *pool_aligned_malloc(void *user, size_t bytes, size_t alignment)
{
	struct umf_pool *self = user;
	void *ptr;

	/* One byte, so that a block of no bytes has an address too. */
	return gpumem_alloc_aligned(self->pool, bytes ? bytes : 1, alignment,
				    NULL, &ptr) == GPUMEM_OK
		       ? ptr
		       : NULL;
}

static void *pool_malloc(void *user, size_t bytes)
{
	struct umf_pool *self = user;
	void *ptr;

	return gpumem_alloc(self->pool, bytes ? bytes : 1, NULL, &ptr) ==
			       GPUMEM_OK
		       ? ptr
		       : NULL;
}

static umf_result_t pool_free(void *user, void *ptr)
{
	(void)user;
	return result_of(gpumem_free_own(ptr));
}

static void *pool_calloc(void *user, size_t count, size_t size)
{
	struct gpumem_alloc_options zero =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct umf_pool *self = user;
	size_t bytes;
	void *ptr;

	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	zero.flags = GPUMEM_ALLOC_ZERO;
	if (gpumem_alloc_with(self->pool, bytes ? bytes : 1, NULL, &zero, &ptr,
			      NULL) != GPUMEM_OK)
		return NULL;
	if (gpumem_stream_sync(self->device, NULL) == GPUMEM_OK)
		return ptr;
	(void)pool_free(self, ptr);
	return NULL;
}

/* To another place, for what is behind the block is in use. */
static void *move(struct umf_pool *self, void *ptr, size_t bytes)
{
	void *moved = pool_malloc(self, bytes);
	uint64_t held;

	if (!moved)
		return NULL;
	if (gpumem_usable_bytes(ptr, &held) == GPUMEM_OK &&
	    gpumem_copy(self->device, moved, ptr, held < bytes ? held : bytes,
			NULL) == GPUMEM_OK &&
	    gpumem_stream_sync(self->device, NULL) == GPUMEM_OK &&
	    gpumem_free_own(ptr) == GPUMEM_OK)
		return moved;
	(void)pool_free(self, moved);
	return NULL;
}

static void *pool_realloc(void *user, void *ptr, size_t bytes)
{
	if (!ptr)
		return pool_malloc(user, bytes);
	if (!bytes) {
		(void)pool_free(user, ptr);
		return NULL;
	}
	switch (gpumem_resize(ptr, bytes, NULL, NULL)) {
	case GPUMEM_OK:
		return ptr;
	case GPUMEM_BUSY:
		return move(user, ptr, bytes);
	default:
		return NULL;
	}
}

static umf_result_t pool_usable(void *user, const void *ptr, size_t *size)
{
	uint64_t bytes = 0;
	gpumem_status status = GPUMEM_OK;

	(void)user;
	if (ptr)
		status = gpumem_usable_bytes(ptr, &bytes);
	*size = bytes;
	return result_of(status);
}

static umf_result_t pool_error(void *user)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	(void)user;
	gpumem_last_error(&error);
	return result_of(error.status);
}

static umf_result_t pool_name(void *user, const char **name)
{
	struct umf_pool *self = user;

	*name = self ? gpumem_pool_name(self->pool) : "gpumem";
	return UMF_RESULT_SUCCESS;
}

static umf_result_t pool_trim(void *user, size_t keep_bytes)
{
	struct umf_pool *self = user;

	return result_of(gpumem_pool_trim(self->pool, keep_bytes, NULL));
}

const umf_memory_pool_ops_t *gpumem_umf_pool_ops(void)
{
	static const umf_memory_pool_ops_t ops = {
		.version = UMF_POOL_OPS_VERSION_CURRENT,
		.initialize = initialize,
		.finalize = finalize,
		.malloc = pool_malloc,
		.calloc = pool_calloc,
		.realloc = pool_realloc,
		.aligned_malloc = pool_aligned_malloc,
		.malloc_usable_size = pool_usable,
		.free = pool_free,
		.get_last_allocation_error = pool_error,
		.get_name = pool_name,
		.ext_trim_memory = pool_trim,
	};

	return &ops;
}
