/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What PyTorch shows of memory: snapshots, and the trace of what happened. What
 * gpumem's own pages do is not in the trace: gpumem_record(5) has that.
 */
#include "allocator.hpp"

namespace gpumem_torch
{

using c10::CachingDeviceAllocator::AnnotationEntry;
using c10::CachingDeviceAllocator::BlockInfo;
using c10::CachingDeviceAllocator::RecordContext;
using c10::CachingDeviceAllocator::SegmentInfo;
using c10::CachingDeviceAllocator::TraceEntry;

static thread_local std::vector<std::string> compiling;
static thread_local std::string user_text;

/* Not under the lock: it may need the GIL. */
context allocator::gather(RecordContext least)
{
	cca::CreateContextFn recorder = nullptr;

	if (!gathers.load(std::memory_order_acquire))
		return nullptr;
	{
		std::lock_guard<std::mutex> hold(lock);

		if (past.when >= least)
			recorder = past.recorder;
	}
	return recorder ? recorder() : nullptr;
}

/* Under the lock. */
void allocator::enter(device &own, TraceEntry::Action action, size_t addr,
		      size_t bytes, stream on, MempoolId_t id, context where)
{
	if ((!past.on && trackers.empty()) || past.skipped.count(action))
		return;
	TraceEntry entry(action, DeviceIndex(own.number), addr, bytes, on, id,
			 c10::getApproximateTime(),
			 past.when >= RecordContext::ALLOC ? where : nullptr,
			 compiling.empty() ? "" : compiling.back(), user_text);

	for (auto &each : trackers)
		each(entry);
	if (!past.on)
		return;
	own.trace.push_back(std::move(entry));
	if (own.trace.size() > past.most)
		own.trace.pop_front();
}

bool allocator::isHistoryEnabled()
{
	std::lock_guard<std::mutex> hold(lock);

	return past.on;
}

void allocator::recordHistory(bool on, cca::CreateContextFn recorder,
			      size_t most, RecordContext when, bool clear,
			      const std::vector<std::string> &skipped)
{
	std::set<TraceEntry::Action> skip;

	TORCH_CHECK(when == RecordContext::NEVER || recorder,
		    "a recorder of stacks is needed");
	for (auto &each : skipped)
		skip.insert(c10::CachingDeviceAllocator::parseTraceEntryAction(
			each));
	std::lock_guard<std::mutex> hold(lock);
	past.on = on;
	past.recorder = on ? recorder : nullptr;
	past.when = on ? when : RecordContext::NEVER;
	past.most = std::max<size_t>(1, most);
	past.skipped = std::move(skip);
	gathers.store(on && when != RecordContext::NEVER,
		      std::memory_order_release);
	if (on && !clear)
		return;
	past.annotations.clear();
	for (int i = 0; i < MOST_DEVICES; i++)
		if (device *own = opened(i))
			own->trace.clear();
}

void allocator::recordAnnotation(
	const std::vector<std::pair<std::string, std::string>> &pairs)
{
	std::lock_guard<std::mutex> hold(lock);
	AnnotationEntry made(0, c10::getApproximateTime());

	if (!past.on)
		return;
	for (auto &each : pairs)
		made.recordUserMetadata(each.first, each.second);
	past.annotations.push_back(std::move(made));
	if (past.annotations.size() > past.most)
		past.annotations.pop_front();
}

void allocator::pushCompileContext(std::string &text)
{
	compiling.push_back(text);
}

void allocator::popCompileContext()
{
	if (!compiling.empty())
		compiling.pop_back();
}

void allocator::setUserMetadata(const std::string &text)
{
	user_text = text;
}

std::string allocator::getUserMetadata()
{
	return user_text;
}

void allocator::attachOutOfMemoryObserver(cca::OutOfMemoryObserver observer)
{
	std::lock_guard<std::mutex> hold(lock);

	observers.push_back(std::move(observer));
}

void allocator::attachAllocatorTraceTracker(cca::AllocatorTraceTracker tracker)
{
	std::lock_guard<std::mutex> hold(lock);

	trackers.push_back(std::move(tracker));
}

/* ---- snapshots
 * ----------------------------------------------------------------- */

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
	made.stream = on;
	made.is_large = true;
	return made;
}

static bool collect(const gpumem_block *block, void *user)
{
	static_cast<std::vector<gpumem_block> *>(user)->push_back(*block);
	return true;
}

/* Segments of private pools are those that they took; the rest is runs of
 * memory without a gap, each as a segment. */
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

cca::SnapshotInfo allocator::snapshot(MempoolId_t id, bool traces)
{
	cca::SnapshotInfo result;
	auto to_ns = past.clock.makeConverter();
	auto to_us = [&](auto &entry) {
		entry.time_.t_ = to_ns(entry.time_.approx_t_) / 1000;
	};

	result.config_metadata = {};
	result.config_metadata.max_split_size = SIZE_MAX;
	result.config_metadata.last_allocator_settings = "backend:gpumem";
	result.device_traces.resize(size_t(std::max(0, device_count.load())));
	for (size_t i = 0; i < result.device_traces.size(); i++) {
		device *own = opened(int(i));

		if (!own)
			continue;
		add_segments(*own, id, result);
		std::lock_guard<std::mutex> hold(lock);
		enter(*own, TraceEntry::SNAPSHOT, 0,
		      size_t(own->bytes[0].current), nullptr, {}, {});
		if (!traces)
			continue;
		for (auto entry : own->trace) {
			to_us(entry);
			result.device_traces[i].push_back(std::move(entry));
		}
	}
	std::lock_guard<std::mutex> hold(lock);
	for (auto entry : past.annotations) {
		to_us(entry);
		result.external_annotations.push_back(std::move(entry));
	}
	return result;
}

/* ---- other processes
 * ------------------------------------------------------------ */

cca::ShareableHandle allocator::shareIpcHandle(void *ptr)
{
	(void)ptr;
	TORCH_CHECK(false, "gpumem's blocks cannot be sent to other processes "
			   "yet: send tensor.cpu(), or leave "
			   "gpumem.torch.enable() out");
}

std::shared_ptr<void> allocator::getIpcDevPtr(std::string handle)
{
	(void)handle;
	TORCH_CHECK(false, "a process with gpumem cannot open another one's "
			   "memory yet");
}

} /* namespace gpumem_torch */
