/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The hard limit, the end of the device's memory, and what is tried before
 * either is an error: caches, sibling pools, waiting. And requests that no
 * device can meet. Callbacks and the soft limit are in pressure.c.
 */
#include "fixture.h"

static const uint64_t capacity = 256 * (uint64_t)MIB;

/* What a failure begins with: who has no more. */
static bool begins_right(const char *text, const char *name,
			 gpumem_status status)
{
	char want[128];

	if (status == GPUMEM_LIMIT)
		snprintf(want, sizeof(want),
			 "pool \"%s\" on host:0: its hard limit of ", name);
	else
		snprintf(want, sizeof(want), "host:0 is out of memory for a ");
	return strncmp(text, want, strlen(want)) == 0;
}

/* An allocation that fails for memory, and all that it says. */
static void refuses(gpumem_pool *pool, size_t bytes, gpumem_status status,
		    const char *figure, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	void *ptr = &error;

	said(gpumem_alloc(pool, bytes, NULL, &ptr), status, what);
	gpumem_last_error(&error);
	ok(strstr(error.text, " out of memory") != NULL,
	   "%s: \" out of memory\"", what);
	ok(strstr(error.text, figure) != NULL, "%s: \"%s\"", what, figure);
	ok(strstr(error.text, "allocated") && strstr(error.text, "reserved") &&
		   (strstr(error.text, "fragmentation") ||
		    strstr(error.text, "no free block")) &&
		   begins_right(error.text, gpumem_pool_name(pool), status),
	   "%s: the figures", what);
	is_ptr(ptr, &error, "%s: the output is left alone", what);
	if (tap.failed)
		diag("%s", error.text);
}

static void hard_limit(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	void *ptr[8], *whole;

	for (int i = 0; i < 8; i++)
		ptr[i] = new_block(pool, 2 * MIB, NULL);
	is_uint(gpumem_host_used_bytes(0), 16 * MIB, "up to the limit");
	refuses(pool, 2 * MIB, GPUMEM_LIMIT, "limit 16.00 MiB", "live");
	refuses(pool, 1, GPUMEM_LIMIT, "a request of 1 bytes", "one byte");
	for (int i = 0; i < 7; i++)
		must(gpumem_free(ptr[i], NULL));
	/* Cached memory counts as well: it has to go first. */
	whole = new_block(pool, 14 * MIB, NULL);
	is_uint(gpumem_host_used_bytes(0), 16 * MIB, "caches make room");
	refuses(pool, 64 * KIB, GPUMEM_LIMIT, "requested 16.00 MiB", "full");
	must(gpumem_free(whole, NULL));
	must(gpumem_free(ptr[7], NULL));
	must(gpumem_free(new_block(pool, 16 * MIB, NULL), NULL));
	refuses(pool, 16 * MIB + 1, GPUMEM_LIMIT, "16.00 MiB", "a byte more");
	ok(stats_of(pool).reserved.peak <= 16 * MIB, "never above it");
	must(gpumem_pool_destroy(pool, 0));
}

static bool count_calls(gpumem_pool *pool,
			const struct gpumem_pressure *pressure, void *user)
{
	(void)pool;
	(void)pressure;
	++*(int *)user;
	return false;
}

/* What a limit can never hold takes nothing from the driver, drops no cache and
 * asks nobody. */
static void never_fits(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	struct gpumem_stats before, after;
	int asked = 0;

	must(gpumem_pool_pressure_add(pool, count_calls, &asked));
	must(gpumem_free(new_block(pool, 3 * MIB, NULL), NULL));
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	before = stats_of(pool);
	refuses(pool, 17 * MIB, GPUMEM_LIMIT, "limit 16.00 MiB", "beyond");
	refuses(pool, 16 * MIB + 1, GPUMEM_LIMIT, "limit 16.00 MiB", "a byte");
	refuses(pool, capacity, GPUMEM_LIMIT, "limit 16.00 MiB", "the device");
	after = stats_of(pool);
	is_int(asked, 0, "no callback is asked");
	is_uint(after.reserved.peak, before.reserved.peak, "nothing is taken");
	is_uint(after.trims, before.trims, "nothing is trimmed");
	is_uint(after.ooms, before.ooms + 3, "each is an out of memory");
	must(gpumem_free(new_block(pool, 16 * MIB, NULL), NULL));
	refuses(pool, 17 * MIB, GPUMEM_LIMIT, "limit 16.00 MiB", "once more");
	must(gpumem_pool_set_limit(pool, 20 * MIB));
	must(gpumem_free(new_block(pool, 17 * MIB, NULL), NULL));
	is_int(asked, 0, "a higher limit holds it");
	must(gpumem_pool_destroy(pool, 0));
}

/* Whatever is done, live and cached together stay below. */
static void never_exceeded(void)
{
	const uint64_t limit = 40 * MIB;
	gpumem_pool *pool = new_pool(limit);
	long steps = scaled(20000, 2000), over = 0, refused = 0;
	void *ptr[60] = {NULL};

	srand(3);
	for (long i = 0; i < steps; i++) {
		size_t at = (size_t)rand() % 60, r = (size_t)rand();
		gpumem_status status;

		must(gpumem_free(ptr[at], NULL));
		ptr[at] = NULL;
		status = gpumem_alloc(pool,
				      r % 3 ? r % (2 * MIB) : r % (20 * KIB),
				      NULL, &ptr[at]);
		refused += status == GPUMEM_LIMIT;
		over += gpumem_host_used_bytes(0) > limit ||
			(status && status != GPUMEM_LIMIT);
	}
	is_int(over, 0, "%ld allocations under a limit", steps);
	ok(refused > 0, "some of them refused");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void lowered(void)
{
	gpumem_pool *pool = new_pool(64 * MIB);
	void *kept = new_block(pool, 10 * MIB, NULL);

	must(gpumem_free(new_block(pool, 30 * MIB, NULL), NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_pool_set_soft_limit(pool, 18 * MIB));
	is_uint(stats_of(pool).limit_bytes, 64 * MIB,
		"a soft limit leaves the hard one alone");
	ok(gpumem_host_used_bytes(0) > 20 * MIB, "and gives nothing back");
	is_status(gpumem_pool_set_limit(pool, 20 * MIB), GPUMEM_OK,
		  "lower than what is reserved");
	ok(gpumem_host_used_bytes(0) <= 20 * MIB, "trims at once");
	said(gpumem_pool_set_limit(pool, 8 * MIB), GPUMEM_BUSY,
	     "lower than what is live");
	is_uint(stats_of(pool).limit_bytes, 20 * MIB, "the old limit stays");
	is_uint(stats_of(pool).soft_limit_bytes, 18 * MIB, "the soft one too");
	must(gpumem_free(new_block(pool, 10 * MIB, NULL), NULL));
	refuses(pool, 11 * MIB, GPUMEM_LIMIT, "limit 20.00 MiB", "and holds");
	must(gpumem_pool_set_limit(pool, 0));
	is_uint(stats_of(pool).soft_limit_bytes, 18 * MIB,
		"a hard limit leaves the soft one alone");
	must(gpumem_free(new_block(pool, 50 * MIB, NULL), NULL));
	is_uint(stats_of(pool).limit_bytes, 0, "0 is none");
	must(gpumem_free(kept, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

static void end_of_device(void)
{
	gpumem_pool *pool = new_pool(0);
	void *most = new_block(pool, capacity - 20 * MIB, NULL);

	refuses(pool, 30 * MIB, GPUMEM_NO_MEMORY, "no limit", "device full");
	(void)new_block(pool, 18 * MIB, NULL);
	must(gpumem_free(most, NULL));
	must(gpumem_host_outside(0, 100 * MIB));
	must(gpumem_stream_sync(device, NULL));
	is_uint(trim_all(pool, NULL, 0), 18 * MIB, "a trim for the others");
	refuses(pool, 200 * MIB, GPUMEM_NO_MEMORY, "outside gpumem 100.00 MiB",
		"other programs");
	must(gpumem_host_outside(0, 0));
	(void)new_block(pool, 200 * MIB, NULL);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* One pool's cache is another's memory. */
static void siblings(void)
{
	gpumem_pool *hoarder = new_pool(0);
	gpumem_pool *pool = new_pool(0);
	void *ptr;

	must(gpumem_free(new_block(hoarder, 20 * MIB, NULL), NULL));
	must(gpumem_free(new_block(hoarder, 150 * MIB, NULL), NULL));
	ok(stats_of(hoarder).reserved.current >= 150 * MIB, "one pool hoards");
	ptr = new_block(pool, 200 * MIB, NULL);
	ok(stats_of(hoarder).reserved.current <= capacity - 200 * MIB,
	   "and is trimmed when another needs it");
	must(gpumem_free(ptr, NULL));
	/* A limit of the pool's own is no business of the siblings. */
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_pool_destroy(hoarder, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
}

/* What the driver said last time is not what it says now. */
static void driver_asked_or_not(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	gpumem_pool *pool = new_pool(0);

	must(gpumem_host_faults("page_create@1+;alloc@1+"));
	refuses(pool, MIB, GPUMEM_NO_MEMORY, "256.00 MiB", "the driver");
	gpumem_last_error(&error);
	ok(error.native_code != 0 && error.native_name[0],
	   "the driver's own number and name are there");
	is_str(error.backend, "host", "and whose they are");
	must(gpumem_host_faults(""));
	refuses(pool, SIZE_MAX, GPUMEM_NO_MEMORY, "too small", "not asked");
	gpumem_last_error(&error);
	is_int(error.native_code, 0,
	       "a driver that was not asked said nothing");
	is_str(error.native_name, "", "no name");
	must(gpumem_pool_destroy(pool, 0));
}

static void absurd_sizes(void)
{
	static const size_t most[] = {SIZE_MAX, (size_t)1 << 63,
				      ((size_t)1 << 63) - 1, SIZE_MAX - 255,
				      (size_t)1 << 48};
	gpumem_pool *pool = new_pool(0);
	uint64_t total = capacity;
	void *ptr = &total;

	/* With and without something in the thread's cache. */
	for (int warm = 0; warm < 2; warm++) {
		for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++)
			refuses(pool, most[i], GPUMEM_NO_MEMORY, "too small",
				"absurd");
		refuses(pool, total + 1, GPUMEM_NO_MEMORY, "too small",
			"total + 1");
		must(gpumem_free(new_block(pool, 100, NULL), NULL));
		must(gpumem_free(new_block(pool, MIB, NULL), NULL));
	}
	said(gpumem_alloc_aligned(pool, SIZE_MAX, 4096, NULL, &ptr),
	     GPUMEM_NO_MEMORY, "aligned");
	said(gpumem_alloc_aligned(pool, total + 1, (size_t)1 << 30, NULL, &ptr),
	     GPUMEM_NO_MEMORY, "widely aligned");
	is_ptr(ptr, &total, "the output is left alone");
	must(gpumem_pool_set_soft_limit(pool, MIB));
	must(gpumem_pool_set_limit(pool, 8 * MIB));
	refuses(pool, SIZE_MAX, GPUMEM_NO_MEMORY, "too small", "limited");
	refuses(pool, total, GPUMEM_LIMIT, "limit 8.00 MiB", "total, limited");
	must(gpumem_pool_set_limit(pool, 0));
	must(gpumem_free(new_block(pool, total, NULL), NULL));
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	must(gpumem_pool_destroy(pool, 0));
}

/* Of the device's memory, in a config and later; and no fraction too much. */
static void percent(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.limit_percent = 50;
	config.soft_limit_percent = 25;
	must(gpumem_pool_create(device, &config, &pool));
	is_uint(stats_of(pool).limit_bytes, capacity / 2, "half of it");
	is_uint(stats_of(pool).soft_limit_bytes, capacity / 4, "a quarter");
	refuses(pool, capacity / 2 + 1, GPUMEM_LIMIT, "limit 128.00 MiB",
		"more than half");
	must(gpumem_pool_set_limit_percent(pool, 33));
	is_uint(stats_of(pool).limit_bytes, capacity * 33 / 100, "a third");
	is_uint(stats_of(pool).soft_limit_bytes, capacity / 4,
		"and the soft one as before");
	must(gpumem_pool_set_soft_limit_percent(pool, 66));
	is_uint(stats_of(pool).soft_limit_bytes, capacity * 66 / 100,
		"a soft one above the hard one");
	refuses(pool, capacity / 2, GPUMEM_LIMIT, "limit 84.48 MiB",
		"which holds");
	said(gpumem_pool_set_soft_limit_percent(pool, 101), GPUMEM_INVALID,
	     "a soft one beyond all");
	is_uint(stats_of(pool).soft_limit_bytes, capacity * 66 / 100,
		"the old one stays, too");
	must(gpumem_pool_set_limit_percent(pool, 100));
	is_uint(stats_of(pool).limit_bytes, capacity, "all");
	said(gpumem_pool_set_limit_percent(pool, 101), GPUMEM_INVALID,
	     "more than all");
	is_uint(stats_of(pool).limit_bytes, capacity, "the old one stays");
	must(gpumem_pool_set_limit_percent(pool, 0));
	is_uint(stats_of(pool).limit_bytes, 0, "none");
	must(gpumem_pool_destroy(pool, 0));
	pool = NULL;
	config.limit_bytes = MIB;
	said(gpumem_pool_create(device, &config, &pool), GPUMEM_INVALID,
	     "a limit said twice");
	config.limit_bytes = 0;
	config.soft_limit_percent = 101;
	said(gpumem_pool_create(device, &config, &pool), GPUMEM_INVALID,
	     "a soft limit beyond all");
	is_ptr(pool, NULL, "there is no pool");
}

int main(void)
{
	must(gpumem_option_set("host.capacity", "256MiB"));
	open_device(120);
	hard_limit();
	never_fits();
	never_exceeded();
	lowered();
	end_of_device();
	siblings();
	percent();
	driver_asked_or_not();
	absurd_sizes();
	must(gpumem_device_close(device));
	return done_testing();
}
