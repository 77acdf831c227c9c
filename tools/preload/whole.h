/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that a program builds of cuMemCreate(), cuMemAddressReserve(),
 * cuMemMap() and cuMemSetAccess() is a whole if one thread made these calls in
 * this order, one after the other, of the same size, all of it mapped once and
 * for the device that has it. If a program then calls cuMemUnmap(),
 * cuMemRelease() and cuMemAddressFree() in this order, the driver is not asked:
 * the whole is kept as it is, still mapped, and is what the next such calls of
 * its size and kind get, one by one.
 *
 * Whoever does otherwise is left alone, and sees nothing of it: as soon as a
 * call does not follow, the driver makes up for those that it was not told.
 *
 *	CREATED -> RESERVED -> MAPPED -> LIVE		the driver knows
 *	LIVE -> UNMAPPED -> RELEASED -> kept		it does not, it has LIVE
 *	kept -> CREATED_AGAIN -> RESERVED_AGAIN -> MAPPED_AGAIN -> LIVE
 *
 * The first whole that is taken apart goes to the driver. A program that
 * unmaps and releases without giving back the addresses wants the memory to be
 * gone: from then on nothing of it is kept.
 *
 * cuMemUnmap() does not wait: memory in use may not be unmapped. So a whole can
 * be handed out at once.
 */
#ifndef GPUMEM_PRELOAD_WHOLE_H
#define GPUMEM_PRELOAD_WHOLE_H

#include "store.h"

/* All between preload_enter() and preload_leave(). Those without a state lock
 * it themselves; the driver's calls made here do not wait. */

/* Any call that does not go on with what this thread had begun. */
void whole_other_call(void);

/* True: the call is answered, the driver is not to be asked. */
bool whole_create(CUmemGenericAllocationHandle *handle_out, size_t bytes,
		  const CUmemAllocationProp *prop, unsigned long long flags);
bool whole_reserve(CUdeviceptr *address_out, size_t bytes, size_t alignment,
		   CUdeviceptr wanted, unsigned long long flags);
bool whole_map(CUdeviceptr address, size_t bytes, size_t offset,
	       CUmemGenericAllocationHandle handle, unsigned long long flags,
	       CUresult *result_out);
bool whole_access(CUdeviceptr address, size_t bytes,
		  const CUmemAccessDesc *desc, size_t count,
		  CUresult *result_out);
bool whole_unmap(CUdeviceptr address, size_t bytes, CUresult *result_out);
bool whole_release(CUmemGenericAllocationHandle handle, CUresult *result_out);
bool whole_free(CUdeviceptr address, size_t bytes, CUresult *result_out);

/* The driver has done what the call asked. */
void whole_created(CUmemGenericAllocationHandle handle, size_t bytes,
		   const CUmemAllocationProp *prop);
void whole_reserved(CUdeviceptr address, size_t bytes, size_t alignment);
void whole_mapped(CUmemGenericAllocationHandle handle);
void whole_accessed(CUdeviceptr address);

/* What was released, and the driver does not know, is in flight. */
void whole_released(void);

/* Others know the handle, or use it otherwise. False: it was released. */
bool whole_expose_handle(CUmemGenericAllocationHandle handle);
/* With the mutex: the same by an address inside. */
void whole_expose(struct preload_state *state, CUdeviceptr address);
/* Nothing more is kept. */
void whole_stop(void);
/* With the mutex: a whole that was kept is the driver's again. */
void whole_return(struct preload_state *state, const struct cached *block);

#endif
