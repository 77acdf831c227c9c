/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Segments as PyTorch shows them. Those of private pools are what these took;
 * the rest is runs of memory without a gap, each as an expandable segment.
 * gpumem does not say when a page is mapped or unmapped: while history is
 * recorded, the runs are compared with what they were as soon as the pool has
 * taken or returned memory, and the difference goes to the trace.
 */
#include "allocator.hpp"

namespace gpumem_torch
{

static void add(SegmentInfo &into, BlockInfo made)
{
	into.total_size += made.size;
	into.requested_size += made.requested_size;
	into.allocated_size += made.allocated ? made.size : 0;
	into.active_size += made.active ? made.size : 0;
	into.blocks.push_back(std::move(made));
}

static SegmentInfo begin(const device &own, const void *ptr, stream on)
{
	SegmentInfo made;

	made.device = DeviceIndex(own.number);
	made.address = reinterpret_cast<size_t>(ptr);
	made.stream = static_cast<decltype(made.stream)>(on);
	made.is_large = true;
	return made;
}

static bool collect(const gpumem_block *block, void *user)
{
	static_cast<std::vector<gpumem_block> *>(user)->push_back(*block);
	return true;
}

/* A pool of PyTorch's own has no part of what is the device pool's. */
void allocator::add_segments(device &own, MempoolId_t id,
			     cca::SnapshotInfo &into)
{
	std::vector<gpumem_block> found;
	std::map<const void *, std::pair<const mempool *, const segment *>>
		taken;
	size_t end = 0;
	bool open = false;

	GPUMEM_IGNORE(gpumem_block_visit(own.pool, collect, &found));
	std::lock_guard<std::mutex> hold(lock);
	for (auto &pool : own.mempools)
		for (auto &each : pool.second->memory.segments())
			taken[each.first] = {pool.second.get(), &each.second};
	for (auto &block : found) {
		auto in = taken.find(block.ptr);
		auto live = blocks.find(block.ptr);

		if (in != taken.end() || block.state == GPUMEM_BLOCK_HOLE ||
		    id != MempoolId_t{}) {
			open = false;
			continue;
		}
		if (!open || end != reinterpret_cast<size_t>(block.ptr)) {
			into.segments.push_back(
				begin(own, block.ptr, block.stream));
			into.segments.back().is_expandable = true;
		}
		open = true;
		end = reinterpret_cast<size_t>(block.ptr) + block.bytes;
		BlockInfo made;
		made.size = block.bytes;
		made.requested_size = block.requested_bytes;
		made.allocated = block.state == GPUMEM_BLOCK_LIVE;
		made.active = block.state != GPUMEM_BLOCK_FREE;
		if (made.allocated && live != blocks.end())
			made.context_when_allocated = live->second.allocated_at;
		add(into.segments.back(), std::move(made));
	}
	for (auto &each : taken) {
		const mempool &of = *each.second.first;
		const segment &in = *each.second.second;

		if (id != MempoolId_t{} && of.id != id)
			continue;
		SegmentInfo made = begin(own, in.base, in.on);
		made.is_large = !in.small;
		made.owner_private_pool_id = of.id;
		number_segment(made, in.number);
		for (auto &part : in.pieces) {
			auto live = blocks.find(part.first);
			BlockInfo block;

			block.size = part.second.bytes;
			block.active = part.second.live;
			block.allocated = live != blocks.end();
			block.requested_size = part.second.requested;
			if (block.allocated)
				block.context_when_allocated =
					live->second.allocated_at;
			add(made, std::move(block));
		}
		into.segments.push_back(std::move(made));
	}
}

/* ---- the trace -------------------------------------------------------------
 */

/* The parts of `all` that are not in `other`. */
static ranges without(const ranges &all, const ranges &other)
{
	ranges rest;

	for (auto &each : all) {
		size_t at = each.first;
		auto it = other.upper_bound(at);

		if (it != other.begin() && std::prev(it)->second > at)
			--it;
		for (; it != other.end() && it->first < each.second; ++it) {
			if (it->first > at)
				rest[at] = it->first;
			at = std::max(at, it->second);
		}
		if (at < each.second)
			rest[at] = each.second;
	}
	return rest;
}

ranges allocator::runs(device &own)
{
	std::vector<gpumem_block> found;
	std::set<const void *> taken;
	ranges made;

	GPUMEM_IGNORE(gpumem_block_visit(own.pool, collect, &found));
	std::lock_guard<std::mutex> hold(lock);
	for (auto &pool : own.mempools)
		for (auto &each : pool.second->memory.segments())
			taken.insert(each.first);
	auto last = made.end();
	for (auto &block : found) {
		auto at = reinterpret_cast<size_t>(block.ptr);

		if (taken.count(block.ptr) || block.state == GPUMEM_BLOCK_HOLE)
			continue;
		if (last != made.end() && last->second == at)
			last->second += block.bytes;
		else
			last = made.emplace_hint(made.end(), at,
						 at + block.bytes);
	}
	return made;
}

/* What the pool has taken, and has: not the same after any change of runs. */
static std::pair<uint64_t, uint64_t> taken_of(const device &own)
{
	gpumem_stats now = GPUMEM_INIT(gpumem_stats);

	GPUMEM_IGNORE(gpumem_pool_stats(own.pool, &now));
	return {now.reserved.total, now.reserved.current};
}

void allocator::learn_segments(device &own)
{
	std::lock_guard<std::mutex> hold(own.mapping);

	own.known_at = taken_of(own);
	own.known = runs(own);
}

void allocator::note_segments(device &own, context where)
{
	if (!recorded.load(std::memory_order_acquire))
		return;
	std::lock_guard<std::mutex> order(own.mapping);
	auto at = taken_of(own);
	if (at == own.known_at)
		return;
	ranges now = runs(own);
	ranges gone = without(own.known, now), come = without(now, own.known);
	own.known_at = at;
	own.known = std::move(now);
	std::lock_guard<std::mutex> hold(lock);
	for (auto &each : gone)
		enter(own, TraceEntry::SEGMENT_UNMAP, each.first,
		      each.second - each.first, nullptr, {}, where);
	for (auto &each : come)
		enter(own, TraceEntry::SEGMENT_MAP, each.first,
		      each.second - each.first, nullptr, {}, where);
}

} /* namespace gpumem_torch */
