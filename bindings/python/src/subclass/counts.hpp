/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What of a device's memory PyTorch has, counted as it counts: blocks, and
 * their bytes, by small and large, each with its peak. Many threads count at a
 * time, and the peaks are those of their sums. Knows neither PyTorch nor a
 * device.
 *
 * A thread counts in a share of its own, which others lock only to add all up.
 * It may go up so far as it was granted, below the peak; beyond that all shares
 * are added up, and what no thread needs is granted anew. Who waits for that
 * has its block already, so it is counted before it waits; and so is the block
 * of a thread that comes while its share is locked. All that come during a sum
 * are in it, which makes the peak so high at once that nobody has to ask again.
 *
 *     of each count:   now == granted - left, of each share
 *                      0 <= left, but of one that waits
 *                      sum.current + granted of all shares <= sum.peak
 *     what there is == sum.current + now of all shares
 *
 * The mutex is over the list of shares, the sums and what is granted; the
 * lock of a share is over its other fields, and is taken last. Neither is held
 * while anything else is called.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_COUNTS_HPP
#define GPUMEM_PYTHON_SUBCLASS_COUNTS_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace gpumem_torch
{

/* As PyTorch's Stat. */
struct tally {
	int64_t current = 0, peak = 0, allocated = 0, freed = 0;
};

enum quantity { BLOCKS, BYTES, REQUESTED, QUANTITIES };
enum kind { ALL, SMALL_ONES, LARGE_ONES, KINDS };

template <class Each>
using each_count = std::array<Each, size_t(QUANTITIES) * size_t(KINDS)>;

constexpr size_t count_of(quantity of, kind in)
{
	return size_t(in) * size_t(QUANTITIES) + size_t(of);
}

using tallies = each_count<tally>;

class counts
{
      public:
	explicit counts(int device) : number(device)
	{
	}

	/* One block. */
	void add(bool small, size_t bytes, size_t requested);
	void remove(bool small, size_t bytes, size_t requested);

	tallies read();
	void reset_peaks();
	void reset_totals();

      private:
	struct share;
	friend struct shares_of_thread;

	const int number; /* of the device: 0 to 63, of no other counts */
	std::mutex mutex;
	share *first = nullptr; /* none is ever removed */
	size_t share_count = 0;
	tallies all;
	each_count<int64_t> granted{};

	share &own();
	share &find_share();
	share &take_share();
	void grant(share &to);
	bool grant_rest(share &to);
	void add_share(share &from);
	void add_up();
};

} /* namespace gpumem_torch */

#endif
