/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * PyTorch's pinned memory of the host, from one pool of gpumem's for the whole
 * process: what pin_memory=True gives, and what the DataLoader's thread pins.
 *
 * The host writes to such memory as soon as it has it, so no block is used
 * again in the order of a stream, as device memory is: gpumem gets it back when
 * the work that was recorded with it is over. All its blocks are of one stream
 * of gpumem's, `quiet`, on which nothing ever runs.
 *
 * One mutex, `lock`, is over what is here. It is not held during a call of
 * gpumem's, of a recorder of stacks or of PyTorch's filters. free and release
 * are called by destructors and do not throw.
 *
 * The functions without `override` are missing in some of PyTorch's versions:
 * overrides.cpp checks them.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_PINNED_HPP
#define GPUMEM_PYTHON_SUBCLASS_PINNED_HPP

#include "allocator.hpp"

#include <ATen/core/CachingHostAllocator.h>

namespace gpumem_torch
{

/* What get_segments() returns, since 2.14; else anything. */
template <class Base> auto segments_of(Base &base)
{
	if constexpr (requires { base.get_segments(); })
		return base.get_segments();
	else
		return std::vector<int>();
}
using host_segments =
	decltype(segments_of(std::declval<at::HostAllocator &>()));

/* In counts and bytes that PyTorch has seen. */
struct pinned_block {
	size_t bytes;
	std::set<std::pair<int, cudaStream_t>> uses; /* and their devices */
	/* Of the graphs that use it: (0, 0) is one of which PyTorch does not
	 * say when it ends. */
	std::set<MempoolId_t> graphs;
	context allocated_at;
};

class pinned_allocator final : public at::HostAllocator
{
      public:
	/* limit: of the pool, in bytes; 0: the option's. `before`: PyTorch's
	 * own, whose blocks may be live. */
	pinned_allocator(std::string backend, uint64_t limit,
			 at::HostAllocator *before);

	/* NULL: nothing was pinned yet. */
	gpumem_pool *opened() const
	{
		return pool.load(std::memory_order_acquire);
	}
	int device() const
	{
		return number.load();
	}
	void free(void *ptr);

	/* ---- pinned.cpp: blocks ---- */
	c10::DataPtr allocate(size_t bytes) override;
	void copy_data(void *to, const void *from, size_t bytes) const override;
	bool record_event(void *ptr, void *context_of, c10::Stream on) override;
	void empty_cache() override;

	/* ---- pinned_graphs.cpp: captures, since 2.11 ---- */
	void begin_allocate_to_pool(MempoolId_t id,
				    std::function<bool(c10::Stream)> takes);
	void end_allocate_to_pool(MempoolId_t id);
	void release_pool(MempoolId_t id);

	/* ---- pinned_report.cpp: what is counted, and recorded since 2.14 ----
	 */
	at::HostStats get_stats() override;
	void reset_accumulated_stats() override;
	void reset_peak_stats() override;
	void record_history(bool on, cca::CreateContextFn recorder, size_t most,
			    RecordContext when, bool clear);
	bool is_history_enabled() const;
	host_segments get_segments();
	std::vector<TraceEntry> get_traces();
	void record_external_register(void *ptr, size_t bytes);
	void record_external_unregister(void *ptr);

      private:
	using use = std::pair<int, cudaStream_t>;
	using route = std::pair<MempoolId_t, std::function<bool(c10::Stream)>>;

	/* Freed, and some of its events are not over yet. */
	struct waiting {
		void *ptr;
		pinned_block of;
		size_t left;
	};
	using pending = std::pair<cudaEvent_t, std::shared_ptr<waiting>>;
	using ended = std::vector<std::pair<void *, pinned_block>>;

	const std::string backend;
	const uint64_t limit;
	at::HostAllocator *const before;
	mutable std::mutex lock;
	std::mutex opening; /* taken before nothing else */
	std::atomic<gpumem_pool *> pool{nullptr};
	std::atomic<int> number{-1};
	gpumem_device *handle = nullptr;
	gpumem_stream quiet = nullptr;
	std::unordered_map<void *, pinned_block> blocks;
	/* The events of one stream are over in their order. */
	std::map<use, std::deque<pending>> queues;
	/* Freed, and a graph may use it. */
	std::unordered_map<void *, pinned_block> held;
	std::vector<std::shared_ptr<route>> routes;
	std::map<MempoolId_t, int> users;  /* of pools of graphs */
	std::atomic<bool> released{false}; /* a pool has ended since settle() */

	c10::CachingAllocator::Stat count, bytes; /* of blocks */
	baseline since{};
	uint64_t since_alloc_ns = 0, since_free_ns = 0;

	history past;
	std::deque<TraceEntry> trace;
	std::map<void *, pinned_block> external; /* that others pinned */
	std::atomic<bool> recorded{false};

	gpumem_pool *open();
	gpumem_status take(size_t size, void **ptr);
	bool await(void *ptr, pinned_block &of);
	void poll();
	void give(const ended &all);
	MempoolId_t graph_of(c10::Stream on);
	bool captures() const;
	bool is_used(const pinned_block &of) const;
	void keep(void *ptr, pinned_block of);
	void settle();
	void await_all();
	context gather(RecordContext least);
	void enter(action what, void *ptr, const pinned_block &of,
		   const context &where);
	void forget(baseline &now, uint64_t *alloc_ns, uint64_t *free_ns) const;
};

/* NULL until it was made. Never destroyed: tensors outlive everything. */
extern pinned_allocator *the_pinned;

} /* namespace gpumem_torch */

#endif
