/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem keeps of each of its own blocks for this allocator, in the word
 * of the caller's: a number, so that there is nothing to free.
 *
 *     bit 0      1
 *     bit 1      more is known of the block: it is listed, under the lock
 *     bits 2-7   the device
 *     bits 8-63  the bytes that were requested
 *
 * A mempool's blocks are parts of gpumem's, which have none. No lock: the word
 * is the block's owner's.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_WORD_HPP
#define GPUMEM_PYTHON_SUBCLASS_WORD_HPP

#include <gpumem/gpumem.h>

#include <cstdint>

namespace gpumem_torch
{

class word
{
      public:
	word() = default;
	word(int device, size_t requested)
	    : bits(uint64_t(requested) << 8 | uint64_t(device) << 2 | OURS)
	{
	}

	/* Of the block that begins there; none of what is no such block. */
	static word of(const void *ptr)
	{
		void *user = nullptr;
		word found;

		if (gpumem_block_get_user(ptr, &user) == GPUMEM_OK)
			found.bits = reinterpret_cast<uintptr_t>(user);
		return found;
	}

	gpumem_status set(void *ptr) const
	{
		return gpumem_block_set_user(
			ptr, reinterpret_cast<void *>(uintptr_t(bits)));
	}

	/* Is it of a block of gpumem's own? */
	explicit operator bool() const
	{
		return bits & OURS;
	}
	bool is_listed() const
	{
		return bits & LISTED;
	}
	int device() const
	{
		return int(bits >> 2 & 63);
	}
	size_t requested() const
	{
		return size_t(bits >> 8);
	}
	word listed() const
	{
		word made;

		made.bits = bits | LISTED;
		return made;
	}

      private:
	static constexpr uint64_t OURS = 1, LISTED = 2;

	uint64_t bits = 0;
};

} /* namespace gpumem_torch */

#endif
