/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pool can be configured with, at both sides of each bound: limits, from
 * the program and from options, and the size of a page. Inside of it the pool
 * works; outside of it the sentence names the bound.
 */
#include "fixture.h"

#define GIB ((uint64_t)1 << 30)

static void refused(gpumem_status got, const char *part)
{
	is_status(got, GPUMEM_INVALID, "is refused");
	ok(strstr(last_text(), part), "says: %s", last_text());
}

static void works(gpumem_pool *pool)
{
	void *ptr = new_block(pool, 1, NULL);

	must(gpumem_free(ptr, NULL));
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "and works");
}

static gpumem_status create(const struct gpumem_pool_config *config,
			    gpumem_pool **pool_out)
{
	gpumem_pool *untouched = (gpumem_pool *)pool_out;
	gpumem_status status;

	*pool_out = untouched;
	status = gpumem_pool_create(device, config, pool_out);
	if (status && *pool_out != untouched)
		bail("a failure has written its output");
	return status;
}

/* Pools of this kind need so many bytes for one block of one byte. */
static void test_limit(struct gpumem_pool_config config, uint64_t least)
{
	gpumem_pool *pool;
	char text[64];

	snprintf(text, sizeof(text), "the smallest is %llu bytes", (ull)least);
	diag("%s", text);
	config.limit_bytes = 1;
	refused(create(&config, &pool), text);
	config.limit_bytes = least - 1;
	refused(create(&config, &pool), text);
	config.limit_bytes = least;
	must(create(&config, &pool));
	works(pool);
	refused(gpumem_pool_set_limit(pool, 1), text);
	refused(gpumem_pool_set_limit(pool, least - 1), text);
	is_uint(stats_of(pool).limit_bytes, least, "the old limit stays");
	must(gpumem_pool_set_soft_limit(pool, 1));
	works(pool);
	must(gpumem_pool_set_limit(pool, 0));
	works(pool);
	must(gpumem_pool_destroy(pool, 0));
	config.soft_limit_bytes = least + 1;
	refused(create(&config, &pool), "is above the limit");
	config.limit_bytes = 0;
	must(create(&config, &pool));
	works(pool);
	must(gpumem_pool_destroy(pool, 0));
}

static void test_options(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool;

	option("limit", "2097151");
	refused(create(&config, &pool), "the smallest is 2097152 bytes");
	refused(create(NULL, &pool), "option `limit`");
	refused(gpumem_device_pool(device, &pool), "option `limit`");
	config.limit_bytes = 4 * MIB;
	must(create(&config, &pool));
	must(gpumem_pool_destroy(pool, 0));
	option("limit", NULL);
	option("soft_limit", "5MiB");
	refused(create(&config, &pool), "option `soft_limit`");
	config.soft_limit_bytes = 3 * MIB;
	must(create(&config, &pool));
	must(gpumem_pool_destroy(pool, 0));
	option("soft_limit", NULL);
}

static void test_limits(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	test_limit(config, 2 * MIB);
	config.page_bytes = 16 * MIB;
	test_limit(config, 16 * MIB);
	config.page_bytes = 0;
	config.kind = GPUMEM_KIND_PINNED;
	test_limit(config, 2 * MIB);
	config.kind = GPUMEM_KIND_MANAGED;
	test_limit(config, 2 * MIB);
}

static void test_page(uint64_t bytes, bool good)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool;

	config.page_bytes = bytes;
	diag("pages of %llu bytes", (ull)bytes);
	if (!good) {
		refused(create(&config, &pool),
			"is no power of two from 2097152 to ");
		return;
	}
	must(create(&config, &pool));
	works(pool);
	is_uint(reserved_of(pool), bytes, "one page is taken");
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_OK, "and given back");
	is_uint(gpumem_host_used_bytes(0), 0, "whole");
}

static void test_pages(void)
{
	test_page(1, false);
	test_page(MIB, false);
	test_page(2 * MIB - 1, false);
	test_page(2 * MIB, true);
	test_page(3 * MIB, false);
	test_page(2 * GIB, true);
	test_page(4 * GIB - 1, false);
	test_page(4 * GIB, true);
	test_page(4 * GIB + 1, false);
	test_page(8 * GIB, false);
	test_page((uint64_t)1 << 63, false);
	test_page(UINT64_MAX, false);
}

/* Nor can one be larger than the device. */
static void test_small_device(void)
{
	device_start("20MiB", true);
	test_page(16 * MIB, true);
	test_page(32 * MIB, false);
	ok(strstr(last_text(), "to 16777216"), "which says so");
	ok(device_end(), "nothing is left");
}

int main(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	alarm(60);
	device_start("16GiB", true);
	test_limits();
	test_options();
	test_pages();
	ok(device_end(), "nothing is left");
	test_small_device();
	device_start("64MiB", false);
	test_limit(config, 2 * MIB);
	ok(device_end(), "nothing is left");
	/* A run of the smallest blocks, and room to align it. */
	option("host.page", "4KiB");
	device_start("64MiB", false);
	test_limit(config, 32 * KIB);
	ok(device_end(), "nothing is left");
	return done_testing();
}
