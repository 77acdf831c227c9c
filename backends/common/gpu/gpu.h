/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside that `cuda` and `hip` have in common. HIP is made after CUDA's
 * driver API, so the sources of this folder are there once and are compiled
 * into each plugin, with the words of its names.h: GPU(alloc) is gm_cuda_alloc
 * in one and gm_hip_alloc in the other, gpu.MemMap is cuMemMap or hipMemMap,
 * and PREFIX "MemMap" its name in a sentence. "The driver" is NVIDIA's or AMD's
 * runtime. Each plugin's own plugin.h, which includes this, has the structs.
 *
 *     error.c    the driver's results as statuses and sentences
 *     enter.c    what calls have around them, but for each plugin's own
 *     memory.c   alloc, free, memory_info; group COPY
 *     stream.c   streams; group CAPTURE
 *     handle.c   the calls of virtual memory
 *     virtual.c  group VM
 *     share.c    groups SHARE_IPC and SHARE_FD
 *     kind.c     group KINDS
 *     peer.c     group PEERS
 *
 * What a plugin has for itself is what the two drivers differ in.
 */
#ifndef GM_COMMON_GPU_H
#define GM_COMMON_GPU_H

#include <gpumem/backend.h>
#include "names.h"

struct gpu_device;
struct gpu_visit;

/* ---- Errors ------------------------------------------------------------ */

/* OK for success; NOT_READY, and nothing is said; else the status that the
 * result means, having left the sentence "WHAT: ...". */
gpumem_status GPU(check)(gpu_result result, const char *what, ...)
	GPUMEM_PRINTF(2, 3);
#define gpu_check GPU(check)
/* Leaves a sentence of our own; result 0: no call of the driver failed. */
gpumem_status GPU(fail)(gpumem_status status, gpu_result result,
			const char *sentence, ...) GPUMEM_PRINTF(3, 4);
#define gpu_fail GPU(fail)
/* What the result says of a handle or context that is not this plugin's own: it
 * was destroyed. */
bool GPU(gone)(gpu_result result);
#define gpu_gone GPU(gone)

/* The driver's own name and text for a result; "" and "failed" if it has none.
 */
const char *GPU(error_name)(gpu_result result);
#define gpu_error_name GPU(error_name)
const char *GPU(error_text)(gpu_result result);
#define gpu_error_text GPU(error_text)

/* What the results from first to last mean; the list ends with status OK. */
struct gpu_meaning {
	int first, last;
	gpumem_status status;
	const char *advice; /* NULL: the driver's text says it all */
};
#define ONE(result) (result), (result)
extern const struct gpu_meaning GPU(meanings)[];
#define gpu_meanings GPU(meanings)

/* ---- Around a call ----------------------------------------------------- */

/* The thread's capture mode becomes RELAXED: in any other, most calls fail
 * while some thread captures, and spoil that capture. The device's primary
 * context becomes current. */
gpumem_status GPU(enter)(struct gpu_visit *visit,
			 const struct gpu_device *device);
#define gpu_enter GPU(enter)
/* That, to give memory by a call that may not notice a lost device: LOST then,
 * as far as the driver tells. */
gpumem_status GPU(enter_good)(struct gpu_visit *visit,
			      const struct gpu_device *device);
#define gpu_enter_good GPU(enter_good)
/* As enter, for a stream of the device; its own context becomes current.
 * CAPTURING, and the stream has not been touched, if it is being captured.
 * INVALID: another device's. */
gpumem_status GPU(enter_stream)(struct gpu_visit *visit,
				const struct gpu_device *device,
				gpu_stream stream);
#define gpu_enter_stream GPU(enter_stream)
/* The same, to queue work: a stream that is captured takes it into its graph.
 */
gpumem_status GPU(enter_queue)(struct gpu_visit *visit,
			       const struct gpu_device *device,
			       gpu_stream stream);
#define gpu_enter_queue GPU(enter_queue)
/* The number of the capture that the stream must not be touched for; 0: none.
 * Between enter and leave. */
gpumem_status GPU(capture)(gpu_stream stream, uint64_t *id_out);
#define gpu_capture GPU(capture)
/* The number of the device that a stream is of, which is no default stream, and
 * its context becomes current. Between enter and leave. */
gpumem_status GPU(enter_owner)(struct gpu_visit *visit,
			       const struct gpu_device *device,
			       gpu_stream stream, int *number_out);
#define gpu_enter_owner GPU(enter_owner)
gpumem_status GPU(no_stream)(gpu_stream stream, gpu_result result);
#define gpu_no_stream GPU(no_stream)
/* After any of these was OK: the thread is as it was. */
void GPU(leave)(const struct gpu_visit *visit);
#define gpu_leave GPU(leave)

/* ---- Memory by the driver's own allocation ----------------------------- */

/* The slots memory_info, alloc, free and peer_enable, where a device's memory
 * is made in no other way. */
gpumem_status gpu_raw_info(void *device, struct gpumem_memory *memory);
gpumem_status gpu_raw_alloc(void *device, uint64_t bytes, uint64_t *address);
gpumem_status gpu_raw_free(void *device, uint64_t address, uint64_t bytes);
gpumem_status gpu_raw_peer(void *device, void *peer);

/* ---- Virtual memory ---------------------------------------------------- */

/* Devices are bits of a number. */
#define GPU_DEVICES_MAX 64

/* The calls of virtual memory, each about one range. Between enter and leave.
 */
gpumem_status GPU(addresses_reserve)(uint64_t bytes, uint64_t alignment,
				     uint64_t *address_out);
#define gpu_addresses_reserve GPU(addresses_reserve)
gpumem_status GPU(addresses_free)(uint64_t address, uint64_t bytes);
#define gpu_addresses_free GPU(addresses_free)
gpumem_status GPU(handle_create)(uint64_t bytes, const gpu_page_kind *kind,
				 gpu_handle *handle_out);
#define gpu_handle_create GPU(handle_create)
gpumem_status GPU(handle_release)(gpu_handle handle, uint64_t bytes);
#define gpu_handle_release GPU(handle_release)
gpumem_status GPU(handle_map)(uint64_t address, uint64_t bytes,
			      gpu_handle handle);
#define gpu_handle_map GPU(handle_map)
/* The devices whose bits are set may read and write what is mapped there. */
gpumem_status GPU(set_access)(uint64_t address, uint64_t bytes,
			      uint64_t devices);
#define gpu_set_access GPU(set_access)
gpumem_status GPU(unmap_whole)(uint64_t address, uint64_t bytes);
#define gpu_unmap_whole GPU(unmap_whole)
/* All or none; the devices whose bits are set may read and write them. */
gpumem_status GPU(map_whole)(uint64_t address, const gpumem_page *pages,
			     size_t count, uint64_t page_bytes,
			     uint64_t devices);
#define gpu_map_whole GPU(map_whole)

/* OK, or UNSUPPORTED: the device has no pages. */
gpumem_status GPU(check_pages)(const struct gpu_device *device);
#define gpu_check_pages GPU(check_pages)

/* Of a device whose driver takes one mapping a call, which CUDA's never is
 * (gpu_in_pieces): the slots of the same names, between enter and leave. */
gpumem_status GPU(pieces_reserve)(const struct gpu_device *device,
				  uint64_t address, uint64_t bytes);
#define gpu_pieces_reserve GPU(pieces_reserve)
gpumem_status GPU(pieces_release)(const struct gpu_device *device,
				  uint64_t address, uint64_t bytes);
#define gpu_pieces_release GPU(pieces_release)
gpumem_status GPU(pieces_map)(const struct gpu_device *device, uint64_t address,
			      const gpumem_page *pages, size_t count,
			      uint64_t page_bytes, uint64_t devices);
#define gpu_pieces_map GPU(pieces_map)
gpumem_status GPU(pieces_unmap)(const struct gpu_device *device,
				uint64_t address, size_t count,
				uint64_t page_bytes);
#define gpu_pieces_unmap GPU(pieces_unmap)

/* ---- The slots of an open device, see backend.h ------------------------ */

gpumem_status GPU(memory_info)(void *device, struct gpumem_memory *memory);
gpumem_status GPU(alloc)(void *device, uint64_t bytes, uint64_t *address);
gpumem_status GPU(free)(void *device, uint64_t address, uint64_t bytes);
gpumem_status GPU(fill)(void *device, uint64_t address, uint8_t value,
			uint64_t bytes, gpumem_stream stream);
gpumem_status GPU(copy)(void *device, uint64_t to, uint64_t from,
			uint64_t bytes, gpumem_stream stream);
gpumem_status GPU(stream_create)(void *device, gpumem_stream *stream_out);
gpumem_status GPU(stream_destroy)(void *device, gpumem_stream stream);
gpumem_status GPU(stream_sync)(void *device, gpumem_stream stream);
gpumem_status GPU(stream_query)(void *device, gpumem_stream stream);
gpumem_status GPU(capture_id)(void *device, gpumem_stream stream,
			      uint64_t *id_out);
gpumem_status GPU(stream_wait)(void *device, gpumem_stream stream,
			       gpumem_event event);
gpumem_status GPU(event_create)(void *device, gpumem_event *event_out);
gpumem_status GPU(event_destroy)(void *device, gpumem_event event);
gpumem_status GPU(event_record)(void *device, gpumem_event event,
				gpumem_stream stream);
gpumem_status GPU(event_query)(void *device, gpumem_event event);
gpumem_status GPU(event_sync)(void *device, gpumem_event event);
gpumem_status GPU(va_reserve)(void *device, uint64_t bytes, uint64_t alignment,
			      uint64_t *address_out);
gpumem_status GPU(va_release)(void *device, uint64_t address, uint64_t bytes);
gpumem_status GPU(page_create)(void *device, uint64_t bytes,
			       gpumem_page *page_out);
gpumem_status GPU(page_destroy)(void *device, gpumem_page page, uint64_t bytes);
gpumem_status GPU(map)(void *device, uint64_t address, const gpumem_page *pages,
		       size_t count, uint64_t page_bytes);
gpumem_status GPU(unmap)(void *device, uint64_t address, size_t count,
			 uint64_t page_bytes);
gpumem_status GPU(map_peers)(void *device, uint64_t address,
			     const gpumem_page *pages, size_t count,
			     uint64_t page_bytes, void *const *peers,
			     size_t peer_count);
gpumem_status GPU(peer_query)(void *device, void *peer, bool *can_out);
gpumem_status GPU(peer_enable)(void *device, void *peer);
gpumem_status GPU(kind_alloc)(void *device, gpumem_kind kind, uint64_t bytes,
			      uint64_t *address_out);
gpumem_status GPU(kind_free)(void *device, gpumem_kind kind, uint64_t address,
			     uint64_t bytes);
gpumem_status GPU(device_processes)(
	void *device,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user);
gpumem_status GPU(ipc_export)(void *device, uint64_t address, uint64_t bytes,
			      void *handle_out);
gpumem_status GPU(ipc_open)(void *device, const void *handle, uint64_t bytes,
			    uint64_t *address_out);
gpumem_status GPU(ipc_close)(void *device, uint64_t address);
gpumem_status GPU(page_create_shared)(void *device, uint64_t bytes,
				      gpumem_page *page_out);
gpumem_status GPU(page_export)(void *device, gpumem_page page, uint64_t bytes,
			       int *fd_out);
gpumem_status GPU(page_import)(void *device, int fd, uint64_t bytes,
			       gpumem_page *page_out);

#endif
