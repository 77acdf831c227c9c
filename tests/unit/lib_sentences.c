/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The sentence of a failure is one line of what can be printed. What the
 * sentences say is lib_advice.c and others.
 */
#include "lib_fixture.h"

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
	must(gpumem_pool_destroy(pool, false));
}

int main(void)
{
	alarm(60);
	device_start("64MiB", true);
	test_name();
	ok(device_end(), "nothing is left");
	return done_testing();
}
