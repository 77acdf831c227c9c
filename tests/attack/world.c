/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What there is: devices, pools and live blocks, as the program knows them, and
 * the end, at which everything goes back. No call is made to fail in the driver
 * while the world itself calls the library.
 */
#include "attack.h"

#include <dirent.h>

struct world world;

static unsigned descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	expect(folder, "no /proc/self/fd");
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

void world_quiet(void)
{
	must(gpumem_host_faults(NULL));
	world.faulty = false;
	if (!world.outside)
		return;
	for (int i = 0; i < DEVICES; i++)
		must(gpumem_host_outside(i, 0));
	world.outside = false;
}

void world_wait(const struct device *device, gpumem_stream stream)
{
	gpumem_status status;

	world_quiet();
	if (!has(device, GPUMEM_CAP_STREAMS))
		return;
	status = gpumem_stream_sync(device->handle, stream);
	expect(!status || status == GPUMEM_CAPTURING, "%s",
	       gpumem_status_name(status));
}

void device_opened(struct device *device, gpumem_device *handle)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	expect(!device->handle || device->handle == handle,
	       "an open device has another handle");
	device->opens++;
	if (device->handle)
		return;
	device->handle = handle;
	device->there[0] = true;
	must(gpumem_device_get_info(handle, &info));
	device->caps = info.caps;
}

void device_gone(struct device *device)
{
	for (unsigned i = 0; i < POOLS; i++)
		if (world.pool[i].handle && world.pool[i].device == device) {
			expect(world.pool[i].usual && !world.pool[i].count,
			       "a device with pools or blocks was closed");
			pool_gone(&world.pool[i]);
		}
	expect(device != &world.device[0] || !world.imports,
	       "a device with imports was closed");
	expect(!events_keep(device), "a device with events was closed");
	/* What its streams were is a number that means nothing now. */
	device->handle = NULL;
	memset(device->there, 0, sizeof(device->there));
	memset(device->captured, 0, sizeof(device->captured));
}

void device_need(struct device *device)
{
	static const char *const names[] = {"host:0", "host:1"};
	gpumem_device *handle = NULL;

	world_quiet();
	must(gpumem_device_open(names[device - world.device], &handle));
	device_opened(device, handle);
}

struct pool *pool_room(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		if (!world.pool[i].handle)
			return &world.pool[i];
	return NULL;
}

/* The device's default pool, if it is not in the list. */
struct pool *pool_new(struct device *device, gpumem_pool *handle)
{
	struct pool *pool;

	for (unsigned i = 0; i < POOLS; i++)
		if (world.pool[i].handle == handle)
			return &world.pool[i];
	pool = pool_room();
	expect(pool, "no room for a pool");
	*pool = (struct pool){
		.handle = handle, .device = device, .usual = true};
	return pool;
}

void pool_gone(struct pool *pool)
{
	for (unsigned i = 0; i < GRAPHS; i++)
		if (world.graph[i].pool == pool)
			world.graph[i] = (struct graph){0};
	for (unsigned i = world.blocks; i-- > 0;)
		if (world.block[i].pool == pool)
			block_remove(&world.block[i]);
	*pool = (struct pool){0};
}

static void drop_views(void)
{
	while (world.helds)
		gpumem_host_object_release(world.held[--world.helds]);
}

static void end_captures(struct device *device)
{
	int number = (int)(device - world.device);

	for (int i = 0; i < STREAMS; i++)
		if (device->captured[i])
			must(gpumem_host_capture(number, device->stream[i],
						 false));
	memset(device->captured, 0, sizeof(device->captured));
}

static void end_device(struct device *device)
{
	int number = (int)(device - world.device);

	events_end(device);
	for (unsigned i = 0; i < POOLS; i++)
		if (world.pool[i].handle && world.pool[i].device == device) {
			expect(!gpumem_pool_destroy(world.pool[i].handle,
						    GPUMEM_DESTROY_FORCE),
			       "a pool does not go by force");
			pool_gone(&world.pool[i]);
		}
	expect(gpumem_host_views(number) == 0, "views are left");
	for (int kind = 0; kind < 3; kind++)
		expect(!gpumem_host_kind_bytes(number, (gpumem_kind)kind),
		       "%llu bytes of kind %d are left of host:%d",
		       (ull)gpumem_host_kind_bytes(number, (gpumem_kind)kind),
		       kind, number);
}

void world_end(void)
{
	step.row = &rows[0];
	world_quiet();
	judge_pools();
	for (unsigned i = 0; i < world.blocks; i++)
		block_verify(&world.block[i]);
	drop_views();
	for (int i = 0; i < DEVICES; i++)
		end_captures(&world.device[i]);
	while (world.imports)
		must(gpumem_import_close(world.import[--world.imports]));
	for (int i = 0; i < DEVICES; i++)
		if (world.device[i].handle)
			end_device(&world.device[i]);
	for (int i = 0; i < DEVICES; i++)
		for (; world.device[i].opens; world.device[i].opens--)
			expect(!gpumem_device_close(world.device[i].handle),
			       "a device does not close");
	recording_end();
	expect(descriptors() == world.descriptors,
	       "%u descriptors are open, %u were at the start", descriptors(),
	       world.descriptors);
}

void world_begin(const struct configuration *configuration)
{
	const struct configuration *c = configuration;
	gpumem_device *handle = NULL;

	world.configuration = c;
	must(gpumem_option_set("host.capacity", "96MiB"));
	must(gpumem_option_set("host.pinned", "64MiB"));
	must(gpumem_option_set("host.managed", "64MiB"));
	must(gpumem_option_set("host.devices", c->devices > 1 ? "2" : "1"));
	must(gpumem_option_set("vm", c->vm ? "on" : "off"));
	must(gpumem_option_set("host.vm", c->objects ? "off" : "on"));
	must(gpumem_option_set("host.objects", c->objects ? "on" : "off"));
	must(gpumem_option_set("host.streams", c->streams ? "on" : "off"));
	must(gpumem_option_set("host.capture", c->streams ? "on" : "off"));
	/* What the library opens once and keeps is no leak. */
	must(gpumem_device_open("host:0", &handle));
	must(gpumem_device_close(handle));
	world.descriptors = descriptors();
}
