/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Peers of the cuda backend: a device cannot write another's memory until it is
 * opened to it, pages one by one and raw memory at once, and then it can.
 */
#include "fixture.h"

static void *device, *peer, *third;

/* For what is no test's subject. */
static void must_hold(gpumem_status status)
{
	if (status != GPUMEM_OK)
		bail("%s", said.text);
}

/* What the peer's own fill of that memory says. */
static gpumem_status fills(void *by, uint64_t address, uint64_t bytes)
{
	gpumem_status status = gpu->fill(by, address, 7, bytes, NULL);

	return status == GPUMEM_OK ? gpu->stream_sync(by, NULL) : status;
}

static void pages(void)
{
	gpumem_page page[3] = {0};
	uint64_t address = 0;
	void *const peers[] = {peer};

	must_hold(gpu->va_reserve(device, 3 * PAGE, PAGE, &address));
	for (int i = 0; i < 3; i++)
		must_hold(gpu->page_create(device, PAGE, &page[i]));
	is_status(gpu->map(device, address, page, 1, PAGE), GPUMEM_OK,
		  "a page for the device alone");
	is_status(gpu->map_peers(device, address + PAGE, page + 1, 2, PAGE,
				 peers, 1),
		  GPUMEM_OK, "two for its peer too");
	is_status(fills(device, address, 3 * PAGE), GPUMEM_OK,
		  "the device writes all of them");
	is_status(fills(peer, address + PAGE, 2 * PAGE), GPUMEM_OK,
		  "the peer writes the two");
	ok(fills(peer, address, PAGE) != GPUMEM_OK, "and not the other");
	ok(fills(third, address + PAGE, PAGE) != GPUMEM_OK,
	   "a third device writes none");
	is_status(gpu->unmap(device, address, 3, PAGE), GPUMEM_OK, "unmap");
	is_status(gpu->map(device, address, page + 1, 1, PAGE), GPUMEM_OK,
		  "a page that is mapped anew");
	ok(fills(peer, address, PAGE) != GPUMEM_OK, "is closed again");
	must_hold(gpu->unmap(device, address, 1, PAGE));
	for (int i = 0; i < 3; i++)
		must_hold(gpu->page_destroy(device, page[i], PAGE));
	must_hold(gpu->va_release(device, address, 3 * PAGE));
}

static void later(void)
{
	gpumem_page page[2] = {0};
	uint64_t address = 0;
	void *const peers[] = {peer};

	must_hold(gpu->va_reserve(device, 2 * PAGE, PAGE, &address));
	for (int i = 0; i < 2; i++)
		must_hold(gpu->page_create(device, PAGE, &page[i]));
	must_hold(gpu->map(device, address, page, 2, PAGE));
	ok(fills(peer, address, PAGE) != GPUMEM_OK, "two pages are closed");
	is_status(gpu->open_mapped(device, address, 2, PAGE, peers, 1),
		  GPUMEM_OK, "and opened later");
	is_status(fills(peer, address, 2 * PAGE), GPUMEM_OK,
		  "the peer writes both");
	is_status(fills(device, address, 2 * PAGE), GPUMEM_OK,
		  "the device still does");
	ok(fills(third, address, PAGE) != GPUMEM_OK, "a third one does not");
	must_hold(gpu->unmap(device, address, 2, PAGE));
	ok(gpu->open_mapped(device, address, 2, PAGE, peers, 1) != GPUMEM_OK,
	   "what is mapped no more cannot be opened");
	for (int i = 0; i < 2; i++)
		must_hold(gpu->page_destroy(device, page[i], PAGE));
	must_hold(gpu->va_release(device, address, 2 * PAGE));
}

static void raw(void)
{
	uint64_t before = 0, after = 0;

	must_hold(gpu->alloc(device, PAGE, &before));
	ok(fills(peer, before, PAGE) != GPUMEM_OK, "raw memory is closed");
	is_status(gpu->peer_enable(device, peer), GPUMEM_OK, "and opened");
	must_hold(gpu->alloc(device, PAGE, &after));
	is_status(fills(peer, before, PAGE), GPUMEM_OK, "as it was given");
	is_status(fills(peer, after, PAGE), GPUMEM_OK, "and will be");
	ok(fills(third, after, PAGE) != GPUMEM_OK, "to that peer only");
	is_status(gpu->peer_enable(device, peer), GPUMEM_OK,
		  "once more is fine");
	must_hold(gpu->free(device, before, PAGE));
	must_hold(gpu->free(device, after, PAGE));
}

int main(void)
{
	bool can = false;

	setenv("FAKECUDA_DEVICES", "3", 1);
	cuda_start();
	device = open_device(0);
	peer = open_device(1);
	third = open_device(2);
	is_status(gpu->peer_query(device, peer, &can), GPUMEM_OK, "query");
	ok(can, "they can be peers");
	pages();
	later();
	raw();
	gpu->device_close(third);
	gpu->device_close(peer);
	gpu->device_close(device);
	return done_testing();
}
