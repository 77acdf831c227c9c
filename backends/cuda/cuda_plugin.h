/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the `cuda` backend: the driver API of NVIDIA's libcuda.so.1,
 * which is found when the plugin is started, not when it is linked. Its rooms,
 * from the ground up:
 *
 *     cuda_symbols.h  the driver functions, with the version that brought them
 *     cuda_error.c    the driver's results as statuses and sentences
 *     cuda_driver.c   the library found and started
 *     cuda_context.c  what every call has around it
 *     cuda_device.c   devices counted, described, opened and closed
 *     cuda_memory.c   alloc, free, memory_info; group COPY
 *     cuda_stream.c   streams; group CAPTURE
 *     cuda_event.c    events
 *     cuda_virtual.c  group VM
 *     cuda_kind.c     group KINDS
 *     cuda_peer.c     group PEERS
 *     cuda_nvml.c     group PROCESSES: another library, NVML
 *     cuda_share.c    groups SHARE_IPC and SHARE_FD
 *     cuda_plugin.c   the table
 *
 * Nothing is kept but gm_cuda, which init writes once, what a device is opened
 * with, events, and NVML once it was needed: only cuda_nvml.c locks. It does
 * not cache, count or retry.
 */
#ifndef GM_CUDA_PLUGIN_H
#define GM_CUDA_PLUGIN_H

#include <gpumem/backend.h>
#include "cuda_symbols.h"

/* ---- The driver -------------------------------------------------------- */

struct cuda_driver {
	const struct gpumem_services *services;
	char version[16]; /* "13.0" */
#define CUDA_POINTER(symbol, base, since) PFN_##base##_v##since symbol;
	CUDA_SYMBOL_LIST(CUDA_POINTER)
#undef CUDA_POINTER
};

/* Written by init, then only read. */
extern struct cuda_driver gm_cuda;

extern const struct gpumem_option_row gm_cuda_options[];

gpumem_status gm_cuda_init(const struct gpumem_services *services);
const char *gm_cuda_driver_version(void);

/* ---- Errors ------------------------------------------------------------ */

/* OK for success; NOT_READY, and nothing is said; else the status that the
 * result means, having left the sentence "WHAT: ...". */
gpumem_status gm_cuda_check(CUresult result, const char *what, ...)
	GPUMEM_PRINTF(2, 3);
/* Leaves a sentence of our own; result 0: no driver call failed. */
gpumem_status gm_cuda_fail(gpumem_status status, CUresult result,
			   const char *sentence, ...) GPUMEM_PRINTF(3, 4);
/* What the result says of a handle or context that is not this plugin's own: it
 * was destroyed. */
bool gm_cuda_gone(CUresult result);

/* ---- A device ---------------------------------------------------------- */

/* What a device can do that its description and its pages both need. */
struct cuda_traits {
	bool vm, managed;
	bool ipc, fd; /* its memory can reach other processes */
	uint64_t granularity_bytes;
	CUmemAllocationProp page; /* what pages are created with */
};

struct cuda_device {
	CUdevice device;
	CUcontext context; /* the primary one, retained */
	CUuuid uuid;
	struct cuda_traits traits;
};

gpumem_status gm_cuda_device_count(int *count_out);
gpumem_status gm_cuda_device_info(int index,
				  struct gpumem_device_info *info_out);
gpumem_status gm_cuda_device_open(int index, void **device_out);
void gm_cuda_device_close(void *device);

/* See cuDeviceGetUuid(). */
gpumem_status gm_cuda_read_uuid(CUdevice device, CUuuid *uuid_out);
#define CUDA_UUID_BYTES 37 /* 8-4-4-4-12 digits, and the end */
void gm_cuda_format_uuid(const CUuuid *uuid, char text_out[CUDA_UUID_BYTES]);

/* ---- Around a call ----------------------------------------------------- */

/*
 * What a slot changes of the calling thread while it works, and undoes: its
 * capture mode, and `pushed` contexts on its stack, of which `context` is the
 * top one.
 */
struct cuda_visit {
	CUstreamCaptureMode mode; /* the thread's own */
	int pushed;
	CUcontext context;
};

/* The thread's capture mode becomes RELAXED: in any other, most calls fail
 * while some thread captures, and spoil that capture. */
gpumem_status gm_cuda_relax(struct cuda_visit *visit);
/* That, and the device's context is current. */
gpumem_status gm_cuda_enter(struct cuda_visit *visit,
			    const struct cuda_device *device);
/* That, but the context is the stream's own. CAPTURING, and the stream has not
 * been touched, if it is being captured. INVALID: another device's. */
gpumem_status gm_cuda_enter_stream(struct cuda_visit *visit,
				   const struct cuda_device *device,
				   CUstream stream);
/* The same, to queue work: a stream that is captured takes it into its graph.
 */
gpumem_status gm_cuda_enter_queue(struct cuda_visit *visit,
				  const struct cuda_device *device,
				  CUstream stream);
/* The number of the capture that the stream must not be touched for; 0: none.
 * Between enter and leave. */
gpumem_status gm_cuda_capture(CUstream stream, uint64_t *id_out);
/* After any of these was OK: the thread is as it was. */
void gm_cuda_leave(const struct cuda_visit *visit);

/* ---- The slots of an open device, see backend.h ------------------------ */

gpumem_status gm_cuda_memory_info(void *device, struct gpumem_memory *memory);
gpumem_status gm_cuda_alloc(void *device, uint64_t bytes, uint64_t *address);
gpumem_status gm_cuda_free(void *device, uint64_t address, uint64_t bytes);
gpumem_status gm_cuda_fill(void *device, uint64_t address, uint8_t value,
			   uint64_t bytes, gpumem_stream stream);
gpumem_status gm_cuda_copy(void *device, uint64_t to, uint64_t from,
			   uint64_t bytes, gpumem_stream stream);
gpumem_status gm_cuda_stream_create(void *device, gpumem_stream *stream_out);
gpumem_status gm_cuda_stream_destroy(void *device, gpumem_stream stream);
gpumem_status gm_cuda_stream_sync(void *device, gpumem_stream stream);
gpumem_status gm_cuda_stream_query(void *device, gpumem_stream stream);
gpumem_status gm_cuda_capture_id(void *device, gpumem_stream stream,
				 uint64_t *id_out);
gpumem_status gm_cuda_stream_wait(void *device, gpumem_stream stream,
				  gpumem_event event);
gpumem_status gm_cuda_event_create(void *device, gpumem_event *event_out);
gpumem_status gm_cuda_event_destroy(void *device, gpumem_event event);
gpumem_status gm_cuda_event_record(void *device, gpumem_event event,
				   gpumem_stream stream);
gpumem_status gm_cuda_event_query(void *device, gpumem_event event);
gpumem_status gm_cuda_event_sync(void *device, gpumem_event event);
gpumem_status gm_cuda_va_reserve(void *device, uint64_t bytes,
				 uint64_t alignment, uint64_t *address_out);
gpumem_status gm_cuda_va_release(void *device, uint64_t address,
				 uint64_t bytes);
gpumem_status gm_cuda_page_create(void *device, uint64_t bytes,
				  gpumem_page *page_out);
gpumem_status gm_cuda_page_destroy(void *device, gpumem_page page,
				   uint64_t bytes);
gpumem_status gm_cuda_map(void *device, uint64_t address,
			  const gpumem_page *pages, size_t count,
			  uint64_t page_bytes);
gpumem_status gm_cuda_unmap(void *device, uint64_t address, size_t count,
			    uint64_t page_bytes);
gpumem_status gm_cuda_map_peers(void *device, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes, void *const *peers,
				size_t peer_count);
gpumem_status gm_cuda_peer_query(void *device, void *peer, bool *can_out);
gpumem_status gm_cuda_peer_enable(void *device, void *peer);
gpumem_status gm_cuda_kind_alloc(void *device, gpumem_kind kind, uint64_t bytes,
				 uint64_t *address_out);
gpumem_status gm_cuda_kind_free(void *device, gpumem_kind kind,
				uint64_t address, uint64_t bytes);
gpumem_status gm_cuda_device_processes(
	void *device,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user);
gpumem_status gm_cuda_ipc_export(void *device, uint64_t address, uint64_t bytes,
				 void *handle_out);
gpumem_status gm_cuda_ipc_open(void *device, const void *handle, uint64_t bytes,
			       uint64_t *address_out);
gpumem_status gm_cuda_ipc_close(void *device, uint64_t address);
gpumem_status gm_cuda_page_create_shared(void *device, uint64_t bytes,
					 gpumem_page *page_out);
gpumem_status gm_cuda_page_export(void *device, gpumem_page page,
				  uint64_t bytes, int *fd_out);
gpumem_status gm_cuda_page_import(void *device, int fd, uint64_t bytes,
				  gpumem_page *page_out);

/* A page is the driver's handle and back. */
gpumem_page gm_cuda_page_of(CUmemGenericAllocationHandle memory);
CUmemGenericAllocationHandle gm_cuda_memory_of(gpumem_page page);

#endif
