/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A table whose slots call those of the backend, each between watch_begin() and
 * watch_end(). What they give out is remembered while it is live. An output
 * reaches the caller when it is good. See watch.h.
 */
#include "watch.h"

#include <string.h>

static const struct gpumem_backend *plugin;
static const struct conform *conform;

/* A slot without an output. */
#define PLAIN(slot, params, ...)                                               \
	static gpumem_status watch_##slot params                               \
	{                                                                      \
		struct watched call =                                          \
			watch_begin(GPUMEM_SLOT_##slot, NULL, 0);              \
                                                                               \
		return watch_end(&call, plugin->slot(__VA_ARGS__));            \
	}

/* One whose status may be an answer. */
#define ASKS(slot, params, ...)                                                \
	static gpumem_status watch_##slot params                               \
	{                                                                      \
		struct watched call =                                          \
			watch_begin(GPUMEM_SLOT_##slot, NULL, 0);              \
                                                                               \
		call.answers = true;                                           \
		return watch_end(&call, plugin->slot(__VA_ARGS__));            \
	}

/* One whose last parameter, `out`, is an output of that type, which is good if
 * `good` gives OK: of `call` and `value`. */
#define GIVES(slot, type, good, params, ...)                                   \
	static gpumem_status watch_##slot params                               \
	{                                                                      \
		type value;                                                    \
		struct watched call = watch_begin(GPUMEM_SLOT_##slot, &value,  \
						  sizeof(value));              \
		gpumem_status status =                                         \
			watch_end(&call, plugin->slot(__VA_ARGS__, &value));   \
                                                                               \
		if (status == GPUMEM_OK)                                       \
			status = good;                                         \
		if (status == GPUMEM_OK)                                       \
			*out = value;                                          \
		return status;                                                 \
	}

/* One that takes back what another gave: it is ours again if it fails. */
#define TAKES(slot, class, handle, params, ...)                                \
	static gpumem_status watch_##slot params                               \
	{                                                                      \
		struct watched call =                                          \
			watch_begin(GPUMEM_SLOT_##slot, NULL, 0);              \
		uint64_t live = live_remove(class, (uint64_t)(handle));        \
		gpumem_status status =                                         \
			watch_end(&call, plugin->slot(__VA_ARGS__));           \
                                                                               \
		if (status != GPUMEM_OK && live)                               \
			(void)live_add(class, (uint64_t)(handle), live);       \
		return status;                                                 \
	}

#define RAW watch_address(&call, value, bytes, conform->info.alignment_bytes)
#define PAGE watch_handle(&call, LIVE_PAGES, value)
#define POINTER(class) watch_handle(&call, class, (uint64_t)(uintptr_t)value)

/* ---- structs: nothing beyond them is written, nor their size ------------- */

#define GUARD_BYTES 64

#define DESCRIBES(slot, type, params, ...)                                     \
	static gpumem_status watch_##slot params                               \
	{                                                                      \
		struct {                                                       \
			type value;                                            \
			char guard[GUARD_BYTES];                               \
		} now, before;                                                 \
		struct watched call =                                          \
			watch_begin(GPUMEM_SLOT_##slot, NULL, 0);              \
		gpumem_status status;                                          \
                                                                               \
		memset(&now, 0, sizeof(now));                                  \
		now.value.size = sizeof(type);                                 \
		before = now;                                                  \
		status = plugin->slot(__VA_ARGS__, &now.value);                \
		if (memcmp(now.guard, before.guard, GUARD_BYTES) ||            \
		    now.value.size != sizeof(type))                            \
			watch_beyond(&call);                                   \
		else if (status != GPUMEM_OK &&                                \
			 memcmp(&now, &before, sizeof(now)))                   \
			watch_touched(&call);                                  \
		status = watch_end(&call, status);                             \
		if (status == GPUMEM_OK)                                       \
			*out = now.value;                                      \
		return status;                                                 \
	}

DESCRIBES(device_info, struct gpumem_device_info,
	  (int index, struct gpumem_device_info *out), index)
DESCRIBES(memory_info, struct gpumem_memory,
	  (void *device, struct gpumem_memory *out), device)

/* ---- devices and raw memory ---------------------------------------------- */

/* Not called: the library has started the plugin. */
PLAIN(init, (const struct gpumem_services *services), services)

static gpumem_status watch_device_count(int *out)
{
	int value;
	struct watched call =
		watch_begin(GPUMEM_SLOT_device_count, &value, sizeof(value));
	gpumem_status status = watch_end(&call, plugin->device_count(&value));

	if (status == GPUMEM_OK)
		*out = value;
	return status;
}

GIVES(device_open, void *, GPUMEM_OK, (int index, void **out), index)
GIVES(device_adopt, int, GPUMEM_OK,
      (void *context, void *native_device, int *out), context, native_device)
GIVES(alloc, uint64_t, RAW, (void *device, uint64_t bytes, uint64_t *out),
      device, bytes)
TAKES(free, LIVE_ADDRESSES, address,
      (void *device, uint64_t address, uint64_t bytes), device, address, bytes)
GIVES(kind_alloc, uint64_t, RAW,
      (void *device, gpumem_kind kind, uint64_t bytes, uint64_t *out), device,
      kind, bytes)
TAKES(kind_free, LIVE_ADDRESSES, address,
      (void *device, gpumem_kind kind, uint64_t address, uint64_t bytes),
      device, kind, address, bytes)

static const char *watch_driver_version(void)
{
	struct watched call = watch_begin(GPUMEM_SLOT_driver_version, NULL, 0);
	const char *version = plugin->driver_version();

	(void)watch_end(&call, GPUMEM_OK);
	return version;
}

static void watch_device_close(void *device)
{
	struct watched call = watch_begin(GPUMEM_SLOT_device_close, NULL, 0);

	plugin->device_close(device);
	(void)watch_end(&call, GPUMEM_OK);
}

/* ---- streams and events ---------------------------------------------------
 */

GIVES(stream_create, gpumem_stream, POINTER(LIVE_STREAMS),
      (void *device, gpumem_stream *out), device)
TAKES(stream_destroy, LIVE_STREAMS, (uintptr_t)stream,
      (void *device, gpumem_stream stream), device, stream)
PLAIN(stream_sync, (void *device, gpumem_stream stream), device, stream)
ASKS(stream_query, (void *device, gpumem_stream stream), device, stream)
PLAIN(stream_wait, (void *device, gpumem_stream stream, void *event), device,
      stream, event)
GIVES(event_create, void *, POINTER(LIVE_EVENTS), (void *device, void **out),
      device)
TAKES(event_destroy, LIVE_EVENTS, (uintptr_t)event, (void *device, void *event),
      device, event)
ASKS(event_record, (void *device, void *event, gpumem_stream stream), device,
     event, stream)
ASKS(event_query, (void *device, void *event), device, event)
PLAIN(event_sync, (void *device, void *event), device, event)
ASKS(event_wait, (void *device, void *event, uint64_t ns), device, event, ns)
GIVES(event_import, void *, POINTER(LIVE_EVENTS),
      (void *device, void *native, void **out), device, native)
GIVES(event_native, void *, GPUMEM_OK, (void *device, void *event, void **out),
      device, event)

/* ---- virtual memory -------------------------------------------------------
 */

GIVES(va_reserve, uint64_t, watch_address(&call, value, bytes, alignment),
      (void *device, uint64_t bytes, uint64_t alignment, uint64_t *out), device,
      bytes, alignment)
TAKES(va_release, LIVE_ADDRESSES, address,
      (void *device, uint64_t address, uint64_t bytes), device, address, bytes)
GIVES(page_create, gpumem_page, PAGE,
      (void *device, uint64_t bytes, gpumem_page *out), device, bytes)
TAKES(page_destroy, LIVE_PAGES, page,
      (void *device, gpumem_page page, uint64_t bytes), device, page, bytes)
PLAIN(map,
      (void *device, uint64_t address, const gpumem_page *pages, size_t count,
       uint64_t page_bytes),
      device, address, pages, count, page_bytes)
PLAIN(unmap,
      (void *device, uint64_t address, size_t count, uint64_t page_bytes),
      device, address, count, page_bytes)

/* ---- what a device does ---------------------------------------------------
 */

PLAIN(fill,
      (void *device, uint64_t address, uint8_t value, uint64_t bytes,
       gpumem_stream stream),
      device, address, value, bytes, stream)
PLAIN(copy,
      (void *device, uint64_t to, uint64_t from, uint64_t bytes,
       gpumem_stream stream),
      device, to, from, bytes, stream)
GIVES(capture_id, uint64_t, GPUMEM_OK,
      (void *device, gpumem_stream stream, uint64_t *out), device, stream)

/* ---- others ---------------------------------------------------------------
 */

GIVES(peer_query, bool, GPUMEM_OK, (void *device, void *peer, bool *out),
      device, peer)
PLAIN(peer_enable, (void *device, void *peer), device, peer)
PLAIN(map_peers,
      (void *device, uint64_t address, const gpumem_page *pages, size_t count,
       uint64_t page_bytes, void *const *peers, size_t peer_count),
      device, address, pages, count, page_bytes, peers, peer_count)
PLAIN(open_mapped,
      (void *device, uint64_t address, size_t count, uint64_t page_bytes,
       void *const *peers, size_t peer_count),
      device, address, count, page_bytes, peers, peer_count)
PLAIN(device_processes,
      (void *device,
       bool (*fn)(const struct gpumem_process *process, void *user),
       void *user),
      device, fn, user)

PLAIN(host_pin, (void *device, void *memory, uint64_t bytes), device, memory,
      bytes)
PLAIN(host_unpin, (void *device, void *memory, uint64_t bytes), device, memory,
      bytes)

/* ---- sharing and objects --------------------------------------------------
 */

PLAIN(ipc_export,
      (void *device, uint64_t address, uint64_t bytes, void *handle_out),
      device, address, bytes, handle_out)
GIVES(ipc_open, uint64_t, GPUMEM_OK,
      (void *device, const void *handle, uint64_t bytes, uint64_t *out), device,
      handle, bytes)
PLAIN(ipc_close, (void *device, uint64_t address), device, address)
GIVES(page_create_shared, gpumem_page, PAGE,
      (void *device, uint64_t bytes, gpumem_page *out), device, bytes)
GIVES(page_export, int, GPUMEM_OK,
      (void *device, gpumem_page page, uint64_t bytes, int *out), device, page,
      bytes)
GIVES(page_import, gpumem_page, PAGE,
      (void *device, int fd, uint64_t bytes, gpumem_page *out), device, fd,
      bytes)
GIVES(view_create, void *, GPUMEM_OK,
      (void *device, uint64_t address, uint64_t bytes, void **out), device,
      address, bytes)
ASKS(view_destroy, (void *device, void *view), device, view)

/* Two outputs: both or none. */
static gpumem_status watch_object_of(void *device, uint64_t address,
				     void **object_out, uint64_t *offset_out)
{
	struct {
		uint64_t offset;
		void *object;
	} value, unset;
	struct watched call =
		watch_begin(GPUMEM_SLOT_object_of, &value, sizeof(value));
	gpumem_status status;

	unset = value;
	status = plugin->object_of(device, address, &value.object,
				   &value.offset);
	/* One that is not set is as bad as none. */
	if (status == GPUMEM_OK &&
	    (value.object == unset.object || value.offset == unset.offset))
		value = unset;
	status = watch_end(&call, status);
	if (status == GPUMEM_OK) {
		*object_out = value.object;
		*offset_out = value.offset;
	}
	return status;
}

static gpumem_status watch_device_native(void *device, void **context_out,
					 void **native_device_out)
{
	struct {
		void *context, *native;
	} value, unset;
	struct watched call =
		watch_begin(GPUMEM_SLOT_device_native, &value, sizeof(value));
	gpumem_status status;

	unset = value;
	status = plugin->device_native(device, &value.context, &value.native);
	if (status == GPUMEM_OK &&
	    (value.context == unset.context || value.native == unset.native))
		value = unset;
	status = watch_end(&call, status);
	if (status == GPUMEM_OK) {
		*context_out = value.context;
		*native_device_out = value.native;
	}
	return status;
}

const struct gpumem_backend *conform_watch(struct conform *c,
					   const struct gpumem_backend *ops)
{
	static struct gpumem_backend table;

	if (!watch_start(c))
		return NULL;
	conform = c;
	plugin = ops;
	table = *ops;
#define WATCH(slot, group, caps, counted)                                      \
	if (table.slot)                                                        \
		table.slot = watch_##slot;
	GPUMEM_SLOT_LIST(WATCH)
#undef WATCH
	return &table;
}
