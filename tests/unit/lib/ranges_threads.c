/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A hook of ranges while several threads allocate, free and trim, each on a
 * stream of its own, and another one comes and goes as a second hook: the
 * pool's lock is enough for what the hooks keep, and nothing is told twice or
 * not at all.
 */
#include "ranges.h"

enum { THREADS = 4, LIVE = 16 };

static struct table told, late;
static gpumem_pool *pool;
static _Atomic bool over;

static void hear(gpumem_pool *of, const struct gpumem_range *range, void *user)
{
	uintptr_t from = (uintptr_t)range->ptr;

	(void)of;
	touch(range);
	if (range->kind == GPUMEM_RANGE_MAPPED)
		add(user, from, from + range->bytes);
	else
		take(user, from, from + range->bytes);
}

/* All that it hears the first hook has heard, and no more in the end. */
static void hear_late(gpumem_pool *of, const struct gpumem_range *range,
		      void *user)
{
	uintptr_t from = (uintptr_t)range->ptr;

	hear(of, range, user);
	if (range->kind == GPUMEM_RANGE_MAPPED &&
	    !has(&told, from, from + range->bytes))
		wrong(user, "who comes late hears of other ranges");
}

static void *work(void *arg)
{
	gpumem_stream stream = arg;
	uint64_t state = (uintptr_t)arg;
	void *live[LIVE] = {NULL};

	for (long i = 0; i < scaled(2000, 200); i++) {
		void **at;

		state = state * 6364136223846793005u + 1442695040888963407u;
		at = &live[(state >> 33) % LIVE];
		if (*at)
			must(gpumem_free(*at, stream));
		*at = new_block(pool, (1 + (state >> 40) % 24) * MIB / 2,
				stream);
		if (i % 8 == 0)
			must(gpumem_pool_trim(pool, 0, NULL));
	}
	for (int i = 0; i < LIVE; i++)
		must(gpumem_free(live[i], stream));
	return NULL;
}

static void look(void)
{
	late.count = 0;
	must(gpumem_range_hook_add(pool, hear_late, &late));
	must(gpumem_range_hook_remove(pool, hear_late, &late));
}

/* What was there a moment ago, and is on its way perhaps. */
static void *come_and_go(void *unused)
{
	uint64_t turn = 0;

	(void)unused;
	while (!over) {
		struct piece piece;

		look();
		if (!late.count)
			continue;
		piece = late.of[turn++ % late.count];
		if (gpumem_range_pin(pool, (const void *)piece.from,
				     piece.to - piece.from,
				     "test") != GPUMEM_OK)
			continue;
		look();
		if (!has(&late, piece.from, piece.to))
			wrong(&late, "what is pinned is gone");
		must(gpumem_range_unpin(pool, (const void *)piece.from,
					piece.to - piece.from, "test"));
	}
	return NULL;
}

static void run(const char *name, bool vm)
{
	pthread_t thread[THREADS], visitor;
	gpumem_stream stream[THREADS];

	device_start("2GiB", vm);
	pool = new_pool(0);
	told = late = (struct table){0};
	over = false;
	must(gpumem_range_hook_add(pool, hear, &told));
	for (int i = 0; i < THREADS; i++) {
		stream[i] = new_stream();
		pthread_create(&thread[i], NULL, work, stream[i]);
	}
	pthread_create(&visitor, NULL, come_and_go, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	over = true;
	pthread_join(visitor, NULL);
	is_uint(told.wrong + late.wrong, 0, "%s: %s", name,
		told.wrong   ? told.how
		: late.wrong ? late.how
			     : "all is told once");
	ok(told.count > 0, "and some is left");
	must(gpumem_pool_destroy(pool, 0));
	is_uint(told.count, 0, "until the pool ends");
	for (int i = 0; i < THREADS; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	ok(device_end(), "all memory is back");
}

int main(void)
{
	alarm(300);
	/* Memory is on its way for a while. */
	option("host.latency", "unmap=100;free=100");
	run("pages", true);
	run("segments", false);
	return done_testing();
}
