/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices, limits and statistics. Blocks are counted here, as PyTorch divides
 * them into small and large; segments and what the driver was asked for are
 * gpumem's own counts. A device is opened by its first allocation, never
 * closed.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAStream.h>

namespace gpumem_torch
{

constexpr size_t SMALL = 1 << 20;

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;

allocator::allocator(std::string name) : backend(std::move(name))
{
}

device *allocator::opened(int number) const
{
	if (number < 0 || number >= MOST_DEVICES)
		return nullptr;
	return devices[number].load(std::memory_order_acquire);
}

device &allocator::get(int number)
{
	static std::mutex opening;
	std::string name = backend + ":" + std::to_string(number);

	if (device *found = opened(number))
		return *found;
	TORCH_CHECK(number >= 0 && number < MOST_DEVICES, "there is no device ",
		    number);
	std::lock_guard<std::mutex> hold(opening);
	if (device *found = opened(number))
		return *found;
	auto made = std::make_unique<device>();
	made->number = number;
	if (gpumem_device_open(name.c_str(), &made->handle) != GPUMEM_OK)
		raise();
	if (gpumem_device_pool(made->handle, &made->pool) != GPUMEM_OK)
		raise();
	devices[number].store(made.get(), std::memory_order_release);
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
	if (gpumem_pool_set_limit(own.pool, 0, limit) != GPUMEM_OK)
		raise();
	own.fraction = part;
}

/* What a private pool had that nobody uses any more is its device pool's then,
 * which is trimmed for it too. While anything is captured only PyTorch's pools
 * are asked: the others do not know of the capture. */
void allocator::emptyCache(MempoolId_t id)
{
	bool all = id == MempoolId_t{};

	settle();
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
std::vector<cca::StreamSegmentSize>
allocator::getExpandableSegmentSizes(DeviceIndex number)
{
	(void)number;
	return {};
}

/* ---- copies between devices -------------------------------------------------
 */

/* Blocks are the device's own, and stay so: copies go through memcpyAsync(). It
 * cannot be refused, since PyTorch asks before those too. */
void allocator::enablePeerAccess(DeviceIndex from, DeviceIndex to)
{
	(void)from;
	(void)to;
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

/* ---- statistics
 * -------------------------------------------------------------- */

static void change(StatArray &stat, bool small, size_t by, bool up)
{
	for (size_t i : {size_t{0}, small ? size_t{1} : size_t{2}}) {
		if (up)
			stat[i].increase(by);
		else
			stat[i].decrease(by);
	}
}

void allocator::count(device &own, const record &of, bool taken)
{
	bool small = of.bytes <= SMALL;

	change(own.blocks, small, 1, taken);
	change(own.bytes, small, of.bytes, taken);
	change(own.requested, small, of.requested, taken);
}

static uint64_t calls(const device &own, unsigned call)
{
	gpumem_call_stats found = GPUMEM_INIT(gpumem_call_stats);

	GPUMEM_IGNORE(gpumem_pool_calls(own.pool, call, &found));
	return found.count;
}

/* Since the pool was made. */
static baseline totals(const device &own, const gpumem_stats &now)
{
	return {int64_t(now.reserved.total),
		int64_t(now.reserved.total - now.reserved.current),
		int64_t(now.retries),
		int64_t(calls(own, GPUMEM_CALL_ALLOC) +
			calls(own, GPUMEM_CALL_PAGE_CREATE)),
		int64_t(calls(own, GPUMEM_CALL_FREE) +
			calls(own, GPUMEM_CALL_PAGE_DESTROY)),
		int64_t(now.segments.total),
		int64_t(now.segments.total - now.segments.current)};
}

static gpumem_stats read(const device &own)
{
	gpumem_stats now = GPUMEM_INIT(gpumem_stats);

	if (gpumem_pool_stats(own.pool, &now) != GPUMEM_OK)
		raise();
	return now;
}

static Stat gauge(const gpumem_gauge &from, int64_t taken, int64_t returned)
{
	Stat made;

	made.current = int64_t(from.current);
	made.peak = int64_t(from.peak);
	made.allocated = taken;
	made.freed = returned;
	return made;
}

/* Segments have no size for small blocks: all are large. */
static void all_large(StatArray &into, const Stat &all)
{
	into[0] = into[2] = all;
}

cca::DeviceStats allocator::getDeviceStats(DeviceIndex number)
{
	cca::DeviceStats result;
	device *own = opened(number);

	result.max_split_size = -1;
	if (!own)
		return result;
	gpumem_stats now = read(*own);
	baseline all = totals(*own, now);
	Stat split;

	std::lock_guard<std::mutex> hold(lock);
	const baseline &since = own->since;
	result.allocation = result.active = own->blocks;
	result.allocated_bytes = result.active_bytes = own->bytes;
	result.requested_bytes = own->requested;
	for (int i : {0, 2}) {
		Stat &active = result.active_bytes[i];

		active.current += int64_t(now.pending_bytes);
		active.peak = std::max(active.peak, active.current);
	}
	all_large(result.reserved_bytes,
		  gauge(now.reserved, all.taken - since.taken,
			all.returned - since.returned));
	all_large(result.segment,
		  gauge(now.segments, all.segments_taken - since.segments_taken,
			all.segments_returned - since.segments_returned));
	split.current = split.peak = int64_t(now.unreleasable_bytes);
	all_large(result.inactive_split_bytes, split);
	result.num_alloc_retries = all.retries - since.retries;
	result.num_ooms = own->oom_count;
	result.num_device_alloc = all.driver_allocs - since.driver_allocs;
	result.num_device_free = all.driver_frees - since.driver_frees;
	return result;
}

void allocator::resetAccumulatedStats(DeviceIndex number)
{
	device *own = opened(number);

	if (!own)
		return;
	baseline now = totals(*own, read(*own));
	std::lock_guard<std::mutex> hold(lock);
	for (auto *each : {&own->blocks, &own->bytes, &own->requested})
		for (auto &stat : *each)
			stat.reset_accumulated();
	own->oom_count = 0;
	own->since = now;
}

void allocator::resetPeakStats(DeviceIndex number)
{
	device *own = opened(number);

	if (!own)
		return;
	if (gpumem_pool_reset_stats(own->pool, 0) != GPUMEM_OK)
		raise();
	std::lock_guard<std::mutex> hold(lock);
	for (auto *each : {&own->blocks, &own->bytes, &own->requested})
		for (auto &stat : *each)
			stat.reset_peak();
}

} /* namespace gpumem_torch */
