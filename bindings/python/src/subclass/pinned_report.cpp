/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What PyTorch shows of pinned memory: host_memory_stats(), and the host's part
 * of snapshots, whose segments are the blocks. See pinned.hpp.
 */
#include "pinned.hpp"

namespace gpumem_torch
{

using c10::CachingAllocator::DurationStat;
using c10::CachingAllocator::Stat;

/* ---- statistics
 * --------------------------------------------------------------- */

static gpumem_call_stats calls(gpumem_pool *of, unsigned call)
{
	gpumem_call_stats found = GPUMEM_INIT(gpumem_call_stats);

	GPUMEM_IGNORE(gpumem_pool_calls(of, call, &found));
	return found;
}

/* What there has been by now. */
void pinned_allocator::forget(baseline &now, uint64_t *alloc_ns,
			      uint64_t *free_ns) const
{
	gpumem_stats stats = GPUMEM_INIT(gpumem_stats);
	gpumem_call_stats allocs = calls(opened(), GPUMEM_CALL_ALLOC);
	gpumem_call_stats frees = calls(opened(), GPUMEM_CALL_FREE);

	if (gpumem_pool_stats(opened(), &stats) != GPUMEM_OK)
		raise();
	now = {int64_t(stats.reserved.total),
	       int64_t(stats.reserved.total - stats.reserved.current), 0,
	       int64_t(allocs.count - allocs.failed),
	       int64_t(frees.count - frees.failed)};
	*alloc_ns = allocs.ns;
	*free_ns = frees.ns;
}

/* gpumem has sums alone, no longest and no shortest call. */
static DurationStat duration(uint64_t ns, int64_t count)
{
	DurationStat made;

	made.total = int64_t(ns / 1000);
	made.count = count;
	return made;
}

/* Live blocks, and what the driver has given; other names up to 2.9. */
template <class Stats>
static void fill(Stats &into, const Stat &count, const Stat &bytes,
		 const Stat &segments, const Stat &reserved)
{
	if constexpr (requires { into.active_requests; }) {
		into.active_requests = count;
		into.active_bytes = bytes;
		into.allocations = segments;
		into.allocated_bytes = reserved;
	} else {
		into.allocation = count;
		into.allocated_bytes = bytes;
		into.segment = segments;
		into.reserved_bytes = reserved;
	}
}

at::HostStats pinned_allocator::get_stats()
{
	gpumem_stats now = GPUMEM_INIT(gpumem_stats);
	uint64_t alloc_ns, free_ns;
	at::HostStats result;
	baseline all;

	if (!opened() || is_child())
		return result;
	if (gpumem_pool_stats(opened(), &now) != GPUMEM_OK)
		raise();
	forget(all, &alloc_ns, &free_ns);
	std::lock_guard<std::mutex> hold(lock);
	int64_t allocs = all.driver_allocs - since.driver_allocs;
	int64_t frees = all.driver_frees - since.driver_frees;
	fill(result, count, bytes, gauge(now.segments, allocs, frees),
	     gauge(now.reserved, all.taken - since.taken,
		   all.returned - since.returned));
	result.num_host_alloc = allocs;
	result.num_host_free = frees;
	result.host_alloc_time = duration(alloc_ns - since_alloc_ns, allocs);
	result.host_free_time = duration(free_ns - since_free_ns, frees);
	return result;
}

void pinned_allocator::reset_accumulated_stats()
{
	uint64_t alloc_ns, free_ns;
	baseline now;

	if (!opened() || is_child())
		return;
	forget(now, &alloc_ns, &free_ns);
	std::lock_guard<std::mutex> hold(lock);
	since = now;
	since_alloc_ns = alloc_ns;
	since_free_ns = free_ns;
	count.reset_accumulated();
	bytes.reset_accumulated();
}

void pinned_allocator::reset_peak_stats()
{
	if (!opened() || is_child())
		return;
	if (gpumem_pool_reset_stats(opened(), 0) != GPUMEM_OK)
		raise();
	std::lock_guard<std::mutex> hold(lock);
	count.reset_peak();
	bytes.reset_peak();
}

/* ---- history
 * ------------------------------------------------------------------ */

/* Not under the lock: it may need the GIL. */
context pinned_allocator::gather(RecordContext least)
{
	cca::CreateContextFn recorder = nullptr;

	if (!recorded.load(std::memory_order_acquire))
		return nullptr;
	{
		std::lock_guard<std::mutex> hold(lock);

		if (past.when >= least)
			recorder = past.recorder;
	}
	return recorder ? recorder() : nullptr;
}

/* Under the lock. The device of the host's memory is -1. */
void pinned_allocator::enter(action what, void *ptr, const pinned_block &of,
			     const context &where)
{
	if (!past.on)
		return;
	trace.push_back(entry_of(
		what, -1, reinterpret_cast<size_t>(ptr), of.bytes, nullptr, {},
		past.when >= RecordContext::ALLOC ? where : nullptr, "", ""));
	if (trace.size() > past.most)
		trace.pop_front();
}

void pinned_allocator::record_history(bool on, cca::CreateContextFn recorder,
				      size_t most, RecordContext when,
				      bool clear)
{
	std::lock_guard<std::mutex> hold(lock);

	past.on = on;
	past.recorder = on ? recorder : nullptr;
	past.when = on ? when : RecordContext::NEVER;
	past.most = std::max<size_t>(1, most);
	recorded.store(on, std::memory_order_release);
	if (clear)
		trace.clear();
}

bool pinned_allocator::is_history_enabled() const
{
	return recorded.load(std::memory_order_acquire);
}

std::vector<TraceEntry> pinned_allocator::get_traces()
{
	auto to_ns = past.clock.makeConverter();
	std::lock_guard<std::mutex> hold(lock);
	std::vector<TraceEntry> result(trace.begin(), trace.end());

	for (auto &each : result)
		each.time_.t_ = to_ns(each.time_.approx_t_) / 1000;
	return result;
}

/* Of what others have pinned, by cudaHostRegister(). */
void pinned_allocator::record_external_register(void *ptr, size_t size)
{
	pinned_block made{size, {}, {}, gather(RecordContext::STATE)};
	std::lock_guard<std::mutex> hold(lock);

	if (!past.on)
		return;
	enter(action::SEGMENT_ALLOC, ptr, made, nullptr);
	enter(action::ALLOC, ptr, made, made.allocated_at);
	external[ptr] = std::move(made);
}

void pinned_allocator::record_external_unregister(void *ptr)
{
	context where = gather(RecordContext::ALL);
	std::lock_guard<std::mutex> hold(lock);
	auto found = external.find(ptr);

	if (found == external.end())
		return;
	enter(action::FREE_REQUESTED, ptr, found->second, where);
	enter(action::FREE_COMPLETED, ptr, found->second,
	      found->second.allocated_at);
	enter(action::SEGMENT_FREE, ptr, found->second, nullptr);
	external.erase(found);
}

template <class Segments>
static void add(Segments &into, const void *ptr, const pinned_block &of,
		bool live)
{
	if constexpr (requires { into[0].address; }) {
		typename Segments::value_type made;

		made.address = reinterpret_cast<size_t>(ptr);
		made.size = of.bytes;
		made.allocated = live;
		made.active = true;
		made.context_when_allocated = of.allocated_at;
		into.push_back(std::move(made));
	}
}

host_segments pinned_allocator::get_segments()
{
	std::set<const void *> seen; /* of one block of several streams */
	host_segments result;
	std::lock_guard<std::mutex> hold(lock);

	for (auto &each : blocks)
		add(result, each.first, each.second, true);
	for (auto &each : external)
		add(result, each.first, each.second, true);
	for (auto &each : held)
		add(result, each.first, each.second, false);
	for (auto &queue : queues)
		for (auto &each : queue.second)
			if (seen.insert(each.second->ptr).second)
				add(result, each.second->ptr, each.second->of,
				    false);
	return result;
}

} /* namespace gpumem_torch */
