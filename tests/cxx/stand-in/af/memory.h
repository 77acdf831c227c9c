/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What docs/examples/arrayfire_manager.c needs of ArrayFire 3.8's header of
 * this name, with the same types and numbers, for machines that have no
 * ArrayFire. Not a line of theirs. arrayfire.c implements it.
 */
#ifndef AF_MEMORY_STAND_IN_H
#define AF_MEMORY_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
	AF_SUCCESS = 0,
	AF_ERR_NO_MEM = 101,
	AF_ERR_RUNTIME = 103,
	AF_ERR_ARG = 202,
	AF_ERR_SIZE = 203,
	AF_ERR_DEVICE = 208,
	AF_ERR_NOT_SUPPORTED = 301
} af_err;

typedef long long dim_t;
typedef void *af_memory_manager;

/* name, what follows the handle */
#define AF_FUNCTIONS(X)                                                        \
	X(initialize, (af_memory_manager))                                     \
	X(shutdown, (af_memory_manager))                                       \
	X(alloc, (af_memory_manager, void **, int, const unsigned, dim_t *,    \
		  const unsigned))                                             \
	X(allocated, (af_memory_manager, size_t *, void *))                    \
	X(unlock, (af_memory_manager, void *, int))                            \
	X(signal_memory_cleanup, (af_memory_manager))                          \
	X(print_info, (af_memory_manager, char *, int))                        \
	X(user_lock, (af_memory_manager, void *))                              \
	X(user_unlock, (af_memory_manager, void *))                            \
	X(is_user_locked, (af_memory_manager, int *, void *))                  \
	X(get_memory_pressure, (af_memory_manager, float *))                   \
	X(jit_tree_exceeds_memory_pressure, (af_memory_manager, int *, size_t))

#define AF_DECLARE(name, parameters)                                           \
	typedef af_err(*af_memory_manager_##name##_fn) parameters;             \
	af_err af_memory_manager_set_##name##_fn(                              \
		af_memory_manager handle, af_memory_manager_##name##_fn fn);
AF_FUNCTIONS(AF_DECLARE)

typedef void (*af_memory_manager_add_memory_management_fn)(af_memory_manager,
							   int);
typedef void (*af_memory_manager_remove_memory_management_fn)(af_memory_manager,
							      int);
af_err af_memory_manager_set_add_memory_management_fn(
	af_memory_manager handle,
	af_memory_manager_add_memory_management_fn fn);
af_err af_memory_manager_set_remove_memory_management_fn(
	af_memory_manager handle,
	af_memory_manager_remove_memory_management_fn fn);

af_err af_create_memory_manager(af_memory_manager *out);
af_err af_release_memory_manager(af_memory_manager handle);
af_err af_set_memory_manager(af_memory_manager handle);
af_err af_unset_memory_manager(void);
af_err af_memory_manager_get_payload(af_memory_manager handle, void **payload);
af_err af_memory_manager_set_payload(af_memory_manager handle, void *payload);
af_err af_memory_manager_get_active_device_id(af_memory_manager handle,
					      int *id);
af_err af_memory_manager_native_free(af_memory_manager handle, void *ptr);
af_err af_memory_manager_get_max_memory_size(af_memory_manager handle,
					     size_t *size, int id);

#endif
