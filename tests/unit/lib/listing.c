/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The pools of a device: walked while memory is short, and the default one at
 * the device's end when the driver does not take all of it back. One thread.
 */
#include "fixture.h"

enum { POOLS = 3 };

static gpumem_pool *pool[POOLS];

struct walk {
	size_t seen, stop_after;
	bool allocate;
	char names[64];
};

/* In the midst of the walk the others' caches are in the way, and are trimmed.
 */
static bool look(gpumem_pool *at, const char *name, void *user)
{
	struct walk *walk = user;
	size_t used = strlen(walk->names);

	snprintf(walk->names + used, sizeof(walk->names) - used, "%s ", name);
	if (walk->allocate)
		must(gpumem_free(new_block(at, 48 * MIB, NULL), NULL));
	return ++walk->seen != walk->stop_after;
}

static void make_pools(void)
{
	static const char *const names[POOLS] = {"first", "second", NULL};

	for (size_t i = 0; i < POOLS; i++) {
		struct gpumem_pool_config config =
			GPUMEM_INIT(struct gpumem_pool_config);

		config.name = names[i];
		must(gpumem_pool_create(device, &config, &pool[i]));
	}
}

static void test_walk(bool vm)
{
	struct walk all = {.allocate = true}, two = {.stop_after = 2};
	gpumem_pool *own = NULL;

	device_start("64MiB", vm);
	make_pools();
	must(gpumem_device_pool(device, &own));
	must(gpumem_pool_visit(device, look, &all));
	is_str(all.names, "first second pool default ", "all of them, by name");
	for (size_t i = 0; i < POOLS; i++)
		sound(pool[i], "sound after it, %zu", i);
	must(gpumem_pool_visit(device, look, &two));
	is_uint(two.seen, 2, "until the function has enough");
	for (size_t i = 0; i < POOLS; i++)
		must(gpumem_pool_destroy(pool[i], 0));
	ok(trim(own) >= 48 * MIB, "only the last still had its memory");
	ok(device_end(), "nothing is left");
}

/* The driver's word is passed on, and nothing hangs on it. */
static void test_end(bool vm)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_pool *own = NULL;

	device_start("64MiB", vm);
	must(gpumem_device_pool(device, &own));
	must(gpumem_free(new_block(own, 4 * MIB, NULL), NULL));
	must(gpumem_host_faults(vm ? "page_destroy@1+" : "free@1+"));
	is_status(gpumem_device_close(device), GPUMEM_DRIVER,
		  "the driver keeps memory of the default pool");
	must(gpumem_host_faults(NULL));
	is_status(gpumem_device_get_info(device, &info), GPUMEM_OK,
		  "the device is open");
	must(gpumem_device_pool(device, &own));
	must(gpumem_free(new_block(own, 4 * MIB, NULL), NULL));
	is_status(gpumem_device_close(device), GPUMEM_OK, "closed again");
}

int main(void)
{
	alarm(60);
	for (int vm = 0; vm < 2; vm++) {
		test_walk(vm);
		test_end(vm);
	}
	return done_testing();
}
