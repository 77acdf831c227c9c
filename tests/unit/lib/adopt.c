/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Devices in the program's own contexts: one for each pair, once however often
 * it is asked for, a device like any other but for its name.
 */
#include "fixture.h"

static char context[2], native[2];

static gpumem_device *adopt(int c, int n)
{
	gpumem_device *adopted = NULL;

	must(gpumem_device_adopt("host", &context[c], &native[n], &adopted));
	return adopted;
}

static const char *name_of(gpumem_device *adopted)
{
	static struct gpumem_device_info info;

	info = GPUMEM_INIT(struct gpumem_device_info);
	must(gpumem_device_get_info(adopted, &info));
	return info.name;
}

static void refuses(const char *backend, void *c, gpumem_device **out,
		    gpumem_status status)
{
	is_status(gpumem_device_adopt(backend, c, NULL, out), status,
		  "refused: %s", backend ? backend : "(NULL)");
	diag("%s", last_text());
}

static void test_refused(void)
{
	gpumem_device *none = NULL;

	refuses(NULL, context, &none, GPUMEM_INVALID);
	refuses("host", NULL, &none, GPUMEM_INVALID);
	refuses("host", context, NULL, GPUMEM_INVALID);
	refuses("nobody", context, &none, GPUMEM_NOT_FOUND);
	must(gpumem_host_faults("device_adopt@1"));
	refuses("host", context, &none, GPUMEM_DRIVER);
	must(gpumem_host_faults("device_open@1:no_memory"));
	refuses("host", context, &none, GPUMEM_NO_MEMORY);
	must(gpumem_host_faults(NULL));
	is_ptr(none, NULL, "no output is touched");
}

static bool count(const struct gpumem_device_info *info, void *user)
{
	(void)info;
	++*(int *)user;
	return true;
}

static void test_pairs(void)
{
	gpumem_device *first = adopt(0, 0), *second = adopt(1, 0);
	gpumem_device *third = adopt(0, 1), *again = adopt(0, 0), *named = NULL;
	char name[32];
	int visited = 0;

	is_ptr(again, first, "the same pair is the same device");
	ok(first != second && second != third && first != third,
	   "others are others");
	snprintf(name, sizeof(name), "%s", name_of(second));
	ok(strcmp(name, "host:0") && strcmp(name, "host:1"),
	   "numbered after the others: %s", name);
	is_status(gpumem_device_open(name, &named), GPUMEM_NO_DEVICE,
		  "found by no name");
	must(gpumem_device_visit("host", count, &visited));
	is_int(visited, 2, "and not listed");
	must(gpumem_device_close(first));
	must(gpumem_device_close(second));
	must(gpumem_device_close(third));
	is_str(name_of(again), name_of(first), "open until the last close");
	must(gpumem_device_close(again));
	second = adopt(1, 0);
	is_str(name_of(second), name, "opened anew under its number");
	must(gpumem_device_close(second));
}

/* A device like any other. */
static void test_memory(void)
{
	gpumem_stream stream = NULL;
	gpumem_pool *pool = NULL;
	void *ptr = NULL;
	uint64_t used = gpumem_host_used_bytes(0);
	char back = 0;
	int index;

	device = adopt(1, 1);
	index = atoi(name_of(device) + strlen("host:"));
	must(gpumem_pool_create(device, NULL, &pool));
	must(gpumem_stream_create(device, &stream));
	must(gpumem_alloc(pool, 60 * MIB, stream, &ptr));
	is_uint(gpumem_host_used_bytes(0), used, "not of the first one");
	ok(gpumem_host_used_bytes(index) >= 60 * MIB, "memory of its own");
	must(gpumem_fill(device, ptr, 9, MIB, stream));
	must(gpumem_copy(device, &back, ptr, 1, stream));
	must(gpumem_stream_sync(device, stream));
	is_int(back, 9, "which works");
	must(gpumem_free(ptr, stream));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(index), 0, "and is given back");
	must(gpumem_device_close(device));
}

/* What is behind it: the pair that was adopted, and nothing else. */
static void test_native(gpumem_device *simulated)
{
	gpumem_device *adopted = adopt(1, 0);
	void *c = &c, *n = &n;

	is_status(gpumem_device_native(simulated, &c, &n), GPUMEM_UNSUPPORTED,
		  "nothing is behind a simulated device");
	diag("%s", last_text());
	must(gpumem_host_faults("device_native@1"));
	is_status(gpumem_device_native(adopted, &c, &n), GPUMEM_DRIVER,
		  "a driver that fails");
	must(gpumem_host_faults(NULL));
	ok(c == &c && n == &n, "no output is touched");
	is_status(gpumem_device_native(adopted, &c, &n), GPUMEM_OK, "adopted");
	is_ptr(c, &context[1], "its context");
	is_ptr(n, &native[0], "its device");
	must(gpumem_device_close(adopted));
}

static void test_many(void)
{
	static char many[70];
	gpumem_device *made[70] = {NULL};
	gpumem_status status = GPUMEM_OK;
	int i = 0, number = 0;

	for (; i < 70 && !status; i++)
		status = gpumem_device_adopt("host", &many[i], NULL, &made[i]);
	number = i - 1;
	is_status(status, GPUMEM_NO_DEVICE, "%d more, and no more", number);
	ok(number < 64, "%s", last_text());
	for (i = 0; i < number; i++)
		must(gpumem_device_close(made[i]));
}

int main(void)
{
	gpumem_device *first = NULL;

	alarm(60);
	option("host.devices", "2");
	option("host.capacity", "64MiB");
	must(gpumem_device_open("host:0", &first));
	test_refused();
	test_pairs();
	test_memory();
	test_native(first);
	test_many();
	must(gpumem_device_close(first));
	return done_testing();
}
