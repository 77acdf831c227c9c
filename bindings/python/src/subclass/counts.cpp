/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Shares of threads, and how they are added up; see counts.hpp. */
#include "counts.hpp"

#include <algorithm>
#include <thread>

namespace gpumem_torch
{

constexpr int MOST_COUNTS = 64;

/* Of one thread and device; the next thread takes it over as it is. */
struct alignas(64) counts::share {
	std::atomic<bool> locked{false};
	std::atomic<bool> taken{true}; /* by a thread */
	each_count<int64_t> now{}, granted{};
	each_count<int64_t> up{}; /* of `now`, what came */
	share *next = nullptr;

	void lock()
	{
		for (int spins = 0;
		     locked.exchange(true, std::memory_order_acquire);)
			if (++spins > 100)
				std::this_thread::yield();
	}
	void unlock()
	{
		locked.store(false, std::memory_order_release);
	}
};

/* ---- the share of a thread ---- */

/* Plain pointers: quick to find, and still there when the thread's destructors
 * have run, which free blocks too. */
static thread_local void *mine[MOST_COUNTS];

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
		found = new share;
		found->next = first;
		first = found;
		share_count++;
	}
	mine[number] = found;
	return *found;
}

inline counts::share &counts::own()
{
	void *found = mine[number];

	return found ? *static_cast<share *>(found) : take_share();
}

/* ---- counting ---- */

void counts::add(bool small, size_t bytes, size_t requested)
{
	const int64_t more[QUANTITIES] = {1, int64_t(bytes),
					  int64_t(requested)};
	share &to = own();
	bool enough = true;

	to.lock();
	for (int of = 0; of < QUANTITIES; of++)
		for (kind in : {ALL, small ? SMALL_ONES : LARGE_ONES}) {
			size_t i = count_of(quantity(of), in);

			to.up[i] += more[of];
			to.now[i] += more[of];
			enough &= to.now[i] <= to.granted[i];
		}
	to.unlock();
	if (!enough)
		grant(to);
}

void counts::remove(bool small, size_t bytes, size_t requested)
{
	const int64_t less[QUANTITIES] = {1, int64_t(bytes),
					  int64_t(requested)};
	share &to = own();

	to.lock();
	for (int of = 0; of < QUANTITIES; of++)
		for (kind in : {ALL, small ? SMALL_ONES : LARGE_ONES})
			to.now[count_of(quantity(of), in)] -= less[of];
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

		wanted[i] = std::max<int64_t>(0, to.now[i] - to.granted[i]);
		enough &= wanted[i] <= rest;
		wanted[i] = generous(wanted[i], rest, share_count);
	}
	for (size_t i = 0; enough && i < all.size(); i++) {
		to.granted[i] += wanted[i];
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

/* All shares at one moment; what was granted is not any more. Under the mutex.
 */
void counts::add_up()
{
	for (share *each = first; each; each = each->next)
		each->lock();
	for (size_t i = 0; i < all.size(); i++) {
		granted[i] = 0;
		for (share *each = first; each; each = each->next) {
			all[i].current += each->now[i];
			all[i].allocated += each->up[i];
			all[i].freed += each->up[i] - each->now[i];
			each->now[i] = each->up[i] = each->granted[i] = 0;
		}
		all[i].peak = std::max(all[i].peak, all[i].current);
	}
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
