/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The end of private pools. A graph writes to its memory whenever it is
 * launched, so a pool whose last user is gone ends only after its device has
 * done what was launched, and while nothing is captured: then no device can be
 * waited for, and no event recorded.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAGuard.h>

namespace gpumem_torch
{

/* Frees what other streams are done with. Under the lock. An event on a stream
 * that is captured would become part of the graph, so there are none until the
 * capture is over. */
void allocator::poll(device &own, mempool &in)
{
	c10::cuda::CUDAGuard guard(DeviceIndex(own.number));

	if (in.pending.empty() || capturing.load())
		return;
	for (auto it = in.pending.begin(); it != in.pending.end();) {
		bool done = true;

		for (stream each : it->streams) {
			cudaEvent_t event;

			C10_CUDA_CHECK(cudaEventCreateWithFlags(
				&event, cudaEventDisableTiming));
			it->events.push_back(event);
			C10_CUDA_CHECK(cudaEventRecord(
				event, static_cast<cudaStream_t>(each)));
		}
		it->streams.clear();
		for (cudaEvent_t each : it->events) {
			cudaError_t status = cudaEventQuery(each);

			if (status == cudaErrorNotReady)
				(void)cudaGetLastError();
			else
				C10_CUDA_CHECK(status);
			done = done && status == cudaSuccess;
		}
		if (!done) {
			++it;
			continue;
		}
		for (cudaEvent_t each : it->events)
			C10_CUDA_CHECK(cudaEventDestroy(each));
		in.memory.give(it->ptr);
		it = in.pending.erase(it);
	}
}

/* How many bytes went back to whom they came from. */
uint64_t allocator::settle_one(device &own, MempoolId_t id, context where)
{
	std::vector<segment> gone;
	std::unique_ptr<mempool> over;
	std::shared_ptr<cca::CUDAAllocator> theirs;
	uint64_t bytes = 0;

	{
		c10::cuda::CUDAGuard guard(DeviceIndex(own.number));

		C10_CUDA_CHECK(cudaDeviceSynchronize());
	}
	{
		std::lock_guard<std::mutex> hold(lock);
		auto found = own.mempools.find(id);

		if (found == own.mempools.end() || found->second->users ||
		    found->second->inside || capturing.load())
			return 0;
		mempool &in = *found->second;
		poll(own, in);
		gone = in.memory.remove_unused();
		theirs = in.theirs;
		for (auto &each : gone) {
			bytes += each.bytes;
			count(own, each, in, false);
			enter(own, action::SEGMENT_FREE,
			      reinterpret_cast<size_t>(each.base), each.bytes,
			      each.on, id, where);
		}
		if (in.memory.segments().empty()) {
			over = std::move(found->second);
			own.mempools.erase(found);
		}
	}
	for (auto &each : gone)
		give_segment(own, theirs.get(), each);
	if (over && over->graph)
		GPUMEM_IGNORE(gpumem_graph_destroy(over->graph, nullptr));
	return bytes;
}

uint64_t allocator::settle(context where)
{
	std::vector<std::pair<device *, MempoolId_t>> unused;
	uint64_t bytes = 0;

	drop_failed();
	if (capturing.load())
		return 0;
	{
		std::lock_guard<std::mutex> hold(lock);

		for (int i = 0; i < MOST_DEVICES; i++) {
			device *own = opened(i);

			if (!own)
				continue;
			for (auto &each : own->mempools)
				if (!each.second->users &&
				    (each.second->memory.has_unused() ||
				     each.second->memory.segments().empty() ||
				     !each.second->pending.empty()))
					unused.emplace_back(own, each.first);
		}
	}
	for (auto &each : unused)
		bytes += settle_one(*each.first, each.second, where);
	return bytes;
}

} /* namespace gpumem_torch */
