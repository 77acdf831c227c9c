/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `share`: how blocks of pools that do not say so themselves can be
 * exported, the device's own among them; what a pool says goes before it.
 * What becomes of an export is in share.c.
 */
#include "fixture.h"

static struct gpumem_shared shared;

/* A block of the pool is described. */
static gpumem_status describe(gpumem_pool *pool)
{
	gpumem_status status;
	void *ptr;

	shared = GPUMEM_INIT(struct gpumem_shared);
	must(gpumem_alloc(pool, 3 * MIB, NULL, &ptr));
	status = gpumem_export(ptr, &shared, NULL, 0);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	return status;
}

static gpumem_pool *device_pool(void)
{
	gpumem_pool *pool;

	must(gpumem_device_pool(device, &pool));
	return pool;
}

/* Of the device's own pool; 0: it cannot be exported. */
static uint32_t method_of(const char *share, bool vm)
{
	gpumem_status status;

	option("share", share);
	device_start("256MiB", vm);
	status = describe(device_pool());
	if (status == GPUMEM_UNSUPPORTED)
		ok(strstr(last_text(), "`share`"), "says: %s", last_text());
	else if (status != GPUMEM_OK)
		bail("%s", last_text());
	ok(device_end(), "nothing is left");
	return status == GPUMEM_OK ? shared.method : 0;
}

static void test_values(void)
{
	is_uint(method_of(NULL, true), 0, "by default not at all");
	is_uint(method_of("none", true), 0, "none: not at all");
	is_uint(method_of("fd", true), GPUMEM_SHARE_FD, "fd");
	is_uint(method_of("ipc", true), GPUMEM_SHARE_IPC, "ipc");
	is_uint(method_of("any", true), GPUMEM_SHARE_FD, "any, with pages");
	is_uint(method_of("any", false), GPUMEM_SHARE_IPC, "any, without");
}

/* A pool that says so itself, or whose memory nobody can share. */
static void test_configs(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool;

	option("share", "fd");
	device_start("256MiB", true);
	config.shareable = GPUMEM_SHARE_IPC;
	must(gpumem_pool_create(device, &config, &pool));
	is_status(describe(pool), GPUMEM_OK, "exported");
	is_uint(shared.method, GPUMEM_SHARE_IPC, "as the pool says");
	must(gpumem_pool_destroy(pool, 0));
	config.shareable = GPUMEM_SHARE_NONE;
	config.kind = GPUMEM_KIND_PINNED;
	is_status(gpumem_pool_create(device, &config, &pool), GPUMEM_OK,
		  "pinned memory is not meant");
	is_status(describe(pool), GPUMEM_UNSUPPORTED, "nor exported");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
}

static void refused(const char *share, const char *text, gpumem_status want)
{
	gpumem_pool *pool = NULL;

	option("share", share);
	device_start("256MiB", false);
	is_status(gpumem_device_pool(device, &pool), want, "share:%s", share);
	ok(strstr(last_text(), text), "says: %s", last_text());
	ok(device_end(), "nothing is left");
}

int main(void)
{
	test_values();
	test_configs();
	refused("yes", "none, any, fd or ipc", GPUMEM_INVALID);
	refused("an uncommonly long word, which is none of these",
		"none, any, fd or ipc", GPUMEM_INVALID);
	refused("fd", "`vm` is off", GPUMEM_UNSUPPORTED);
	option("share", NULL);
	return done_testing();
}
