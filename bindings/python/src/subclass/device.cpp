/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices, their limits, what goes back to the driver, and copies between them.
 * A device is opened by its first allocation, never closed.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace gpumem_torch
{

allocator::allocator(std::string name) : backend(std::move(name))
{
}

device &allocator::open(int number)
{
	static std::mutex opening;

	TORCH_CHECK(number >= 0 && number < MOST_DEVICES, "there is no device ",
		    number);
	std::lock_guard<std::mutex> hold(opening);
	if (device *found = opened(number))
		return *found;
	std::string name = backend + ":" + std::to_string(number);
	auto made = std::make_unique<device>(number);
	note_use();
	if (gpumem_device_open(name.c_str(), &made->handle) != GPUMEM_OK)
		raise();
	if (gpumem_device_pool(made->handle, &made->pool) != GPUMEM_OK)
		raise();
	devices[number].store(made.get(), std::memory_order_release);
	open_count++;
	return *made.release();
}

void allocator::init(int count)
{
	device_count.store(count);
}

bool allocator::initialized()
{
	return device_count.load() > 0;
}

std::string allocator::name()
{
	return "gpumem";
}

void allocator::enable(bool value)
{
	TORCH_CHECK(value, "gpumem cannot be switched off in a process that "
			   "uses it; leave gpumem.torch.enable() out");
}

bool allocator::isEnabled() const
{
	return true;
}

double allocator::getMemoryFraction(DeviceIndex number)
{
	device *own = opened(number);

	return own ? own->fraction : 1.0;
}

void allocator::setMemoryFraction(double part, DeviceIndex number)
{
	gpumem_device_info info = GPUMEM_INIT(gpumem_device_info);
	device &own = get(number);

	TORCH_CHECK(part >= 0 && part <= 1, "invalid fraction: ", part);
	if (gpumem_device_get_info(own.handle, &info) != GPUMEM_OK)
		raise();
	double bytes = part * static_cast<double>(info.total_bytes);
	uint64_t limit = part < 1 ? static_cast<uint64_t>(bytes) : 0;

	/* 0 would be no limit. */
	if (part < 1 && limit == 0)
		limit = 1;
	std::lock_guard<std::mutex> hold(own.limiting);
	uint64_t before = std::exchange(own.limit, limit);
	if (divide_limit(own) != GPUMEM_OK) {
		own.limit = before;
		raise();
	}
	own.fraction = part;
}

/* gpumem gets what other allocators' segments leave of the limit. OK also where
 * that is wanted, but cannot be yet. Under `limiting`. */
gpumem_status allocator::divide_limit(device &own)
{
	uint64_t limit = own.limit;

	if (limit)
		limit = limit > own.their_bytes ? limit - own.their_bytes : 1;
	gpumem_status status = gpumem_pool_set_limit(own.pool, limit);
	bool later = status == GPUMEM_BUSY || status == GPUMEM_INVALID;
	if (status != GPUMEM_OK && !later)
		return status;
	own.wanted_limit.store(later ? limit : 0);
	return GPUMEM_OK;
}

/* Nothing is given before the limit holds, which frees may have made room for.
 */
gpumem_status allocator::fit(device &own)
{
	if (C10_LIKELY(!own.wanted_limit.load(std::memory_order_relaxed)))
		return GPUMEM_OK;
	std::lock_guard<std::mutex> hold(own.limiting);
	uint64_t limit = own.wanted_limit.load();
	if (limit && gpumem_pool_set_limit(own.pool, limit) != GPUMEM_OK)
		return GPUMEM_LIMIT;
	own.wanted_limit.store(0);
	return GPUMEM_OK;
}

/* What a private pool had that nobody uses any more is its device pool's then,
 * which is trimmed for it too. While anything is captured only PyTorch's pools
 * are asked: the others do not know of the capture. */
void allocator::give_back(bool all)
{
	context where = gather(RecordContext::ALL);

	settle(where);
	for (int i = 0; i < MOST_DEVICES; i++) {
		device *own = opened(i);
		gpumem_status status;

		if (!own)
			continue;
		if (!all || capturing.load())
			status = gpumem_pool_trim(own->pool, 0, nullptr);
		else
			status = gpumem_device_trim(own->handle, 0, nullptr);
		if (status != GPUMEM_OK)
			raise();
		note_segments(*own, where);
	}
}

/* Of one pool by its destructor. */
void allocator::emptyCache(MempoolId_t id)
{
	bool all = id == MempoolId_t{};

	if (is_child())
		return;
	try {
		give_back(all);
	} catch (const c10::Error &) {
		if (all)
			throw;
	}
}

void allocator::cacheInfo(DeviceIndex number, size_t *largest)
{
	gpumem_capacity room = GPUMEM_INIT(gpumem_capacity);
	device &own = get(number);

	if (gpumem_pool_capacity(own.pool,
				 c10::cuda::getCurrentCUDAStream(number),
				 &room) != GPUMEM_OK)
		raise();
	*largest = std::max<size_t>(*largest, room.now_bytes);
}

/* gpumem has no such segments: its pages move. */
expandable_sizes allocator::getExpandableSegmentSizes(DeviceIndex number)
{
	(void)number;
	return {};
}

/* ---- one device and another's memory ----------------------------------------
 */

/* Before the first copy, for kernels of `from` then copy what is not
 * contiguous, or changes its type. What is not gpumem's is opened as natively.
 */
void allocator::enablePeerAccess(DeviceIndex from, DeviceIndex to)
{
	c10::cuda::CUDAGuard guard(from);
	cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);

	if (error == cudaErrorPeerAccessAlreadyEnabled)
		(void)cudaGetLastError();
	else
		C10_CUDA_CHECK(error);
	if (gpumem_pool_add_peer(get(to).pool, get(from).handle) != GPUMEM_OK)
		raise();
}

/* The driver's peer copy needs no mapping of one device's memory on the other.
 */
cudaError_t allocator::memcpyAsync(void *to, int to_device, const void *from,
				   int from_device, size_t bytes,
				   cudaStream_t on, bool peers)
{
	(void)peers;
	if (to_device != from_device)
		return cudaMemcpyPeerAsync(to, to_device, from, from_device,
					   bytes, on);
	return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on);
}

} /* namespace gpumem_torch */
