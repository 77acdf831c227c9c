/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Kinds, peers and processes between the core and a backend: which slot a
 * driver calls and where that counts, what is answered without asking, and
 * capabilities without slots.
 */
#include "base/error.h"
#include "device/driver.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "../loader/fake.h"

static struct gpumem_device *device, *other;

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static void test_kinds(void)
{
	struct gm_driver driver;
	uint64_t address = 0;

	gm_driver_init(&driver, device);
	driver.kind = GPUMEM_KIND_MANAGED;
	is_status(gm_driver_alloc(&driver, 4096, &address), GPUMEM_OK, "alloc");
	is_str(fake.last, "kind_alloc", "of a kind is kind_alloc");
	is_uint(address, 0x2000, "of that kind");
	is_status(gm_driver_free(&driver, address, 4096), GPUMEM_OK, "free");
	is_str(fake.last, "kind_free", "of a kind is kind_free");
	is_uint(driver.calls[GPUMEM_CALL_ALLOC].count, 1, "counted as alloc");
	is_uint(driver.calls[GPUMEM_CALL_FREE].count, 1, "and free");
	fake.next = GPUMEM_NO_MEMORY;
	is_status(gm_driver_alloc(&driver, 4096, &address), GPUMEM_NO_MEMORY,
		  "it fails");
	ok(strstr(last_text(), "fake:0: kind_alloc"), "by its name: %s",
	   last_text());
	is_uint(driver.calls[GPUMEM_CALL_ALLOC].failed, 1, "which counts");
	fake.next = GPUMEM_OK;
	gm_driver_init(&driver, device);
	is_status(gm_driver_alloc(&driver, 4096, &address), GPUMEM_OK, "alloc");
	is_str(fake.last, "alloc", "of the device is alloc");
}

static void test_map(void)
{
	void *const peers[] = {other->handle};
	struct gm_driver driver;
	gpumem_page page = 1;

	gm_driver_init(&driver, device);
	driver.peers = peers;
	is_status(gm_driver_map(&driver, 0, &page, 1, 4096), GPUMEM_OK, "map");
	is_str(fake.last, "map", "for nobody else is map");
	driver.peer_count = 1;
	is_status(gm_driver_map(&driver, 0, &page, 1, 4096), GPUMEM_OK, "map");
	is_str(fake.last, "map_peers", "for peers is map_peers");
	is_uint(driver.calls[GPUMEM_CALL_MAP].count, 2, "both are counted");
}

static void test_peers(void)
{
	bool can = false;

	is_status(gm_device_peer(device, other, &can), GPUMEM_OK, "query");
	ok(can && !strcmp(fake.last, "peer_query"), "the backend is asked");
	fake.last = "";
	is_status(gm_device_peer(device, device, &can), GPUMEM_OK, "of itself");
	ok(can && !*fake.last, "nobody need be asked");
	other->info.caps &= ~(uint32_t)GPUMEM_CAP_PEER;
	is_status(gm_device_peer(other, device, &can), GPUMEM_OK,
		  "of one without peers");
	ok(!can && !*fake.last, "neither");
	fake.next = GPUMEM_DRIVER;
	can = true;
	is_status(gm_device_peer(device, other, &can), GPUMEM_DRIVER,
		  "a query that fails");
	ok(can, "leaves the output alone");
	is_status(gm_device_peer_enable(device, other), GPUMEM_DRIVER,
		  "so does an opening");
	is_status(gm_device_open_mapped(device, other, 4096, 1, 4096),
		  GPUMEM_DRIVER, "and one of what is mapped");
	fake.next = GPUMEM_OK;
	is_status(gm_device_peer_enable(device, other), GPUMEM_OK,
		  "or it does not");
	is_status(gm_device_open_mapped(device, other, 4096, 1, 4096),
		  GPUMEM_OK, "nor the other");
	is_str(fake.last, "open_mapped", "which is the slot's");
}

/* A backend that cannot end a wait at a time is asked again and again. */
static void test_event_wait(void)
{
	const struct gpumem_backend *ops = device->ops;
	struct gpumem_backend without = *ops;
	struct gm_driver driver;
	unsigned calls;

	gm_driver_init(&driver, device);
	is_status(gm_driver_event_wait(&driver, device, 1), GPUMEM_OK, "wait");
	is_str(fake.last, "event_wait", "by the slot");
	fake.next = GPUMEM_NOT_READY;
	is_status(gm_driver_event_wait(&driver, device, 1), GPUMEM_NOT_READY,
		  "as long as it may take");
	is_uint(driver.calls[GPUMEM_CALL_EVENT_SYNC].count, 2, "both count");
	is_uint(driver.calls[GPUMEM_CALL_EVENT_SYNC].failed, 0, "no failure");
	without.event_wait = NULL;
	device->ops = &without;
	calls = fake.calls;
	is_status(gm_driver_event_wait(&driver, device, 1000 * 1000),
		  GPUMEM_NOT_READY, "without it, too");
	ok(fake.calls > calls + 1, "it is asked more than once");
	is_str(fake.last, "event_query", "by event_query");
	fake.next = GPUMEM_DRIVER;
	is_status(gm_driver_event_wait(&driver, device, UINT64_MAX / 2),
		  GPUMEM_DRIVER, "until it fails");
	fake.next = GPUMEM_OK;
	calls = fake.calls;
	is_status(gm_driver_event_wait(&driver, device, 0), GPUMEM_OK,
		  "or is over");
	is_uint(fake.calls, calls + 1, "which is asked once");
	device->ops = ops;
}

static void test_pins(void)
{
	char memory[1];

	is_status(gm_device_pin(device, memory, 1), GPUMEM_OK, "pin");
	is_str(fake.last, "host_pin", "by the slot");
	is_status(gm_device_unpin(device, memory, 1), GPUMEM_OK, "unpin");
	is_str(fake.last, "host_unpin", "by the other");
	fake.next = GPUMEM_NO_MEMORY;
	is_status(gm_device_pin(device, memory, 1), GPUMEM_NO_MEMORY, "fails");
	ok(strstr(last_text(), "fake:0: host_pin"), "%s", last_text());
	fake.next = GPUMEM_OK;
}

static bool look(const struct gpumem_process *process, void *user)
{
	bool *seen = user;

	*seen = process->size == sizeof(*process) && process->pid == 4711 &&
		process->bytes == 12345 && !process->name[0];
	return true;
}

static void test_processes(void)
{
	bool seen = false;

	is_status(gm_process_visit(device, look, &seen), GPUMEM_OK,
		  "processes");
	ok(seen, "a short struct arrives whole");
	fake.next = GPUMEM_UNSUPPORTED;
	is_status(gm_process_visit(device, look, &seen), GPUMEM_UNSUPPORTED,
		  "a backend that cannot tell now");
	fake.next = GPUMEM_OK;
}

static void test_absent(void)
{
	static struct gpumem_backend bare;
	struct gpumem_device *one;
	bool seen = false;

	bare = fake_table;
	bare.name = "bare";
	bare.size = offsetof(struct gpumem_backend, kind_alloc);
	is_status(gm_backend_register(&bare), GPUMEM_OK,
		  "a table that ends before");
	is_status(gm_device_open("bare:0", &one), GPUMEM_OK, "is one");
	is_uint(one->info.caps & (GPUMEM_CAP_PINNED | GPUMEM_CAP_MANAGED |
				  GPUMEM_CAP_PEER),
		0, "without those capabilities");
	is_status(gm_process_visit(one, look, &seen), GPUMEM_UNSUPPORTED,
		  "nobody can tell who uses it");
	ok(strstr(last_text(), "device_processes"), "%s", last_text());
	is_status(gm_device_open_mapped(one, other, 4096, 1, 4096),
		  GPUMEM_UNSUPPORTED, "nor can what is mapped be opened");
	ok(strstr(last_text(), "when the pool is created"), "%s", last_text());
	is_status(gm_device_pin(one, &seen, 1), GPUMEM_UNSUPPORTED,
		  "nor is memory pinned");
	is_status(gm_device_peer(device, one, &seen), GPUMEM_OK,
		  "of another backend");
	ok(!seen, "no device is a peer");
	gm_device_release(one);
}

static void test_lost(void)
{
	struct gm_driver driver;
	uint64_t address = 0;
	bool can = false;

	fake.next = GPUMEM_LOST;
	is_status(gm_device_peer_enable(device, other), GPUMEM_LOST, "lost");
	fake.next = GPUMEM_OK;
	fake.last = "";
	gm_driver_init(&driver, device);
	driver.kind = GPUMEM_KIND_PINNED;
	is_status(gm_driver_alloc(&driver, 4096, &address), GPUMEM_LOST,
		  "no memory of any kind");
	is_status(gm_process_visit(device, look, &can), GPUMEM_LOST,
		  "and no answer");
	is_str(fake.last, "", "nor is the backend called");
}

int main(void)
{
	if (gm_backend_register(&fake_table) ||
	    gm_device_open("fake:0", &device) ||
	    gm_device_open("fake:1", &other))
		bail("%s", last_text());
	test_kinds();
	test_map();
	test_peers();
	test_event_wait();
	test_pins();
	test_processes();
	test_absent();
	test_lost(); /* no call reaches the device after this */
	gm_device_release(other);
	gm_device_release(device);
	return done_testing();
}
