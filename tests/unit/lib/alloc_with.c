/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Allocation with options: alignment, what a block really holds, and what
 * counts as requested; and the arguments that are refused. What the flags
 * forbid is in alloc_flags.c, zeroed blocks are in zero.c.
 */
#include "fixture.h"

static gpumem_pool *pool;

static const size_t sizes[] = {1,	    255,      256,	    257,
			       5000,	    16 * KIB, 16 * KIB + 1, 100 * KIB,
			       3 * MIB + 1, 40 * MIB};
static const size_t alignments[] = {0,	      1,	256,	4 * KIB,
				    16 * KIB, 32 * KIB, 2 * MIB};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct gpumem_alloc_options options(size_t alignment, uint32_t flags)
{
	struct gpumem_alloc_options all =
		GPUMEM_INIT(struct gpumem_alloc_options);

	all.alignment = alignment;
	all.flags = flags;
	return all;
}

/* What the call says, what the block says and what a query says are one. */
static bool agrees(const void *ptr, size_t bytes, uint32_t flags,
		   uint64_t usable)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	uint64_t holds = 0;

	must(gpumem_query(ptr, &block));
	must(gpumem_usable_bytes(ptr, &holds));
	return block.bytes == usable && holds == usable && usable >= bytes &&
	       block.requested_bytes ==
		       (flags & GPUMEM_ALLOC_WHOLE ? usable : bytes);
}

/* Twice, since the second one comes from the thread's cache. */
static bool one(size_t bytes, size_t alignment, uint32_t flags)
{
	struct gpumem_alloc_options all = options(alignment, flags);
	size_t least = alignment > 256 ? alignment : 256;
	bool right = true;

	for (int i = 0; i < 2; i++) {
		struct gpumem_stats before = stats_of(pool), live;
		uint64_t usable = 1;
		void *ptr = NULL;

		must(gpumem_alloc_with(pool, bytes, NULL, &all, &ptr, &usable));
		live = stats_of(pool);
		right &= agrees(ptr, bytes, flags, usable) &&
			 (uintptr_t)ptr % least == 0 &&
			 live.allocated.current ==
				 before.allocated.current + usable &&
			 live.requested.current - before.requested.current ==
				 (flags & GPUMEM_ALLOC_WHOLE ? usable : bytes);
		must(gpumem_free(ptr, NULL));
	}
	return right;
}

static void test_sizes(void)
{
	for (uint32_t flags = 0; flags <= GPUMEM_ALLOC_WHOLE;
	     flags += GPUMEM_ALLOC_WHOLE)
		for (size_t i = 0; i < COUNT(sizes); i++) {
			bool right = true;

			for (size_t k = 0; k < COUNT(alignments); k++)
				right &= one(sizes[i], alignments[k], flags);
			ok(right, "%zu bytes%s: all say what they hold",
			   sizes[i], flags ? ", the whole block" : "");
		}
	sound(pool, "sound");
}

/* Without options it is gpumem_alloc(), and shares its cache. */
static void test_plain(void)
{
	void *ptr = new_block(pool, 1000, NULL), *again = NULL;
	uint64_t usable = 0;

	must(gpumem_free(ptr, NULL));
	must(gpumem_alloc_with(pool, 1000, NULL, NULL, &again, NULL));
	is_ptr(again, ptr, "no options: a block of the same cache");
	must(gpumem_usable_bytes(again, &usable));
	is_uint(usable, 1024, "which holds what its class does");
	must(gpumem_free(again, NULL));
	usable = 7;
	must(gpumem_alloc_with(pool, 0, NULL, NULL, &ptr, &usable));
	ok(!ptr && !usable, "no bytes: NULL, which holds nothing");
	usable = 7;
	must(gpumem_usable_bytes(NULL, &usable));
	is_uint(usable, 0, "as NULL says itself");
}

static void refused(gpumem_pool *of, size_t bytes,
		    const struct gpumem_alloc_options *all,
		    gpumem_status status, const char *part)
{
	uint64_t usable = 7;
	void *ptr = &usable;

	is_status(gpumem_alloc_with(of, bytes, NULL, all, &ptr, &usable),
		  status, "refused: %s", part);
	ok(strstr(last_text(), part), "says: %s", last_text());
	ok(ptr == &usable && usable == 7, "no output is touched");
}

static void test_refused(void)
{
	struct gpumem_alloc_options all = options(768, 0);
	uint64_t usable = 7;
	char byte;

	refused(pool, 100, &all, GPUMEM_INVALID, "alignment 768");
	refused(pool, 0, &all, GPUMEM_INVALID, "alignment 768");
	all = options((size_t)1 << 31, 0);
	refused(pool, 100, &all, GPUMEM_INVALID, "up to 1 GiB");
	all = options(0, GPUMEM_ALLOC_WHOLE | 16);
	refused(pool, 100, &all, GPUMEM_INVALID, "0x10 is not known");
	all = options(0, 1u << 31);
	refused(pool, 0, &all, GPUMEM_INVALID, "is not known");
	refused(NULL, 100, NULL, GPUMEM_INVALID, "pool is NULL");
	is_status(gpumem_alloc_with(pool, 1, NULL, NULL, NULL, &usable),
		  GPUMEM_INVALID, "no pointer to it");
	is_status(gpumem_usable_bytes(&byte, NULL), GPUMEM_INVALID,
		  "no room for the answer");
	/* Rounding up must not wrap round. */
	for (size_t i = 0; i < 3; i++) {
		static const uint32_t flags[] = {0, GPUMEM_ALLOC_WHOLE,
						 GPUMEM_ALLOC_WHOLE |
							 GPUMEM_ALLOC_ZERO};

		all = options(0, flags[i]);
		refused(pool, SIZE_MAX, &all, GPUMEM_NO_MEMORY,
			" out of memory");
	}
	is_uint(usable, 7, "no output is touched");
	is_uint(stats_of(pool).blocks.current, 0, "nothing is live");
}

/* Of what is no live block nothing is said. */
static void test_bad(size_t bytes)
{
	gpumem_stream other = new_stream();
	char *ptr = new_block(pool, bytes, NULL);
	uint64_t usable = 7;

	is_status(gpumem_usable_bytes(ptr + 1, &usable), GPUMEM_BAD_POINTER,
		  "%zu bytes: inside a block", bytes);
	is_status(gpumem_usable_bytes(ptr + 256, &usable), GPUMEM_BAD_POINTER,
		  "a little further");
	is_status(gpumem_usable_bytes(&usable, &usable), GPUMEM_BAD_POINTER,
		  "not on the device");
	must(gpumem_use_on(ptr, other));
	must(gpumem_usable_bytes(ptr, &usable));
	ok(usable >= bytes, "a block that other streams use is one");
	usable = 7;
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_usable_bytes(ptr, &usable), GPUMEM_BAD_POINTER,
		  "a freed block: %s", last_text());
	is_uint(usable, 7, "no output is touched");
	must(gpumem_stream_destroy(device, other));
}

static void run(bool vm)
{
	device_start("1GiB", vm);
	pool = new_pool(0);
	test_sizes();
	test_plain();
	test_refused();
	test_bad(1000);
	test_bad(3 * MIB);
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
}

int main(void)
{
	alarm(60);
	run(true);
	run(false);
	return done_testing();
}
