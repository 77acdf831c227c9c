/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The only caller of a backend's slots. Each call is counted and timed in the
 * statistics of its user (a pool), turned into a sentence when it fails, and
 * refused with LOST once the device is lost. Those that take memory enter the
 * driver's gate (gate.h). No policy, no retry, no lock: the counters are
 * atomics.
 */
#ifndef GM_DEVICE_DRIVER_H
#define GM_DEVICE_DRIVER_H

#include "device.h"

/* One user's way to one device, with its counters. The rest is constant, but
 * for the peers, which only become more (pool/peers.c), and not while anything
 * is being mapped. */
struct gm_driver {
	struct gpumem_device *device;
	gpumem_kind kind;   /* of alloc and free; DEVICE: see init */
	void *const *peers; /* of map; the backend's handles; NULL: see init */
	size_t peer_count;
	bool share_pages; /* page_create is page_create_shared */
	struct {
		_Atomic uint64_t count, failed, ns;
	} calls[GPUMEM_CALL_COUNT];
};

/* Of device memory, and without peers. */
void gm_driver_init(struct gm_driver *driver, struct gpumem_device *device);
void gm_driver_reset_counts(struct gm_driver *driver);

/* Each mirrors the slot of its name in backend.h. The caller has looked at the
 * capability. Those that take memory also give LIMIT: the device's, claim.h, of
 * which the driver was not asked. */
gpumem_status gm_driver_memory_info(struct gm_driver *driver,
				    struct gpumem_memory *memory_out);
gpumem_status gm_driver_alloc(struct gm_driver *driver, uint64_t bytes,
			      uint64_t *address_out);
gpumem_status gm_driver_free(struct gm_driver *driver, uint64_t address,
			     uint64_t bytes);
gpumem_status gm_driver_va_reserve(struct gm_driver *driver, uint64_t bytes,
				   uint64_t alignment, uint64_t *address_out);
gpumem_status gm_driver_va_release(struct gm_driver *driver, uint64_t address,
				   uint64_t bytes);
/* These two call the slot for one page after the other until one call fails;
 * *done_out says how many did not. Timed together, counted one by one. */
gpumem_status gm_driver_page_create(struct gm_driver *driver, uint64_t bytes,
				    gpumem_page *pages, size_t count,
				    size_t *done_out);
gpumem_status gm_driver_page_destroy(struct gm_driver *driver, uint64_t bytes,
				     const gpumem_page *pages, size_t count,
				     size_t *done_out);
gpumem_status gm_driver_map(struct gm_driver *driver, uint64_t address,
			    const gpumem_page *pages, size_t count,
			    uint64_t page_bytes);
gpumem_status gm_driver_unmap(struct gm_driver *driver, uint64_t address,
			      size_t count, uint64_t page_bytes);
/* OK, NOT_READY (no failure), or a failure. */
gpumem_status gm_driver_stream_query(struct gm_driver *driver,
				     gpumem_stream stream);
gpumem_status gm_driver_event_create(struct gm_driver *driver,
				     void **event_out);
gpumem_status gm_driver_event_destroy(struct gm_driver *driver, void *event);
gpumem_status gm_driver_event_record(struct gm_driver *driver, void *event,
				     gpumem_stream stream);
/* OK, NOT_READY (no failure: not counted as one), or a failure. */
gpumem_status gm_driver_event_query(struct gm_driver *driver, void *event);
gpumem_status gm_driver_event_sync(struct gm_driver *driver, void *event);
/* The same for so many nanoseconds at most: NOT_READY (no failure) then. A
 * backend that cannot is asked again and again. */
gpumem_status gm_driver_event_wait(struct gm_driver *driver, void *event,
				   uint64_t ns);
/* 0 without CAP_CAPTURE, with no driver call. */
gpumem_status gm_driver_capture_id(struct gm_driver *driver,
				   gpumem_stream stream, uint64_t *id_out);

/* Not counted: the user's own business, not a pool's. */
/* False, and no driver call, of two backends or without CAP_PEER. */
gpumem_status gm_device_peer(struct gpumem_device *device,
			     struct gpumem_device *other, bool *can_out);
/* OK, or UNSUPPORTED: the peer cannot be given what alloc gives. */
gpumem_status gm_device_peer_enable(struct gpumem_device *device,
				    struct gpumem_device *peer);
/* The pages of one size that are mapped there; UNSUPPORTED also without the
 * slot. */
gpumem_status gm_device_open_mapped(struct gpumem_device *device,
				    struct gpumem_device *peer,
				    uint64_t address, size_t count,
				    uint64_t page_bytes);
/* UNSUPPORTED also without the slot. */
gpumem_status gm_process_visit(struct gpumem_device *device,
			       bool (*fn)(const struct gpumem_process *process,
					  void *user),
			       void *user);
gpumem_status gm_stream_create(struct gpumem_device *device,
			       gpumem_stream *stream_out);
gpumem_status gm_stream_destroy(struct gpumem_device *device,
				gpumem_stream stream);
gpumem_status gm_stream_sync(struct gpumem_device *device,
			     gpumem_stream stream);
/* CAPTURING also: nothing happens then. */
gpumem_status gm_stream_wait(struct gpumem_device *device, gpumem_stream stream,
			     void *event);
/* Pages of this process's; UNSUPPORTED also without the slot. */
gpumem_status gm_device_pin(struct gpumem_device *device, void *memory,
			    uint64_t bytes);
gpumem_status gm_device_unpin(struct gpumem_device *device, void *memory,
			      uint64_t bytes);
gpumem_status gm_fill(struct gpumem_device *device, uint64_t address,
		      uint8_t value, uint64_t bytes, gpumem_stream stream);
gpumem_status gm_copy(struct gpumem_device *device, uint64_t to, uint64_t from,
		      uint64_t bytes, gpumem_stream stream);

#endif
