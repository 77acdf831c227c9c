/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of the OpenCL layer: what functions answer when they are asked, and the
 * commands that are remembered instead of done. All of it under the mutex.
 */
#include "opencl_layer.h"

#include <string.h>

#define LIES_MAX 16
#define MOVES_MAX 64
#define PRETENDED_BYTES ((size_t)64 << 10)

struct lie {
	int call;
	cl_uint what;
	bool knows;
	size_t bytes;
	unsigned char value[256];
};

static struct lie lies[LIES_MAX];
static size_t lie_count, move_count;
static struct fakecl_move moves[MOVES_MAX];
static bool pretending;

LAYER_API bool fakecl_lie(const char *name, unsigned what, const void *value,
			  size_t bytes)
{
	struct lie lie = {
		.call = fake_call_named(name),
		.what = what,
		.knows = value != NULL,
		.bytes = bytes,
	};
	bool added;

	fake_lock();
	added = lie.call >= 0 && bytes <= sizeof(lie.value) &&
		lie_count < LIES_MAX;
	if (added && value)
		memcpy(lie.value, value, bytes);
	if (added)
		lies[lie_count++] = lie;
	fake_unlock();
	return added;
}

LAYER_API void fakecl_be_honest(void)
{
	fake_lock();
	lie_count = 0;
	fake_unlock();
}

/* As OpenCL has it for all of these questions. */
static cl_int answer(const struct lie *lie, size_t bytes, void *value,
		     size_t *used)
{
	if (!lie->knows || (value && bytes < lie->bytes))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, lie->value, lie->bytes);
	if (used)
		*used = lie->bytes;
	return CL_SUCCESS;
}

bool layer_lies(enum layer_call call, cl_uint what, size_t bytes, void *value,
		size_t *used, cl_int *code_out)
{
	bool found = false;

	fake_lock();
	for (size_t i = lie_count; i-- > 0 && !found;) {
		found = lies[i].call == (int)call && lies[i].what == what;
		if (found)
			*code_out = answer(&lies[i], bytes, value, used);
	}
	fake_unlock();
	return found;
}

LAYER_API void fakecl_pretend(bool on)
{
	fake_lock();
	pretending = on;
	move_count = 0;
	fake_unlock();
}

LAYER_API size_t fakecl_moves(struct fakecl_move *moves_out, size_t room)
{
	size_t count;

	fake_lock();
	count = move_count;
	memcpy(moves_out, moves,
	       (count < room ? count : room) * sizeof(moves[0]));
	move_count = 0;
	fake_unlock();
	return count;
}

bool layer_pretends(enum layer_call call, uint64_t to, uint64_t from,
		    uint64_t bytes)
{
	bool so;

	fake_lock();
	so = pretending;
	if (so && move_count < MOVES_MAX)
		moves[move_count] = (struct fakecl_move){
			.name = fake_functions[call].name,
			.to = to,
			.from = from,
			.bytes = bytes,
		};
	move_count += so && move_count < MOVES_MAX;
	fake_unlock();
	return so;
}

size_t layer_bytes(size_t bytes)
{
	bool less;

	fake_lock();
	less = pretending && bytes > PRETENDED_BYTES;
	fake_unlock();
	return less ? PRETENDED_BYTES : bytes;
}
