/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Statistics. Blocks and the segments of private pools are counted here, as
 * PyTorch counts: in units of 512 bytes, small up to 1 MiB. gpumem's own memory
 * is to PyTorch one that grows and shrinks by pages, an expandable segment,
 * which it does not count among segments; its bytes, and what the driver was
 * asked for, are gpumem's counts.
 */
#include "allocator.hpp"

namespace gpumem_torch
{

constexpr int64_t SMALL_SEGMENT = 2 << 20;

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;

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

	if (taken)
		own.has.add(small, of.bytes, of.requested);
	else
		own.has.remove(small, of.bytes, of.requested);
	if (C10_LIKELY(!of.of || !small))
		return;
	auto bytes = static_cast<int64_t>(of.bytes);
	own.pool_small_bytes.fetch_add(taken ? bytes : -bytes);
}

static StatArray stats_of(const tallies &from, quantity of)
{
	StatArray made;

	for (kind in : {ALL, SMALL_ONES, LARGE_ONES}) {
		const tally &found = from[count_of(of, in)];

		made[in].current = found.current;
		made[in].peak = found.peak;
		made[in].allocated = found.allocated;
		made[in].freed = found.freed;
	}
	return made;
}

void allocator::count(device &own, const segment &of, const mempool &in,
		      bool taken)
{
	change(own.segments, of.small, 1, taken);
	change(own.segment_bytes, of.small, of.bytes, taken);
	change(own.pool_bytes[in.id], of.small, of.bytes, taken);
	if (in.theirs)
		change(own.their_segment_bytes, of.small, of.bytes, taken);
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
			calls(own, GPUMEM_CALL_PAGE_DESTROY))};
}

static gpumem_stats read(const device &own)
{
	gpumem_stats now = GPUMEM_INIT(gpumem_stats);

	if (gpumem_pool_stats(own.pool, &now) != GPUMEM_OK)
		raise();
	return now;
}

Stat gauge(const gpumem_gauge &from, int64_t taken, int64_t returned)
{
	Stat made;

	made.current = int64_t(from.current);
	made.peak = int64_t(from.peak);
	made.allocated = taken;
	made.freed = returned;
	return made;
}

/* The peaks may be of two moments: theirs together is no less. */
static Stat sum(Stat all, const Stat &other)
{
	all.current += other.current;
	all.peak += other.peak;
	all.allocated += other.allocated;
	all.freed += other.freed;
	return all;
}

/* Free parts that cannot go back are of segments of no size: all large. */
static void all_large(StatArray &into, const Stat &all)
{
	into[0] = into[2] = all;
}

/* gpumem's own memory has no segments for small blocks. Those that are live
 * count as if they filled some; what is left is large. */
static void divide(StatArray &into, const Stat &all, const StatArray &privates,
		   int64_t small_bytes)
{
	int64_t packed = (small_bytes + SMALL_SEGMENT - 1) / SMALL_SEGMENT *
			 SMALL_SEGMENT;
	Stat &small = into[1], &large = into[2];

	into[0] = large = all;
	small = privates[1];
	small.current = std::min(small.current + packed, all.current);
	small.peak = std::max(small.peak, small.current);
	large.current -= small.current;
	large.allocated = std::max(all.allocated - small.allocated, int64_t{0});
	large.freed = std::max(all.freed - small.freed, int64_t{0});
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

	tallies has = own->has.read();
	int64_t small_bytes = has[count_of(BYTES, SMALL_ONES)].current -
			      own->pool_small_bytes.load();
	result.allocation = result.active = stats_of(has, BLOCKS);
	result.allocated_bytes = result.active_bytes = stats_of(has, BYTES);
	result.requested_bytes = stats_of(has, REQUESTED);
	std::lock_guard<std::mutex> hold(lock);
	const baseline &since = own->since;
	for (int i : {0, 2}) {
		Stat &active = result.active_bytes[i];

		active.current += int64_t(now.pending_bytes);
		active.peak = std::max(active.peak, active.current);
	}
	divide(result.reserved_bytes,
	       sum(gauge(now.reserved, all.taken - since.taken,
			 all.returned - since.returned),
		   own->their_segment_bytes[0]),
	       own->segment_bytes, small_bytes);
	result.segment = own->segments;
	for (auto &each : own->pool_bytes)
		note_private(result, each.first, each.second);
	split.current = split.peak = int64_t(now.unreleasable_bytes);
	all_large(result.inactive_split_bytes, split);
	result.num_alloc_retries = all.retries - since.retries;
	result.num_ooms = own->oom_count;
	note_rejections(result, own->rejection_count);
	result.num_device_alloc = all.driver_allocs - since.driver_allocs;
	result.num_device_free = all.driver_frees - since.driver_frees;
	return result;
}

/* To be reset. Those of pools that are gone end. */
static std::vector<StatArray *> counters(device &own)
{
	std::vector<StatArray *> all{&own.segments, &own.segment_bytes,
				     &own.their_segment_bytes};

	for (auto it = own.pool_bytes.begin(); it != own.pool_bytes.end();) {
		if (!own.mempools.count(it->first)) {
			it = own.pool_bytes.erase(it);
			continue;
		}
		all.push_back(&it->second);
		++it;
	}
	return all;
}

void allocator::resetAccumulatedStats(DeviceIndex number)
{
	device *own = opened(number);

	if (!own)
		return;
	baseline now = totals(*own, read(*own));
	own->has.reset_totals();
	std::lock_guard<std::mutex> hold(lock);
	for (auto *each : counters(*own))
		for (auto &stat : *each)
			stat.reset_accumulated();
	own->oom_count = own->rejection_count = 0;
	own->since = now;
}

void allocator::resetPeakStats(DeviceIndex number)
{
	device *own = opened(number);

	if (!own)
		return;
	if (gpumem_pool_reset_stats(own->pool, 0) != GPUMEM_OK)
		raise();
	own->has.reset_peaks();
	std::lock_guard<std::mutex> hold(lock);
	for (auto *each : counters(*own))
		for (auto &stat : *each)
			stat.reset_peak();
}

} /* namespace gpumem_torch */
