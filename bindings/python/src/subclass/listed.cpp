/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks of which more is known than a word can say: those of mempools, those
 * that were sent to other processes, and those that were allocated while
 * history was recorded or a tracker was told. They are listed, and come and go
 * under the lock, with their entries of the trace.
 */
#include "allocator.hpp"

namespace gpumem_torch
{

/* There is no host memory for the word of a new block: it is none. */
void refuse(void *ptr)
{
	GPUMEM_IGNORE(gpumem_free_own(ptr));
	raise();
}

/* A block of gpumem's own that is not listed. */
record allocator::known(const void *ptr, word found) const
{
	gpumem_block block = GPUMEM_INIT(gpumem_block);
	record made{found.device(),
		    rounded(found.requested()),
		    found.requested(),
		    nullptr,
		    nullptr,
		    {},
		    {},
		    {}};

	if (gpumem_query(ptr, &block) == GPUMEM_OK)
		made.on = block.stream;
	return made;
}

/* A new block. */
void allocator::list(void *ptr, record made)
{
	word as = word(made.device, made.requested).listed();

	if (!made.of && as.set(ptr) != GPUMEM_OK)
		refuse(ptr);
	std::unique_lock<std::mutex> hold(lock);
	made.bytes =
		made.of ? made.of->memory.at(static_cast<char *>(ptr)).bytes
			: rounded(made.requested);
	device &own = *opened(made.device);
	enter(own, action::ALLOC, reinterpret_cast<size_t>(ptr), made.requested,
	      made.on, made.of ? made.of->id : MempoolId_t{},
	      made.allocated_at);
	count(own, made, true);
	blocks[ptr] = made;
	hold.unlock();
	report(ptr, made.device, made.bytes, true);
}

/* A live block, which is from now on, if it was not. Under the lock. */
record &allocator::listed(void *ptr)
{
	auto found = blocks.find(ptr);
	word own = word::of(ptr);

	if (found != blocks.end())
		return found->second;
	TORCH_CHECK(own, "only whole blocks can be sent");
	if (own.listed().set(ptr) != GPUMEM_OK)
		raise();
	return blocks[ptr] = known(ptr, own);
}

/* The record of a block that ends; which was listed or, while something is told
 * of it, not. A mempool has it back then. */
record allocator::take_off(void *ptr, word found, context where)
{
	auto address = reinterpret_cast<size_t>(ptr);
	record gone;
	std::unique_lock<std::mutex> hold(lock);
	auto at = blocks.find(ptr);

	if (at != blocks.end()) {
		gone = std::move(at->second);
		blocks.erase(at);
	} else {
		TORCH_CHECK(found, "invalid device pointer: ", ptr);
		hold.unlock();
		gone = known(ptr, found);
		hold.lock();
	}
	MempoolId_t id = gone.of ? gone.of->id : MempoolId_t{};
	device &own = *opened(gone.device);
	enter(own, action::FREE_REQUESTED, address, gone.requested, gone.on, id,
	      where);
	enter(own, action::FREE_COMPLETED, address, gone.requested, gone.on, id,
	      where);
	count(own, gone, false);
	if (gone.of && gone.uses.empty())
		gone.of->memory.give(static_cast<char *>(ptr));
	else if (gone.of)
		gone.of->pending.push_back(
			{static_cast<char *>(ptr), gone.uses, {}});
	return gone;
}

void allocator::unlist(void *ptr, word found, context where)
{
	record gone = take_off(ptr, found, where);

	gone.sent.reset();
	if (!gone.of)
		GPUMEM_IGNORE(gpumem_free_own(ptr));
	report(ptr, gone.device, gone.bytes, false);
}

} /* namespace gpumem_torch */
