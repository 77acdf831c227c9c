/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See named.h. What is unused of a device's pool is of each of its names: one
 * is what programs have.
 */
#include "named.h"
#include "count.h"

#include <string.h>

static struct named_pool *put(struct preload_state *state, CUmemoryPool pool,
			      int device, uint64_t most_bytes)
{
	for (unsigned i = 0; i < NAMED_POOLS; i++) {
		struct named_pool *name = &state->serveds.names[i];

		if (name->handle || named_in_use(name))
			continue;
		*name = (struct named_pool){.handle = pool,
					    .device = device,
					    .most_bytes = most_bytes};
		return name;
	}
	return NULL;
}

/* What follows in the driver's layout: its largest size, how it is used, and
 * what has to be 0. Headers before 12.2 have no names for them. */
struct rest {
	uint64_t most_bytes;
	unsigned char usage[56];
};

_Static_assert(offsetof(CUmemPoolProps, win32SecurityAttributes) +
			       sizeof(void *) + sizeof(struct rest) ==
		       sizeof(CUmemPoolProps),
	       "");

static struct rest rest_of(const CUmemPoolProps *props)
{
	struct rest rest;

	memcpy(&rest, &props->win32SecurityAttributes + 1, sizeof(rest));
	return rest;
}

/* CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS, in the first 16 bits: RMM asks for it
 * of each driver that knows it, and what is served is fit for it (see
 * backends/cuda/cuda_device.c). */
#define FOR_DECOMPRESSION 0x2

static bool is_plain(const CUmemPoolProps *props, struct rest rest)
{
	static const struct rest none;
	uint16_t use;

	memcpy(&use, rest.usage, sizeof(use));
	use &= (uint16_t)~FOR_DECOMPRESSION;
	memcpy(rest.usage, &use, sizeof(use));
	return props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
	       props->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
	       !props->handleTypes && count_is_device(props->location.id) &&
	       !memcmp(rest.usage, none.usage, sizeof(none.usage));
}

void named_add(CUmemoryPool pool, const CUmemPoolProps *props)
{
	struct rest rest = rest_of(props);
	bool plain = is_plain(props, rest);
	struct preload_state *state = preload_lock();
	struct named_pool *name = put(
		state, pool, plain ? props->location.id : 0, rest.most_bytes);

	if (name)
		name->passed_on = !plain;
	preload_unlock(state);
}

static struct named_pool *learn(struct preload_state *state, CUmemoryPool pool)
{
	CUmemoryPool own;

	for (int i = 0; i < LEDGER_DEVICES; i++) {
		if (REAL(cuDeviceGetDefaultMemPool)(&own, i) != CUDA_SUCCESS)
			return NULL;
		if (own == pool)
			return put(state, pool, i, 0);
	}
	return NULL;
}

struct named_pool *named_find(struct preload_state *state, CUmemoryPool pool)
{
	for (unsigned i = 0; pool && i < NAMED_POOLS; i++)
		if (state->serveds.names[i].handle == pool)
			return &state->serveds.names[i];
	return pool && preload_pooling() ? learn(state, pool) : NULL;
}

int named_device(CUmemoryPool pool)
{
	struct preload_state *state = preload_lock();
	const struct named_pool *name = named_find(state, pool);
	int device = name && !name->passed_on ? name->device : -1;

	preload_unlock(state);
	return device;
}

struct named_pool *named_on(struct preload_state *state, CUmemoryPool pool,
			    int device)
{
	struct named_pool *name = named_find(state, pool);

	return name && name->device == device && !name->passed_on ? name : NULL;
}

struct named_pool *named_by(struct preload_state *state, uint64_t link)
{
	return &state->serveds.names[link - 1];
}

uint64_t named_link(const struct preload_state *state,
		    const struct named_pool *name)
{
	return (uint64_t)(name - state->serveds.names) + 1;
}

uint64_t named_reserved(const struct preload_state *state,
			const struct named_pool *name)
{
	const struct ledger *ledger = state->ledgers[LEDGER_CUDA];

	return name->bytes +
	       (ledger && !name->passed_on
			? ledger->devices[name->device].pool.unused_bytes
			: 0);
}

bool named_in_use(const struct named_pool *name)
{
	return name->bytes || name->promised_bytes;
}

bool named_promise(struct named_pool *name, uint64_t bytes)
{
	uint64_t most = name->most_bytes ? name->most_bytes : UINT64_MAX;
	uint64_t has = name->bytes + name->promised_bytes;

	if (has > most || bytes > most - has)
		return false;
	name->promised_bytes += bytes;
	return true;
}

void named_settle(struct named_pool *name, uint64_t bytes)
{
	name->promised_bytes -= bytes;
}

static void raise(uint64_t *high, uint64_t bytes)
{
	if (*high < bytes)
		*high = bytes;
}

void named_take(struct preload_state *state, struct named_pool *name,
		uint64_t bytes)
{
	name->bytes += bytes;
	raise(&name->high_bytes, name->bytes);
	raise(&name->reserved_high_bytes, named_reserved(state, name));
}

void named_give(struct named_pool *name, uint64_t bytes)
{
	name->bytes -= bytes;
}

void named_reset(struct preload_state *state, struct named_pool *name,
		 bool reserved)
{
	if (reserved)
		name->reserved_high_bytes = named_reserved(state, name);
	else
		name->high_bytes = name->bytes;
}

void named_end(struct named_pool *name)
{
	name->handle = NULL;
}
