/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What PyTorch asks of a private pool, and how cudagraph trees bring one back
 * to a state of before: all that is live in it ends, and what was live then is
 * live again, at its addresses. The tensors of both are PyTorch's to mend.
 */
#include "allocator.hpp"

namespace gpumem_torch
{

struct checkpoint final : cca::AllocatorState {
	MempoolId_t id;
	saved segments;
};

/* A MemPool's destructor insists on 1. */
int allocator::getPoolUseCount(DeviceIndex number, MempoolId_t id)
{
	if (is_child())
		return 1;
	std::lock_guard<std::mutex> hold(lock);
	device *own = opened(number);
	auto found =
		own ? own->mempools.find(id) : decltype(own->mempools.end()){};

	return own && found != own->mempools.end() ? found->second->users : 0;
}

void allocator::setUseOnOOM(DeviceIndex number, MempoolId_t id)
{
	setUseOnOOM(number, id, true);
}

/* Called by that destructor too. */
void allocator::setUseOnOOM(DeviceIndex number, MempoolId_t id, bool value)
{
	if (is_child())
		return;
	std::lock_guard<std::mutex> hold(lock);

	find(number, id, "setUseOnOOM").use_on_oom = value;
}

void allocator::setNoSplit(DeviceIndex number, MempoolId_t id)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);

	find(number, id, "setNoSplit").memory.no_split = true;
}

bool allocator::checkPoolLiveAllocations(
	DeviceIndex number, MempoolId_t id,
	const std::unordered_set<void *> &expected)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);
	mempool &in = find(number, id, "checkPoolLiveAllocations");
	size_t live = 0;

	for (auto &each : blocks) {
		if (each.second.of != &in)
			continue;
		if (!expected.count(each.first))
			return false;
		live++;
	}
	return live == expected.size();
}

std::shared_ptr<cca::AllocatorState>
allocator::getCheckpointState(DeviceIndex number, MempoolId_t id)
{
	check_process();
	std::lock_guard<std::mutex> hold(lock);
	mempool &in = find(number, id, "getCheckpointState");
	auto made = std::make_shared<checkpoint>();

	poll(*opened(number), in);
	TORCH_CHECK(in.pending.empty(),
		    "getCheckpointState: other streams still use freed memory "
		    "of the pool");
	made->id = id;
	made->segments = in.memory.save();
	return made;
}

/* As if all tensors in the pool had been freed. Under the lock. */
void allocator::free_all(device &own, mempool &in, cca::CheckpointDelta &delta)
{
	for (auto it = blocks.begin(); it != blocks.end();) {
		if (it->second.of != &in) {
			++it;
			continue;
		}
		count(own, it->second, false);
		enter(own, action::FREE_COMPLETED,
		      reinterpret_cast<size_t>(it->first), it->second.requested,
		      it->second.on, in.id, {});
		in.memory.give(static_cast<char *>(it->first));
		delta.ptrs_freed.push_back(it->first);
		it = blocks.erase(it);
	}
}

cca::CheckpointDelta
allocator::setCheckpointPoolState(DeviceIndex number,
				  std::shared_ptr<cca::AllocatorState> state)
{
	auto before = std::dynamic_pointer_cast<checkpoint>(state);
	device &own = get(number);
	cca::CheckpointDelta delta;

	TORCH_CHECK(before, "setCheckpointPoolState: not a state of gpumem's");
	std::lock_guard<std::mutex> hold(lock);
	mempool &in = find(number, before->id, "setCheckpointPoolState");
	poll(own, in);
	TORCH_CHECK(in.pending.empty(),
		    "setCheckpointPoolState: other streams still use freed "
		    "memory of the pool");
	free_all(own, in, delta);
	TORCH_CHECK(in.memory.restore(before->segments),
		    "setCheckpointPoolState: a segment of that time is gone");
	for (auto &part : before->segments)
		for (auto &each : part.second) {
			if (!each.second.live)
				continue;
			record made{number,
				    each.second.bytes,
				    each.second.requested,
				    in.memory.segments().at(part.first).on,
				    &in,
				    {},
				    {},
				    {}};

			count(own, made, true);
			enter(own, action::ALLOC,
			      reinterpret_cast<size_t>(each.first),
			      made.requested, made.on, in.id, {});
			blocks[each.first] = made;
			delta.dataptrs_allocd.emplace_back(
				each.first, each.first, &delete_block,
				c10::Device(c10::DeviceType::CUDA, number));
		}
	return delta;
}

} /* namespace gpumem_torch */
