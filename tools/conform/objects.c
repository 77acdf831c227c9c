/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The groups OBJECTS, ADOPT and NATIVE_DEVICE. What an object is only its
 * vendor's calls can tell: here is whether objects are the same where they must
 * be and others where not, and whether views can be made and given back in any
 * order. See conform.h.
 */
#include "conform.h"

#include <stddef.h>

struct objects {
	struct conform *c;
	uint64_t address[2], bytes;
	void *object;
};

/* Where the address is; false, and it is told: nowhere. */
static bool where(struct objects *o, uint64_t address, void **object,
		  uint64_t *offset)
{
	return conform_is(o->c,
			  o->c->ops->object_of(o->c->device, address, object,
					       offset),
			  GPUMEM_OK, "object_of 0x%llx",
			  (unsigned long long)address) &&
	       conform_ok(o->c, *object != NULL, "gives an object");
}

static void check_where(struct objects *o)
{
	uint64_t first, last, other;
	void *object[3];

	if (!where(o, o->address[0], &object[0], &first) ||
	    !where(o, o->address[0] + o->bytes - 1, &object[1], &last) ||
	    !where(o, o->address[1], &object[2], &other))
		return;
	conform_ok(
		o->c, object[0] == object[1] && last - first == o->bytes - 1,
		"both ends of an allocation lie in one object, as far apart");
	conform_ok(o->c, object[2] != object[0] || other != first,
		   "another allocation is elsewhere");
	o->object = object[0];
}

static void destroy(struct objects *o, void *view, const char *which)
{
	conform_is(o->c, o->c->ops->view_destroy(o->c->device, view), GPUMEM_OK,
		   "view_destroy, %s", which);
}

/* Of the whole, and of a part as a pool cuts it, of any number of bytes. */
static void check_views(struct objects *o)
{
	uint64_t step = o->c->info.alignment_bytes < 256
				? 256
				: o->c->info.alignment_bytes;
	const struct gpumem_backend *ops = o->c->ops;
	void *whole, *part;
	struct conform *c = o->c;

	if (!conform_is(c,
			ops->view_create(c->device, o->address[0], o->bytes,
					 &whole),
			GPUMEM_OK, "view_create of a whole allocation"))
		return;
	if (conform_is(c,
		       ops->view_create(c->device, o->address[0] + step, 77,
					&part),
		       GPUMEM_OK, "and of 77 bytes of it")) {
		conform_ok(c,
			   whole && part && whole != part && part != o->object,
			   "are objects of their own");
		destroy(o, whole, "the first");
		destroy(o, part, "the second");
	} else {
		destroy(o, whole, "the first");
	}
}

static gpumem_status allocate(struct objects *o)
{
	struct conform *c = o->c;
	gpumem_status status =
		c->ops->alloc(c->device, o->bytes, &o->address[0]);

	if (status != GPUMEM_OK)
		return status;
	status = c->ops->alloc(c->device, o->bytes, &o->address[1]);
	if (status != GPUMEM_OK &&
	    c->ops->free(c->device, o->address[0], o->bytes) != GPUMEM_OK)
		c->hopeless = true;
	return status;
}

static void check_objects(struct conform *c)
{
	struct objects o = {.c = c, .bytes = conform_round(c, 100000)};

	if (!conform_is(c, allocate(&o), GPUMEM_OK, "two allocations"))
		return;
	check_where(&o);
	check_views(&o);
	for (int i = 0; i < 2; i++)
		conform_is(c, c->ops->free(c->device, o.address[i], o.bytes),
			   GPUMEM_OK, "free what had views");
}

/* A context of the vendor's with its device; no context: none is known. */
struct pair {
	void *context, *native;
};

/* What it is only its vendor's calls can tell: here, that it stays the same. */
static struct pair check_native(struct conform *c)
{
	struct pair none = {NULL, NULL}, one = none, two = none;
	gpumem_status status =
		c->ops->device_native(c->device, &one.context, &one.native);

	if (status == GPUMEM_UNSUPPORTED) {
		conform_skip(c, "the vendor's context and device",
			     "there is nothing behind this device");
		return none;
	}
	if (!conform_is(c, status, GPUMEM_OK, "device_native") ||
	    !conform_is(
		    c,
		    c->ops->device_native(c->device, &two.context, &two.native),
		    GPUMEM_OK, "device_native again"))
		return none;
	return conform_ok(c,
			  one.context == two.context &&
				  one.native == two.native,
			  "gives the same context and device")
		       ? one
		       : none;
}

/* Works in that context, and can be used. */
static void use_adopted(struct conform *c, void *device, struct pair wanted)
{
	uint64_t bytes = conform_round(c, 1), address;
	struct pair behind = {NULL, NULL};

	if (c->ops->device_native &&
	    conform_is(c,
		       c->ops->device_native(device, &behind.context,
					     &behind.native),
		       GPUMEM_OK, "device_native of it"))
		conform_ok(c,
			   behind.context == wanted.context &&
				   behind.native == wanted.native,
			   "is what was adopted");
	if (conform_is(c, c->ops->alloc(device, bytes, &address), GPUMEM_OK,
		       "it has memory"))
		conform_is(c, c->ops->free(device, address, bytes), GPUMEM_OK,
			   "and takes it back");
}

/* The one context that is at hand is the device's own. It makes one more
 * device, or is known as what it is. */
static void check_adopted(struct conform *c, struct pair pair)
{
	struct gpumem_device_info info = {.size = sizeof(info)};
	const struct gpumem_backend *ops = c->ops;
	int index, again;
	void *device;

	if (!conform_is(c, ops->device_adopt(pair.context, pair.native, &index),
			GPUMEM_OK, "device_adopt of this device's context") ||
	    !conform_is(c, ops->device_adopt(pair.context, pair.native, &again),
			GPUMEM_OK, "device_adopt again"))
		return;
	conform_ok(c, index == again, "gives the same index, %d", index);
	conform_ok(c, index == c->index || index >= c->devices,
		   "which is this device's, or after all others");
	if (index == c->index ||
	    !conform_is(c, ops->device_info(index, &info), GPUMEM_OK,
			"its description") ||
	    !conform_is(c, ops->device_open(index, &device), GPUMEM_OK,
			"it can be opened"))
		return;
	use_adopted(c, device, pair);
	ops->device_close(device);
}

void conform_objects(struct conform *c)
{
	struct pair pair = {NULL, NULL};

	if (conform_has(c, GPUMEM_CAP_OBJECTS))
		check_objects(c);
	else
		conform_skip(c, "objects", "the device has no CAP_OBJECTS");
	if (c->ops->device_native)
		pair = check_native(c);
	if (c->ops->device_adopt && pair.context)
		check_adopted(c, pair);
	else if (c->ops->device_adopt)
		conform_note("device_adopt takes what only the vendor's calls "
			     "make: not tried");
	else
		conform_skip(c, "adopted contexts",
			     "the backend has no device_adopt");
}
