/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The sentence of a failure is one line of what can be printed, and about that
 * failure: not about what the library tried in vain before it gave up. What the
 * sentences say is advice.c and others.
 */
#include "fixture.h"

/* An out of memory names its pool, which the program has named. */
static void test_name(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;
	void *ptr = NULL;

	config.name = "\x1b[31mred\a";
	must(gpumem_pool_create(device, &config, &pool));
	is_status(gpumem_alloc(pool, 65 * MIB, NULL, &ptr), GPUMEM_NO_MEMORY,
		  "more than there is");
	ok(strstr(last_text(), "pool \"\\x1b[31mred\\x07\""),
	   "what controls a terminal is shown");
	ok(!strchr(last_text(), '\x1b'), "and is not sent");
	must(gpumem_pool_destroy(pool, 0));
}

/* The driver makes no page, so pages are looked for in holes; nor does it tell
 * which streams are captured, so none are taken. */
static void test_cause(bool vm)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	const char *take = vm ? "page_create" : "alloc";
	gpumem_pool *pool = new_pool(0);
	void *held = new_block(pool, 3 * MIB, NULL), *ptr = NULL;
	gpumem_status status;
	char faults[64];

	snprintf(faults, sizeof(faults), "%s@1+:driver;capture_id@1+:invalid",
		 take);
	must(gpumem_host_faults(faults));
	status = gpumem_alloc(pool, 20 * MIB, NULL, &ptr);
	gpumem_last_error(&error);
	is_status(status, GPUMEM_DRIVER, "the driver fails");
	is_status(error.status, status, "the last error is that failure");
	ok(strstr(error.text, take), "and its sentence says %s", take);
	must(gpumem_host_faults(NULL));
	must(gpumem_free(held, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

int main(void)
{
	alarm(60);
	device_start("64MiB", true);
	test_name();
	test_cause(true);
	ok(device_end(), "nothing is left");
	device_start("64MiB", false);
	test_cause(false);
	ok(device_end(), "nothing is left");
	return done_testing();
}
