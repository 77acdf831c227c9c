/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See whole.h: how a whole comes together, of the driver or of what is kept.
 */
#include "whole_inside.h"

#include <string.h>

/* Their number is bounded; NULL: it is reached. */
static struct whole_kind *find_kind(struct wholes *wholes,
				    const CUmemAllocationProp *prop)
{
	for (unsigned i = 0; i < wholes->kind_count; i++)
		if (!memcmp(&wholes->kinds[i].prop, prop, sizeof(*prop)))
			return &wholes->kinds[i];
	if (wholes->kind_count == WHOLE_KINDS)
		return NULL;
	wholes->kinds[wholes->kind_count].prop = *prop;
	return &wholes->kinds[wholes->kind_count++];
}

bool whole_create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		  const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct block whole = {.bytes = bytes,
			      .space = BLOCK_WHOLE,
			      .kind = WHOLE_CREATED_AGAIN};
	struct preload_state *state = preload_lock();
	struct cached kept;
	bool ok;

	whole_other(state);
	whole.context = find_kind(&state->wholes, prop);
	ok = whole.context && handle_out && !flags && !state->wholes.off &&
	     pool_is_on(state) && state->ledgers[LEDGER_CUDA] &&
	     pool_take(state, whole.context, prop->location.id, bytes, bytes,
		       &kept);
	if (ok) {
		whole.key = kept.handle;
		ok = blocks_put(&state->blocks, &whole) &&
		     whole_add_range(state, kept.handle, kept.address, bytes);
		if (!ok)
			whole_return(state, &kept);
	}
	if (ok) {
		*handle_out = whole_own.handle = kept.handle;
		limit_take(state,
			   &(struct block){.whole_bytes = bytes,
					   .kind = LEDGER_VIRTUAL,
					   .device = (uint8_t)kept.device});
		count_one(&state->ledgers[LEDGER_CUDA]
				   ->devices[kept.device]
				   .pool.hits);
	}
	preload_unlock(state);
	return ok;
}

void whole_created(CUmemGenericAllocationHandle handle, size_t bytes,
		   const CUmemAllocationProp *prop)
{
	struct preload_state *state = preload_lock();
	struct block whole = {.key = handle,
			      .bytes = bytes,
			      .context = find_kind(&state->wholes, prop),
			      .space = BLOCK_WHOLE,
			      .kind = WHOLE_CREATED};

	if (whole.context && blocks_put(&state->blocks, &whole))
		whole_own.handle = handle;
	preload_unlock(state);
}

bool whole_reserve(CUdeviceptr *address_out, size_t bytes, size_t alignment,
		   CUdeviceptr wanted, unsigned long long flags)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_CREATED_AGAIN);
	bool plain = address_out && !wanted && !flags;
	bool ok = whole && plain && whole->bytes == bytes &&
		  whole_kind_of(whole)->alignment == alignment;

	if (ok) {
		*address_out = whole->link;
		whole->kind = WHOLE_RESERVED_AGAIN;
	} else if (whole || !plain || !whole_own_at(state, WHOLE_CREATED)) {
		whole_other(state);
	}
	preload_unlock(state);
	return ok;
}

void whole_reserved(CUdeviceptr address, size_t bytes, size_t alignment)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_CREATED);
	struct whole_kind *kind = whole ? (void *)whole_kind_of(whole) : NULL;

	if (kind && !kind->aligned) {
		kind->aligned = true;
		kind->alignment = alignment;
	}
	if (whole && whole->bytes == bytes && kind->alignment == alignment &&
	    whole_add_range(state, whole->key, address, bytes))
		whole_by_address(state, address)->kind = WHOLE_RESERVED;
	else
		whole_other(state);
	preload_unlock(state);
}

bool whole_map(CUdeviceptr address, size_t bytes, size_t offset,
	       CUmemGenericAllocationHandle handle, unsigned long long flags,
	       CUresult *result_out)
{
	struct preload_state *state = preload_lock();
	bool plain = handle == whole_own.handle && !offset && !flags;
	struct block *again = whole_own_at(state, WHOLE_RESERVED_AGAIN);
	bool ok = false;

	if (plain && whole_goes_on(again, address, bytes)) {
		again->kind = WHOLE_MAPPED_AGAIN;
		*result_out = CUDA_SUCCESS;
		ok = true;
	} else if (!plain || !whole_goes_on(whole_own_at(state, WHOLE_RESERVED),
					    address, bytes)) {
		whole_other(state);
		whole_touch(state, whole_by_handle(state, handle));
		whole_expose(state, address);
		ok = whole_is_kept(state, BLOCK_KEPT, address, result_out) ||
		     whole_is_kept(state, BLOCK_KEPT_HANDLE, handle,
				   result_out);
	}
	preload_unlock(state);
	return ok;
}

void whole_mapped(CUmemGenericAllocationHandle handle)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_RESERVED);

	if (whole && whole->key == handle)
		whole->kind = WHOLE_MAPPED;
	preload_unlock(state);
}

static bool is_of_its_device(const struct block *whole,
			     const CUmemAccessDesc *desc, size_t count)
{
	const CUmemLocation *at =
		whole ? &whole_kind_of(whole)->prop.location : NULL;

	return at && desc && count == 1 &&
	       desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
	       desc->location.type == at->type && desc->location.id == at->id;
}

bool whole_access(CUdeviceptr address, size_t bytes,
		  const CUmemAccessDesc *desc, size_t count,
		  CUresult *result_out)
{
	struct preload_state *state = preload_lock();
	struct block *again = whole_own_at(state, WHOLE_MAPPED_AGAIN),
		     *first = whole_own_at(state, WHOLE_MAPPED);
	bool ok = false;

	*result_out = CUDA_SUCCESS;
	if (whole_goes_on(again, address, bytes) &&
	    is_of_its_device(again, desc, count)) {
		again->kind = WHOLE_LIVE;
		whole_own.handle = 0;
		ok = true;
	} else if (!whole_goes_on(first, address, bytes) ||
		   !is_of_its_device(first, desc, count)) {
		whole_other(state);
		whole_expose(state, address);
		ok = whole_is_kept(state, BLOCK_KEPT, address, result_out);
	}
	preload_unlock(state);
	return ok;
}

void whole_accessed(CUdeviceptr address)
{
	struct preload_state *state = preload_lock();
	struct block *whole = whole_own_at(state, WHOLE_MAPPED);

	if (whole && whole->link == address) {
		whole->kind = WHOLE_LIVE;
		whole_own.handle = 0;
	}
	preload_unlock(state);
}
