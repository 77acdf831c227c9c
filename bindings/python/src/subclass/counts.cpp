/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Shares of threads, and how they are added up; see counts.hpp. */
#include "counts.hpp"

#include <algorithm>
#include <thread>

namespace gpumem_torch
{

constexpr int MOST_COUNTS = 64;

/* What one block counts, with its sign. */
struct amount {
	int64_t blocks, bytes, requested;
};

static void add_to(int64_t *of_kind, const amount &by)
{
	of_kind[BLOCKS] += by.blocks;
	of_kind[BYTES] += by.bytes;
	of_kind[REQUESTED] += by.requested;
}

/* False: of something there is less than nothing. */
static bool take_from(int64_t *of_kind, const amount &by)
{
	return ((of_kind[BLOCKS] -= by.blocks) | (of_kind[BYTES] -= by.bytes) |
		(of_kind[REQUESTED] -= by.requested)) >= 0;
}

/* Of one thread and device; the next thread takes it over as it is. */
struct alignas(64) counts::share {
	std::atomic<bool> locked{false};
	std::atomic<bool> taken{true}; /* by a thread */
	/* Its thread waits for the lock with a block, which who has it counts.
	 */
	std::atomic<bool> comes{false};
	kind coming_kind{};
	amount coming{};
	const counts *const counted;
	each_count<int64_t> left{}, granted{};
	each_count<int64_t> up{}; /* what came, by small and large only */
	share *next = nullptr;

	explicit share(const counts *whose) : counted(whose)
	{
	}

	bool try_lock()
	{
		return !locked.exchange(true, std::memory_order_acquire);
	}
	void lock()
	{
		for (int spins = 0; !try_lock();)
			if (++spins > 100)
				std::this_thread::yield();
	}
	void unlock()
	{
		locked.store(false, std::memory_order_release);
	}
	int64_t *left_of(kind in)
	{
		return &left[count_of(BLOCKS, in)];
	}
	/* A new block. False: that is more than was granted. Locked. */
	bool count(kind in, const amount &by)
	{
		bool enough = take_from(left_of(ALL), by);

		add_to(&up[count_of(BLOCKS, in)], by);
		return take_from(left_of(in), by) && enough;
	}
	/* The block of who waits. Locked. */
	bool count_coming()
	{
		if (!comes.load(std::memory_order_acquire))
			return true;
		comes.store(false, std::memory_order_relaxed);
		return count(coming_kind, coming);
	}
	/* As count(), by the share's thread, while others have it. Locked then.
	 */
	bool count_waiting(kind in, const amount &by)
	{
		coming_kind = in;
		coming = by;
		comes.store(true, std::memory_order_release);
		lock();
		return count_coming();
	}
};

/* ---- the share of a thread ---- */

/* Plain pointers: quick to find, and still there when the thread's destructors
 * have run, which free blocks too. `last` is the one that was used last: a
 * pointer of its own, so that it is found without a call. */
static thread_local void *mine[MOST_COUNTS];
static thread_local void *last __attribute__((tls_model("initial-exec")));

/* The destructor gives them to others. */
struct shares_of_thread {
	bool used = false;

	~shares_of_thread()
	{
		for (auto &each : mine) {
			if (each)
				static_cast<counts::share *>(each)->taken.store(
					false, std::memory_order_release);
			each = nullptr;
		}
		last = nullptr;
	}
};

counts::share &counts::take_share()
{
	static thread_local shares_of_thread returned;
	std::lock_guard<std::mutex> hold(mutex);
	share *found = first;

	returned.used = true;
	while (found && found->taken.exchange(true, std::memory_order_acquire))
		found = found->next;
	if (!found) {
		found = new share(this);
		found->next = first;
		first = found;
		share_count++;
	}
	mine[number] = found;
	return *found;
}

counts::share &counts::find_share()
{
	void *found = mine[number];

	if (!found)
		found = &take_share();
	last = found;
	return *static_cast<share *>(found);
}

inline counts::share &counts::own()
{
	auto *found = static_cast<share *>(last);

	return found && found->counted == this ? *found : find_share();
}

/* ---- counting ---- */

void counts::add(bool small, size_t bytes, size_t requested)
{
	const amount more = {1, int64_t(bytes), int64_t(requested)};
	kind in = small ? SMALL_ONES : LARGE_ONES;
	share &to = own();
	bool enough =
		to.try_lock() ? to.count(in, more) : to.count_waiting(in, more);

	to.unlock();
	if (!enough)
		grant(to);
}

void counts::remove(bool small, size_t bytes, size_t requested)
{
	const amount less = {1, int64_t(bytes), int64_t(requested)};
	kind in = small ? SMALL_ONES : LARGE_ONES;
	share &to = own();

	to.lock();
	add_to(to.left_of(ALL), less);
	add_to(to.left_of(in), less);
	to.unlock();
}

/* ---- what threads may count on their own ---- */

/* Where there is far more than all threads want, some for the next blocks. */
static int64_t generous(int64_t wanted, int64_t rest, size_t threads)
{
	constexpr int64_t AHEAD = 8;

	return rest / int64_t(4 * AHEAD * threads) > wanted
		       ? wanted + AHEAD * wanted
		       : wanted;
}

/* False, and nothing has changed: no more of something is left below its peak.
 * Under the mutex. */
bool counts::grant_rest(share &to)
{
	each_count<int64_t> wanted{};
	bool enough = true;

	to.lock();
	for (size_t i = 0; i < all.size(); i++) {
		int64_t rest = all[i].peak - all[i].current - granted[i];

		wanted[i] = std::max<int64_t>(0, -to.left[i]);
		enough &= wanted[i] <= rest;
		wanted[i] = generous(wanted[i], rest, share_count);
	}
	for (size_t i = 0; enough && i < all.size(); i++) {
		to.granted[i] += wanted[i];
		to.left[i] += wanted[i];
		granted[i] += wanted[i];
	}
	to.unlock();
	return enough;
}

void counts::grant(share &to)
{
	std::lock_guard<std::mutex> hold(mutex);

	if (!grant_rest(to))
		add_up();
}

/* What a share has goes to the sums. Both are locked. */
void counts::add_share(share &from)
{
	for (quantity of : {BLOCKS, BYTES, REQUESTED})
		from.up[count_of(of, ALL)] = from.up[count_of(of, SMALL_ONES)] +
					     from.up[count_of(of, LARGE_ONES)];
	for (size_t i = 0; i < all.size(); i++) {
		int64_t now = from.granted[i] - from.left[i];

		all[i].current += now;
		all[i].allocated += from.up[i];
		all[i].freed += from.up[i] - now;
		from.up[i] = from.granted[i] = from.left[i] = 0;
	}
}

/* All shares at one moment; what was granted is not any more. Under the mutex.
 */
void counts::add_up()
{
	for (share *each = first; each; each = each->next)
		each->lock();
	for (share *each = first; each; each = each->next) {
		(void)each->count_coming();
		add_share(*each);
	}
	for (tally &each : all)
		each.peak = std::max(each.peak, each.current);
	granted.fill(0);
	for (share *each = first; each; each = each->next)
		each->unlock();
}

/* ---- reading ---- */

tallies counts::read()
{
	std::lock_guard<std::mutex> hold(mutex);

	add_up();
	return all;
}

void counts::reset_peaks()
{
	std::lock_guard<std::mutex> hold(mutex);

	add_up();
	for (auto &each : all)
		each.peak = each.current;
}

void counts::reset_totals()
{
	std::lock_guard<std::mutex> hold(mutex);

	add_up();
	for (auto &each : all)
		each.allocated = each.freed = 0;
}

} /* namespace gpumem_torch */
