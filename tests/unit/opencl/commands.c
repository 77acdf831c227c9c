/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The commands that the opencl backend queues: none of them too large, all
 * bytes covered once, and on queues without an order barriers around them. The
 * layer remembers them; nothing of such a size is really there.
 */
#include "layered.h"
#include <gpumem/backend.h>

enum {
	MAX_MEM_ALLOC_SIZE = 0x1010,
	GLOBAL_MEM_SIZE = 0x101F,
	EXTENSIONS = 0x1030,
	DEVICE_MEM_INTEL = 0x4191,
};

enum { MOVES = 64 };

#define BLOCK (UINT64_C(12) << 30)
#define HALF (BLOCK / 2)
#define PIECE (UINT64_C(256) << 20)
#define SOMEWHERE (UINT64_C(1) << 46) /* nobody looks there */

static const struct gpumem_backend *table;
static void *opened;
static int adopted;

/* Each piece begins where the one before ends, on both sides. */
static void covers(uint64_t to, uint64_t from, uint64_t bytes, const char *what)
{
	struct fakecl_move moves[MOVES];
	size_t count = cl.fakecl_moves(moves, MOVES);
	uint64_t done = 0;
	int wrong = 0;

	for (size_t i = 0; i < count; i++) {
		wrong += moves[i].bytes > PIECE;
		wrong += moves[i].to != to + done;
		wrong += from && moves[i].from != from + done;
		done += moves[i].bytes;
	}
	ok(!wrong && count > 1, "%s: %zu right pieces", what, count);
	is_uint(done, bytes, "are all of it");
}

/* What a command says of an address: it, or how far into the buffer. */
static void test_pieces(const char *memory, bool buffer)
{
	uint64_t address, base, bytes = HALF - 100;

	option("opencl.memory", memory);
	must(table->device_open(adopted, &opened));
	cl.fakecl_pretend(true);
	must(table->alloc(opened, BLOCK, &address));
	base = buffer ? 0 : address;
	must(table->fill(opened, address + 64, 7, bytes, queue[0]));
	covers(base + 64, 0, bytes, "a fill");
	must(table->copy(opened, address + 64, SOMEWHERE, bytes, queue[1]));
	covers(base + 64, SOMEWHERE, bytes, "a copy to it");
	must(table->copy(opened, SOMEWHERE, address + 64, bytes, queue[1]));
	covers(SOMEWHERE, base + 64, bytes, "a copy from it");
	must(table->copy(opened, address + HALF + 1, address + 2, bytes, NULL));
	covers(base + HALF + 1, base + 2, bytes, "a copy within it");
	is_status(table->copy(opened, address + HALF, address + 1, HALF, NULL),
		  GPUMEM_INVALID, "onto itself");
	is_status(table->copy(opened, address + 1, address + HALF, HALF, NULL),
		  GPUMEM_INVALID, "the other way");
	must(table->stream_sync(opened, NULL));
	must(table->free(opened, address, BLOCK));
	cl.fakecl_pretend(false);
	table->device_close(opened);
}

static void test_sizes(void)
{
	lie("clGetDeviceInfo", MAX_MEM_ALLOC_SIZE, &(uint64_t){2 * BLOCK}, 8);
	lie("clGetDeviceInfo", GLOBAL_MEM_SIZE, &(uint64_t){4 * BLOCK}, 8);
	test_pieces("buffer", true);
	test_pieces("svm", false);
	lie_text(EXTENSIONS, "cl_intel_unified_shared_memory");
	lie_u64(DEVICE_MEM_INTEL, 1);
	test_pieces("usm", false);
	cl.fakecl_be_honest();
}

static void queues(const char *expected, const char *what)
{
	char trail[1024];

	cl.fakecl_trail(trail, sizeof(trail));
	is_str(trail, expected, "%s", what);
}

#define BARRIER "BarrierWithWaitList"

/* PoCL keeps an order where it need not. */
static void test_order(void)
{
	char host[64] = "", other[64];
	void *event;
	uint64_t address;
	char trail[1024];

	option("opencl.memory", "buffer");
	must(table->device_open(adopted, &opened));
	must(table->alloc(opened, MIB, &address));
	must(table->event_create(opened, &event));
	cl.fakecl_trail(trail, sizeof(trail));
	must(table->fill(opened, address, 1, 1000, queue[0]));
	queues("FillBuffer", "a fill in order");
	must(table->fill(opened, address, 1, 1000, queue[1]));
	queues(BARRIER " FillBuffer " BARRIER, "a fill without order");
	must(table->copy(opened, address, (uintptr_t)host, 64, queue[1]));
	queues(BARRIER " WriteBuffer " BARRIER, "a write");
	must(table->copy(opened, (uintptr_t)host, address, 64, queue[1]));
	queues(BARRIER " ReadBuffer " BARRIER, "a read");
	must(table->copy(opened, address + 64, address, 64, queue[1]));
	queues(BARRIER " CopyBuffer " BARRIER, "a copy");
	must(table->copy(opened, (uintptr_t)other, (uintptr_t)host, 64,
			 queue[1]));
	queues(BARRIER " WriteBuffer " BARRIER " ReadBuffer " BARRIER
		       " " BARRIER,
	       "a copy of the host's");
	must(table->event_record(opened, event, queue[1]));
	queues("MarkerWithWaitList", "a marker for all of it");
	must(table->stream_wait(opened, queue[1], event));
	queues("MarkerWithWaitList " BARRIER, "and a barrier that waits");
	must(table->stream_wait(opened, queue[0], event));
	queues(BARRIER, "in order that alone");
	must(table->event_sync(opened, event));
	must(table->stream_sync(opened, queue[1]));
	must(table->event_destroy(opened, event));
	must(table->free(opened, address, MIB));
	table->device_close(opened);
}

int main(void)
{
	struct fakecl_held before;

	alarm(300);
	layered_start();
	must(gpumem_backend_table("opencl", &table));
	must(table->device_adopt(context, native, &adopted));
	cl.fakecl_audit(&before);
	test_sizes();
	test_order();
	is_int(left(&before), 0, "nothing is left");
	return done_testing();
}
