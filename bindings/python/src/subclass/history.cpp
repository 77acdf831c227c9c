/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What PyTorch shows of memory: snapshots, and the trace of what happened.
 * segments.cpp has what of it is about segments.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAFunctions.h>

namespace gpumem_torch
{

static thread_local std::vector<std::string> compiling;
thread_local std::string user_text;

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

/* Under the lock. Trackers are told of what the trace leaves out, too. */
void allocator::enter(device &own, action what, size_t addr, size_t bytes,
		      stream on, MempoolId_t id, context where,
		      const std::string &text)
{
	if (!past.on && trackers.empty())
		return;
	auto entry =
		entry_of(what, own.number, addr, bytes, on, id,
			 past.when >= RecordContext::ALLOC ? where : nullptr,
			 compiling.empty() ? "" : compiling.back(), text);

	for (auto &each : trackers)
		each(entry);
	if (!past.on || past.skipped.count(what))
		return;
	own.trace.push_back(std::move(entry));
	if (own.trace.size() > past.most)
		own.trace.pop_front();
}

bool allocator::isHistoryEnabled()
{
	return recorded.load(std::memory_order_acquire);
}

void allocator::recordHistory(bool on, cca::CreateContextFn recorder,
			      size_t most, RecordContext when, bool clear,
			      const std::vector<std::string> &skipped)
{
	std::set<action> skip;

	check_process();
	TORCH_CHECK(when == RecordContext::NEVER || recorder,
		    "a recorder of stacks is needed");
	for (auto &each : skipped)
		skip.insert(names::parsed(each));
	for (int i = 0; on && i < MOST_DEVICES; i++)
		if (device *own = opened(i))
			learn_segments(*own);
	std::lock_guard<std::mutex> hold(lock);
	past.on = on;
	past.recorder = on ? recorder : nullptr;
	past.when = on ? when : RecordContext::NEVER;
	past.most = std::max<size_t>(1, most);
	past.skipped = std::move(skip);
	gathers.store(on && when != RecordContext::NEVER,
		      std::memory_order_release);
	recorded.store(on, std::memory_order_release);
	watched.store(on || !trackers.empty());
	if (on && !clear)
		return;
	past.annotations.clear();
	for (int i = 0; i < MOST_DEVICES; i++)
		if (device *own = opened(i))
			own->trace.clear();
}

void allocator::recordHistory(bool on, cca::CreateContextFn recorder,
			      size_t most, RecordContext when, bool clear)
{
	recordHistory(on, recorder, most, when, clear, {});
}

void allocator::recordAnnotation(
	const std::vector<std::pair<std::string, std::string>> &pairs)
{
	check_process();
	if (!isHistoryEnabled())
		return;
	AnnotationEntry made(c10::cuda::current_device(),
			     c10::getApproximateTime());
	std::lock_guard<std::mutex> hold(lock);

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

bool allocator::supportsUserMetadata()
{
	return true;
}

/* A live block, by its address, of which more is known than when it was
 * allocated. */
void allocator::annotateMemory(const void *ptr, const std::string &text)
{
	check_process();
	if (!watched.load())
		return;
	context where = gather(RecordContext::ALLOC);
	word own = word::of(ptr);
	record of = own ? known(ptr, own) : record{};
	std::lock_guard<std::mutex> hold(lock);
	auto found = blocks.find(const_cast<void *>(ptr));

	if (found != blocks.end())
		of = found->second;
	else if (!own)
		return;
	enter(*opened(of.device), annotated(), reinterpret_cast<size_t>(ptr),
	      of.requested, of.on, of.of ? of.of->id : MempoolId_t{}, where,
	      text);
}

/* NULL: of no live block, or nothing was recorded when it was allocated. */
context allocator::getContextForPointer(const void *ptr)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);
	auto found = blocks.find(const_cast<void *>(ptr));

	return found == blocks.end() ? nullptr : found->second.allocated_at;
}

void allocator::attachOutOfMemoryObserver(cca::OutOfMemoryObserver observer)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);

	observers.push_back(std::move(observer));
}

/* Told of what the limit refuses, without asking the driver. */
void allocator::attachOomRejectionObserver(cca::OutOfMemoryObserver observer)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);

	rejection_observers.push_back(std::move(observer));
}

void allocator::attachAllocatorTraceTracker(cca::AllocatorTraceTracker tracker)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);

	trackers.push_back(std::move(tracker));
	watched.store(true);
}

/* ---- snapshots
 * ----------------------------------------------------------------- */

cca::SnapshotInfo allocator::snapshot(MempoolId_t id)
{
	return snapshot(id, true);
}

cca::SnapshotInfo allocator::snapshot(MempoolId_t id, bool traces)
{
	check_process();
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
		note_segments(*own, nullptr);
		add_segments(*own, id, result);
		tallies has = own->has.read();
		std::lock_guard<std::mutex> hold(lock);
		if (traces)
			for (auto entry : own->trace) {
				to_us(entry);
				result.device_traces[i].push_back(
					std::move(entry));
			}
		/* For the next: this one ends with what the program did. */
		enter(*own, TraceEntry::SNAPSHOT, 0,
		      size_t(has[count_of(BYTES, ALL)].current), nullptr, {},
		      {});
	}
	std::lock_guard<std::mutex> hold(lock);
	for (auto entry : past.annotations) {
		to_us(entry);
		result.external_annotations.push_back(std::move(entry));
	}
	return result;
}

} /* namespace gpumem_torch */
