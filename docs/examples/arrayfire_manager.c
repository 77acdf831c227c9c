/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * ArrayFire 3.8's memory manager over gpumem, as a library that a program of
 * ArrayFire's links or loads:
 *
 *	cc -shared -fPIC -o libgpumem_arrayfire.so arrayfire_manager.c \
 *		arrayfire_state.c -laf $(pkg-config --cflags --libs gpumem)
 *
 * Arrays follow the stream, or the queue, that ArrayFire has for their device.
 * On OpenCL an array is a cl_mem, a view of its block. Not here: the backends
 * CPU, whose work follows no stream that gpumem knows, and oneAPI; and pinned
 * memory, which stays ArrayFire's.
 *
 * Any thread may call. Locks: arrayfire_state.h.
 */
#include "arrayfire_manager.h"
#include "arrayfire_state.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct manager *manager_of(af_memory_manager handle)
{
	void *manager = NULL;

	(void)af_memory_manager_get_payload(handle, &manager);
	return manager;
}

/* The place of the device that ArrayFire works on now. */
static af_err active_place(af_memory_manager handle, struct place **place_out)
{
	struct manager *manager = manager_of(handle);
	af_err error;
	int id;

	error = af_memory_manager_get_active_device_id(handle, &id);
	if (error != AF_SUCCESS)
		return error;
	if (id < 0 || id >= DEVICES)
		return AF_ERR_DEVICE;
	*place_out = &manager->places[id];
	pthread_mutex_lock(&manager->mutex);
	if (!manager->places[id].pool)
		error = place_open(handle, manager->backend, id, *place_out);
	pthread_mutex_unlock(&manager->mutex);
	return error;
}

static void close_place(af_memory_manager handle, int id)
{
	struct manager *manager = manager_of(handle);

	if (id < 0 || id >= DEVICES)
		return;
	pthread_mutex_lock(&manager->mutex);
	place_close(&manager->places[id]);
	pthread_mutex_unlock(&manager->mutex);
}

/* ---- what ArrayFire calls ---- */

static af_err initialize(af_memory_manager handle)
{
	(void)handle;
	return AF_SUCCESS;
}

/* Once for each device, which is the active one then. */
static af_err shutdown(af_memory_manager handle)
{
	int id;
	af_err error = af_memory_manager_get_active_device_id(handle, &id);

	if (error == AF_SUCCESS)
		close_place(handle, id);
	return error;
}

static af_err alloc_block(struct manager *manager, struct held *held)
{
	gpumem_status status;

	status = gpumem_alloc(held->place->pool, held->bytes,
			      held->place->stream, &held->block);
	held->ptr = held->block;
	if (status != GPUMEM_OK || manager->backend != AF_BACKEND_OPENCL)
		return place_answer(status);
	status = gpumem_view(held->block, &held->ptr);
	if (status != GPUMEM_OK)
		GPUMEM_IGNORE(gpumem_free_own(held->block));
	return place_answer(status);
}

static af_err alloc(af_memory_manager handle, void **ptr_out, int user_lock,
		    const unsigned ndims, dim_t *dims, const unsigned bytes)
{
	struct held *held, want = {.bytes = bytes};
	af_err error;

	*ptr_out = NULL;
	want.locks = user_lock ? BY_USER : BY_ARRAYFIRE;
	for (unsigned i = 0; i < ndims; i++)
		if (__builtin_mul_overflow(want.bytes, dims[i], &want.bytes))
			return AF_ERR_SIZE;
	if (want.bytes == 0)
		return AF_SUCCESS;
	error = active_place(handle, &want.place);
	if (error != AF_SUCCESS)
		return error;
	held = malloc(sizeof(*held));
	if (!held)
		return AF_ERR_NO_MEM;
	*held = want;
	error = alloc_block(manager_of(handle), held);
	if (error != AF_SUCCESS) {
		free(held);
		return error;
	}
	held_keep(manager_of(handle), held);
	*ptr_out = held->ptr;
	return AF_SUCCESS;
}

/* What no lock holds any more is free for what is queued next. */
static af_err drop(af_memory_manager handle, void *ptr, unsigned lock,
		   bool *known_out)
{
	struct held *held =
		held_let_go(manager_of(handle), ptr, lock, known_out);
	gpumem_status status = GPUMEM_OK;

	if (held)
		status = gpumem_free_own(held->block);
	free(held);
	return place_answer(status);
}

/* An array of unknown memory: the program's, or ArrayFire's from before. */
static af_err unlock(af_memory_manager handle, void *ptr, int user_unlock)
{
	bool known;
	af_err error;

	if (!ptr)
		return AF_SUCCESS;
	error = drop(handle, ptr, user_unlock ? BY_USER : BY_ARRAYFIRE, &known);
	return known ? error : af_memory_manager_native_free(handle, ptr);
}

static af_err user_unlock(af_memory_manager handle, void *ptr)
{
	bool known;

	return drop(handle, ptr, BY_USER, &known);
}

static af_err user_lock(af_memory_manager handle, void *ptr)
{
	size_t bytes;

	(void)held_locks(manager_of(handle), ptr, BY_USER, &bytes);
	return AF_SUCCESS;
}

static af_err is_user_locked(af_memory_manager handle, int *out, void *ptr)
{
	size_t bytes;

	*out = (held_locks(manager_of(handle), ptr, 0, &bytes) & BY_USER) != 0;
	return AF_SUCCESS;
}

static af_err allocated(af_memory_manager handle, size_t *bytes_out, void *ptr)
{
	(void)held_locks(manager_of(handle), ptr, 0, bytes_out);
	return AF_SUCCESS;
}

static af_err signal_memory_cleanup(af_memory_manager handle)
{
	struct place *place;
	af_err error = active_place(handle, &place);

	return error != AF_SUCCESS ? error
				   : place_answer(gpumem_device_trim(
					     place->device, 0, NULL));
}

static void print(const char *text, void *user)
{
	fputs(text, user);
}

/* The text is the caller's, to be printed first. */
static af_err print_info(af_memory_manager handle, char *text, int id)
{
	struct place *place;
	af_err error = active_place(handle, &place);

	(void)id;
	if (error != AF_SUCCESS)
		return error;
	puts(text);
	return place_answer(gpumem_pool_print(place->pool, 0, print, stdout));
}

/* From 1.0 on ArrayFire evaluates its JIT trees at once. */
static af_err get_memory_pressure(af_memory_manager handle, float *out)
{
	struct place *place;
	af_err error = active_place(handle, &place);

	if (error == AF_SUCCESS)
		*out = (float)held_bytes(manager_of(handle), place) /
		       (float)place->room;
	return error;
}

/* Does the tree hold half of a well-filled device, or a tenth of any? */
static af_err jit_tree_exceeds(af_memory_manager handle, int *out, size_t bytes)
{
	struct place *place;
	af_err error = active_place(handle, &place);
	size_t all;

	if (error != AF_SUCCESS)
		return error;
	all = held_bytes(manager_of(handle), place);
	*out = all > place->room / 4 ? bytes > all / 2
				     : bytes > place->room / 10;
	return AF_SUCCESS;
}

/* Devices are opened when they are used. */
static void add_memory_management(af_memory_manager handle, int id)
{
	(void)handle;
	(void)id;
}

/* ---- on and off ---- */

static void set_functions(af_memory_manager handle)
{
#define SET(name, fn) (void)af_memory_manager_set_##name##_fn(handle, fn)
	SET(initialize, initialize);
	SET(shutdown, shutdown);
	SET(alloc, alloc);
	SET(allocated, allocated);
	SET(unlock, unlock);
	SET(signal_memory_cleanup, signal_memory_cleanup);
	SET(print_info, print_info);
	SET(user_lock, user_lock);
	SET(user_unlock, user_unlock);
	SET(is_user_locked, is_user_locked);
	SET(get_memory_pressure, get_memory_pressure);
	SET(jit_tree_exceeds_memory_pressure, jit_tree_exceeds);
	SET(add_memory_management, add_memory_management);
	SET(remove_memory_management, close_place);
#undef SET
}

af_err gpumem_arrayfire_enable(af_memory_manager *handle_out)
{
	struct manager *manager;
	af_backend backend;
	af_err error = af_get_active_backend(&backend);

	if (error != AF_SUCCESS)
		return error;
	if (backend != AF_BACKEND_CUDA && backend != AF_BACKEND_OPENCL)
		return AF_ERR_NOT_SUPPORTED;
	manager = calloc(1, sizeof(*manager));
	if (!manager)
		return AF_ERR_NO_MEM;
	manager->backend = backend;
	pthread_mutex_init(&manager->mutex, NULL);
	error = af_create_memory_manager(handle_out);
	if (error != AF_SUCCESS) {
		free(manager);
		return error;
	}
	(void)af_memory_manager_set_payload(*handle_out, manager);
	set_functions(*handle_out);
	return af_set_memory_manager(*handle_out);
}

af_err gpumem_arrayfire_disable(af_memory_manager handle)
{
	struct manager *manager = manager_of(handle);
	af_err error = af_unset_memory_manager();

	if (error != AF_SUCCESS)
		return error;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (manager->buckets[i]) {
			struct held *held = manager->buckets[i];

			manager->buckets[i] = held->next;
			free(held);
		}
	}
	pthread_mutex_destroy(&manager->mutex);
	free(manager);
	return af_release_memory_manager(handle);
}
