/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The groups PEERS, OPEN_MAPPED and PROCESSES: a second device uses memory of
 * the first, and who uses the first. See conform.h.
 */
#include "conform.h"

#include <string.h>

/* The peer's own fill of a whole block, and then what the device finds. */
static gpumem_status use(const struct conform *c, void *peer, uint64_t address,
			 uint8_t value, uint64_t bytes)
{
	gpumem_status status;

	if (!conform_has(c, GPUMEM_CAP_COPY) ||
	    !conform_has(c, GPUMEM_CAP_STREAMS))
		return GPUMEM_OK;
	status = c->ops->fill(peer, address, value, bytes, NULL);
	if (status == GPUMEM_OK)
		status = c->ops->stream_sync(peer, NULL);
	return status == GPUMEM_OK ? conform_verify(c, address, value, bytes)
				   : status;
}

static void check_raw(struct conform *c, void *peer)
{
	uint64_t bytes = c->info.granularity_bytes, address;

	conform_is(c, c->ops->peer_enable(c->device, peer), GPUMEM_OK,
		   "raw memory is opened to a peer");
	conform_is(c, c->ops->peer_enable(c->device, peer), GPUMEM_OK,
		   "once more is fine");
	if (!conform_is(c, c->ops->alloc(c->device, bytes, &address), GPUMEM_OK,
			"raw memory for it"))
		return;
	conform_is(c, use(c, peer, address, 0x21, bytes), GPUMEM_OK,
		   "the peer writes it");
	conform_is(c, c->ops->free(c->device, address, bytes), GPUMEM_OK,
		   "freed");
}

static void check_mapped(struct conform *c, void *peer, uint64_t address,
			 gpumem_page page)
{
	uint64_t bytes = c->info.granularity_bytes;

	if (!conform_is(c,
			c->ops->map_peers(c->device, address, &page, 1, bytes,
					  &peer, 1),
			GPUMEM_OK, "a page is mapped for a peer too"))
		return;
	conform_is(c, conform_paint(c, address, 0x31, bytes), GPUMEM_OK,
		   "the device writes it");
	conform_is(c, use(c, peer, address, 0x32, bytes), GPUMEM_OK,
		   "the peer writes it");
	conform_is(c, c->ops->unmap(c->device, address, 1, bytes), GPUMEM_OK,
		   "unmapped like any other");
}

/* Two pages that are mapped for the device alone, and opened later. */
static void check_opened(struct conform *c, void *peer, uint64_t address,
			 const gpumem_page *page)
{
	uint64_t bytes = c->info.granularity_bytes;

	if (!conform_is(c, c->ops->map(c->device, address, page, 2, bytes),
			GPUMEM_OK, "two pages are mapped for the device alone"))
		return;
	conform_is(c, conform_paint(c, address, 0x41, 2 * bytes), GPUMEM_OK,
		   "the device writes them");
	for (int times = 0; times < 2; times++)
		conform_is(c,
			   c->ops->open_mapped(c->device, address, 2, bytes,
					       &peer, 1),
			   GPUMEM_OK, times ? "once more is fine"
					    : "both are opened to a peer");
	conform_is(c, conform_verify(c, address, 0x41, 2 * bytes), GPUMEM_OK,
		   "the device reads what it wrote");
	conform_is(c, use(c, peer, address, 0x42, 2 * bytes), GPUMEM_OK,
		   "the peer writes them");
	conform_is(c, conform_paint(c, address, 0x43, 2 * bytes), GPUMEM_OK,
		   "the device still does");
	conform_is(c, c->ops->unmap(c->device, address, 2, bytes), GPUMEM_OK,
		   "unmapped like any other");
}

static void check_later(struct conform *c, void *peer)
{
	uint64_t bytes = c->info.granularity_bytes, address;
	gpumem_page page[2];
	int made = 0;

	if (!conform_is(
		    c,
		    c->ops->va_reserve(c->device, 2 * bytes, bytes, &address),
		    GPUMEM_OK, "addresses for two"))
		return;
	while (made < 2 && conform_is(c,
				      c->ops->page_create(c->device, bytes,
							  &page[made]),
				      GPUMEM_OK, "a page"))
		made++;
	if (made == 2)
		check_opened(c, peer, address, page);
	while (made--)
		(void)c->ops->page_destroy(c->device, page[made], bytes);
	(void)c->ops->va_release(c->device, address, 2 * bytes);
}

static void check_pages(struct conform *c, void *peer)
{
	uint64_t bytes = c->info.granularity_bytes, address;
	gpumem_page page;

	if (!conform_is(c,
			c->ops->va_reserve(c->device, bytes, bytes, &address),
			GPUMEM_OK, "addresses"))
		return;
	if (conform_is(c, c->ops->page_create(c->device, bytes, &page),
		       GPUMEM_OK, "a page")) {
		check_mapped(c, peer, address, page);
		(void)c->ops->page_destroy(c->device, page, bytes);
	}
	(void)c->ops->va_release(c->device, address, bytes);
}

static void check_pair(struct conform *c, void *peer)
{
	bool can = false;

	if (!conform_is(c, c->ops->peer_query(c->device, peer, &can), GPUMEM_OK,
			"whether another device can be a peer"))
		return;
	if (!can) {
		conform_skip(c, "peers", "the two devices cannot be any");
		return;
	}
	check_raw(c, peer);
	if (conform_has(c, GPUMEM_CAP_VM))
		check_pages(c, peer);
	if (conform_has(c, GPUMEM_CAP_VM) && c->ops->open_mapped)
		check_later(c, peer);
	else
		conform_skip(c, "what is mapped is opened later",
			     "the backend has no open_mapped, or no pages");
}

void conform_peers(struct conform *c)
{
	int other = c->index ? 0 : 1;
	void *peer;

	if (!conform_has(c, GPUMEM_CAP_PEER)) {
		conform_skip(c, "peers", "the device can have none");
		return;
	}
	if (other >= c->devices) {
		conform_skip(c, "peers", "there is one device only");
		return;
	}
	if (!conform_is(c, c->ops->device_open(other, &peer), GPUMEM_OK,
			"device %d: open", other))
		return;
	check_pair(c, peer);
	c->ops->device_close(peer);
}

struct seen {
	int count, bad;
};

static bool look(const struct gpumem_process *process, void *user)
{
	struct seen *seen = user;

	seen->count++;
	seen->bad += !process || process->size < sizeof(*process) ||
		     !process->pid ||
		     !memchr(process->name, '\0', sizeof(process->name));
	return true;
}

static bool look_once(const struct gpumem_process *process, void *user)
{
	(void)look(process, user);
	return false;
}

void conform_processes(struct conform *c)
{
	struct seen all = {0}, one = {0};
	gpumem_status status = GPUMEM_UNSUPPORTED;

	if (c->ops->device_processes)
		status = c->ops->device_processes(c->device, look, &all);
	if (status == GPUMEM_UNSUPPORTED) {
		conform_skip(c, "processes", "the driver does not list them");
		return;
	}
	conform_is(c, status, GPUMEM_OK, "processes: %d", all.count);
	conform_ok(c, !all.bad, "each has a number and a name that ends");
	conform_is(c, c->ops->device_processes(c->device, look_once, &one),
		   GPUMEM_OK, "processes, but for one");
	conform_ok(c, one.count == (all.count ? 1 : 0),
		   "no more than were wanted");
}
