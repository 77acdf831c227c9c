/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pinned memory that captured graphs use. A graph reads and writes it whenever
 * it is launched, so a block whose tensor is gone is held until the graph is
 * gone too, and its device has done what was launched. Whose graph it is
 * PyTorch says since 2.11, by the graph's pool; a block that one of another
 * version has used is held for ever. See pinned.hpp.
 */
#include "pinned.hpp"

#include <c10/cuda/CUDAGuard.h>

#include <algorithm>

namespace gpumem_torch
{

void pinned_allocator::begin_allocate_to_pool(
	MempoolId_t id, std::function<bool(c10::Stream)> takes)
{
	std::lock_guard<std::mutex> hold(lock);

	routes.push_back(std::make_shared<route>(id, std::move(takes)));
	users[id]++;
}

void pinned_allocator::end_allocate_to_pool(MempoolId_t id)
{
	std::lock_guard<std::mutex> hold(lock);
	auto found = std::find_if(routes.begin(), routes.end(),
				  [&](auto &way) { return way->first == id; });

	if (found != routes.end())
		routes.erase(found);
}

void pinned_allocator::release_pool(MempoolId_t id)
{
	std::lock_guard<std::mutex> hold(lock);
	auto found = users.find(id);

	if (found == users.end() || --found->second > 0)
		return;
	users.erase(found);
	released.store(true);
}

/* Of a stream that is captured; (0, 0): nobody knows. The filters are
 * PyTorch's.
 */
MempoolId_t pinned_allocator::graph_of(c10::Stream on)
{
	std::vector<std::shared_ptr<route>> ways;
	{
		std::lock_guard<std::mutex> hold(lock);

		ways = routes;
	}
	for (auto &way : ways)
		if (way->second(on))
			return way->first;
	return {};
}

bool pinned_allocator::captures() const
{
	std::lock_guard<std::mutex> hold(lock);

	return !routes.empty();
}

/* Not beside a capture. Without the lock: what a stream calls of the host may
 * need it. */
static void synchronize()
{
	for (int i = 0; i < c10::cuda::device_count(); i++) {
		if (!c10::cuda::hasPrimaryContext(DeviceIndex(i)))
			continue;
		c10::cuda::CUDAGuard guard(static_cast<DeviceIndex>(i));

		C10_CUDA_CHECK(cudaDeviceSynchronize());
	}
}

/* Under the lock: whether a graph may be launched that uses it. */
bool pinned_allocator::is_used(const pinned_block &of) const
{
	return std::any_of(
		of.graphs.begin(), of.graphs.end(), [this](auto &id) {
			return id == MempoolId_t{} || users.count(id);
		});
}

/* Freed. */
void pinned_allocator::keep(void *ptr, pinned_block of)
{
	std::lock_guard<std::mutex> hold(lock);

	if (!is_used(of))
		released.store(true);
	held[ptr] = std::move(of);
}

/* Gives back what graphs have used that are gone. They are taken out before the
 * wait: what a graph that ends meanwhile has launched is not waited for. */
void pinned_allocator::settle()
{
	ended over;

	if (captures() || !released.exchange(false))
		return;
	{
		std::lock_guard<std::mutex> hold(lock);

		for (auto it = held.begin(); it != held.end();) {
			if (is_used(it->second)) {
				++it;
				continue;
			}
			over.emplace_back(it->first, std::move(it->second));
			it = held.erase(it);
		}
	}
	try {
		if (!over.empty())
			synchronize();
	} catch (const c10::Error &) {
		for (auto &each : over)
			keep(each.first, std::move(each.second));
		throw;
	}
	give(over);
}

/* For what waits for streams, when there is nothing else. */
void pinned_allocator::await_all()
{
	if (captures())
		return;
	synchronize();
	poll();
	settle();
}

} /* namespace gpumem_torch */
