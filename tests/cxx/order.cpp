/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * device_buffer and its streams, on streams that are held: who gets its memory
 * next, and what is in it. Run by cxx.sh on the simulated GPU.
 */
#include <gpumem/gpumem.hpp>
#include <gpumem/host.h>

#include <cstdlib>
#include <unistd.h>
#include <vector>

#include "../tap.h"

using gpumem::buffer;
using gpumem::device_buffer;

static const size_t MIB = 1 << 20;

struct world {
	gpumem::device gpu;
	gpumem::pool pool{gpu, "order"};
	gpumem::stream a{gpu}, b{gpu};

	static void hold(gpumem_stream stream, bool on)
	{
		gpumem::check(gpumem_host_hold(0, stream, on));
	}

	/* What a block of that size on `stream` gets. */
	void *next(size_t bytes, gpumem_stream stream)
	{
		return buffer(pool, bytes, stream).data();
	}
};

static bool all(const std::vector<unsigned char> &bytes, unsigned char value)
{
	for (unsigned char byte : bytes)
		if (byte != value)
			return false;
	return true;
}

/* Freed on its stream, it is there at once; on another one only later. */
static void test_free(world &w)
{
	device_buffer first(w.pool, MIB, w.a);
	void *data = first.data();

	w.hold(w.a, true);
	first.fill(1);
	first = device_buffer(w.pool, w.a);
	is_ptr(w.next(MIB, w.a), data, "its own stream gets it at once");
	w.hold(w.a, false);
	w.a.sync();

	device_buffer second(w.pool, MIB, w.a);
	data = second.data();
	w.hold(w.b, true);
	second.set_stream(w.b);
	ok(second.stream() == w.b.get(), "it follows another stream");
	second.fill(2);
	second = device_buffer(w.pool, w.a);
	ok(w.next(MIB, w.a) != data, "which is waited for");
	w.hold(w.b, false);
	w.b.sync();

	device_buffer third(w.pool, MIB, w.a);
	third.set_stream(w.b);
	device_buffer moved(std::move(third));
	data = moved.data();
	w.hold(w.b, true);
	moved.fill(2);
	{
		device_buffer end(std::move(moved));
	}
	ok(w.next(MIB, w.a) != data, "also after moves");
	w.hold(w.b, false);
	w.b.sync();
}

/* A copy reads on its own stream what may be freed on another one. */
static void test_copy(world &w)
{
	std::vector<unsigned char> back(MIB);
	device_buffer from(w.pool, MIB, w.a);
	void *data = from.data();

	from.fill(3);
	w.a.sync();
	w.hold(w.b, true);
	device_buffer copy(from, w.b);
	from = device_buffer(w.pool, w.a);
	void *other = w.next(MIB, w.a);
	ok(other != data, "what is being copied is not given out");
	gpumem::check(gpumem_fill(w.gpu.get(), other, 9, 1, w.a));
	copy.read(back.data(), MIB);
	w.hold(w.b, false);
	w.b.sync();
	w.a.sync();
	ok(all(back, 3), "a copy has what was copied");
	device_buffer none(w.pool, w.a), nothing(none, w.b);
	ok(nothing.empty() && !nothing.data(), "a copy of nothing");
}

/* In place or by a move: the content stays. */
static void test_resize(world &w)
{
	std::vector<unsigned char> back(3 * MIB);
	const std::vector<unsigned char> part(MIB / 4, 4);
	device_buffer data(w.pool, w.a);
	size_t size = 0;

	while (size < 3 * MIB) {
		size_t more = size + part.size();
		buffer behind(w.pool, 100, w.a);

		data.resize(more);
		data.write(part.data(), part.size(), size);
		w.a.sync();
		size = more;
	}
	ok(data.size() == 3 * MIB && data.capacity() >= data.size(), "grown");
	data.read(back.data(), back.size());
	w.a.sync();
	ok(all(back, 4), "with all that was written");

	/* Something right behind it, so that it has to move. */
	buffer behind(w.pool, MIB, w.a);
	w.hold(w.a, true);
	data.fill(5);
	data.resize(200 * MIB);
	data.read(back.data(), back.size());
	w.hold(w.a, false);
	w.a.sync();
	ok(all(back, 5), "a move is behind what was queued before");

	data.resize(10);
	ok(data.size() == 10 && data.capacity() >= 200 * MIB,
	   "what shrinks keeps its block");
	data.shrink_to_fit();
	ok(data.capacity() >= 10 && data.capacity() < 200 * MIB,
	   "until it is told to shrink");
	data.reserve(MIB);
	ok(data.size() == 10 && data.capacity() >= MIB, "reserved");
	data.read(back.data(), 10);
	w.a.sync();
	back.resize(10);
	ok(all(back, 5), "the content is still there");
	device_buffer small(w.pool, 10, w.a);
	small.fill(5);
	small.reserve(MIB);
	small.read(back.data(), small.size());
	w.a.sync();
	ok(small.size() == 10 && small.capacity() >= MIB && all(back, 5),
	   "what moves to reserve has the same content");
	data.resize(0);
	data.shrink_to_fit();
	ok(!data.data() && data.capacity() == 0, "and nothing of nothing");
}

/* Other ends of a block: after an event, and on a stream that was named. */
static void test_events(world &w)
{
	gpumem::event event(w.gpu);
	buffer data(w.pool, MIB, w.a);
	void *before = data.data();

	ok(event.query(), "an event of nothing is over");
	w.hold(w.b, true);
	w.gpu.fill(data.data(), 6, MIB, w.b);
	event.record(w.b);
	ok(!event.query(), "an event of what is held is not");
	data.reset_after(event);
	ok(!data && w.next(MIB, w.a) != before, "an event keeps a block");
	gpumem::event imported(w.gpu, event.native());
	ok(!imported.query(), "an imported event stands for the same");
	w.hold(w.b, false);
	imported.sync();
	ok(event.query() && imported.query(), "and is over with it");

	unsigned char first = 0;
	device_buffer both(w.pool, MIB, w.b);
	w.hold(w.b, true);
	both.fill(7);
	event.record(w.b);
	w.a.wait(event);
	w.gpu.copy(&first, both.data(), 1, w.a);
	w.hold(w.b, false);
	w.a.sync();
	is_int(first, 7, "a stream waits for an event of another one");

	buffer used(w.pool, MIB, w.a);
	before = used.data();
	w.hold(w.b, true);
	w.gpu.fill(used.data(), 6, MIB, w.b);
	used.use_on(w.b);
	used.reset();
	ok(w.next(MIB, w.a) != before, "a stream that uses it keeps it too");
	w.hold(w.b, false);
	w.b.sync();
}

int main()
{
	world w;

	alarm(120);
	test_free(w);
	test_copy(w);
	test_resize(w);
	test_events(w);
	is_uint(w.pool.stats().blocks.current, 0, "nothing is left");
	return done_testing();
}
