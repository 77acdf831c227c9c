/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What can be said of a backend before a device is open: its table, its
 * options, its devices. See conform.h.
 */
#include "conform.h"

#include <ctype.h>
#include <string.h>

static bool name_good(const char *name)
{
	size_t length = name ? strlen(name) : 0;

	return length >= 1 && length <= 15 && islower((unsigned char)*name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

static void check_required(struct conform *c)
{
	const struct gpumem_backend *ops = c->ops;

#define REQUIRED(slot) conform_ok(c, ops->slot != NULL, "slot " #slot)
	REQUIRED(init);
	REQUIRED(driver_version);
	REQUIRED(device_count);
	REQUIRED(device_info);
	REQUIRED(device_open);
	REQUIRED(device_close);
	REQUIRED(memory_info);
	REQUIRED(alloc);
	REQUIRED(free);
#undef REQUIRED
}

static void check_group(struct conform *c, const char *name, int present,
			int slots)
{
	conform_ok(c, present == 0 || present == slots,
		   "group %s is whole or not there: %d of %d slots", name,
		   present, slots);
}

static void check_groups(struct conform *c)
{
	const struct gpumem_backend *ops = c->ops;

	check_group(c, "STREAMS",
		    !!ops->stream_create + !!ops->stream_destroy +
			    !!ops->stream_sync + !!ops->stream_query +
			    !!ops->stream_wait + !!ops->event_create +
			    !!ops->event_destroy + !!ops->event_record +
			    !!ops->event_query + !!ops->event_sync,
		    10);
	check_group(c, "VM",
		    !!ops->va_reserve + !!ops->va_release + !!ops->page_create +
			    !!ops->page_destroy + !!ops->map + !!ops->unmap,
		    6);
	check_group(c, "COPY", !!ops->fill + !!ops->copy, 2);
	check_group(c, "CAPTURE", !!ops->capture_id, 1);
	check_group(c, "KINDS", !!ops->kind_alloc + !!ops->kind_free, 2);
	check_group(c, "PEERS",
		    !!ops->peer_query + !!ops->peer_enable + !!ops->map_peers,
		    3);
	check_group(c, "SHARE_IPC",
		    !!ops->ipc_export + !!ops->ipc_open + !!ops->ipc_close, 3);
	check_group(c, "SHARE_FD",
		    !!ops->page_create_shared + !!ops->page_export +
			    !!ops->page_import,
		    3);
	check_group(c, "OBJECTS",
		    !!ops->object_of + !!ops->view_create + !!ops->view_destroy,
		    3);
}

static void check_options(struct conform *c)
{
	const struct gpumem_option_row *row = c->ops->options;
	size_t length = strlen(c->ops->name);

	if (!row) {
		conform_skip(c, "options", "the backend has none");
		return;
	}
	for (; row->key; row++) {
		struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);

		conform_ok(c,
			   !strncmp(row->key, c->ops->name, length) &&
				   row->key[length] == '.' && row->text &&
				   *row->text && row->default_value &&
				   gpumem_option_get(row->key, &option) ==
					   GPUMEM_OK,
			   "option %s has its prefix, a default and a text",
			   row->key);
	}
}

void conform_table(struct conform *c)
{
	conform_is(c,
		   c->ops->abi == GPUMEM_BACKEND_ABI ? GPUMEM_OK : GPUMEM_ABI,
		   GPUMEM_OK, "ABI %u", GPUMEM_BACKEND_ABI);
	conform_ok(c, name_good(c->ops->name), "name %s",
		   c->ops->name ? c->ops->name : "(none)");
	check_required(c);
	check_groups(c);
	check_options(c);
	conform_ok(c, c->ops->driver_version() != NULL, "driver version");
}

uint32_t conform_usable_caps(const struct gpumem_backend *ops)
{
	uint32_t caps = UINT32_MAX;

	if (!ops->stream_create)
		caps &= ~(uint32_t)GPUMEM_CAP_STREAMS;
	if (!ops->va_reserve)
		caps &= ~(uint32_t)(GPUMEM_CAP_VM | GPUMEM_CAP_SHARE_FD);
	if (!ops->fill)
		caps &= ~(uint32_t)GPUMEM_CAP_COPY;
	if (!ops->capture_id)
		caps &= ~(uint32_t)GPUMEM_CAP_CAPTURE;
	if (!ops->kind_alloc)
		caps &= ~(uint32_t)(GPUMEM_CAP_PINNED | GPUMEM_CAP_MANAGED);
	if (!ops->peer_query)
		caps &= ~(uint32_t)GPUMEM_CAP_PEER;
	if (!ops->ipc_open)
		caps &= ~(uint32_t)GPUMEM_CAP_SHARE_IPC;
	if (!ops->page_import)
		caps &= ~(uint32_t)GPUMEM_CAP_SHARE_FD;
	if (!ops->object_of)
		caps &= ~(uint32_t)GPUMEM_CAP_OBJECTS;
	return caps;
}

static bool power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* "" or 8-4-4-4-12 hexadecimal digits. */
static bool uuid_good(const char *uuid)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (!*uuid)
		return true;
	if (strlen(uuid) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '-' ? uuid[i] != '-'
				   : !isxdigit((unsigned char)uuid[i]))
			return false;
	return true;
}

static void check_info(struct conform *c, int index)
{
	struct gpumem_device_info one = GPUMEM_INIT(struct gpumem_device_info);
	struct gpumem_device_info two = GPUMEM_INIT(struct gpumem_device_info);

	if (!conform_is(c, c->ops->device_info(index, &one), GPUMEM_OK,
			"device %d: info", index))
		return;
	conform_ok(c,
		   c->ops->device_info(index, &two) == GPUMEM_OK &&
			   !memcmp(&one, &two, sizeof(one)),
		   "device %d: the same info again", index);
	conform_ok(c, one.product[0] && one.total_bytes > 0,
		   "device %d: has a product name and memory", index);
	conform_ok(c, uuid_good(one.uuid), "device %d: UUID \"%s\"", index,
		   one.uuid);
	/* All that follows counts in these. */
	if (!conform_ok(c,
			power_of_two(one.granularity_bytes) &&
				power_of_two(one.alignment_bytes),
			"device %d: granularity %llu and alignment %llu are "
			"powers of two",
			index, (unsigned long long)one.granularity_bytes,
			(unsigned long long)one.alignment_bytes) ||
	    !conform_ok(c,
			one.max_alloc_bytes >= one.granularity_bytes &&
				one.max_alloc_bytes <= (uint64_t)1 << 48,
			"device %d: largest raw block", index))
		c->hopeless = true;
}

void conform_devices(struct conform *c)
{
	int again = -1;

	conform_ok(c, c->devices > 0, "there are devices: %d", c->devices);
	conform_ok(c,
		   c->ops->device_count(&again) == GPUMEM_OK &&
			   again == c->devices,
		   "as many when counted again");
	for (int i = 0; i < c->devices; i++)
		check_info(c, i);
}
