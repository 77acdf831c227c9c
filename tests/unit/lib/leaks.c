/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tracking: what is known of live blocks, against a plain list, while they are
 * allocated, resized, used elsewhere and freed in every way, through caches and
 * past them; marks; begin and end in the middle; the program's hook beside it;
 * what reports and the BUSY of a pool say. The list is in leaks_list.h.
 */
#include "leaks_list.h"

enum { STEPS = 6000 };

static void test_random(void)
{
	unsigned bad = 0;
	uint64_t mark[2];

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < STEPS / 10; i++)
			step(false);
		bad += wrong();
		must(gpumem_pool_track_begin(pool, 0));
		bad += wrong();
		for (unsigned part = 0; part < 2; part++) {
			mark[part] = gpumem_leak_mark();
			for (unsigned i = 0; i < STEPS; i++) {
				step(true);
				bad += i % 1000 == 0 ? wrong() : 0;
			}
		}
		bad += wrong() + wrong_sums(0, 0) + wrong_sums(mark[0], 0) +
		       wrong_sums(mark[0], mark[1]) + wrong_sums(mark[1], 0) +
		       wrong_sums(0, mark[1]) +
		       wrong_sums(gpumem_leak_mark(), 0);
		sound(pool, "round %u", round);
		must(gpumem_pool_track_end(pool));
		for (size_t i = 0; i < BLOCKS; i++)
			list[i].from = list[i].to = 0;
		bad += wrong();
		drop_all();
	}
	is_uint(bad, 0, "all that should be known is, and nothing else");
}

/* ---- the hook beside ---- */

static unsigned told;

static void hear(gpumem_pool *of, const struct gpumem_hook_event *event,
		 void *user)
{
	told += of == pool && event->ptr && user == &told;
}

static void test_hook(void)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	void *ptr;

	told = 0;
	must(gpumem_pool_hook_set(pool, hear, &told));
	must(gpumem_pool_track_begin(pool, 0));
	ptr = new_block(pool, 1000, NULL);
	must(gpumem_query(ptr, &block));
	ok(told == 1 && block.serial, "the hook is called, the block known");
	must(gpumem_pool_track_end(pool));
	must(gpumem_free(ptr, NULL));
	is_uint(told, 2, "without tracking the hook goes on");
	must(gpumem_pool_track_begin(pool, 0));
	must(gpumem_pool_hook_set(pool, NULL, NULL));
	ptr = new_block(pool, 1000, NULL);
	must(gpumem_query(ptr, &block));
	ok(told == 2 && block.serial, "and without it tracking does");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_track_end(pool));
}

/* What is freed leaves the table: it does not grow with blocks that are gone.
 */
static void test_gone(void)
{
	uint64_t before;

	must(gpumem_pool_track_begin(pool, 0));
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	before = stats_of(pool).host_bytes;
	for (unsigned i = 0; i < 1000; i++)
		must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	is_uint(stats_of(pool).host_bytes, before,
		"a thousand blocks that are gone leave nothing");
	must(gpumem_pool_track_end(pool));
}

/* ---- two leaks between marks, by tag ---- */

static void test_marks(void)
{
	uint64_t first, second;
	void *ptr[5];

	must(gpumem_pool_track_begin(pool, 0));
	ptr[0] = new_block(pool, MIB, NULL);
	first = gpumem_leak_mark();
	must(gpumem_tag_push("steady"));
	ptr[1] = new_block(pool, 1000, NULL);
	ptr[2] = new_block(pool, 1000, NULL);
	must(gpumem_tag_pop());
	ptr[3] = new_block(pool, 3000, NULL);
	second = gpumem_leak_mark();
	ptr[4] = new_block(pool, 5000, NULL);
	leaks_read(pool, first, second);
	ok(leaks.count == 2 && leaks.blocks == 3 && leaks.live_blocks == 5 &&
		   leaks.live_bytes == MIB + 10000,
	   "between the marks: %llu of %llu blocks", leaks.blocks,
	   leaks.live_blocks);
	ok(!*leaks.group[0].tag && leaks.group[0].bytes == 3000,
	   "the largest comes first");
	is_str(leaks.group[1].tag, "steady", "then the tag's");
	ok(leaks.group[1].blocks == 2 && leaks.group[1].bytes == 2000,
	   "with its blocks");
	usleep(3000);
	leaks_read(pool, first, second);
	ok(leaks.group[1].oldest_ns >= 3000000, "and their age: %llu ns",
	   leaks.group[1].oldest_ns);
	must(gpumem_free(ptr[3], NULL));
	leaks_read(pool, first, second);
	is_uint(leaks.blocks, 2, "what is freed since is no leak");
	leaks_text(pool, first, second);
	ok(strstr(leaks.text, "since mark ") &&
		   strstr(leaks.text, "1.95 KiB in 2 blocks, tag \"steady\""),
	   "the text says so: %s", leaks.text);
	for (unsigned i = 0; i < 5; i++)
		if (i != 3)
			must(gpumem_free(ptr[i], NULL));
	must(gpumem_pool_track_end(pool));
	is_status(
		gpumem_pool_print_leaks(pool, first, 0, 0, leaks_write, &leaks),
		GPUMEM_INVALID, "a mark means nothing without tracking");
	is_status(gpumem_pool_print_leaks(pool, 0, second, 0, leaks_write,
					  &leaks),
		  GPUMEM_INVALID, "nor does a second one");
	leaks_text(pool, 0, 0);
	ok(strstr(leaks.text, "0 bytes in 0 live blocks") &&
		   strstr(leaks.text, "not tracked"),
	   "but the report is there: %s", leaks.text);
}

/* ---- the end of a pool, and the options ---- */

static void test_destroy(void)
{
	gpumem_pool *own;
	void *ptr[2];

	option("track", "on");
	option("track_frames", "0");
	own = new_pool(0);
	option("track", NULL);
	option("track_frames", NULL);
	must(gpumem_tag_push("weights"));
	ptr[0] = new_block(own, 70000, NULL);
	ptr[1] = new_block(own, 70000, NULL);
	must(gpumem_tag_pop());
	(void)new_block(own, 100, NULL);
	is_status(gpumem_pool_destroy(own, 0), GPUMEM_BUSY, "it has blocks");
	ok(strstr(last_text(), ": 140000 in 2 blocks of \"weights\", 100 in 1 "
			       "block"),
	   "the largest groups are named: %s", last_text());
	must(gpumem_free(ptr[0], NULL));
	must(gpumem_free(ptr[1], NULL));
	must(gpumem_pool_destroy(own, GPUMEM_DESTROY_FORCE));
}

static void test_arguments(void)
{
	is_status(gpumem_pool_track_begin(pool, GPUMEM_FRAMES_MAX + 1),
		  GPUMEM_INVALID, "too many frames");
	must(gpumem_pool_track_end(pool));
	is_status(gpumem_option_set("track", "2"), GPUMEM_INVALID,
		  "option track has two values");
	is_status(gpumem_option_set("track_frames", "-1"), GPUMEM_INVALID,
		  "and track_frames is a number");
	option("track", "on");
	option("track_frames", "18446744073709551615");
	must(gpumem_pool_destroy(new_pool(0), 0));
	option("track", NULL);
	option("track_frames", NULL);
}

static void all(bool vm)
{
	device_start("4GiB", vm);
	pool = new_pool(0);
	stream = new_stream();
	test_random();
	test_hook();
	test_gone();
	test_marks();
	test_destroy();
	test_arguments();
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left behind");
}

int main(void)
{
	alarm(240);
	all(true);
	all(false);
	return done_testing();
}
