/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The driver's stream-ordered pools: each is made, set and asked by the driver,
 * whose answers then include what is served in its place. The threshold up to
 * which a pool is to keep memory is the driver's: what is unused here goes back
 * when it was idle.
 */
#include "served.h"

#include <string.h>

CUresult wrap_cuMemPoolCreate(CUmemoryPool *pool_out,
			      const CUmemPoolProps *props)
{
	CUresult result = REAL(cuMemPoolCreate)(pool_out, props);

	if (result == CUDA_SUCCESS && preload_enter()) {
		if (served_is_on())
			named_add(*pool_out, props);
		preload_leave();
	}
	return result;
}

/* Under the mutex, so that its handle is not another's before it is forgotten;
 * the driver does not wait for blocks. */
CUresult wrap_cuMemPoolDestroy(CUmemoryPool pool)
{
	struct preload_state *state;
	struct named_pool *name;
	CUresult result;

	if (!preload_enter())
		return REAL(cuMemPoolDestroy)(pool);
	state = preload_lock();
	name = named_find(state, pool);
	result = REAL(cuMemPoolDestroy)(pool);
	if (name && result == CUDA_SUCCESS)
		named_end(name);
	preload_unlock(state);
	preload_leave();
	return result;
}

CUresult wrap_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes)
{
	CUresult result = REAL(cuMemPoolTrimTo)(pool, keep_bytes);
	int device;

	if (result != CUDA_SUCCESS || !preload_enter())
		return result;
	device = named_device(pool);
	if (device >= 0)
		(void)served_trim(device, keep_bytes);
	preload_leave();
	return result;
}

/* ---- attributes ------------------------------------------------------------
 */

/* With the mutex: what is served counts, too. */
static uint64_t served_bytes(const struct preload_state *state,
			     const struct named_pool *name,
			     CUmemPool_attribute which)
{
	switch (which) {
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		return name->bytes;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return name->high_bytes;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		return named_reserved(state, name);
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		return name->reserved_high_bytes;
	default:
		return 0;
	}
}

CUresult wrap_cuMemPoolGetAttribute(CUmemoryPool pool,
				    CUmemPool_attribute which, void *value)
{
	CUresult result = REAL(cuMemPoolGetAttribute)(pool, which, value);
	const struct named_pool *name;
	struct preload_state *state;
	uint64_t number, more = 0;

	if (result != CUDA_SUCCESS || !preload_enter())
		return result;
	state = preload_lock();
	name = named_find(state, pool);
	if (name)
		more = served_bytes(state, name, which);
	preload_unlock(state);
	if (more) {
		memcpy(&number, value, sizeof(number));
		number += more;
		memcpy(value, &number, sizeof(number));
	}
	preload_leave();
	return result;
}

CUresult wrap_cuMemPoolSetAttribute(CUmemoryPool pool,
				    CUmemPool_attribute which, void *value)
{
	CUresult result = REAL(cuMemPoolSetAttribute)(pool, which, value);
	struct preload_state *state;
	struct named_pool *name;

	if (result != CUDA_SUCCESS ||
	    (which != CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH &&
	     which != CU_MEMPOOL_ATTR_USED_MEM_HIGH) ||
	    !preload_enter())
		return result;
	state = preload_lock();
	name = named_find(state, pool);
	if (name)
		named_reset(state, name,
			    which == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
	preload_unlock(state);
	preload_leave();
	return result;
}

/* ---- access ----------------------------------------------------------------
 */

/* Nothing more is served of it. False: there are blocks that were. */
static bool pass_on(CUmemoryPool pool)
{
	struct preload_state *state = preload_lock();
	struct named_pool *name = named_find(state, pool);
	bool ok = !name || !named_in_use(name);

	if (name)
		name->passed_on = true;
	preload_unlock(state);
	return ok;
}

static CUresult give_access(CUmemoryPool pool, int device,
			    const CUmemAccessDesc *desc)
{
	if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE ||
	    !count_is_device(desc->location.id) ||
	    served_add_peer(device, desc->location.id) || pass_on(pool))
		return CUDA_SUCCESS;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult wrap_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *desc,
				 size_t count)
{
	CUresult result = REAL(cuMemPoolSetAccess)(pool, desc, count);
	int device;

	if (result != CUDA_SUCCESS || !preload_enter())
		return result;
	device = served_is_on() ? named_device(pool) : -1;
	for (size_t i = 0; device >= 0 && i < count; i++)
		if (result == CUDA_SUCCESS)
			result = give_access(pool, device, &desc[i]);
	preload_leave();
	return result;
}
