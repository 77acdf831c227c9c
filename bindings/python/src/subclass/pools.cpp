/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Private pools. Between begin and end, allocations of a thread, or of the
 * streams of a capture, come out of the pool's own segments. A graph writes to
 * its memory whenever it is launched: settle.cpp ends such a pool.
 *
 * gpumem has to know the streams of a capture before it begins, to unmap
 * nothing meanwhile: that is the gpumem_graph of a pool that is captured for.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAGuard.h>

#include <algorithm>

namespace gpumem_torch
{

static bool is_captured(cudaStream_t on)
{
	cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

	C10_CUDA_CHECK(cudaStreamIsCapturing(on, &status));
	return status != cudaStreamCaptureStatusNone;
}

/* Under the lock. */
mempool &allocator::find(int number, MempoolId_t id, const char *what)
{
	device *own = opened(number);
	auto found =
		own ? own->mempools.find(id) : decltype(own->mempools.end()){};

	TORCH_CHECK(own && found != own->mempools.end(), what,
		    ": there is no memory pool (", id.first, ", ", id.second,
		    ") on device ", number);
	return *found->second;
}

void allocator::createOrIncrefPool(DeviceIndex number, MempoolId_t id,
				   std::shared_ptr<CUDAAllocator> other)
{
	join(number, id, std::move(other));
}

void allocator::createOrIncrefPool(DeviceIndex number, MempoolId_t id,
				   CUDAAllocator *other)
{
	join(number, id, {other, [](CUDAAllocator *) {}});
}

/* Under the lock. BUSY: it is another capture's. */
void allocator::tell(routing &way, mempool &in, stream on)
{
	gpumem_status status;

	if (!way.captures || !way.streams.insert(on).second)
		return;
	status = gpumem_graph_begin(in.graph, on);
	if (status == GPUMEM_OK)
		return;
	way.streams.erase(on);
	if (status != GPUMEM_BUSY)
		raise();
}

void allocator::beginAllocateToPool(DeviceIndex number, MempoolId_t id,
				    filter takes)
{
	device &own = get(number);
	cudaStream_t on = c10::cuda::getCurrentCUDAStream(number);
	auto way = std::make_shared<routing>();

	settle(nullptr);
	way->device = number;
	way->id = id;
	way->by = std::this_thread::get_id();
	way->on = on;
	/* A capture that is about to begin takes no stream yet. */
	way->begun = is_captured(on);
	way->captures = !takes(on) || way->begun;
	way->takes = std::move(takes);
	join(number, id, nullptr);
	std::lock_guard<std::mutex> hold(lock);
	mempool &in = *own.mempools.at(id);
	if (way->captures && !in.graph &&
	    gpumem_graph_create(own.pool, &in.graph) != GPUMEM_OK) {
		in.users--;
		raise();
	}
	tell(*way, in, on);
	routings.push_back(way);
	capturing += way->captures;
	routed.fetch_add(1, std::memory_order_release);
}

void allocator::endAllocateToPool(DeviceIndex number, MempoolId_t id)
{
	if (is_child())
		return;
	std::lock_guard<std::mutex> hold(lock);

	for (auto it = routings.rbegin(); it != routings.rend(); ++it) {
		auto way = *it;

		if (way->device != number || way->id != id)
			continue;
		leave(*way, find(number, id, "endAllocateToPool"));
		routings.erase(std::next(it).base());
		return;
	}
	auto late = std::find(failed.begin(), failed.end(),
			      std::make_pair(int(number), id));
	TORCH_CHECK(late != failed.end(),
		    "endAllocateToPool: nothing was begun for the "
		    "memory pool (",
		    id.first, ", ", id.second, ")");
	failed.erase(late);
	auto &again = opened(number)->mempools[id];
	if (!again) {
		again = std::make_unique<mempool>();
		again->id = id;
	}
	again->users++; /* which will be released */
}

/* ---- captures that fail ----------------------------------------------------
 * Up to 2.11 PyTorch neither ends the routing of a capture that fails nor
 * releases its pool, whose filter refers to the graph. Between its calls of the
 * driver's and of the allocator's there is nothing of the program's. So a
 * capture of the calling thread's that was seen, and is over, has failed.
 */

/* Under the lock. */
void allocator::leave(routing &way, mempool &in)
{
	for (stream each : way.streams)
		GPUMEM_IGNORE(gpumem_graph_end(in.graph, each));
	capturing -= way.captures;
	way.captures = false;
	routed.fetch_sub(1, std::memory_order_release);
}

/* Under the lock. */
void allocator::drop(const std::shared_ptr<routing> &way)
{
	auto it = std::find(routings.begin(), routings.end(), way);

	if (it == routings.end())
		return;
	mempool &in = find(way->device, way->id, "a capture that failed");
	leave(*way, in);
	in.users--;
	failed.emplace_back(way->device, way->id);
	routings.erase(it);
}

void allocator::drop_failed()
{
	std::vector<std::shared_ptr<routing>> mine;

	if (!capturing.load())
		return;
	{
		std::lock_guard<std::mutex> hold(lock);

		for (auto &way : routings)
			if (way->captures &&
			    way->by == std::this_thread::get_id())
				mine.push_back(way);
	}
	for (auto &way : mine) {
		bool captured = is_captured(way->on);
		std::lock_guard<std::mutex> hold(lock);

		if (!captured && way->begun)
			drop(way);
		way->begun = captured;
	}
}

/* By destructors. What cannot be waited for now is by the next. */
void allocator::releasePool(DeviceIndex number, MempoolId_t id)
{
	if (is_child())
		return;
	{
		std::lock_guard<std::mutex> hold(lock);
		mempool &in = find(number, id, "releasePool");

		TORCH_CHECK(in.users > 0, "releasePool: it has no users");
		in.users--;
	}
	try {
		settle(nullptr);
	} catch (const c10::Error &) {
		(void)cudaGetLastError();
	}
}

/* The latest that takes this stream, or this thread. The filters are PyTorch's,
 * and are not called under the lock. */
mempool *allocator::route(int number, stream on)
{
	std::vector<std::shared_ptr<routing>> ways;

	drop_failed();
	{
		std::lock_guard<std::mutex> hold(lock);

		ways = routings;
	}
	for (auto it = ways.rbegin(); it != ways.rend(); ++it) {
		auto &way = **it;

		if (way.device != number ||
		    !way.takes(static_cast<cudaStream_t>(on)))
			continue;
		std::lock_guard<std::mutex> hold(lock);
		mempool &in = find(number, way.id, "allocation");
		tell(way, in, on);
		in.inside++;
		return &in;
	}
	return nullptr;
}

gpumem_status allocator::take_in(device &own, mempool &in, size_t bytes,
				 stream on, void **ptr)
{
	context where = gather(RecordContext::STATE);
	std::unique_lock<std::mutex> hold(lock);

	for (poll(own, in);;) {
		gpumem_status status;
		size_t size = in.memory.segment_bytes(bytes);
		void *base;

		*ptr = in.memory.take(bytes, on);
		if (*ptr)
			return GPUMEM_OK;
		hold.unlock();
		status = take_segment(own, in, size, on, &base);
		if (status != GPUMEM_OK)
			return status;
		hold.lock();
		in.memory.add(static_cast<char *>(base), size, on, bytes);
		count(own, in.memory.segments().at(static_cast<char *>(base)),
		      in, true);
		enter(own, action::SEGMENT_ALLOC,
		      reinterpret_cast<size_t>(base), size, on, in.id, where);
	}
}

/* From a pool that said that it has some for others, setUseOnOOM(). */
bool allocator::take_spare(device &own, size_t bytes, stream on, mempool **of,
			   void **ptr)
{
	std::lock_guard<std::mutex> hold(lock);

	for (auto &each : own.mempools) {
		if (!each.second->use_on_oom || *of)
			continue;
		*ptr = each.second->memory.take(bytes, on);
		if (*ptr) {
			*of = each.second.get();
			return true;
		}
	}
	return false;
}

} /* namespace gpumem_torch */
