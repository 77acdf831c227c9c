/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which device, pool and stream of gpumem stand for a device of ArrayFire's,
 * and which block for an array. Part of the example arrayfire_manager.c. Locks:
 * arrayfire_state.h.
 */
#include "arrayfire_state.h"

#include <stdint.h>
#include <stdio.h>

/* As ArrayFire's headers for CUDA and OpenCL have them, which need the
 * vendors'. Weak, since its libraries of one backend lack the other's. */
#define WEAK extern __attribute__((weak))
WEAK af_err afcu_get_native_id(int *native_out, int id);
WEAK af_err afcu_get_stream(void **stream_out, int id);
WEAK af_err afcl_get_context(void **context_out, const bool retain);
WEAK af_err afcl_get_device_id(void **device_out);
WEAK af_err afcl_get_queue(void **queue_out, const bool retain);

/* A test may have others. */
#ifndef CUDA_BACKEND
#define CUDA_BACKEND "cuda"
#define OPENCL_BACKEND "opencl"
#endif

af_err place_answer(gpumem_status status)
{
	switch (status) {
	case GPUMEM_OK:
		return AF_SUCCESS;
	case GPUMEM_NO_MEMORY:
	case GPUMEM_LIMIT:
	case GPUMEM_NO_HOST_MEMORY:
		return AF_ERR_NO_MEM;
	case GPUMEM_UNSUPPORTED:
		return AF_ERR_NOT_SUPPORTED;
	case GPUMEM_INVALID:
	case GPUMEM_BAD_POINTER:
		return AF_ERR_ARG;
	default:
		return AF_ERR_RUNTIME;
	}
}

static af_err open_cuda(int id, struct place *place)
{
	char name[32];
	af_err error;
	int native;

	error = afcu_get_native_id(&native, id);
	if (error == AF_SUCCESS)
		error = afcu_get_stream(&place->stream, id);
	if (error != AF_SUCCESS)
		return error;
	snprintf(name, sizeof(name), CUDA_BACKEND ":%d", native);
	return place_answer(gpumem_device_open(name, &place->device));
}

/* ArrayFire's arrays are cl_mem, whatever the device could do besides. */
static af_err open_opencl(struct place *place)
{
	void *context, *device;
	af_err error;

	(void)!gpumem_option_set("opencl.memory", "buffer");
	error = afcl_get_context(&context, false);
	if (error == AF_SUCCESS)
		error = afcl_get_device_id(&device);
	if (error == AF_SUCCESS)
		error = afcl_get_queue(&place->stream, false);
	if (error != AF_SUCCESS)
		return error;
	return place_answer(gpumem_device_adopt(OPENCL_BACKEND, context, device,
						&place->device));
}

/* JIT trees are evaluated early enough to leave an eighth free. */
af_err place_open(af_memory_manager handle, af_backend backend, int id,
		  struct place *place_out)
{
	struct gpumem_pool_config config = {.size = sizeof(config),
					    .name = "arrayfire"};
	struct place place = {0};
	af_err error;

	error = af_memory_manager_get_max_memory_size(handle, &place.room, id);
	place.room -= place.room / 8;
	if (error == AF_SUCCESS)
		error = backend == AF_BACKEND_CUDA ? open_cuda(id, &place)
						   : open_opencl(&place);
	if (error != AF_SUCCESS)
		return error;
	error = place_answer(
		gpumem_pool_create(place.device, &config, &place.pool));
	if (error == AF_SUCCESS)
		*place_out = place;
	else
		GPUMEM_IGNORE(gpumem_device_close(place.device));
	return error;
}

void place_close(struct place *place)
{
	if (!place->pool || gpumem_pool_destroy(place->pool, 0) == GPUMEM_BUSY)
		return;
	GPUMEM_IGNORE(gpumem_device_close(place->device));
	*place = (struct place){0};
}

/* ---- arrays ---- */

/* Under the mutex. */

static struct held **find(struct manager *manager, const void *ptr)
{
	size_t bucket = ((uintptr_t)ptr >> 8) % BUCKETS;
	struct held **at = &manager->buckets[bucket];

	while (*at && (*at)->ptr != ptr)
		at = &(*at)->next;
	return at;
}

void held_keep(struct manager *manager, struct held *held)
{
	struct held **at;

	pthread_mutex_lock(&manager->mutex);
	at = find(manager, held->ptr);
	held->next = *at;
	*at = held;
	held->place->bytes += held->bytes;
	pthread_mutex_unlock(&manager->mutex);
}

struct held *held_let_go(struct manager *manager, const void *ptr,
			 unsigned lock, bool *known_out)
{
	struct held **at, *held;

	pthread_mutex_lock(&manager->mutex);
	at = find(manager, ptr);
	held = *at;
	*known_out = held != NULL;
	if (held && (held->locks &= ~lock) != 0)
		held = NULL;
	if (held) {
		*at = held->next;
		held->place->bytes -= held->bytes;
	}
	pthread_mutex_unlock(&manager->mutex);
	return held;
}

unsigned held_locks(struct manager *manager, const void *ptr, unsigned add,
		    size_t *bytes_out)
{
	unsigned locks = 0;
	struct held *held;

	pthread_mutex_lock(&manager->mutex);
	held = *find(manager, ptr);
	if (held)
		locks = held->locks |= add;
	*bytes_out = held ? held->bytes : 0;
	pthread_mutex_unlock(&manager->mutex);
	return locks;
}

size_t held_bytes(struct manager *manager, const struct place *place)
{
	size_t bytes;

	pthread_mutex_lock(&manager->mutex);
	bytes = place->bytes;
	pthread_mutex_unlock(&manager->mutex);
	return bytes;
}
