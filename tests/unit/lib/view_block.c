/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * From the vendor's object back to the block, for a program whose free has only
 * that: among many, in several pools, and never to a block that has ended.
 */
#include "views.h"

static struct gpumem_block found;

static gpumem_status look(const void *view)
{
	found = GPUMEM_INIT(struct gpumem_block);
	return gpumem_view_block(device, view, &found);
}

/* What a query of the address says. */
static bool leads_to(const void *view, const void *ptr)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);

	must(gpumem_query(ptr, &block));
	return !look(view) && !memcmp(&found, &block, sizeof(block)) &&
	       found.ptr == ptr && found.state == GPUMEM_BLOCK_LIVE;
}

static void nothing(const void *view, const char *what)
{
	is_status(look(view), GPUMEM_BAD_POINTER, "%s leads nowhere: %s", what,
		  last_text());
	ok(!found.ptr, "no output is touched");
}

static void test_one(size_t bytes)
{
	gpumem_stream stream = new_stream(), other = new_stream();
	void *ptr = new_block(pool, bytes, stream), *view;
	struct gate gate = {0};

	nothing(&gate, "no view at all");
	view = view_of(ptr);
	ok(leads_to(view, ptr), "%zu bytes: the view leads to the block",
	   bytes);
	must(gpumem_use_on(ptr, other));
	must(gpumem_use_on(ptr, NULL));
	ok(leads_to(view, ptr), "also of a block that others use");
	sound(pool, "sound");
	gate_launch(&gate, other, NULL, 0);
	must(gpumem_free_own(found.ptr));
	nothing(view, "a block that is pending");
	gate_finish(&gate, other);
	(void)trim(pool);
	is_uint(gpumem_host_views(0), 0, "the view is gone");
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_stream_destroy(device, other));
}

/* Which the program holds beyond the end of its block. */
static void test_held(size_t bytes)
{
	void *ptr = new_block(pool, bytes, NULL), *view = view_of(ptr);

	gpumem_host_object_retain(view);
	must(gpumem_free(ptr, NULL));
	ok(quarantined() >= bytes, "%zu bytes in quarantine", bytes);
	nothing(view, "the view of a freed block");
	gpumem_host_object_release(view);
	(void)trim(pool);
	is_uint(quarantined(), 0, "which ends");
	nothing(view, "one that is gone");
	sound(pool, "sound");
}

/* The same number stands for another block later. */
static void test_again(void)
{
	void *last = NULL;
	int same = 0, wrong = 0;

	for (int i = 0; i < 500; i++) {
		void *ptr = new_block(pool, i % 2 ? 1000 : 3 * MIB, NULL);
		void *view = view_of(ptr);

		same += view == last;
		wrong += !leads_to(view, ptr);
		must(gpumem_free_own(found.ptr));
		wrong += look(view) != GPUMEM_BAD_POINTER;
		last = view;
	}
	is_int(wrong, 0,
	       "of 500 views one after the other, %d under the "
	       "number of the one before, all lead to theirs",
	       same);
}

/* Many at a time, in two pools, ending in another order. */
static void test_many(void)
{
	enum { MANY = 1500 };
	static void *ptr[MANY], *view[MANY];
	gpumem_pool *second = new_pool(0);
	int wrong = 0;

	for (int i = 0; i < MANY; i++) {
		ptr[i] = new_block(i % 3 ? pool : second,
				   i % 50 ? 300 : 100 * KIB, NULL);
		view[i] = view_of(ptr[i]);
	}
	for (int i = 0; i < MANY; i++)
		wrong += !leads_to(view[i], ptr[i]) ||
			 found.pool != (i % 3 ? pool : second);
	sound(pool, "sound with many");
	for (int i = 0; i < MANY; i++) {
		int k = i * 7 % MANY;

		must(look(view[k]));
		must(gpumem_free_own(found.ptr));
		view[k] = NULL;
		if (i % 100 == 0)
			for (int n = 0; n < MANY; n++)
				wrong += view[n] && !leads_to(view[n], ptr[n]);
	}
	is_int(wrong, 0, "%d views in two pools lead to their blocks",
	       (int)MANY);
	sound(second, "sound without");
	must(gpumem_pool_destroy(second, 0));
}

/* A view that could not be made leaves nothing to find. */
static void test_fault(void)
{
	void *ptr = new_block(pool, 1000, NULL), *view = NULL;

	must(gpumem_use_on(ptr, NULL));
	must(gpumem_host_faults("view_create@1:no_memory"));
	is_status(gpumem_view(ptr, &view), GPUMEM_NO_MEMORY, "no view is made");
	must(gpumem_host_faults(NULL));
	sound(pool, "sound without it");
	ok(leads_to(view_of(ptr), ptr), "the next one is found");
	must(gpumem_free(ptr, NULL));
}

static void test_refused(void)
{
	void *ptr = new_block(pool, 1000, NULL), *view = view_of(ptr);

	is_status(gpumem_view_block(NULL, view, &found), GPUMEM_INVALID,
		  "no device");
	is_status(gpumem_view_block(device, NULL, &found), GPUMEM_INVALID,
		  "no view");
	is_status(gpumem_view_block(device, view, NULL), GPUMEM_INVALID,
		  "no room for the answer");
	must(gpumem_free(ptr, NULL));
	end();
	option("host.objects", "off");
	device_start("1GiB", true);
	pool = new_pool(0);
	is_status(look(view), GPUMEM_UNSUPPORTED,
		  "memory of addresses has no views: %s", last_text());
	end();
	start("1GiB");
}

int main(void)
{
	alarm(60);
	start("1GiB");
	test_one(1000);
	test_one(3 * MIB);
	test_held(1000);
	test_held(3 * MIB);
	test_again();
	test_many();
	test_fault();
	test_refused();
	end();
	return done_testing();
}
