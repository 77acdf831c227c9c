/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tags: names and numbers, whose tag a block gets and keeps, and what is
 * counted by tag, against what the blocks say one by one: through the caches of
 * threads and past them, for small and large blocks, whoever frees them.
 */
#include "tags.h"

static gpumem_pool *pool;
static gpumem_stream stream;

/* ---- names ---- */

static void test_names(void)
{
	uint32_t model, layer, again, tag = 77;
	char name[300];

	is_uint(gpumem_tag_get(), 0, "a thread begins without a tag");
	is_status(gpumem_tag_pop(), GPUMEM_INVALID, "which cannot be taken");
	must(gpumem_tag_push("model"));
	model = gpumem_tag_get();
	must(gpumem_tag_push("layer"));
	layer = gpumem_tag_get();
	is_str(gpumem_tag_path(layer), "model/layer", "tags nest");
	must(gpumem_tag_intern("model/layer", &again));
	is_uint(again, layer, "a path is the same tag");
	must(gpumem_tag_pop());
	is_uint(gpumem_tag_get(), model, "the one around it");
	must(gpumem_tag_push("layer"));
	is_uint(gpumem_tag_get(), layer, "a name is made once");
	must(gpumem_tag_set(0));
	must(gpumem_tag_push("layer"));
	ok(gpumem_tag_get() != layer, "the same name elsewhere is another");
	must(gpumem_tag_pop());
	is_uint(gpumem_tag_get(), 0, "none is left");
	must(gpumem_tag_intern("a/b/c", &tag));
	is_str(gpumem_tag_path(tag), "a/b/c", "a path makes what it leads by");
	must(gpumem_tag_set(tag));
	must(gpumem_tag_pop());
	is_str(gpumem_tag_path(gpumem_tag_get()), "a/b", "which can be gone");
	must(gpumem_tag_set(0));
	is_ptr(gpumem_tag_path(0), NULL, "0 has no path");
	is_ptr(gpumem_tag_path(4096), NULL, "nor has a number of no tag");
	memset(name, 'x', sizeof(name));
	name[255] = '\0';
	must(gpumem_tag_intern(name, &tag));
	must(gpumem_tag_set(tag));
	is_status(gpumem_tag_push("y"), GPUMEM_INVALID, "too long a path");
	is_uint(gpumem_tag_get(), tag, "leaves the tag as it was");
	must(gpumem_tag_set(0));
	name[255] = 'x';
	name[256] = '\0';
	is_status(gpumem_tag_push(name), GPUMEM_INVALID, "and too long a name");
}

/* ---- blocks ---- */

static uint32_t tag_of(const void *ptr)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);

	must(gpumem_query(ptr, &block));
	return block.tag;
}

static void test_block(size_t bytes, const char *what)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	void *plain, *outer, *inner, *own;
	uint32_t tag;

	must(gpumem_tag_intern("own", &options.tag));
	plain = new_block(pool, bytes, stream);
	must(gpumem_tag_push("outer"));
	tag = gpumem_tag_get();
	outer = new_block(pool, bytes, stream);
	must(gpumem_tag_push("inner"));
	inner = new_block(pool, bytes, stream);
	must(gpumem_alloc_with(pool, bytes, stream, &options, &own, NULL));
	is_uint(tag_of(plain), 0, "%s: no tag", what);
	is_uint(tag_of(outer), tag, "the thread's");
	is_uint(tag_of(inner), gpumem_tag_get(), "a nested one");
	is_uint(tag_of(own), options.tag, "that of the call goes before it");
	tags_agree(pool);
	must(gpumem_free(plain, stream));
	must(gpumem_tag_set(0));
	must(gpumem_free(outer, stream));
	must(gpumem_free_own(inner));
	must(gpumem_free(own, NULL));
	tags_agree(pool);
	plain = new_block(pool, bytes, stream);
	is_uint(tag_of(plain), 0, "which goes with the block");
	must(gpumem_free(plain, stream));
	is_status(gpumem_free(outer, stream), GPUMEM_BAD_POINTER,
		  "freed twice");
}

static void test_shared(size_t bytes)
{
	void *ptr, *after;

	must(gpumem_tag_push("shared"));
	ptr = new_block(pool, bytes, stream);
	must(gpumem_use_on(ptr, NULL));
	is_uint(tag_of(ptr), gpumem_tag_get(), "a use on another stream");
	tags_agree(pool);
	must(gpumem_resize(ptr, bytes / 2, stream, NULL));
	is_uint(tag_of(ptr), gpumem_tag_get(), "and a resize leave the tag");
	tags_agree(pool);
	must(gpumem_free(ptr, stream));
	tags_agree(pool);
	after = new_block(pool, bytes, stream);
	must(gpumem_resize(after, bytes - 1, stream, NULL));
	must(gpumem_resize(after, bytes, stream, NULL));
	tags_agree(pool);
	must(gpumem_free(after, stream));
	must(gpumem_tag_pop());
	tags_agree(pool);
}

/* ---- peaks and totals of one thread, which are exact ---- */

static void test_gauges(void)
{
	struct gpumem_tag seen;
	void *ptr[40];
	uint32_t tag;

	must(gpumem_tag_push("gauges"));
	tag = gpumem_tag_get();
	for (unsigned i = 0; i < 40; i++)
		ptr[i] = new_block(pool, i % 2 ? 1000 : 100000, stream);
	for (unsigned i = 0; i < 40; i++)
		must(gpumem_free(ptr[i], stream));
	seen = tag_row(pool, tag);
	is_uint(seen.bytes.peak, 20 * 101000, "the peak of bytes");
	is_uint(seen.blocks.peak, 40, "and of blocks");
	is_uint(seen.bytes.total, 20 * 101000, "the total of bytes");
	is_uint(seen.blocks.total, 40, "and of blocks");
	is_uint(seen.bytes.current + seen.blocks.current, 0, "nothing lives");
	ptr[0] = new_block(pool, 5, stream);
	must(gpumem_pool_reset_stats(pool, 0));
	seen = tag_row(pool, tag);
	ok(seen.bytes.peak == 5 && seen.blocks.peak == 1 &&
		   seen.bytes.total == 20 * 101000 + 5,
	   "a reset makes peaks current");
	must(gpumem_pool_reset_stats(pool, GPUMEM_RESET_TOTALS));
	seen = tag_row(pool, tag);
	ok(!seen.bytes.total && !seen.blocks.total && seen.bytes.current == 5,
	   "and totals 0");
	must(gpumem_resize(ptr[0], 200, stream, NULL));
	must(gpumem_resize(ptr[0], 50, stream, NULL));
	seen = tag_row(pool, tag);
	ok(seen.bytes.current == 50 && seen.bytes.peak == 200 &&
		   seen.bytes.total == 195 && !seen.blocks.total,
	   "a resize counts as in all");
	must(gpumem_free(ptr[0], stream));
	must(gpumem_tag_pop());
}

/* ---- other paths ---- */

static void nothing(gpumem_pool *of, const struct gpumem_hook_event *event,
		    void *user)
{
	(void)of;
	(void)event;
	(void)user;
}

static void test_hooked(void)
{
	void *small, *large;

	must(gpumem_tag_push("hooked"));
	must(gpumem_pool_hook_set(pool, nothing, NULL));
	small = new_block(pool, 300, stream);
	large = new_block(pool, MIB, stream);
	tags_agree(pool);
	must(gpumem_pool_hook_set(pool, NULL, NULL));
	must(gpumem_free(small, stream));
	must(gpumem_free(large, stream));
	tags_agree(pool);
	must(gpumem_tag_pop());
}

static bool stop_at_once(const struct gpumem_tag *tag, void *user)
{
	*(unsigned *)user += 1;
	return tag == NULL;
}

static void test_visit(void)
{
	gpumem_pool *fresh = new_pool(0);
	unsigned calls = 0;

	must(gpumem_tag_visit(fresh, stop_at_once, &calls));
	is_uint(calls, 1, "a walk that is stopped");
	tags_read(fresh);
	is_uint(tags_seen, 1, "a pool without tags has one row");
	must(gpumem_pool_destroy(fresh, 0));
}

/* What is live, in the sentences of a pool that cannot end and of one that has
 * no more. */
static void test_sentences(void)
{
	gpumem_pool *limited = new_pool(16 * MIB);
	void *kv, *plain, *more[3], *none = NULL;
	char name[200];

	memset(name, 'p', sizeof(name));
	memcpy(name + 190, " the end", sizeof(" the end"));
	plain = new_block(limited, 1000, NULL);
	is_status(gpumem_pool_destroy(limited, 0), GPUMEM_BUSY, "one block");
	ok(strstr(last_text(), "1 live block (1024 bytes): 1000 at 0x") &&
		   !strstr(last_text(), "of \""),
	   "%s", last_text());
	must(gpumem_tag_push("kv"));
	kv = new_block(limited, 8 * MIB, stream);
	must(gpumem_tag_set(0));
	is_status(gpumem_pool_destroy(limited, 0), GPUMEM_BUSY, "another");
	ok(strstr(last_text(), "8388608 at 0x") &&
		   strstr(last_text(), " of \"kv\"") &&
		   strstr(last_text(), "1000 at 0x"),
	   "%s", last_text());
	is_status(gpumem_alloc(limited, 12 * MIB, stream, &none), GPUMEM_LIMIT,
		  "no more");
	ok(strstr(last_text(), "; most by tag: 8.00 MiB \"kv\", 1000 bytes "
			       "without one"),
	   "%s", last_text());
	must(gpumem_free(kv, stream));
	must(gpumem_tag_push(name));
	kv = new_block(limited, 8 * MIB, stream);
	must(gpumem_tag_set(0));
	is_status(gpumem_alloc(limited, 12 * MIB, stream, &none), GPUMEM_LIMIT,
		  "with a long path");
	ok(strstr(last_text(), "MiB \"...pppp") &&
		   strstr(last_text(), "ppp the end\", 1000 bytes"),
	   "%s", last_text());
	must(gpumem_free(kv, stream));
	must(gpumem_tag_push("outer"));
	for (unsigned i = 0; i < 3; i++)
		more[i] = new_block(limited, 2000 + i, NULL);
	must(gpumem_tag_set(0));
	is_status(gpumem_pool_destroy(limited, 0), GPUMEM_BUSY, "four blocks");
	ok(strstr(last_text(), "4 live blocks (") &&
		   strstr(last_text(), " of \"outer\", and others"),
	   "%s", last_text());
	for (unsigned i = 0; i < 3; i++)
		must(gpumem_free(more[i], NULL));
	must(gpumem_free(plain, NULL));
	must(gpumem_pool_destroy(limited, 0));
}

/* The table is full: what is in it still serves. */
static void test_full(void)
{
	gpumem_status status = GPUMEM_OK;
	uint32_t tag = 0;
	char name[32];
	void *ptr;

	for (unsigned i = 0; i < 5000 && !status; i++) {
		snprintf(name, sizeof(name), "number %u", i);
		status = gpumem_tag_intern(name, &tag);
	}
	is_status(status, GPUMEM_NO_HOST_MEMORY, "there is an end");
	is_uint(tag, 4095, "after 4095");
	ok(strstr(last_text(), "4095 tags already"), "%s", last_text());
	must(gpumem_tag_push("model"));
	is_status(gpumem_tag_push("and one more"), GPUMEM_NO_HOST_MEMORY,
		  "nor is one pushed");
	is_str(gpumem_tag_path(gpumem_tag_get()), "model", "the tag stays");
	must(gpumem_tag_set(tag));
	ptr = new_block(pool, 1000, stream);
	tags_agree(pool);
	must(gpumem_free(ptr, stream));
	must(gpumem_tag_set(0));
	tags_agree(pool);
}

int main(void)
{
	device_start("1GiB", true);
	pool = new_pool(0);
	stream = new_stream();
	test_names();
	/* The first of each goes the slow way, later ones through caches. */
	for (unsigned i = 0; i < 3; i++) {
		test_block(1000, "a small block");
		test_block(16384, "the largest small block");
		test_block(100000, "a large block");
		test_block(40 * MIB, "a huge block");
	}
	for (unsigned i = 0; i < 2; i++) {
		test_shared(1000);
		test_shared(300000);
	}
	test_gauges();
	test_hooked();
	test_visit();
	test_sentences();
	test_full();
	sound(pool, "sound");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "all given back");
	return done_testing();
}
