/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the subclass of PyTorch's allocator counts, without PyTorch: peaks are
 * those of the sums of all threads, to the byte where their order is known, and
 * within what can have been live where it is not. Threads run under alarm().
 */
#include "../../bindings/python/src/subclass/counts.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace gpumem_torch;

static int tests, failures;

static void ok(bool holds, const char *what)
{
	failures += !holds;
	printf("%s %d - %s\n", holds ? "ok" : "not ok", ++tests, what);
}

static tally of(counts &from, quantity what, kind in)
{
	return from.read()[count_of(what, in)];
}

static void is(counts &from, kind in, int64_t blocks, int64_t current,
	       int64_t peak, const char *what)
{
	tally count = of(from, BLOCKS, in), bytes = of(from, BYTES, in);

	ok(count.current == blocks && bytes.current == current &&
		   bytes.peak == peak &&
		   bytes.allocated - bytes.freed == current,
	   what);
}

static void in_a_thread(void (*fn)(counts &), counts &with)
{
	std::thread(fn, std::ref(with)).join();
}

static void test_one_thread()
{
	static counts here(0);

	here.add(true, 512, 100);
	here.add(false, 2048, 2000);
	is(here, ALL, 2, 2560, 2560, "two blocks");
	is(here, SMALL_ONES, 1, 512, 512, "a small one");
	is(here, LARGE_ONES, 1, 2048, 2048, "a large one");
	here.remove(false, 2048, 2000);
	here.add(true, 1024, 1000);
	is(here, ALL, 2, 1536, 2560, "a peak of before");
	is(here, SMALL_ONES, 2, 1536, 1536, "and a new one");
	ok(of(here, REQUESTED, ALL).peak == 2100, "of what was requested");
	here.reset_peaks();
	is(here, ALL, 2, 1536, 1536, "a peak from now on");
	here.reset_totals();
	ok(of(here, BYTES, ALL).allocated == 0, "totals from now on");
}

/* A peak of each thread on its own would be higher with each step. */
static void test_handed_over()
{
	static counts here(1);

	for (int i = 0; i < 100; i++) {
		in_a_thread([](counts &in) { in.add(false, 4096, 4000); },
			    here);
		in_a_thread([](counts &in) { in.remove(false, 4096, 4000); },
			    here);
	}
	is(here, ALL, 0, 0, 4096, "one thread allocates, another frees");
	for (int i = 0; i < 1000; i++)
		here.add(true, 512, 512);
	for (int i = 0; i < 1000; i++)
		in_a_thread([](counts &in) { in.remove(true, 512, 512); },
			    here);
	for (int i = 0; i < 999; i++)
		here.add(true, 512, 512);
	is(here, ALL, 999, 999 * 512, 512000, "nearly the same again");
	here.add(true, 512, 512);
	is(here, ALL, 1000, 512000, 512000, "the same");
	here.add(true, 512, 512);
	is(here, ALL, 1001, 512512, 512512, "one more");
}

/* The destructors of a thread may free after its share was given back. */
struct late {
	counts *in;

	~late()
	{
		in->remove(true, 512, 512);
	}
};

static void test_ends()
{
	static counts here(2);

	for (int i = 0; i < 50; i++)
		in_a_thread(
			[](counts &in) {
				static thread_local late last{&in};

				(void)last.in;
				in.add(true, 512, 512);
				in.add(true, 512, 512);
			},
			here);
	is(here, ALL, 50, 50 * 512, 51 * 512, "blocks outlive their threads");
}

/* Returns how many blocks it had. */
static int64_t work(counts &in, unsigned long state, int steps)
{
	std::vector<size_t> mine;
	int64_t had = 0;

	for (int i = 0; i < steps; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		if (mine.size() < 8 && state & 1) {
			mine.push_back((state >> 8) % 64 * 512 + 512);
			in.add(mine.back() <= 4096, mine.back(), mine.back());
			had++;
		} else if (!mine.empty()) {
			in.remove(mine.back() <= 4096, mine.back(),
				  mine.back());
			mine.pop_back();
		}
	}
	for (size_t each : mine)
		in.remove(each <= 4096, each, each);
	return had;
}

/* Sums are made all the time, so that blocks often come during one. */
static void test_at_a_time()
{
	constexpr int THREADS = 4, STEPS = 400000;
	static counts here(3);
	std::vector<std::thread> all;
	std::atomic<int> running{THREADS};
	std::atomic<int64_t> had{0};
	bool right = true;

	for (unsigned long i = 1; i <= THREADS; i++)
		all.emplace_back([&, i] {
			had += work(here, i * 88172645463325252u, STEPS);
			running--;
		});
	for (int i = 0; i < 200 || running; i++) {
		tallies now = here.read();
		const tally &bytes = now[count_of(BYTES, ALL)];

		right &= bytes.current >= 0 && bytes.current <= bytes.peak &&
			 bytes.peak <= THREADS * 8 * 64 * 512 &&
			 bytes.current ==
				 now[count_of(BYTES, SMALL_ONES)].current +
					 now[count_of(BYTES, LARGE_ONES)]
						 .current &&
			 bytes.current == bytes.allocated - bytes.freed;
		if (i % 50 == 0)
			here.reset_peaks();
	}
	for (auto &each : all)
		each.join();
	ok(right, "what several threads count holds at every moment");
	ok(of(here, BYTES, ALL).current == 0 &&
		   of(here, BLOCKS, SMALL_ONES).current == 0,
	   "and at the end nothing is left");
	ok(of(here, BLOCKS, ALL).allocated == had,
	   "each block was counted once");
}

int main()
{
	alarm(120);
	test_one_thread();
	test_handed_over();
	test_ends();
	test_at_a_time();
	printf("1..%d\n", tests);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
