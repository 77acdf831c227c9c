/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about devices. */
#include "attack.h"
#include "rows.h"

/* Names that are none, in any order of checks. */
static const unsigned no_device = B(INVALID) | B(NOT_FOUND) | B(NO_DEVICE);

void attack_gpumem_device_open(void)
{
	static const char *const names[] = {"host:0", "host:1", "host", NULL};
	static const int numbers[] = {0, 1, 0, 0};
	unsigned pick = (unsigned)random_below(COUNT(names));
	const char *name = names[pick];
	struct device *device = &world.device[numbers[pick]];
	gpumem_device **out;

	if (numbers[pick] >= world.configuration->devices) {
		wrong(no_device);
	} else if (rarely()) {
		name = pick_bad_text();
		wrong(strcmp(name, "host:00000000") ? no_device : 0);
		step.perhaps |= no_device;
		device = &world.device[0];
	}
	out = out_plain(sizeof(gpumem_device *));
	if (judge(gpumem_device_open(name, out)))
		device_opened(device, *out);
}

/* The last device's number comes after all others, whatever the pair. */
void attack_gpumem_device_adopt(void)
{
	static int context;
	struct device *device = &world.device[DEVICES - 1];
	const char *backend = "host";
	void *given = &context;
	gpumem_device **out = out_plain(sizeof(gpumem_device *));

	if (world.configuration->devices != DEVICES - 1)
		given = NULL;
	if (rarely())
		given = NULL;
	if (rarely()) {
		backend = one_in(4) ? NULL : pick_bad_text();
		wrong(B(INVALID) | B(NOT_FOUND));
	}
	if (!given)
		wrong(B(INVALID));
	if (judge(gpumem_device_adopt(backend, given, NULL, out)))
		device_opened(device, *out);
}

void attack_gpumem_device_native(void)
{
	struct device *device = pick_device();
	void **context = out_plain(sizeof(void *));
	void **native = out_plain(sizeof(void *));

	if (device && device != &world.device[DEVICES - 1])
		wrong(B(UNSUPPORTED));
	(void)judge(gpumem_device_native(device_of(device), context, native));
}

/* Pools with the device as a peer hold it too, so that BUSY is right whenever
 * it is said; and is wrong while the device has other opens. */
void attack_gpumem_device_close(void)
{
	struct device *device = pick_device();
	gpumem_status status;

	if (device && device->opens == 1)
		for (unsigned i = 0; i < POOLS; i++)
			if (world.pool[i].handle &&
			    world.pool[i].device == device &&
			    (!world.pool[i].usual || world.pool[i].count))
				wrong(B(BUSY));
	if (device && device->opens == 1 && !step.wrong)
		for (unsigned i = 0; i < GRAPHS; i++)
			if (world.graph[i].handle &&
			    world.graph[i].pool->device == device)
				wrong(B(BUSY));
	if (device && device->opens == 1 && events_keep(device))
		wrong(B(BUSY));
	status = gpumem_device_close(device_of(device));
	if (device && device->opens > 1)
		expect(!status, "one of several opens is not undone");
	if (judge(status)) {
		if (--device->opens == 0)
			device_gone(device);
	} else if (device && status != GPUMEM_BUSY) {
		for (unsigned i = 0; i < POOLS; i++)
			if (world.pool[i].usual &&
			    world.pool[i].device == device)
				pool_gone(&world.pool[i]);
	}
}

void attack_gpumem_device_get_info(void)
{
	const struct device *device = pick_device();
	struct gpumem_device_info *out = out_struct(sizeof(*out));

	if (judge(gpumem_device_get_info(device_of(device), out)))
		expect(out->caps == device->caps, "caps %#x, not %#x",
		       out->caps, device->caps);
}

void attack_gpumem_device_memory(void)
{
	struct device *device = pick_device();
	struct gpumem_memory *out = out_struct(sizeof(*out));

	if (!judge(gpumem_device_memory(device_of(device), out)))
		return;
	expect(out->free_bytes <= out->total_bytes &&
		       out->reserved_bytes <= out->total_bytes &&
		       out->outside_bytes <= out->total_bytes,
	       "%llu free, %llu reserved, %llu outside of %llu",
	       (ull)out->free_bytes, (ull)out->reserved_bytes,
	       (ull)out->outside_bytes, (ull)out->total_bytes);
}

void attack_gpumem_device_peer(void)
{
	struct device *device = pick_device(), *other = pick_device();
	bool *out = out_plain(sizeof(bool));

	if (judge(gpumem_device_peer(device_of(device), device_of(other), out)))
		expect(*out || device != other,
		       "a device is no peer of itself");
}

static int stops; /* a callback has said so */

static bool process(const struct gpumem_process *one, void *user)
{
	expect(!stops && one->size == sizeof(*one) && user == &stops,
	       "a process after the last");
	stops = one_in(2);
	return !stops;
}

void attack_gpumem_process_visit(void)
{
	struct device *device = pick_device();
	bool none = rarely();

	stops = 0;
	if (none)
		wrong(B(INVALID));
	(void)judge(gpumem_process_visit(device_of(device),
					 none ? NULL : process, &stops));
}

static bool listed(const struct gpumem_device_info *one, void *user)
{
	expect(!stops && one->size == sizeof(*one) && user == &stops,
	       "a device after the last");
	stops = one_in(2);
	return !stops;
}

void attack_gpumem_device_visit(void)
{
	const char *backend = one_in(2) ? NULL : "host";
	bool none = rarely();

	stops = 0;
	if (none)
		wrong(B(INVALID));
	if (rarely()) {
		backend = pick_bad_text();
		wrong(B(NOT_FOUND) | B(INVALID));
	}
	(void)judge(gpumem_device_visit(backend, none ? NULL : listed, &stops));
}
