/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Control of the `host` backend, the simulated GPU, from tests: work on its
 * streams, capture, faults, and how much memory it holds. `device` is the
 * number in "host:0". Permanent settings (capacity, page size, capabilities,
 * latency) are options "host.*". All functions may be called from any thread.
 */
#ifndef GPUMEM_HOST_H
#define GPUMEM_HOST_H

#include <gpumem/gpumem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues fn(arg) on the stream: a kernel. It runs in the stream's own thread,
 * after all that was queued before; it may block, and must return. The device
 * must be open. OK, INVALID, NO_HOST_MEMORY, LOST. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_host_launch(int device, gpumem_stream stream, void (*fn)(void *arg),
		   void *arg);

/*
 * A held stream does nothing by itself: what is queued on it is done by
 * gpumem_host_step(), in the calling thread, and by whoever waits for it
 * (gpumem_stream_sync(), an allocation that waits, the end of the stream). So a
 * test has a device that lags behind, without threads or clocks. A stream that
 * waits for a held one (gpumem_stream_wait()) does that one's work in its own
 * thread, unless it is held, too. When a stream is no longer held its own
 * thread goes on with what is queued. Work that runs in its thread when it is
 * held ends there. OK, INVALID, NO_HOST_MEMORY.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_host_hold(int device, gpumem_stream stream, bool on);

/* The number of the work that was queued last on the stream, counted from 1 and
 * from when the device was opened; 0: none, or there is no such stream. */
GPUMEM_API uint64_t gpumem_host_queued(int device, gpumem_stream stream);

/* Does what is queued on a held stream, oldest first, until work `number` is
 * over or there is none. Nobody may destroy the stream or close the device
 * meanwhile; the work must not call this for its own stream. OK, also if the
 * stream is not held, where it does nothing; INVALID. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_host_step(int device, gpumem_stream stream, uint64_t number);

/* Begins or ends a capture of the stream: until it ends, recording an event on
 * it and making it wait for one give CAPTURING, and launches, fills and copies
 * are dropped. OK, INVALID. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_host_capture(int device, gpumem_stream stream, bool on);

/*
 * Faults, for all host devices, instead of those set before; "" or NULL: none.
 * A list separated by ';' of SLOT@N[+][:STATUS]: the Nth call (from 1, counted
 * from now) of the slot of backend.h fails, with '+' every later one too, with
 * STATUS a name of the status list in any case (default: no_memory for slots
 * that take memory, driver for others). SLOT '*': any slot that can fail,
 * counted together. The same as option `host.fail`. OK, INVALID.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_host_faults(const char *faults);

/* Calls of slots that can fail, since the last gpumem_host_faults(). */
GPUMEM_API uint64_t gpumem_host_calls(void);

/* Calls that a program must not make while it captures, since the process
 * began: event_record, stream_wait and stream_sync of a stream that is being
 * captured, and, without CAP_FREES_IN_CAPTURE, unmap, free, kind_free or
 * page_destroy while any stream of that device is. A pool makes none as to the
 * streams that it knows. */
GPUMEM_API uint64_t gpumem_host_capture_violations(void);

/* Physical bytes that are allocated on the device. */
GPUMEM_API uint64_t gpumem_host_used_bytes(int device);

/* Bytes of that kind that are allocated; for DEVICE the same as
 * gpumem_host_used_bytes(). */
GPUMEM_API uint64_t gpumem_host_kind_bytes(int device, gpumem_kind kind);

/*
 * With option host.objects blocks have addresses that cannot be dereferenced,
 * as where the vendor names memory by objects, and gpumem_object() and
 * gpumem_view() return objects of this backend. These two correspond to the
 * vendor's retain and release: an object exists until every reference is
 * released. A program must not release the library's own reference.
 */
GPUMEM_API void gpumem_host_object_retain(void *object);
GPUMEM_API void gpumem_host_object_release(void *object);

/* The address at which a simulated kernel that takes the object reads and
 * writes its bytes. NULL once the memory, or the view's last reference, was
 * released. */
GPUMEM_API void *gpumem_host_object_memory(void *object);

/* Views that were created and not released. */
GPUMEM_API uint64_t gpumem_host_views(int device);

/* Simulates other programs that use so many bytes of the device. OK, INVALID.
 */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_host_outside(int device, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
