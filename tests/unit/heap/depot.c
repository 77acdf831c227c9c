/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The depot of an arena: what is put comes out again, once; shards are bounded,
 * found by others, and skipped while taken; threads lose and double nothing. */
#include "fixture.h"

enum { CLASS = 3, OTHER_CLASS = 4, THREADS = 4, BATCHES = 32, SHARDS = 16 };

static struct gm_depot depot;

/* Slots that are numbers: a depot looks at none of them. */
static void number(struct gm_slot *slot, unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		slot[i] = (struct gm_slot){.address = first + i,
					   .mark = (gm_mark *)&depot + i};
}

static unsigned wrong_slots(const struct gm_slot *slot, unsigned first,
			    unsigned count)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < count; i++)
		wrong += slot[i].address != first + i ||
			 slot[i].mark != (gm_mark *)&depot + i;
	return wrong;
}

static bool put(unsigned shard, unsigned first, unsigned count)
{
	struct gm_slot slot[GM_BATCH_SLOTS];

	number(slot, first, count);
	return gm_depot_put(&depot, shard, CLASS, slot, count);
}

static void test_one(void)
{
	struct gm_slot slot[GM_BATCH_SLOTS];

	is_uint(gm_depot_take(&depot, 0, CLASS, slot), 0, "there is nothing");
	ok(put(2, 100, 7), "some slots are put");
	is_uint(gm_depot_count(&depot, CLASS), 7, "and counted");
	is_uint(gm_depot_count(&depot, OTHER_CLASS), 0, "in their class");
	is_uint(gm_depot_take(&depot, 2, OTHER_CLASS, slot), 0,
		"the other class has none");
	is_uint(gm_depot_take(&depot, 9, CLASS, slot), 7,
		"a taker at another shard finds them");
	is_uint(wrong_slots(slot, 100, 7), 0, "as they were");
	is_uint(gm_depot_take(&depot, 2, CLASS, slot), 0, "once");
	is_uint(gm_depot_count(&depot, CLASS), 0, "none is left");
}

static void test_bounds(void)
{
	struct gm_slot slot[GM_BATCH_SLOTS];
	unsigned put_count = 0, have = 0, count;
	size_t bytes;

	while (put_count <= GM_SHARD_BATCHES && put(5, 0, GM_BATCH_SLOTS))
		put_count++;
	is_uint(put_count, GM_SHARD_BATCHES, "a shard holds so many batches");
	ok(gm_depot_put(&depot, 5, OTHER_CLASS, slot, 1),
	   "of each class for itself");
	ok(put(6, 0, 1), "and another shard more");
	bytes = gm_depot_host_bytes(&depot);
	ok(bytes >= (GM_SHARD_BATCHES + 2) * sizeof(struct gm_batch),
	   "their host memory is counted");
	while ((count = gm_depot_take(&depot, 5, CLASS, slot)))
		have += count;
	is_uint(have, GM_SHARD_BATCHES * GM_BATCH_SLOTS + 1, "all come out");
	ok(put(5, 0, 1) && gm_depot_host_bytes(&depot) == bytes,
	   "empty batches are used again");
	while (gm_depot_take(&depot, 0, CLASS, slot) ||
	       gm_depot_take(&depot, 0, OTHER_CLASS, slot))
		;
	gm_depot_shrink(&depot);
	is_uint(gm_depot_host_bytes(&depot), SHARDS * sizeof(struct gm_shard),
		"until they are given back");
}

static void test_taken(void)
{
	struct gm_slot slot[GM_BATCH_SLOTS];

	ok(put(1, 0, 1), "a slot is put");
	atomic_store(&depot.shard[1].taken, true);
	ok(!put(1, 1, 1), "a shard that is taken takes nothing");
	is_uint(gm_depot_take(&depot, 1, CLASS, slot), 0, "and gives nothing");
	ok(put(3, 2, 2), "the others work");
	is_uint(gm_depot_take(&depot, 1, CLASS, slot), 2, "as before");
	atomic_store(&depot.shard[1].taken, false);
	is_uint(gm_depot_take(&depot, 4, CLASS, slot), 1, "it is free again");
	gm_depot_shrink(&depot);
}

/* Each thread brings batches that bear its numbers, and takes what it finds. */
static _Atomic unsigned seen[THREADS * BATCHES * GM_BATCH_SLOTS];

static unsigned look(const struct gm_slot *slot, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		atomic_fetch_add(&seen[slot[i].address], 1);
	return count;
}

static void *trade(void *arg)
{
	unsigned self = *(unsigned *)arg, base = self * BATCHES, brought = 0;
	struct gm_slot slot[GM_BATCH_SLOTS];

	for (long i = 0; brought < BATCHES || i < scaled(200000, 20000); i++) {
		unsigned count = gm_depot_take(&depot, self, CLASS, slot);

		/* What was taken goes back, or is looked at for good. */
		if (count &&
		    (i % 3 || !gm_depot_put(&depot, self, CLASS, slot, count)))
			(void)look(slot, count);
		if (brought < BATCHES &&
		    put(self, (base + brought) * GM_BATCH_SLOTS,
			GM_BATCH_SLOTS))
			brought++;
	}
	return NULL;
}

static void test_threads(void)
{
	unsigned self[THREADS], wrong = 0, count;
	struct gm_slot slot[GM_BATCH_SLOTS];
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		self[i] = i;
		if (pthread_create(&thread[i], NULL, trade, &self[i]))
			bail("no thread");
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	while ((count = gm_depot_take(&depot, 0, CLASS, slot)))
		(void)look(slot, count);
	for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++)
		wrong += atomic_load(&seen[i]) != 1;
	is_uint(wrong, 0, "threads take each slot once");
	gm_depot_shrink(&depot);
}

/* Numbers of arenas: distinct, used again, and 0 when there are no more. */
static void test_numbers(void)
{
	static bool taken[GM_ARENA_NUMBERS];
	unsigned number, count = 0, wrong = 0;

	while ((number = gm_arena_number_take())) {
		wrong += number >= GM_ARENA_NUMBERS || taken[number];
		taken[number % GM_ARENA_NUMBERS] = true;
		count++;
	}
	is_uint(wrong, 0, "each number is new");
	is_uint(count, GM_ARENA_NUMBERS - 1, "all are given out but 0");
	is_uint(gm_arena_number_take(), 0, "then there is none");
	gm_arena_number_give(0);
	is_uint(gm_arena_number_take(), 0, "0 is no number");
	gm_arena_number_give(77);
	is_uint(gm_arena_number_take(), 77, "one given back is used again");
	for (number = 1; number < GM_ARENA_NUMBERS; number++)
		gm_arena_number_give(number);
}

int main(void)
{
	alarm(300);
	if (!gm_depot_init(&depot, SHARDS))
		bail("no memory");
	test_one();
	test_bounds();
	test_taken();
	test_threads();
	test_numbers();
	gm_depot_fini(&depot);
	ok(!depot.shard, "its end");
	return done_testing();
}
