/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * MemPools with an allocator of their own: vLLM's for its sleep, NCCL's,
 * managed memory. Their segments come from that allocator and go back to it;
 * what is cut out of them, counted and shown is as of any private pool. gpumem
 * knows nothing of this memory, so the limit that PyTorch's fraction comes to
 * is divided here.
 *
 * Such an allocator may be Python's: it is never called under a lock. If it
 * leaves an error of Python's, which vLLM's does for a segment that it has
 * given back by itself, that is neither the program's nor one for the next
 * segment.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>

/* Of Python's stable ABI. Its headers need not be there. */
extern "C" {
int Py_IsInitialized(void);
int PyGILState_Ensure(void);
void PyGILState_Release(int before);
void PyErr_Clear(void);
void PyErr_Fetch(void **type, void **value, void **where);
void PyErr_Restore(void *type, void *value, void *where);
}

namespace gpumem_torch
{

namespace
{
/* What this thread's Python was raising is not seen by what is called inside,
 * and is what it raises afterwards. */
class python_error
{
      public:
	python_error()
	{
		if (!Py_IsInitialized())
			return;
		int gil = PyGILState_Ensure();

		PyErr_Fetch(&type, &value, &where);
		PyGILState_Release(gil);
	}
	~python_error()
	{
		if (!Py_IsInitialized())
			return;
		int gil = PyGILState_Ensure();

		PyErr_Clear();
		PyErr_Restore(type, value, where);
		PyGILState_Release(gil);
	}
	python_error(const python_error &) = delete;
	python_error &operator=(const python_error &) = delete;

      private:
	void *type = nullptr, *value = nullptr, *where = nullptr;
};
} /* namespace */

/* The pool is made by the first of its users, which says whose it is. */
void allocator::join(int number, MempoolId_t id,
		     std::shared_ptr<cca::CUDAAllocator> theirs)
{
	device &own = get(number);

	std::lock_guard<std::mutex> hold(lock);
	auto &made = own.mempools[id];
	if (!made) {
		made = std::make_unique<mempool>();
		made->id = id;
		if (theirs.get() != this)
			made->theirs = std::move(theirs);
	}
	made->users++;
}

/* So much less for gpumem. What it has and does not use goes back for it;
 * LIMIT: it uses too much. */
gpumem_status allocator::claim(device &own, size_t bytes)
{
	gpumem_stats now = GPUMEM_INIT(gpumem_stats);
	std::lock_guard<std::mutex> hold(own.limiting);
	uint64_t all = own.their_bytes + bytes;

	if (own.limit && all > own.limit)
		return GPUMEM_LIMIT;
	own.their_bytes = all;
	if (!own.limit)
		return GPUMEM_OK;
	GPUMEM_IGNORE(gpumem_pool_trim(own.pool, own.limit - all, nullptr));
	if (gpumem_pool_stats(own.pool, &now) != GPUMEM_OK)
		raise();
	bool fits = now.reserved.current <= own.limit - all;
	if (!fits)
		own.their_bytes -= bytes;
	GPUMEM_IGNORE(divide_limit(own));
	return fits ? GPUMEM_OK : GPUMEM_LIMIT;
}

void allocator::unclaim(device &own, size_t bytes)
{
	std::lock_guard<std::mutex> hold(own.limiting);

	own.their_bytes -= bytes;
	if (own.limit)
		GPUMEM_IGNORE(divide_limit(own));
}

/* It asks for the current device, and may call what a capture forbids. */
static void *ask(const device &own, cca::CUDAAllocator &theirs, size_t bytes,
		 stream on)
{
	c10::cuda::CUDAGuard guard(DeviceIndex(own.number));
	c10::cuda::CUDAStreamCaptureModeGuard mode(
		cudaStreamCaptureModeRelaxed);
	python_error kept;

	return theirs.raw_alloc_with_stream(bytes,
					    static_cast<cudaStream_t>(on));
}

/* A segment, of gpumem's or theirs. Why they have none is not known. */
gpumem_status allocator::take_segment(device &own, mempool &in, size_t bytes,
				      stream on, void **base)
{
	if (!in.theirs)
		return gpumem_alloc(own.pool, bytes, on, base);
	gpumem_status status = claim(own, bytes);
	if (status != GPUMEM_OK)
		return status;
	try {
		*base = ask(own, *in.theirs, bytes, on);
	} catch (...) {
		unclaim(own, bytes);
		throw;
	}
	if (*base)
		return GPUMEM_OK;
	unclaim(own, bytes);
	return GPUMEM_NO_MEMORY;
}

/* By destructors. What fails is lost until the process ends. */
void allocator::give_segment(device &own, cca::CUDAAllocator *theirs,
			     const segment &of)
{
	if (!theirs) {
		GPUMEM_IGNORE(gpumem_free_own(of.base));
		return;
	}
	try {
		c10::cuda::CUDAGuard guard(DeviceIndex(own.number));
		python_error kept;

		theirs->raw_delete(of.base);
	} catch (const c10::Error &) {
		return;
	}
	unclaim(own, of.bytes);
}

/* Of a block of theirs, the segment; NULL: it is gpumem's, or no block. */
const segment *allocator::their_segment(const void *ptr) const
{
	auto found = blocks.find(const_cast<void *>(ptr));

	if (found == blocks.end() || !found->second.of ||
	    !found->second.of->theirs)
		return nullptr;
	return &found->second.of->memory.holder(static_cast<const char *>(ptr));
}

/* Why there is none for a request in this pool; empty: gpumem says it. */
std::string allocator::their_reason(const device &own, const mempool *in,
				    gpumem_status status)
{
	std::lock_guard<std::mutex> hold(lock);

	for (auto &each : own.mempools) {
		if (each.second.get() != in || !in->theirs)
			continue;
		std::string name = "(" + std::to_string(in->id.first) + ", " +
				   std::to_string(in->id.second) + ")";
		return status == GPUMEM_LIMIT
			       ? "A segment for the memory pool " + name +
					 " exceeds the fraction of memory that "
					 "was set."
			       : "The allocator of the memory pool " + name +
					 " has none: out of memory.";
	}
	return {};
}

} /* namespace gpumem_torch */
