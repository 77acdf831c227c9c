/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The function that the program has set is told of an out of memory: once for
 * each allocation that fails, with what was asked for, and without a word that
 * changes the error. The file of option `oom` is in oom_file.c, which advice
 * fits which state in advice.c.
 */
#include "oom.h"

/* ---- how often, and with what ---- */

static void test_request(void)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	gpumem_pool *pool = named_pool("of \"quotes\\", 16 * MIB);
	gpumem_stream stream = new_stream();
	const char *request;
	void *ptr = new_block(pool, 6 * MIB, stream), *none = NULL;

	must(gpumem_tag_intern("model/layer", &options.tag));
	options.alignment = 4096;
	is_status(gpumem_alloc_with(pool, 11 * MIB, stream, &options, &none,
				    NULL),
		  GPUMEM_LIMIT, "beyond the limit");
	is_uint(told.calls, 1, "one call for one failure");
	ok(told.oom.pool == pool && told.oom.stream == stream &&
		   told.oom.status == GPUMEM_LIMIT &&
		   told.oom.bytes == 11 * MIB && told.oom.alignment == 4096 &&
		   told.oom.tag == options.tag && !told.oom.flags,
	   "with the request");
	ok(told.oom.requested_bytes == 6 * MIB &&
		   told.oom.limit_bytes == 16 * MIB &&
		   told.oom.reserved_bytes == reserved_of(pool) &&
		   told.oom.free_bytes == stats_of(pool).free_bytes,
	   "and the pool's figures");
	is_uint(told.oom.fits_bytes, 10 * MIB, "10 MiB would have fit");
	is_str(told.text, last_text(), "and the sentence");
	ok(json_whole(told.json), "the JSON is one object");
	ok(!strchr(told.json, '\n'), "on one line");
	request = strstr(told.json, "\"request\": ");
	ok(json_number(request, "bytes") == 11 * MIB &&
		   json_number(request, "need_bytes") == 12 * MIB &&
		   json_number(request, "alignment") == 4096 &&
		   json_number(request, "stream") == (uintptr_t)stream &&
		   json_says(request, "tag", "model/layer") &&
		   !json_number(request, "no_wait"),
	   "which says the same");
	ok(json_says(told.json, "status", "GPUMEM_LIMIT") &&
		   json_says(told.json, "device", "host:0") &&
		   strstr(told.json, "\"pool\": \"of \\\"quotes\\\\\"") &&
		   json_number(told.json, "fits_bytes") == 10 * MIB &&
		   json_number(told.json, "pid") == (ull)getpid(),
	   "of pool, device and process");
	is_uint(json_number(strstr(told.json, "\"table\": "), "total_bytes"),
		64 * MIB, "and has the table of the device");
	options.flags = GPUMEM_ALLOC_NO_WAIT;
	is_status(gpumem_alloc_with(pool, 11 * MIB, stream, &options, &none,
				    NULL),
		  GPUMEM_LIMIT, "once more, without a wait");
	ok(told.calls == 2 && told.oom.flags == GPUMEM_ALLOC_NO_WAIT &&
		   json_number(told.json, "no_wait") == 1,
	   "the flags are told");
	is_uint(stats_of(pool).ooms, told.calls, "as often as is counted");
	must(gpumem_free(ptr, stream));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
}

static void *spare;

static bool free_spare(gpumem_pool *pool,
		       const struct gpumem_pressure *pressure, void *user)
{
	(void)pool;
	(void)pressure;
	(void)user;
	must(gpumem_free(spare, NULL));
	spare = NULL;
	return true;
}

/* What is helped is no failure. */
static void test_helped(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	unsigned calls = told.calls;
	void *ptr = NULL;

	must(gpumem_pool_pressure_add(pool, free_spare, NULL));
	spare = new_block(pool, 12 * MIB, NULL);
	is_status(gpumem_alloc(pool, 10 * MIB, NULL, &ptr), GPUMEM_OK,
		  "a callback has made room");
	is_uint(told.calls, calls, "and nobody is told");
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_alloc(NULL, 10 * MIB, NULL, &ptr), GPUMEM_INVALID,
		  "nor is it one to ask for nothing that there is");
	is_uint(told.calls, calls, "nobody is told");
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- what the function may do ---- */

static unsigned depth, deepest;

/* Everything, and what fails in it changes nothing outside. */
static void act(const struct gpumem_oom *oom, void *user)
{
	void *ptr = NULL;

	depth++;
	if (depth > deepest)
		deepest = depth;
	told_note(oom, user);
	is_status(gpumem_alloc(oom->pool, oom->bytes, oom->stream, &ptr),
		  GPUMEM_LIMIT, "it fails again in here");
	is_status(gpumem_alloc(oom->pool, oom->fits_bytes, oom->stream, &ptr),
		  GPUMEM_OK, "what is said to fit fits");
	must(gpumem_free(ptr, oom->stream));
	must(gpumem_pool_check(oom->pool));
	must(gpumem_pool_trim(oom->pool, 0, NULL));
	is_status(gpumem_pool_set_limit(oom->pool, 1), GPUMEM_INVALID,
		  "another error");
	gpumem_oom_set(told_note, &told);
	depth--;
}

static void test_act(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	void *ptr = new_block(pool, 6 * MIB, NULL), *none = NULL;
	unsigned calls = told.calls;

	gpumem_oom_set(act, &told);
	is_status(gpumem_alloc(pool, 11 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "beyond the limit");
	is_uint(told.calls, calls + 1, "told once");
	is_uint(deepest, 1, "and never inside itself");
	is_str(last_text(), told.text, "the error is that of the allocation");
	is_status(gpumem_alloc(pool, 11 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "again");
	is_uint(told.calls, calls + 2, "another function was set in the first");
	gpumem_oom_set(NULL, NULL);
	is_status(gpumem_alloc(pool, 11 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "and again");
	is_uint(told.calls, calls + 2, "and none now");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	gpumem_oom_set(told_note, &told);
}

/* ---- blocks that pin, and tags ---- */

/* Each of four handles has a block of 1 MiB, 300 KiB or 100 bytes of a slab, or
 * is full. */
static void test_pins(bool vm)
{
	static const size_t sizes[] = {MIB, 300 * KIB, 2 * MIB, 100};
	static const char *const tags[] = {"one", "two", "full", "small"};
	gpumem_pool *pool = new_pool(64 * MIB);
	void *filler[4], *kept[4], *none = NULL;
	const char *at;
	ull last = UINT64_MAX;
	int found = 0;

	for (int i = 0; i < 4; i++) {
		/* What is freed behind it is the rest of its page. */
		must(gpumem_tag_push(tags[i]));
		kept[i] = new_block(pool, sizes[i], NULL);
		must(gpumem_tag_pop());
		filler[i] = new_block(pool, 5 * MIB, NULL);
	}
	for (int i = 0; i < 4; i++)
		must(gpumem_free(filler[i], NULL));
	is_status(gpumem_alloc(pool, 63 * MIB, NULL, &none), GPUMEM_LIMIT,
		  "%s: more than there is", vm ? "pages" : "segments");
	at = strstr(told.json, "\"pins\": [");
	ok(at != NULL, "there is a list of them");
	while (at && (at = strstr(at + 1, "{\"ptr\": "))) {
		uintptr_t ptr = (uintptr_t)json_number(at, "ptr");
		ull free_bytes = json_number(at, "free_bytes");

		for (int i = 0; i < 4; i++) {
			if ((uintptr_t)kept[i] != ptr)
				continue;
			ok(json_number(at, "bytes") == sizes[i] &&
				   json_says(at, "tag", tags[i]),
			   "%s pins %llu bytes", tags[i], free_bytes);
			found++;
		}
		ok(free_bytes && free_bytes <= last &&
			   free_bytes < json_number(at, "unit_bytes"),
		   "the largest first");
		last = free_bytes;
	}
	ok(found > 0, "%d of the blocks pin memory", found);
	at = strstr(told.json, "\"tags\": [");
	ok(json_says(at, "tag", "full") && json_number(at, "bytes") == 2 * MIB,
	   "the largest tag is the first");
	ok(json_whole(told.json), "the JSON is whole");
	for (int i = 0; i < 4; i++)
		must(gpumem_free(kept[i], NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* ---- other pools ---- */

static void test_pools(void)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	gpumem_stream stream = new_stream();
	gpumem_pool *idle, *pool;
	struct gate gate;
	void *ptr;

	option("wait", "off");
	idle = named_pool("idle", 0);
	pool = named_pool("b", 0);
	ptr = new_block(idle, 40 * MIB, stream);
	gate_launch(&gate, stream, ptr, 1);
	must(gpumem_free(ptr, stream));
	options.flags = GPUMEM_ALLOC_NO_WAIT;
	is_status(gpumem_alloc(pool, 30 * MIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "another pool has what is free, in use by its stream");
	is_int(told.oom.advice, GPUMEM_ADVICE_POOLS, "that is the advice");
	ok(strstr(told.text, "other pools of this program have 40.00 MiB free, "
			     "pool \"idle\" most of it: "),
	   "and its sentence");
	ok(json_says(told.json, "advice", "pools") &&
		   json_number(strstr(told.json, "\"others\": "),
			       "free_bytes") == 40 * MIB,
	   "and in the JSON");
	gate_finish(&gate, stream);
	is_status(gpumem_alloc_with(pool, 30 * MIB, NULL, &options, &ptr, NULL),
		  GPUMEM_NO_MEMORY, "a request that may not trim it");
	is_int(told.oom.advice, GPUMEM_ADVICE_POOLS, "the same advice");
	is_status(gpumem_alloc(pool, 30 * MIB, NULL, &ptr), GPUMEM_OK,
		  "it is true");
	must(gpumem_free(ptr, NULL));
	option("wait", NULL);
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(idle, 0));
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	alarm(60);
	gpumem_oom_set(told_note, &told);
	device_start("64MiB", true);
	test_request();
	test_helped();
	test_act();
	test_pools();
	ok(device_end(), "nothing is left");
	for (int vm = 0; vm < 2; vm++) {
		device_start("256MiB", vm);
		test_pins(vm);
		ok(device_end(), "nothing is left");
	}
	return done_testing();
}
