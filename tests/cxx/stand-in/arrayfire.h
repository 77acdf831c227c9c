/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a test sees and sets of the stand-in arrayfire.c. */
#ifndef ARRAYFIRE_STAND_IN_H
#define ARRAYFIRE_STAND_IN_H

#include <af/backend.h>
#include <af/memory.h>

enum { AF_DEVICES = 2 };

struct functions {
	void *payload;
#define AF_FIELD(name, parameters) af_memory_manager_##name##_fn name;
	AF_FUNCTIONS(AF_FIELD)
	af_memory_manager_add_memory_management_fn add_memory_management;
	af_memory_manager_remove_memory_management_fn remove_memory_management;
};

struct arrayfire {
	struct functions *manager; /* NULL: ArrayFire's own */
	af_backend backend;
	int active;
	void *streams[AF_DEVICES];
	size_t max_bytes;
	unsigned native_frees;
};

extern struct arrayfire af;

af_err afcu_get_native_id(int *native_out, int id);
af_err afcu_get_stream(void **stream_out, int id);
af_err afcl_get_context(void **context_out, const bool retain);
af_err afcl_get_device_id(void **device_out);
af_err afcl_get_queue(void **queue_out, const bool retain);

#endif
