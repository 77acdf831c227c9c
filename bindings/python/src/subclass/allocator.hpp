/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem as a subclass of PyTorch's allocator of device memory. Compiled at the
 * user's against the headers of the very PyTorch that is installed, since the
 * base class differs between its versions: each function says `override`, or is
 * one that some versions lack (names.hpp), which overrides.cpp checks, so that
 * a version that has another one refuses to compile.
 *
 * What most blocks need is in the word that gpumem has for each (word.hpp), and
 * in counts of many threads (counts.hpp): they take no lock here. One mutex,
 * `lock`, is over all else, which few blocks and few programs need. It is not
 * held during a call of gpumem's that may wait, of Python's, or of a recorder
 * of stacks.
 *
 * PyTorch frees blocks and ends pools in destructors: raw_delete(),
 * releasePool(), endAllocateToPool() and emptyCache() of a pool do not throw
 * for what a device or the driver refuses.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_ALLOCATOR_HPP
#define GPUMEM_PYTHON_SUBCLASS_ALLOCATOR_HPP

#include "counts.hpp"
#include "current.hpp"
#include "names.hpp"
#include "offer.hpp"
#include "space.hpp"
#include "word.hpp"

#include <gpumem/gpumem.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#ifdef __clang__ /* overrides.cpp knows more */
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif

namespace gpumem_torch
{

using filter = std::function<bool(cudaStream_t)>;

constexpr int MOST_DEVICES = 64; /* as a word has room for */

/* A private pool. users == 0 and inside == 0: nobody will ask it for memory any
 * more, and it ends when the device has done what was launched and nothing in
 * it is live. */
struct mempool {
	MempoolId_t id;
	int users = 0;
	int inside = 0; /* allocations that are under way in it */
	bool use_on_oom = false;
	/* Whose its segments are; NULL: gpumem's. Up to 2.10 the program owns
	 * it. */
	std::shared_ptr<cca::CUDAAllocator> theirs;
	space memory;
	gpumem_graph *graph = nullptr; /* what a capture took; NULL: none did */
	/* Freed, while other streams may still use them; no events yet while
	 * anything is captured. */
	struct waiting {
		char *ptr;
		std::set<stream> streams;
		std::vector<cudaEvent_t> events;
	};
	std::vector<waiting> pending;
};

/* Of a block that PyTorch has; kept of those that are listed. */
struct record {
	int device;
	size_t bytes, requested; /* bytes: rounded as PyTorch does */
	stream on;
	mempool *of; /* NULL: gpumem's own block */
	context allocated_at;
	std::set<stream> uses;		   /* only of a mempool's */
	std::shared_ptr<const offer> sent; /* to other processes; NULL: not */
};

/* What was counted when totals were reset. */
struct baseline {
	int64_t taken, returned, retries, driver_allocs, driver_frees;
};

using ranges = std::map<size_t, size_t>; /* from, to */

struct device {
	explicit device(int number) : number(number), has(number)
	{
	}

	const int number;
	gpumem_device *handle;
	gpumem_pool *pool;
	double fraction = 1;
	/* A limit below what is in use, or than any block takes: PyTorch takes
	 * it, gpumem does not yet. 0: none. Written under `limiting`, which is
	 * taken before the allocator's lock. */
	std::atomic<uint64_t> wanted_limit{0};
	std::mutex limiting;
	/* Under it. gpumem's pool may have what is left of the first:
	 *
	 *     reserved + their_bytes <= limit, unless a limit is wanted */
	uint64_t limit = 0;	  /* what the fraction comes to; 0: none */
	uint64_t their_bytes = 0; /* of segments that are not gpumem's */
	counts has;		  /* not under the lock */
	c10::CachingAllocator::StatArray segments,
		segment_bytes; /* mempools' */
	c10::CachingAllocator::StatArray their_segment_bytes;
	/* Of each mempool, and of those that are gone until totals or peaks are
	 * reset. */
	std::map<MempoolId_t, c10::CachingAllocator::StatArray> pool_bytes;
	std::atomic<int64_t> pool_small_bytes{
		0}; /* of mempools' small blocks */
	int64_t oom_count = 0, rejection_count = 0;
	baseline since{};
	std::map<MempoolId_t, std::unique_ptr<mempool>> mempools;
	std::deque<TraceEntry> trace;
	/* What the trace has of gpumem's own memory, under `mapping`, which is
	 * taken before the allocator's lock. */
	std::mutex mapping;
	ranges known;
	std::pair<uint64_t, uint64_t> known_at{};
};

/* Between begin and end. */
struct routing {
	int device;
	MempoolId_t id;
	filter takes;
	bool captures;
	std::set<stream> streams; /* that gpumem was told of */
	/* Of a capture: its thread, its stream, and whether that was seen to be
	 * captured. */
	std::thread::id by;
	cudaStream_t on;
	bool begun;
};

struct history {
	bool on = false;
	cca::CreateContextFn recorder = nullptr;
	RecordContext when = RecordContext::NEVER;
	size_t most = 1;
	std::set<action> skipped;
	std::deque<AnnotationEntry> annotations;
	c10::ApproximateClockToUnixTimeConverter clock;
};

/* fork.cpp: this process is a child that can use no device. */
extern std::atomic<bool> child;
[[noreturn]] void refuse_child();
inline bool is_child()
{
	return child.load(std::memory_order_relaxed);
}
inline void check_process() /* throws in such a child */
{
	if (C10_UNLIKELY(is_child()))
		refuse_child();
}

/* What this thread says of its blocks. */
extern thread_local std::string user_text;

class allocator final : public cca::CUDAAllocator
{
      public:
	explicit allocator(std::string backend);

	/* NULL: nothing was allocated on it yet. */
	device *opened(int number) const
	{
		return unsigned(number) < unsigned(MOST_DEVICES)
			       ? devices[number].load(std::memory_order_acquire)
			       : nullptr;
	}

	/* ---- allocator.cpp: blocks ---- */
	c10::DataPtr allocate(size_t bytes) override;
	c10::DeleterFnPtr raw_deleter() const override;
	void copy_data(void *to, const void *from, size_t bytes) const override;
	void *raw_alloc(size_t bytes) override;
	void *raw_alloc_with_stream(size_t bytes, cudaStream_t on) override;
	void raw_delete(void *ptr) override;
	void recordStream(const c10::DataPtr &ptr,
			  c10::cuda::CUDAStream on) override;
	using cca::CUDAAllocator::recordStream;
	void *getBaseAllocation(void *ptr, size_t *bytes) override;

	/* ---- device.cpp: devices ---- */
	void init(int count) override;
	bool initialized() override;
	std::string name() override;
	void enable(bool value) override;
	bool isEnabled() const override;
	double getMemoryFraction(DeviceIndex number) override;
	void setMemoryFraction(double part, DeviceIndex number) override;
	void emptyCache(MempoolId_t id) override;
	void cacheInfo(DeviceIndex number, size_t *largest) override;
	/* Since 2.10. */
	expandable_sizes getExpandableSegmentSizes(DeviceIndex number);
	void enablePeerAccess(DeviceIndex from, DeviceIndex to) override;
	cudaError_t memcpyAsync(void *to, int to_device, const void *from,
				int from_device, size_t bytes, cudaStream_t on,
				bool peers) override;

	/* ---- statistics.cpp: what is counted ---- */
	cca::DeviceStats getDeviceStats(DeviceIndex number) override;
	void resetAccumulatedStats(DeviceIndex number) override;
	void resetPeakStats(DeviceIndex number) override;

	/* ---- pools.cpp: private pools ---- */
	void beginAllocateToPool(DeviceIndex number, MempoolId_t id,
				 filter takes) override;
	void endAllocateToPool(DeviceIndex number, MempoolId_t id) override;
	void releasePool(DeviceIndex number, MempoolId_t id) override;
	int getPoolUseCount(DeviceIndex number, MempoolId_t id) override;
	/* Each since 2.11, and before. */
	void createOrIncrefPool(DeviceIndex number, MempoolId_t id,
				std::shared_ptr<CUDAAllocator> other);
	void createOrIncrefPool(DeviceIndex number, MempoolId_t id,
				CUDAAllocator *other);
	void setUseOnOOM(DeviceIndex number, MempoolId_t id, bool value);
	void setUseOnOOM(DeviceIndex number, MempoolId_t id);
	/* Since 2.10. */
	void setNoSplit(DeviceIndex number, MempoolId_t id);
	bool checkPoolLiveAllocations(
		DeviceIndex number, MempoolId_t id,
		const std::unordered_set<void *> &expected) override;
	std::shared_ptr<cca::AllocatorState>
	getCheckpointState(DeviceIndex number, MempoolId_t id) override;
	cca::CheckpointDelta setCheckpointPoolState(
		DeviceIndex number,
		std::shared_ptr<cca::AllocatorState> state) override;

	/* ---- history.cpp: snapshots, traces ---- */
	/* Each since 2.11, and before. */
	cca::SnapshotInfo snapshot(MempoolId_t id, bool traces);
	cca::SnapshotInfo snapshot(MempoolId_t id);
	bool isHistoryEnabled() override;
	void recordHistory(bool on, cca::CreateContextFn recorder, size_t most,
			   RecordContext when, bool clear,
			   const std::vector<std::string> &skipped);
	void recordHistory(bool on, cca::CreateContextFn recorder, size_t most,
			   RecordContext when, bool clear);
	void recordAnnotation(
		const std::vector<std::pair<std::string, std::string>> &pairs)
		override;
	void pushCompileContext(std::string &text) override;
	void popCompileContext() override;
	/* Since 2.10. */
	void setUserMetadata(const std::string &text);
	std::string getUserMetadata();
	/* Since 2.12. */
	context getContextForPointer(const void *ptr);
	/* Since 2.14. */
	bool supportsUserMetadata();
	void annotateMemory(const void *ptr, const std::string &text);
	void
	attachOutOfMemoryObserver(cca::OutOfMemoryObserver observer) override;
	/* Since 2.12, an observer of the same type: of the device, the size
	 * that is wanted, the bytes that are allocated, and all that there are.
	 */
	void attachOomRejectionObserver(cca::OutOfMemoryObserver observer);
	void attachAllocatorTraceTracker(
		cca::AllocatorTraceTracker tracker) override;

	/* ---- take.cpp: other processes ---- */
	cca::ShareableHandle shareIpcHandle(void *ptr) override;
	std::shared_ptr<void> getIpcDevPtr(std::string handle) override;

      private:
	mutable std::mutex lock;
	const std::string backend;
	std::atomic<device *> devices[MOST_DEVICES]{};
	std::atomic<int> device_count{0}, open_count{0};
	std::unordered_map<void *, record> blocks; /* that are listed */
	std::vector<std::shared_ptr<routing>> routings;
	/* Of captures that failed, as long as PyTorch has not ended them. */
	std::vector<std::pair<int, MempoolId_t>> failed;
	std::atomic<int> routed{0}, capturing{0};
	std::atomic<bool> gathers{false};  /* history.recorder is to be asked */
	std::atomic<bool> recorded{false}; /* history.on */
	std::atomic<bool> watched{false};  /* that, or there are trackers */
	history past;
	std::vector<cca::OutOfMemoryObserver> observers, rejection_observers;
	std::vector<cca::AllocatorTraceTracker> trackers;

	device &get(int number)
	{
		check_process();
		device *found = opened(number);

		return C10_LIKELY(found != nullptr) ? *found : open(number);
	}
	device &open(int number);
	DeviceIndex current();
	void give_back(bool all);
	void *take(int number, size_t bytes, cudaStream_t on);
	gpumem_status divide_limit(device &own);
	gpumem_status fit(device &own);
	gpumem_status take_any(device &own, size_t bytes, stream on,
			       mempool **of, void **ptr);
	gpumem_status take_routed(device &own, size_t bytes, stream on,
				  mempool **of, void **ptr);
	void take_again(device &own, size_t bytes, stream on, mempool **of,
			void **ptr, gpumem_status status);
	[[noreturn]] void fail(device &own, size_t bytes, gpumem_status status,
			       const mempool *of);
	record known(const void *ptr, word found) const;
	void list(void *ptr, record made);
	record &listed(void *ptr);
	void unlist(void *ptr, word found, context where);
	record take_off(void *ptr, word found, context where);
	void count(device &own, const record &of, bool taken);
	void count(device &own, const segment &of, const mempool &in,
		   bool taken);
	void begin_own(device &own, void *ptr, size_t requested);
	void end_own(device &own, void *ptr, size_t requested);
	void report(void *ptr, int number, size_t bytes, bool taken);

	mempool *route(int number, stream on);
	void drop_failed();
	void drop(const std::shared_ptr<routing> &way);
	void leave(routing &way, mempool &in);
	mempool &find(int number, MempoolId_t id, const char *what);
	gpumem_status take_in(device &own, mempool &in, size_t bytes, stream on,
			      void **ptr);
	void join(int number, MempoolId_t id,
		  std::shared_ptr<cca::CUDAAllocator> theirs);
	gpumem_status claim(device &own, size_t bytes);
	void unclaim(device &own, size_t bytes);
	gpumem_status take_segment(device &own, mempool &in, size_t bytes,
				   stream on, void **base);
	void give_segment(device &own, cca::CUDAAllocator *theirs,
			  const segment &of);
	const segment *their_segment(const void *ptr) const;
	std::string their_reason(const device &own, const mempool *in,
				 gpumem_status status);
	bool take_spare(device &own, size_t bytes, stream on, mempool **of,
			void **ptr);
	void tell(routing &way, mempool &in, stream on);
	void poll(device &own, mempool &in);
	uint64_t settle(context where);
	uint64_t settle_one(device &own, MempoolId_t id, context where);
	void free_all(device &own, mempool &in, cca::CheckpointDelta &delta);

	context gather(RecordContext least);
	void enter(device &own, action what, size_t addr, size_t bytes,
		   stream on, MempoolId_t id, context where,
		   const std::string &text = user_text);
	void add_segments(device &own, MempoolId_t id, cca::SnapshotInfo &into);
	ranges runs(device &own);
	void learn_segments(device &own);
	void note_segments(device &own, context where);
};

/* PyTorch's, in this process; NULL until it was made. Never destroyed: tensors
 * outlive everything. */
extern allocator *the;
void delete_block(void *ptr);

/* Throws what failed last in this thread. */
[[noreturn]] void raise();
/* The same, and the block ends: its word cannot be set. */
[[noreturn]] void refuse(void *ptr);
/* statistics.cpp: of gpumem's, with what was taken and given back. */
c10::CachingAllocator::Stat gauge(const gpumem_gauge &from, int64_t taken,
				  int64_t returned);

/* ---- fork.cpp ---- */
void watch_forks();
void note_use(); /* of a device: what is forked from now on can use none */

/* ---- oom.cpp ---- */
bool is_oom(gpumem_status status);
bool callbacks_freed();
[[noreturn]] void refuse_size();
/* A size that was computed wrongly, rather than one that there is no room for:
 * nobody is asked to make room. */
inline void check_size(size_t bytes)
{
	if (C10_UNLIKELY(bytes >> 60 != 0))
		refuse_size();
}

} /* namespace gpumem_torch */

#endif
