/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A plugin that breaks one promise of backend.h: the one that LIE names in the
 * environment. Without it, it is honest. It is the host backend, compiled into
 * it, with one slot exchanged; gpumem-conform must catch every lie.
 *
 *	cc -shared -fPIC -Iinclude -o liar.so tests/plugins/liar.c \
 *		backends/host/?*.c -lpthread
 *
 * What the lies remember is only used by one thread.
 */
#include <gpumem/backend.h>
#include <stdlib.h>
#include <string.h>

extern const struct gpumem_backend gm_host_backend;

static struct gpumem_backend table;
static struct gpumem_services services;

static const struct gpumem_backend *honest(void)
{
	return &gm_host_backend;
}

static bool lies(const char *lie)
{
	const char *told = getenv("LIE");

	return told && !strcmp(told, lie);
}

/* The host's options are not ours; it gets their defaults, and objects to lie
 * about. */
static bool default_option(const char *key, char *value_out, size_t bytes)
{
	const struct gpumem_option_row *row = honest()->options;

	if (!strcmp(key, "host.objects") && (lies("object") || lies("view"))) {
		strcpy(value_out, "on");
		return true;
	}
	for (; row->key; row++)
		if (!strcmp(row->key, key) &&
		    strlen(row->default_value) < bytes) {
			strcpy(value_out, row->default_value);
			return true;
		}
	return false;
}

static gpumem_status init(const struct gpumem_services *given)
{
	services = *given;
	services.option = default_option;
	return honest()->init(&services);
}

#include "late.h"

/* ---- the lies ---------------------------------------------------------- */

static gpumem_status count_grows(int *count_out)
{
	static int calls;
	gpumem_status status = honest()->device_count(count_out);

	*count_out += calls++;
	return status;
}

static gpumem_status bad_uuid(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	strcpy(info_out->uuid, "GPU-1234");
	return status;
}

static gpumem_status same_memory(void *device, struct gpumem_memory *memory_out)
{
	gpumem_status status = honest()->memory_info(device, memory_out);

	memory_out->free_bytes = memory_out->total_bytes / 2;
	return status;
}

static gpumem_status more_free(void *device, struct gpumem_memory *memory_out)
{
	gpumem_status status = honest()->memory_info(device, memory_out);

	memory_out->free_bytes = 2 * memory_out->total_bytes;
	return status;
}

static gpumem_status touches_output(void *device, uint64_t bytes,
				    uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	if (status != GPUMEM_OK)
		*address_out = 0;
	return status;
}

static gpumem_status wrong_status(void *device, uint64_t bytes,
				  uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	return status == GPUMEM_NO_MEMORY ? GPUMEM_DRIVER : status;
}

static gpumem_status above_48_bits(void *device, uint64_t bytes,
				   uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	*address_out |= (uint64_t)1 << 56;
	return status;
}

static gpumem_status strip_free(void *device, uint64_t address, uint64_t bytes)
{
	return honest()->free(device, address & ~((uint64_t)1 << 56), bytes);
}

static uint64_t given_twice;

/* Every second block is the first once more. */
static gpumem_status overlaps(void *device, uint64_t bytes,
			      uint64_t *address_out)
{
	gpumem_status status = GPUMEM_OK;

	if (!given_twice) {
		status = honest()->alloc(device, bytes, address_out);
		given_twice = *address_out;
	} else {
		*address_out = given_twice;
		given_twice = 0;
	}
	return status;
}

static gpumem_status forgets_free(void *device, uint64_t address,
				  uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_OK;
}

static gpumem_status never_ready(void *device, gpumem_event event)
{
	(void)device;
	(void)event;
	return GPUMEM_NOT_READY;
}

static gpumem_status does_not_wait(void *device, gpumem_event event)
{
	(void)device;
	(void)event;
	return GPUMEM_OK;
}

static gpumem_status no_order(void *device, gpumem_stream stream,
			      gpumem_event event)
{
	(void)device;
	(void)stream;
	(void)event;
	return GPUMEM_OK;
}

static gpumem_status no_alignment(void *device, uint64_t bytes,
				  uint64_t alignment, uint64_t *address_out)
{
	const uint64_t page = (uint64_t)2 << 20;
	gpumem_status status = honest()->va_reserve(device, bytes + page,
						    alignment, address_out);

	if (alignment > page)
		*address_out += page;
	return status;
}

static gpumem_status any_release(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_OK;
}

static gpumem_status page_stays(void *device, gpumem_page page, uint64_t bytes)
{
	(void)device;
	(void)page;
	(void)bytes;
	return GPUMEM_OK;
}

static gpumem_status loses_content(void *device, uint64_t address, size_t count,
				   uint64_t page_bytes)
{
	gpumem_status status =
		honest()->fill(device, address, 0, count * page_bytes, NULL);

	if (status == GPUMEM_OK)
		status = honest()->stream_sync(device, NULL);
	return status == GPUMEM_OK
		       ? honest()->unmap(device, address, count, page_bytes)
		       : status;
}

static gpumem_status maps_some(void *device, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < count && status == GPUMEM_OK; i++)
		status = honest()->map(device, address + i * page_bytes,
				       pages + i, 1, page_bytes);
	return status;
}

static gpumem_status fills_more(void *device, uint64_t address, uint8_t value,
				uint64_t bytes, gpumem_stream stream)
{
	return honest()->fill(device, address, value, bytes + bytes % 2,
			      stream);
}

static gpumem_status copies_less(void *device, uint64_t to, uint64_t from,
				 uint64_t bytes, gpumem_stream stream)
{
	return honest()->copy(device, to, from, bytes / 2 * 2 + (bytes == 1),
			      stream);
}

static gpumem_status captures(void *device, gpumem_stream stream,
			      uint64_t *id_out)
{
	(void)device;
	(void)stream;
	*id_out = 1;
	return GPUMEM_OK;
}

/* Memory of a kind that the device has a copy of. */
static gpumem_status fills_device_only(void *device, uint64_t address,
				       uint8_t value, uint64_t bytes,
				       gpumem_stream stream)
{
	if (value > 100 && value <= 104)
		return GPUMEM_OK;
	return honest()->fill(device, address, value, bytes, stream);
}

static gpumem_status imports_other(void *device, int fd, uint64_t bytes,
				   gpumem_page *page_out)
{
	(void)fd;
	return honest()->page_create(device, bytes, page_out);
}

static gpumem_status renames(void *device, uint64_t address, uint64_t bytes,
			     void *handle_out)
{
	static unsigned char calls;
	gpumem_status status =
		honest()->ipc_export(device, address, bytes, handle_out);

	((unsigned char *)handle_out)[GPUMEM_SHARE_HANDLE_BYTES - 1] = ++calls;
	return status;
}

static gpumem_status moves_object(void *device, uint64_t address,
				  void **object_out, uint64_t *offset_out)
{
	static char calls;
	gpumem_status status =
		honest()->object_of(device, address, object_out, offset_out);

	*offset_out += (uint64_t)calls++;
	return status;
}

static gpumem_status same_view(void *device, uint64_t address, uint64_t bytes,
			       void **view_out)
{
	static void *view;
	gpumem_status status = GPUMEM_OK;

	if (!view)
		status = honest()->view_create(device, address, bytes, &view);
	*view_out = view;
	return status;
}

/* ---- the table --------------------------------------------------------- */

/* Exchanges the slots of that lie. */
static void tell(const char *lie)
{
#define LIE(name, slot, function)                                              \
	if (!strcmp(lie, name))                                                \
		table.slot = function;
	LIE("count", device_count, count_grows)
	LIE("uuid", device_info, bad_uuid)
	LIE("account", memory_info, same_memory)
	LIE("total", memory_info, more_free)
	LIE("output", alloc, touches_output)
	LIE("status", alloc, wrong_status)
	LIE("address", alloc, above_48_bits)
	LIE("address", free, strip_free)
	LIE("overlap", alloc, overlaps)
	LIE("overlap", free, forgets_free)
	LIE("free", free, forgets_free)
	LIE("query", event_query, never_ready)
	LIE("sync", event_sync, does_not_wait)
	LIE("sync", stream_wait, late_wait)
	LIE("order", event_sync, late_event_sync)
	LIE("order", stream_wait, no_order)
	LIE("alignment", va_reserve, no_alignment)
	LIE("alignment", va_release, any_release)
	LIE("page", page_destroy, page_stays)
	LIE("content", unmap, loses_content)
	LIE("some", map, maps_some)
	LIE("fill", fill, fills_more)
	LIE("copy", copy, copies_less)
	LIE("capture", capture_id, captures)
	LIE("kind", fill, fills_device_only)
	LIE("import", page_import, imports_other)
	LIE("name", ipc_export, renames)
	LIE("object", object_of, moves_object)
	LIE("view", view_create, same_view)
	LIE("group", unmap, NULL)
	LIE("required", alloc, NULL)
#undef LIE
	if (!strcmp(lie, "sync") || !strcmp(lie, "order")) {
		table.fill = late_fill;
		table.copy = late_copy;
		table.event_record = late_record;
		table.stream_sync = late_sync;
	}
}

GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	const char *lie = getenv("LIE");

	table = *honest();
	table.name = "liar";
	table.options = NULL;
	table.init = init;
	tell(lie ? lie : "");
	return &table;
}
