/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Limits of tags: what they count to the byte, on every path on which a block
 * gets or loses bytes; nested, lowered and taken away; with a driver that
 * fails; and what an allocation that is refused says, and leaves alone.
 */
#include "oom.h"
#include "tags.h"

static gpumem_pool *pool;
static gpumem_stream stream;
static uint32_t outer, inner, deep, other; /* lim, lim/in, lim/in/deep, oth */

static void limit(uint32_t tag, uint64_t bytes)
{
	must(gpumem_tag_set_limit(pool, tag, bytes));
}

static gpumem_status try(uint32_t tag, size_t bytes, void **ptr_out)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.tag = tag;
	return gpumem_alloc_with(pool, bytes, stream, &options, ptr_out, NULL);
}

static void *take(uint32_t tag, size_t bytes)
{
	void *ptr = NULL;

	must(try(tag, bytes, &ptr));
	return ptr;
}

static void refused(uint32_t tag, size_t bytes, const char *why)
{
	void *ptr = NULL;

	is_status(try(tag, bytes, &ptr), GPUMEM_LIMIT, "%s", why);
}

static void held(uint32_t tag, uint64_t limit_bytes, uint64_t held_bytes)
{
	struct gpumem_tag row = tag_row(pool, tag);

	ok(row.limit_bytes == limit_bytes && row.held_bytes == held_bytes,
	   "%s holds %llu of %llu, and %llu of %llu are right",
	   gpumem_tag_path(tag), (ull)row.held_bytes, (ull)row.limit_bytes,
	   (ull)held_bytes, (ull)limit_bytes);
}

/* As many as fit, to the byte; a byte more is one too many. */
static void test_exact(size_t bytes, const char *what)
{
	enum { FIT = 7 };
	void *ptr[FIT], *last;

	/* What a cache has ready is not under the limit. */
	for (unsigned i = 0; i < FIT; i++)
		ptr[i] = take(inner, bytes);
	for (unsigned i = 0; i < FIT; i++)
		must(gpumem_free(ptr[i], stream));
	limit(outer, FIT * bytes);
	for (unsigned i = 0; i < FIT; i++)
		ptr[i] = take(i % 2 ? inner : outer, bytes);
	refused(inner, 1, what);
	refused(outer, bytes, what);
	held(outer, FIT * bytes, FIT * bytes);
	tags_agree(pool);
	last = take(other, bytes);
	must(gpumem_free(last, stream));
	must(gpumem_free_own(ptr[0]));
	held(outer, FIT * bytes, (FIT - 1) * bytes);
	refused(outer, bytes + 1, "a byte too many");
	ptr[0] = take(deep, bytes);
	for (unsigned i = 0; i < FIT; i++)
		must(gpumem_free(ptr[i], i % 2 ? NULL : stream));
	held(outer, FIT * bytes, 0);
	limit(outer, 0);
	tags_agree(pool);
}

/* Blocks that are there count when a limit is set, also in threads' caches of
 * counts; below what there is nothing is added. */
static void test_lowered(void)
{
	void *ptr[4];

	for (unsigned i = 0; i < 4; i++)
		ptr[i] = take(i < 2 ? inner : deep, 1000);
	limit(inner, 2500);
	held(inner, 2500, 4000);
	refused(inner, 1, "below what is held");
	must(gpumem_free(ptr[0], stream));
	refused(inner, 1, "still below");
	must(gpumem_free(ptr[3], stream));
	refused(deep, 501, "too many");
	ptr[0] = take(deep, 500);
	held(inner, 2500, 2500);
	limit(inner, UINT64_MAX);
	ptr[3] = take(inner, 4 * MIB);
	held(inner, UINT64_MAX, 4 * MIB + 2500);
	limit(inner, 0);
	held(inner, 0, 0);
	for (unsigned i = 0; i < 4; i++)
		must(gpumem_free(ptr[i], stream));
	tags_agree(pool);
}

static void test_nested(void)
{
	void *ptr, *more;
	uint32_t late;

	limit(outer, 10000);
	limit(deep, 4000);
	ptr = take(deep, 4000);
	refused(deep, 1, "the inner one");
	held(outer, 10000, 4000);
	more = take(inner, 6000);
	must(gpumem_free(ptr, stream));
	ptr = take(outer, 1000);
	refused(deep, 3001, "the outer one");
	held(deep, 4000, 0);
	held(outer, 10000, 7000);
	must(gpumem_free(ptr, stream));
	must(gpumem_tag_intern("lim/in/late", &late));
	refused(late, 4001, "a tag that is made later");
	ptr = take(late, 4000);
	held(outer, 10000, 10000);
	limit(outer, 0);
	must(gpumem_free(take(inner, 100000), stream));
	held(deep, 4000, 0);
	limit(deep, 0);
	must(gpumem_free(ptr, stream));
	must(gpumem_free(more, stream));
	tags_agree(pool);
}

static void test_resize(size_t bytes)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	uint64_t usable;
	void *ptr;

	limit(outer, bytes + 10);
	ptr = take(inner, bytes);
	must(gpumem_resize(ptr, bytes + 10, stream, NULL));
	held(outer, bytes + 10, bytes + 10);
	is_status(gpumem_resize(ptr, bytes + 11, stream, NULL), GPUMEM_BUSY,
		  "beyond the limit");
	ok(strstr(last_text(), "limit of the block's tag"), "%s", last_text());
	must(gpumem_resize(ptr, 1, stream, NULL));
	held(outer, bytes + 10, 1);
	is_status(gpumem_resize(ptr, (size_t)1 << 60, stream, NULL),
		  GPUMEM_BUSY, "far beyond");
	held(outer, bytes + 10, 1);
	limit(outer, UINT64_MAX);
	is_status(gpumem_resize(ptr, (size_t)1 << 60, stream, NULL),
		  GPUMEM_BUSY, "what fails elsewhere is withdrawn");
	held(outer, UINT64_MAX, 1);
	must(gpumem_free(ptr, stream));
	options.tag = inner;
	options.flags = GPUMEM_ALLOC_WHOLE;
	must(gpumem_alloc_with(pool, bytes - 1, stream, &options, &ptr,
			       &usable));
	held(outer, UINT64_MAX, usable);
	must(gpumem_free(ptr, stream));
	limit(outer, 0);
}

static void test_aligned_and_graph(void)
{
	gpumem_graph *graph;
	void *ptr, *none = NULL;

	limit(outer, 3000);
	must(gpumem_tag_set(inner));
	must(gpumem_alloc_aligned(pool, 2000, 65536, stream, &ptr));
	is_status(gpumem_alloc_aligned(pool, 1001, 65536, stream, &none),
		  GPUMEM_LIMIT, "an aligned one");
	must(gpumem_free(ptr, stream));
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, stream));
	must(gpumem_host_capture(0, stream, true));
	must(gpumem_alloc(pool, 2000, stream, &ptr));
	is_status(gpumem_alloc(pool, 1001, stream, &none), GPUMEM_LIMIT,
		  "while capturing");
	must(gpumem_free(ptr, stream));
	held(outer, 3000, 0);
	must(gpumem_host_capture(0, stream, false));
	must(gpumem_graph_end(graph, stream));
	must(gpumem_graph_destroy(graph, stream));
	must(gpumem_tag_set(0));
	limit(outer, 0);
	tags_agree(pool);
}

/* A pool's limits are its own. */
static void test_pools(void)
{
	gpumem_pool *second = new_pool(0);
	void *ptr = NULL;

	limit(outer, 100);
	must(gpumem_tag_set(inner));
	must(gpumem_alloc(second, 5000, stream, &ptr));
	must(gpumem_free(ptr, stream));
	must(gpumem_tag_set(0));
	is_uint(tag_row(second, outer).limit_bytes, 0, "another pool has none");
	must(gpumem_pool_destroy(second, 0));
	limit(outer, 0);
}

/* Each driver call that memory takes fails once: what was promised is not kept.
 */
static void test_faults(void)
{
	char fault[40];
	void *ptr;
	unsigned failures = 0;

	limit(outer, 30 * MIB);
	for (unsigned n = 1; n < 8; n++) {
		(void)trim(pool);
		snprintf(fault, sizeof(fault), "page_create@%u:driver", n);
		must(gpumem_host_faults(fault));
		ptr = NULL;
		failures += try(inner, 25 * MIB, &ptr) != GPUMEM_OK;
		must(gpumem_host_faults(""));
		held(outer, 30 * MIB, ptr ? 25 * MIB : 0);
		must(gpumem_free(ptr, stream));
	}
	ok(failures, "%u failures", failures);
	must(gpumem_host_faults("page_create@1+"));
	(void)trim(pool);
	is_status(try(inner, 25 * MIB, &ptr), GPUMEM_NO_MEMORY, "no memory");
	is_int(told.oom.advice, GPUMEM_ADVICE_DRIVER, "is not the limit");
	must(gpumem_host_faults(""));
	held(outer, 30 * MIB, 0);
	limit(outer, 0);
	tags_agree(pool);
}

static bool pressed(gpumem_pool *of, const struct gpumem_pressure *pressure,
		    void *user)
{
	(void)of;
	(void)pressure;
	*(unsigned *)user += 1;
	return true;
}

static void test_told(void)
{
	void *ptr, *cached = take(other, 8 * MIB);
	unsigned calls = 0;
	uint64_t reserved;
	const char *at;

	must(gpumem_free(cached, stream));
	must(gpumem_pool_pressure_add(pool, pressed, &calls));
	limit(outer, 2 * MIB);
	limit(inner, 3 * MIB);
	ptr = take(inner, MIB + MIB / 2);
	reserved = reserved_of(pool);
	told.calls = 0;
	refused(deep, MIB, "a MiB");
	is_uint(told.calls, 1, "the program is told once");
	is_uint(calls, 0, "no pressure callback is called");
	is_uint(reserved_of(pool), reserved, "and nothing trimmed");
	is_uint(stats_of(pool).ooms, 1, "it is counted");
	ok(strstr(last_text(),
		  "tag \"lim\" holds 1.50 MiB of its limit of 2.00 "
		  "MiB: free blocks"),
	   "%s", last_text());
	ok(strstr(last_text(),
		  "the limit of tag \"lim\" is reached: out of memory for a"),
	   "and whose limit it is at once");
	is_int(told.oom.advice, GPUMEM_ADVICE_TAG_LIMIT, "the advice");
	is_uint(told.oom.fits_bytes, MIB / 2, "half a MiB would fit");
	ok(json_whole(told.json) && json_says(told.json, "advice", "tag_limit"),
	   "as a word too");
	at = strstr(told.json, "\"tag_limit\": {");
	ok(at && json_says(at, "tag", "lim") &&
		   json_number(at, "held_bytes") == MIB + MIB / 2 &&
		   json_number(at, "limit_bytes") == 2 * MIB,
	   "with the figures");
	must(gpumem_free(take(deep, told.oom.fits_bytes), stream));
	must(gpumem_free(ptr, stream));
	must(gpumem_pool_pressure_remove(pool, pressed, &calls));
	limit(outer, 0);
	limit(inner, 0);
}

/* The hook, tracking and a recording change nothing. */
static void test_tracked(void)
{
	void *ptr;

	must(gpumem_pool_track_begin(pool, 0));
	limit(outer, 3000);
	ptr = take(inner, 3000);
	refused(inner, 1, "tracked");
	must(gpumem_pool_track_end(pool));
	refused(inner, 1, "and not");
	must(gpumem_free(ptr, stream));
	held(outer, 3000, 0);
	limit(outer, 0);
	tags_agree(pool);
}

int main(void)
{
	alarm(scaled(120, 240));
	gpumem_oom_set(told_note, &told);
	device_start("256MiB", true);
	pool = new_pool(0);
	stream = new_stream();
	must(gpumem_tag_intern("lim", &outer));
	must(gpumem_tag_intern("lim/in", &inner));
	must(gpumem_tag_intern("lim/in/deep", &deep));
	must(gpumem_tag_intern("oth", &other));
	test_told();
	test_exact(300, "small blocks");
	test_exact(100000, "large blocks");
	test_exact(3 * MIB, "huge blocks");
	test_lowered();
	test_nested();
	test_resize(1000);
	test_resize(300000);
	test_aligned_and_graph();
	test_pools();
	test_faults();
	test_tracked();
	sound(pool, "sound");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all given back");
	return done_testing();
}
