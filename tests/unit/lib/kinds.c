/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools of pinned and managed memory keep every promise that others keep: the
 * law, reuse in stream order, limits, trim, soundness whatever fails; and they
 * take nothing from the device.
 */
#include "fixture.h"

static const struct {
	gpumem_kind kind;
	const char *name, *option;
} kinds[] = {
	{GPUMEM_KIND_PINNED, "pinned", "host.pinned"},
	{GPUMEM_KIND_MANAGED, "managed", "host.managed"},
};

static gpumem_kind kind; /* under test */

static gpumem_status make(gpumem_kind of, uint64_t limit, gpumem_pool **out)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	config.kind = of;
	config.limit_bytes = limit;
	return gpumem_pool_create(device, &config, out);
}

static gpumem_pool *pool_of_kind(uint64_t limit)
{
	gpumem_pool *pool = NULL;

	must(make(kind, limit, &pool));
	return pool;
}

static struct gpumem_memory memory_of(gpumem_device *of)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	must(gpumem_device_memory(of, &memory));
	return memory;
}

static void blocks(void)
{
	gpumem_pool *pool = pool_of_kind(0);
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	unsigned char *small = new_block(pool, 100, NULL);
	unsigned char *large = new_block(pool, 5 * MIB, NULL);
	struct gpumem_stats stats = stats_of(pool);

	memset(small, 1, 100);
	memset(large, 2, 5 * MIB);
	must(gpumem_fill(device, large, 3, 5 * MIB, NULL));
	must(gpumem_stream_sync(device, NULL));
	ok(small[99] == 1 && large[5 * MIB - 1] == 3,
	   "the host and the device write them");
	must(gpumem_query(large + 4 * MIB, &found));
	is_ptr(found.ptr, large, "a pointer inside leads to its block");
	is_int(found.kind, kind, "which knows its kind");
	is_uint(stats.requested.current, 100 + 5 * MIB, "requested");
	ok(!unlawful(&stats), "the law holds");
	is_uint(gpumem_host_kind_bytes(0, kind), stats.reserved.current,
		"all of it is of the kind");
	is_uint(gpumem_host_used_bytes(0), 0, "and none of the device");
	is_uint(memory_of(device).reserved_bytes, 0,
		"nor reserved on the device");
	is_uint(memory_of(device).outside_bytes, 0, "nor outside");
	sound(pool, "the pool is sound");
	must(gpumem_free(large, NULL));
	is_ptr(new_block(pool, 5 * MIB, NULL), large, "a block is used again");
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY,
		  "not while blocks are live");
	ok(strstr(last_text(), "2 live blocks ("), "it says: %s", last_text());
	must(gpumem_free(large, NULL));
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY,
		  "nor while one is");
	ok(strstr(last_text(), "1 live block ("), "it says: %s", last_text());
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_uint(gpumem_host_kind_bytes(0, kind), 0, "all goes back");
}

static void stream_order(void)
{
	gpumem_pool *pool = pool_of_kind(0);
	gpumem_stream one = new_stream(), two = new_stream();
	unsigned char *ptr = new_block(pool, MIB, one), *other;
	struct gate gate;
	uint64_t reserved;

	gate_launch(&gate, two, ptr, MIB);
	must(gpumem_use_on(ptr, two));
	must(gpumem_free(ptr, one));
	other = new_block(pool, MIB, one);
	ok(other != ptr, "what another stream uses is not given out");
	is_uint(stats_of(pool).pending_bytes, MIB, "it is pending");
	gate_finish(&gate, two);
	must(gpumem_free(other, one));
	reserved = reserved_of(pool);
	is_uint(trim(pool), reserved, "then a trim gives all back");
	is_uint(gpumem_host_kind_bytes(0, kind), 0, "and nothing is held");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, one));
	must(gpumem_stream_destroy(device, two));
}

/* Options are read when a device is opened. */
static void reopen(const char *option_key, const char *value)
{
	option(option_key, value);
	must(gpumem_device_close(device));
	must(gpumem_device_open("host:0", &device));
}

static void limit(void)
{
	gpumem_pool *pool = pool_of_kind(4 * MIB);
	void *ptr = NULL;

	is_status(gpumem_alloc(pool, 5 * MIB, NULL, &ptr), GPUMEM_LIMIT,
		  "a limit is one");
	must(gpumem_pool_destroy(pool, 0));
}

/* What siblings of the kind cache is given back, no other. */
static void bounds(const char *option_key)
{
	gpumem_pool *pool, *sibling, *own;
	void *ptr = NULL, *kept;

	reopen(option_key, "8MiB");
	sibling = pool_of_kind(0);
	must(gpumem_free(new_block(sibling, 6 * MIB, NULL), NULL));
	own = new_pool(0);
	must(gpumem_free(new_block(own, 6 * MIB, NULL), NULL));
	pool = pool_of_kind(0);
	kept = new_block(pool, 6 * MIB, NULL);
	is_uint(reserved_of(sibling), 0, "a sibling gives back what it caches");
	ok(reserved_of(own) >= 6 * MIB, "one of another kind keeps it");
	is_status(gpumem_alloc(pool, 6 * MIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "no more than there is");
	ok(strstr(last_text(), " out of memory") &&
		   strstr(last_text(), kind == GPUMEM_KIND_PINNED
					       ? "of pinned host memory"
					       : "of managed memory"),
	   "%s", last_text());
	is_status(gpumem_alloc(pool, SIZE_MAX, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "nor more than any machine has");
	must(gpumem_free(kept, NULL));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_pool_destroy(own, 0));
	must(gpumem_pool_destroy(sibling, 0));
	reopen(option_key, NULL);
}

/* More than the device has is no more than the host has. */
static void beyond_the_device(void)
{
	gpumem_pool *pool = pool_of_kind(0);

	void *ptr = NULL;

	is_status(gpumem_alloc(pool, 48 * MIB, NULL, &ptr), GPUMEM_OK,
		  "a block may be larger than the device");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

static void absent(const char *option_key, const char *name)
{
	gpumem_pool *pool = (gpumem_pool *)&kinds;
	gpumem_device *other;

	option(option_key, "0");
	must(gpumem_device_open("host:1", &other));
	must(gpumem_device_close(device));
	device = other;
	is_status(make(kind, 0, &pool), GPUMEM_UNSUPPORTED, "without %s memory",
		  name);
	ok(strstr(last_text(), "host:1 has no "), "it says so: %s",
	   last_text());
	is_status(make((gpumem_kind)3, 0, &pool), GPUMEM_INVALID,
		  "a kind that is none");
	is_status(make((gpumem_kind)-1, 0, &pool), GPUMEM_INVALID, "or less");
	is_ptr(pool, &kinds, "the output is as it was");
	must(gpumem_device_close(device));
	option(option_key, NULL);
	must(gpumem_device_open("host:0", &device));
}

static unsigned broken;

/* Everything in short, taking each failure as it comes. */
static void work(void)
{
	gpumem_pool *pool = NULL;
	struct gpumem_stats stats;
	void *ptr[8] = {0};
	uint64_t released;

	if (make(kind, 0, &pool))
		return;
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < 8; i++)
			if (gpumem_alloc(pool, (i + 1) * 700 * KIB, NULL,
					 &ptr[i]))
				ptr[i] = NULL;
		broken += gpumem_pool_check(pool) != GPUMEM_OK;
		for (size_t i = 0; i < 8; i++)
			broken += gpumem_free(ptr[i], NULL) != GPUMEM_OK;
		if (gpumem_pool_trim(pool, 0, &released))
			broken += gpumem_pool_check(pool) != GPUMEM_OK;
	}
	stats = stats_of(pool);
	broken += unlawful(&stats) ||
		  stats.reserved.current != gpumem_host_kind_bytes(0, kind);
	broken += gpumem_pool_destroy(pool, 0) == GPUMEM_BUSY;
}

static void sweep(const char *suffix)
{
	unsigned long nth = 0;
	bool fired;

	broken = 0;
	do {
		char faults[64];

		snprintf(faults, sizeof(faults), "*@%lu%s", ++nth, suffix);
		must(gpumem_host_faults(faults));
		work();
		fired = gpumem_host_calls() >= nth;
		must(gpumem_host_faults(NULL));
		must(gpumem_device_close(device)); /* what stays goes with it */
		must(gpumem_device_open("host:0", &device));
	} while (fired && nth < 1000);
	is_uint(broken, 0, "calls fail with *@N%s, N up to %lu", suffix, nth);
	ok(nth > 10 && !fired, "and each was reached");
}

int main(void)
{
	alarm(300);
	option("host.devices", "2");
	device_start("32MiB", true);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		diag("%s memory", kinds[i].name);
		kind = kinds[i].kind;
		blocks();
		stream_order();
		limit();
		bounds(kinds[i].option);
		beyond_the_device();
		absent(kinds[i].option, kinds[i].name);
		sweep(":no_memory");
		sweep(":driver");
		sweep("+:driver");
		sweep(":lost");
	}
	ok(device_end(), "nothing is left");
	return done_testing();
}
