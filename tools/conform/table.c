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
	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (!strcmp(conform_slots[i].group, "REQUIRED"))
			conform_ok(c, conform_slot_is_there(c->ops, i),
				   "slot %s", conform_slots[i].name);
}

/* Of the slot `first`, if no slot before it is in its group. */
static void check_group(struct conform *c, unsigned first)
{
	const char *group = conform_slots[first].group;
	int present = 0, count = 0;

	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++) {
		if (strcmp(conform_slots[i].group, group) != 0)
			continue;
		if (i < first)
			return;
		count++;
		present += conform_slot_is_there(c->ops, i);
	}
	conform_ok(c, present == 0 || present == count,
		   "group %s is whole or not there: %d of %d slots", group,
		   present, count);
}

static void check_groups(struct conform *c)
{
	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (strcmp(conform_slots[i].group, "REQUIRED") != 0)
			check_group(c, i);
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
	conform_ok(c,
		   one.product[0] && one.total_bytes > 0 &&
			   one.total_bytes <= (uint64_t)1 << 48,
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
			one.granularity_bytes <= (uint64_t)1 << 32 &&
				one.granularity_bytes <= one.total_bytes,
			"device %d: granularity is at most 4 GiB and its "
			"memory",
			index) ||
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
