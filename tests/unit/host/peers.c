/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's peers: a fill of another device's memory is refused until
 * that was opened, page by page or all raw memory; and who uses a device.
 */
#include "probe.h"

/* For what is no test's subject. */
static void must_status(gpumem_status status)
{
	if (status != GPUMEM_OK)
		bail("%s", fake_error.text);
}

static void *device, *peer, *third;

static gpumem_status fills(void *by, uint64_t address, uint64_t bytes)
{
	gpumem_status status = host->fill(by, address, 7, bytes, NULL);

	return status == GPUMEM_OK ? host->stream_sync(by, NULL) : status;
}

static void pages(void)
{
	uint64_t address = reserve(device, 3 * PAGE);
	gpumem_page page[2] = {create(device, PAGE), create(device, 2 * PAGE)};
	void *const peers[] = {peer};

	must_status(host->map(device, address, page, 1, PAGE));
	is_status(host->map_peers(device, address + PAGE, page + 1, 1, 2 * PAGE,
				  peers, 1),
		  GPUMEM_OK, "a page of two granules for a peer");
	is_status(fills(device, address, 3 * PAGE), GPUMEM_OK,
		  "the device writes all");
	is_status(fills(peer, address + PAGE, 2 * PAGE), GPUMEM_OK,
		  "the peer that page");
	is_status(fills(peer, address + 2 * PAGE, PAGE), GPUMEM_OK,
		  "and its second half");
	is_status(fills(peer, address, PAGE), GPUMEM_INVALID,
		  "but not the other");
	ok(strstr(fake_error.text, "not opened to host:1"), "which is said: %s",
	   fake_error.text);
	is_status(fills(peer, address + PAGE - 1, 2), GPUMEM_INVALID,
		  "nor a part of it");
	is_status(fills(third, address + PAGE, 1), GPUMEM_INVALID,
		  "and a third device none");
	is_status(host->map_peers(device, address, page, 1, PAGE, peers, 1),
		  GPUMEM_INVALID, "what is mapped is not mapped again");
	must_status(host->unmap(device, address + PAGE, 1, 2 * PAGE));
	must_status(host->map(device, address + PAGE, page + 1, 1, 2 * PAGE));
	is_status(fills(peer, address + PAGE, 1), GPUMEM_INVALID,
		  "mapped anew it is closed");
	must_status(host->unmap(device, address, 1, PAGE));
	must_status(host->unmap(device, address + PAGE, 1, 2 * PAGE));
	must_status(host->page_destroy(device, page[0], PAGE));
	must_status(host->page_destroy(device, page[1], 2 * PAGE));
	must_status(host->va_release(device, address, 3 * PAGE));
}

/* What is mapped for the device alone is opened later, wherever it lies. */
static void later(void)
{
	uint64_t address = reserve(device, 4 * PAGE);
	gpumem_page page[3] = {create(device, PAGE), create(device, PAGE),
			       create(device, 2 * PAGE)};
	void *const peers[] = {peer}, *const others[] = {third};

	must_status(host->map(device, address, page, 2, PAGE));
	must_status(
		host->map(device, address + 2 * PAGE, page + 2, 1, 2 * PAGE));
	is_status(host->open_mapped(device, address + PAGE, 1, PAGE, peers, 1),
		  GPUMEM_OK, "one of two pages is opened");
	is_status(fills(peer, address + PAGE, PAGE), GPUMEM_OK,
		  "the peer writes it");
	is_status(fills(peer, address, PAGE), GPUMEM_INVALID,
		  "and not the one before");
	is_status(fills(peer, address + 2 * PAGE, 1), GPUMEM_INVALID,
		  "nor the one behind");
	is_status(host->open_mapped(device, address, 2, PAGE, others, 1),
		  GPUMEM_OK, "both are opened to another device");
	is_status(fills(third, address, 2 * PAGE), GPUMEM_OK, "which writes");
	is_status(fills(peer, address + PAGE, 1), GPUMEM_OK,
		  "as the first still does");
	is_status(host->open_mapped(device, address, 4, PAGE, peers, 1),
		  GPUMEM_INVALID, "pages of another size");
	must_status(host->unmap(device, address, 2, PAGE));
	is_status(host->open_mapped(device, address, 2, PAGE, peers, 1),
		  GPUMEM_INVALID, "what is mapped no more");
	must_status(host->unmap(device, address + 2 * PAGE, 1, 2 * PAGE));
	for (int i = 0; i < 3; i++)
		must_status(host->page_destroy(device, page[i],
					       i < 2 ? PAGE : 2 * PAGE));
	must_status(host->va_release(device, address, 4 * PAGE));
}

static void raw(void)
{
	uint64_t before = 0, after = 0;

	must_status(host->alloc(device, PAGE, &before));
	is_status(fills(peer, before, PAGE), GPUMEM_INVALID,
		  "raw memory is closed");
	is_status(host->peer_enable(device, peer), GPUMEM_OK, "and opened");
	must_status(host->alloc(device, PAGE, &after));
	is_status(fills(peer, before, PAGE), GPUMEM_OK, "as it was given");
	is_status(fills(peer, after, PAGE), GPUMEM_OK, "and will be");
	is_status(fills(third, after, PAGE), GPUMEM_INVALID,
		  "to that peer only");
	is_status(host->copy(third, before, after, PAGE, NULL), GPUMEM_OK,
		  "a copy needs no opening");
	must_status(host->stream_sync(third, NULL));
	must_status(host->free(device, before, PAGE));
	must_status(host->free(device, after, PAGE));
}

static bool look(const struct gpumem_process *process, void *user)
{
	unsigned *count = user;

	is_uint(process->pid, (uint64_t)getpid(), "this process");
	is_uint(process->bytes, PAGE, "with its bytes");
	is_str(process->name, "peers", "and name");
	++*count;
	return true;
}

static void processes(void)
{
	gpumem_page page = create(device, PAGE);
	unsigned count = 0;

	is_status(host->device_processes(device, look, &count), GPUMEM_OK,
		  "who uses it");
	is_uint(count, 1, "nobody else");
	must_status(host->page_destroy(device, page, PAGE));
}

static void options(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *closed;
	bool can = false;

	is_status(host->peer_query(device, peer, &can), GPUMEM_OK, "query");
	ok(can, "they can be peers");
	option("host.peers", "off");
	is_status(host->device_info(3, &info), GPUMEM_OK, "host.peers is off");
	is_uint(info.caps & GPUMEM_CAP_PEER, 0, "no capability");
	closed = open_device(3);
	is_status(host->peer_query(device, closed, &can), GPUMEM_OK, "query");
	ok(!can, "such a device is no peer");
	is_status(host->peer_enable(closed, device), GPUMEM_UNSUPPORTED,
		  "and has none");
	host->device_close(closed);
}

int main(void)
{
	fake_start();
	option("host.devices", "4");
	device = open_device(0);
	peer = open_device(1);
	third = open_device(2);
	pages();
	later();
	raw();
	processes();
	options();
	host->device_close(third);
	host->device_close(peer);
	host->device_close(device);
	return done_testing();
}
