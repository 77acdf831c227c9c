/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The source that `cuda` and `hip` share. HIP follows CUDA's driver API, so
 * each plugin compiles the files of this folder with its own names.h (types,
 * constants, names) and plugin.h (structs, calls with other arguments):
 *
 *     GPU(alloc)       gm_cuda_alloc    gm_hip_alloc
 *     gpu.MemMap       cuMemMap         hipMemMap
 *     PREFIX "MemMap"  "cuMemMap"       "hipMemMap"
 *     gpu_stream       CUstream         hipStream_t
 *
 * "The driver" is NVIDIA's driver or AMD's runtime. The files:
 *
 *     init.c     the table; finds the library, checks its version, starts it
 *     error.c    the driver's results as statuses and sentences
 *     call.c     what every call has around it
 *     device.c   devices counted, described, opened and closed
 *     memory.c   alloc, free, memory_info; group COPY
 *     stream.c   streams; group CAPTURE
 *     event.c    events
 *     native.c   the program's own events; group NATIVE_EVENTS
 *     whole.c    memory taken as CUDA documents it
 *     virtual.c  group VM
 *     share.c    groups SHARE_IPC and SHARE_FD
 *     kind.c     group KINDS
 *     pin.c      group HOST_PIN
 *     near.c     the host's memory that is closest to a device
 *     peer.c     group PEERS
 *
 * What differs between the two is in cuda/ and hip/.
 */
#ifndef GM_COMMON_GPU_H
#define GM_COMMON_GPU_H

#include <gpumem/backend.h>
#include "names.h"

struct gpu_device;

static inline gpu_address gpu_at(uint64_t address)
{
	return (gpu_address)(uintptr_t)address;
}

/* ---- The library ------------------------------------------------------- */

/* Opens the driver's library; its name is in `path_out` then, or what was
 * looked for. NULL, and dlerror() says why. */
void *gpu_open_library(char *path_out, size_t bytes);
/* Keeps the version, as text too, and what it means. */
void gpu_read_version(int version);

/* ---- Errors ------------------------------------------------------------ */

/* OK for success; NOT_READY, and nothing is said; else the status that the
 * result means, having left the sentence "WHAT: ...". */
gpumem_status gpu_check(gpu_result result, const char *what, ...)
	GPUMEM_PRINTF(2, 3);
/* The same of a call about memory: "NAME of BYTES bytes at ADDRESS: ...";
 * address 0: not yet known. */
gpumem_status gpu_check_memory(gpu_result result, const char *name,
			       uint64_t bytes, uint64_t address);
/* Leaves a sentence of our own; result 0: no call of the driver failed. */
gpumem_status gpu_fail(gpumem_status status, gpu_result result,
		       const char *sentence, ...) GPUMEM_PRINTF(3, 4);
/* What the result says of a handle or context that is not this plugin's own: it
 * was destroyed. */
bool gpu_gone(gpu_result result);

/* The driver's own name and text for a result; "" and "failed" if it has none.
 */
const char *gpu_error_name(gpu_result result);
const char *gpu_error_text(gpu_result result);

/* What the results from first to last mean; the list ends with status OK. */
struct gpu_meaning {
	int first, last;
	gpumem_status status;
	const char *advice; /* NULL: the driver's text says it all */
};
#define ONE(result) (result), (result)
extern const struct gpu_meaning gpu_meanings[];

/* ---- A device ---------------------------------------------------------- */

/* What a device can do that its description and its pages both need. */
struct gpu_traits {
	bool vm; /* the driver claims it */
	bool managed;
	uint64_t granularity_bytes;
	gpu_page_kind page; /* what pages are created with */
};

/* Devices are bits of a number. */
#define GPU_DEVICES_MAX 64
#define GPU_PCI_BYTES 16  /* "0000:3b:00.0" */
#define GPU_UUID_BYTES 37 /* 8-4-4-4-12 digits, and the end */

/* Of a device that is described: opens the rest, of which nothing is left when
 * it fails. Failures of close are ignored: at exit the driver may be unloaded,
 * or the program may have reset the device. */
gpumem_status gpu_open(struct gpu_device *device);
void gpu_close(struct gpu_device *device);
/* 0 where the driver does not know it. */
gpumem_status gpu_read_attribute(int device, gpu_attribute which,
				 int *value_out);
/* "" if it has none. */
void gpu_format_uuid(const struct gpu_device *device,
		     char text_out[GPU_UUID_BYTES]);
/* What pages are created with. */
gpumem_status gpu_describe_page(int device, gpu_page_kind *page_out);
/* The capabilities that not every device has, and the note. */
gpumem_status gpu_capabilities(const struct gpu_device *device,
			       struct gpumem_device_info *info);

/* ---- Around a call ----------------------------------------------------- */

/* What a slot changes of the calling thread while it works, and undoes. */
struct gpu_call {
	gpumem_status status;  /* not OK after begin: do not call */
	gpu_capture_mode mode; /* the thread's own */
	bool exchanged;	       /* it is to be put back */
	bool clean;	       /* the thread had no error that it may ask for */
	gpu_context context;   /* that is current now */
	struct gpu_place place;
};

/* The thread's capture mode becomes RELAXED: in any other, most calls fail
 * while some thread captures, and spoil that capture. */
struct gpu_call gpu_begin_anywhere(void);
/* That, and the device's context becomes current. */
struct gpu_call gpu_begin(const struct gpu_device *device);
/* That, to give memory by a call that may not notice a lost device: LOST then,
 * as far as the driver tells. */
struct gpu_call gpu_begin_good(const struct gpu_device *device);
/* As begin, for a stream of the device; its own context becomes current.
 * CAPTURING, and the stream has not been touched, if it is being captured.
 * INVALID: another device's. */
struct gpu_call gpu_begin_stream(const struct gpu_device *device,
				 gpu_stream stream);
/* The same, to queue work: a stream that is captured takes it into its graph.
 */
struct gpu_call gpu_begin_queue(const struct gpu_device *device,
				gpu_stream stream);
/* After each of these, whatever came of it: the thread is as it was. Returns
 * the status. */
gpumem_status gpu_end(const struct gpu_call *call);
/* Between them: the driver still has the device, or LOST. */
gpumem_status gpu_look(void);

/* The number of the capture that the stream must not be touched for; 0: none.
 * Between begin and end. */
gpumem_status gpu_capture(gpu_stream stream, uint64_t *id_out);
gpumem_status gpu_no_stream(gpu_stream stream, gpu_result result);

/* The device's context becomes current; leave undoes what was done. */
gpumem_status gpu_enter(struct gpu_call *call, const struct gpu_device *device);
void gpu_leave(const struct gpu_call *call);
/* The number of the device that a stream is of, which is no default stream, and
 * its context becomes current. Between begin and end. */
gpumem_status gpu_enter_owner(struct gpu_call *call,
			      const struct gpu_device *device,
			      gpu_stream stream, int *number_out);

/* ---- Memory of the host ------------------------------------------------- */

/* The number of the NUMA node that is closest to the device; -1: not known. */
int gpu_host_node(const struct gpu_device *device);
/* From here to end what the calling thread takes of the host's memory is of
 * that node, while it has some. False: the thread is as it was. Between begin
 * and end of a call. */
bool gpu_near_begin(const struct gpu_device *device);
void gpu_near_end(bool begun);

/* ---- Streams of ours --------------------------------------------------- */

/* Those that imports of events wait on; NULL: none yet. */
struct gpu_followers;
/* At the end of a device. */
void gpu_followers_end(struct gpu_device *device);

/* ---- How memory is taken ----------------------------------------------- */

/* Chosen for each device by what its driver does as documented. Between begin
 * and end, but for `open`. */
struct gpu_raw {
	gpumem_status (*alloc)(const struct gpu_device *device, uint64_t bytes,
			       uint64_t *address_out);
	gpumem_status (*free)(const struct gpu_device *device, uint64_t address,
			      uint64_t bytes);
	/* To the peer, all that alloc gives. */
	gpumem_status (*open)(const struct gpu_device *device,
			      const struct gpu_device *peer);
};

struct gpu_pages {
	gpumem_status (*reserve)(const struct gpu_device *device,
				 uint64_t bytes, uint64_t alignment,
				 uint64_t *address_out);
	gpumem_status (*release)(const struct gpu_device *device,
				 uint64_t address, uint64_t bytes);
	/* All or none; the devices whose bits are set may use them. */
	gpumem_status (*map)(const struct gpu_device *device, uint64_t address,
			     const gpumem_page *pages, size_t count,
			     uint64_t page_bytes, uint64_t devices);
	gpumem_status (*unmap)(const struct gpu_device *device,
			       uint64_t address, size_t count,
			       uint64_t page_bytes);
	/* To these devices too. */
	gpumem_status (*open)(const struct gpu_device *device, uint64_t address,
			      size_t count, uint64_t page_bytes,
			      uint64_t devices);
};

/* The driver's own allocation. */
extern const struct gpu_raw gpu_raw_own;
/* Whole ranges, but for a call for each page that is mapped. */
extern const struct gpu_pages gpu_pages_whole;

/* OK, or UNSUPPORTED: the device has no pages. */
gpumem_status gpu_check_pages(const struct gpu_device *device);

/* The driver's calls that these are made of. */
gpumem_status gpu_handle_create(uint64_t bytes, const gpu_page_kind *kind,
				gpu_handle *handle_out);
gpumem_status gpu_handle_release(gpu_handle handle, uint64_t bytes);
gpumem_status gpu_handle_map(uint64_t address, uint64_t bytes,
			     gpu_handle handle);
/* The devices whose bits are set may read and write what is mapped there. */
gpumem_status gpu_set_access(uint64_t address, uint64_t bytes,
			     uint64_t devices);

/* ---- The table --------------------------------------------------------- */

/* All groups but OBJECTS, and of ADOPT what the plugin has; each slot as
 * backend.h has it. */
#define GPU_SLOT_LIST(X)                                                       \
	GPUMEM_SLOTS_REQUIRED(X)                                               \
	GPUMEM_SLOTS_STREAMS(X)                                                \
	GPUMEM_SLOTS_VM(X)                                                     \
	GPUMEM_SLOTS_COPY(X)                                                   \
	GPUMEM_SLOTS_CAPTURE(X)                                                \
	GPUMEM_SLOTS_KINDS(X)                                                  \
	GPUMEM_SLOTS_PEERS(X)                                                  \
	GPUMEM_SLOTS_PROCESSES(X)                                              \
	GPUMEM_SLOTS_SHARE_IPC(X)                                              \
	GPUMEM_SLOTS_SHARE_FD(X)                                               \
	GPUMEM_SLOTS_NATIVE_EVENTS(X)                                          \
	GPUMEM_SLOTS_NATIVE_DEVICE(X)                                          \
	GPUMEM_SLOTS_OPEN_MAPPED(X)                                            \
	GPUMEM_SLOTS_HOST_PIN(X)                                               \
	GPU_OWN_SLOTS(X)

GPU_SLOT_LIST(GPU_DECLARE)

extern const struct gpumem_option_row gpu_options[];

#endif
