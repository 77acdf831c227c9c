/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls of <gpumem/host.h>. Objects are those that the program retains. */
#include "attack.h"
#include "rows.h"

static void nothing(void *arg)
{
	(void)arg;
}

/* A stream of a device that may be none; what is no stream is INVALID. */
static gpumem_stream stream_of(const struct device *device, int *index)
{
	gpumem_stream stream = pick_stream(device, index);

	step.perhaps &= ~B(DRIVER);
	return stream;
}

void attack_gpumem_host_launch(void)
{
	struct device *device;
	int number = pick_number(&device), index;
	gpumem_stream stream = stream_of(device, &index);
	bool none = rarely();

	if (none || !world.configuration->streams)
		wrong(B(INVALID));
	(void)judge(gpumem_host_launch(number, stream, none ? NULL : nothing,
				       NULL));
}

void attack_gpumem_host_hold(void)
{
	struct device *device;
	int number = pick_number(&device), index;
	gpumem_stream stream = stream_of(device, &index);

	(void)judge(gpumem_host_hold(number, stream, one_in(2)));
}

void attack_gpumem_host_queued(void)
{
	struct device *device;
	int number = pick_number(&device), index;

	(void)gpumem_host_queued(number, stream_of(device, &index));
}

void attack_gpumem_host_step(void)
{
	struct device *device;
	int number = pick_number(&device), index;
	gpumem_stream stream = stream_of(device, &index);
	uint64_t last = gpumem_host_queued(number, stream);

	(void)judge(gpumem_host_step(number, stream,
				     one_in(4) ? UINT64_MAX : last / 2));
}

void attack_gpumem_host_capture(void)
{
	struct device *device;
	int number = pick_number(&device), index;
	gpumem_stream stream = stream_of(device, &index);
	bool on = one_in(2);

	/* One that the program has another name for must not stay captured. */
	if (index < 0)
		stream = pick_nowhere();
	if (!world.configuration->streams || index < 0 ||
	    (device && device->captured[index] == on))
		wrong(B(INVALID));
	if (judge(gpumem_host_capture(number, stream, on)))
		device->captured[index] = on;
}

/* What takes is made to fail; what gives back is not, since the memory would
 * be lost. */
static void draw_faults(char *text, size_t room, const char *slot)
{
	static const char *const slots[] = {
		"alloc",	 "page_create",
		"map",		 "va_reserve",
		"kind_alloc",	 "event_create",
		"fill",		 "copy",
		"stream_create", "memory_info",
		"peer_query",	 "open_mapped",
		"page_export",	 "page_create_shared",
		"ipc_export",	 "view_create",
		"page_import",	 "ipc_open",
		"host_pin"};

	if (!slot)
		slot = slots[random_below(COUNT(slots))];
	snprintf(text, room, "%s@%u%s%s", slot, 1 + (unsigned)random_below(4),
		 one_in(3) ? "+" : "", one_in(3) ? ":driver" : "");
}

void world_fail(const char *slot)
{
	char text[64];

	draw_faults(text, sizeof(text), slot);
	must(gpumem_host_faults(text));
	world.faulty = true;
}

void attack_gpumem_host_faults(void)
{
	static const char *const bad[] = {
		"no_slot@1", "alloc",		"alloc@",  "alloc@-1",
		"@1",	     "alloc@1:x",	"alloc@x", ";;@",
		"%s@%n",     "alloc@1;alloc@1:"};
	char text[64] = "";

	if (one_in(3))
		draw_faults(text, sizeof(text), NULL);
	if (rarely()) {
		snprintf(text, sizeof(text), "%s",
			 bad[random_below(COUNT(bad))]);
		wrong(B(INVALID));
	}
	if (judge(gpumem_host_faults(one_in(2) && !text[0] ? NULL : text)))
		world.faulty = text[0] != '\0';
}

void attack_gpumem_host_calls(void)
{
	uint64_t calls = gpumem_host_calls();

	expect(gpumem_host_calls() == calls, "a look counts as a call");
}

void attack_gpumem_host_capture_violations(void)
{
	static uint64_t before;
	uint64_t now = gpumem_host_capture_violations();

	expect(now >= before, "%llu violations, %llu before", (ull)now,
	       (ull)before);
	before = now;
}

void attack_gpumem_host_kind_bytes(void)
{
	static const int kinds[] = {0, 1, 2, 3, -1, 99, INT32_MIN, INT32_MAX};
	struct device *device;
	int number = pick_number(&device);
	int kind = kinds[random_below(COUNT(kinds))];
	uint64_t bytes = gpumem_host_kind_bytes(number, (gpumem_kind)kind);

	expect((device && kind >= 0 && kind < 3) || !bytes,
	       "kind %d of host:%d has %llu bytes", kind, number, (ull)bytes);
}

void attack_gpumem_host_used_bytes(void)
{
	struct device *device;
	int number = pick_number(&device);

	expect(device || !gpumem_host_used_bytes(number),
	       "host:%d is not there and has memory", number);
}

void attack_gpumem_host_views(void)
{
	struct device *device;
	int number = pick_number(&device);

	expect((device && world.configuration->objects) ||
		       !gpumem_host_views(number),
	       "host:%d has views", number);
}

void attack_gpumem_host_outside(void)
{
	struct device *device;
	int number = pick_number(&device);
	uint64_t bytes = one_in(2) ? 0 : pick_bytes();

	if (number >= 0 && number < 64) {
		step.wrong = 0; /* it need not be open */
		step.perhaps |= B(INVALID);
	}
	if (judge(gpumem_host_outside(number, bytes)) && bytes)
		world.outside = true;
}

void attack_gpumem_host_object_retain(void)
{
	void *object;

	if (!world.helds || world.helds == HELD)
		return;
	object = world.held[random_below(world.helds)];
	gpumem_host_object_retain(object);
	world.held[world.helds++] = object;
}

void attack_gpumem_host_object_release(void)
{
	unsigned pick;

	if (!world.helds)
		return;
	pick = (unsigned)random_below(world.helds);
	gpumem_host_object_release(world.held[pick]);
	world.held[pick] = world.held[--world.helds];
}

void attack_gpumem_host_object_memory(void)
{
	if (world.helds)
		(void)gpumem_host_object_memory(
			world.held[random_below(world.helds)]);
}
