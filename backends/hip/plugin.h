/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the `hip` backend: the HIP runtime of AMD's ROCm,
 * libamdhip64.so, which is found when the plugin is started, not when it is
 * linked. One binary serves ROCm 5, 6 and 7. Its files, from the ground
 * up, beside those of ../common/gpu/:
 *
 *     names.h        names for ../common/gpu/
 *     hip_symbols.h  the runtime's functions, with the release of each
 *     hip_error.c    what the runtime's errors mean
 *     hip_runtime.c  which library it is; what its version means
 *     hip_thread.c   the current device and last error around every call
 *     hip_sysfs.c    what the kernel writes about devices under /sys
 *     hip_segment.c  alloc and free made of virtual memory
 *     hip_piece.c    group VM for runtimes that take one mapping a call
 *     hip_trial.c    virtual memory tried when a device is opened:
 *     hip_trial_level.c   a level of it
 *     hip_trial_alias.c   pages at two addresses
 *     hip_level.c    how far it is used from then on
 *     hip_device.c   devices opened and closed
 *     hip_process.c  group PROCESSES
 *
 * Nothing is kept but `gpu`, which init writes once, what a device is opened
 * with, what its trial found, its ranges or segments where the runtime needs
 * help, and the streams on which imported events wait: only hip_device.c, these
 * and native.c lock. It does not cache or count.
 */
#ifndef GM_HIP_PLUGIN_H
#define GM_HIP_PLUGIN_H

#include <dirent.h>
#include <stdio.h>
#include "../common/gpu/gpu.h"

/* ---- The runtime ------------------------------------------------------- */

struct gpu_driver {
	const struct gpumem_services *services;
	char version[32]; /* "6.4.43484" */
	/* What the version means; see gpu_read_version(). */
	bool old;	  /* of a release that has no virtual memory */
	bool vm;	  /* virtual memory can be asked for at all */
	bool free_true;	  /* hipMemGetInfo() speaks of the whole device */
	bool fd_by_value; /* an import gets the descriptor, not its address */
	unsigned ipc_flags;
#define HIP_POINTER(symbol, name, major, minor) __typeof__(symbol) *name;
	HIP_SYMBOL_LIST(HIP_POINTER)
#undef HIP_POINTER
};

/* Written by init, then only read. */
extern struct gpu_driver gpu;

/* ---- A device ---------------------------------------------------------- */

/* How far virtual memory can be trusted; group VM is there from SINGLE on. */
enum hip_level {
	HIP_VM_OFF,	/* not at all */
	HIP_VM_RESERVE, /* with addresses that go when their memory does: raw
			   allocations are made of it */
	HIP_VM_SINGLE,	/* each call is about one mapping */
	HIP_VM_FULL,	/* as documented: calls are about whole ranges */
};

struct hip_ranges;
struct hip_segments;

#define HIP_NOTE_BYTES 160

struct gpu_device {
	hipDevice_t device;
	char pci[GPU_PCI_BYTES];
	hipUUID uuid;
	struct gpu_traits traits;
	enum hip_level level;
	bool alias;		       /* pages can be mapped twice */
	const struct gpu_raw *raw;     /* of the level */
	const struct gpu_pages *pages; /* likewise; NULL: it has none */
	struct hip_ranges *ranges;     /* NULL but at HIP_VM_SINGLE */
	struct hip_segments *segments; /* NULL but at HIP_VM_RESERVE */
	struct gpu_followers *followers; /* see ../common/gpu/native.c */
};

/* Leaves in a new device the level that hip.vm says, or that works, with what
 * it needs; and in `note_out` what is not as it should be, "" if all is. What
 * does not work makes the level lower and is no failure. */
gpumem_status gm_hip_try_virtual(struct gpu_device *device,
				 char note_out[HIP_NOTE_BYTES]);
/* As hip.vm has it; HIP_VM_FULL for "auto", and then *forced_out is false. */
gpumem_status gm_hip_wanted_level(enum hip_level *level_out, bool *forced_out);
/* As hip.alias has it: pages are tried at two addresses. */
gpumem_status gm_hip_wanted_alias(bool *wanted_out);
/* Takes and gives memory in the way of the device's level. NULL, or what did
 * not work. */
const char *gm_hip_try_level(struct gpu_device *device);
/* Maps a page at two addresses, at HIP_VM_SINGLE or above. NULL, or what did
 * not work. */
const char *gm_hip_try_alias(struct gpu_device *device);
/* Of a device that is given up, or gets another level. */
void gm_hip_drop_level(struct gpu_device *device);

/* ---- /sys -------------------------------------------------------------- */

/* Bytes of the device's own memory, as the kernel's driver counts them. False:
 * it does not say. */
bool gm_hip_sysfs_memory(const char *pci, struct gpumem_memory *memory_out);
/* To be read; NULL: it is not there. Their descriptors are none of the standard
 * streams'. */
FILE *gm_hip_open_file(const char *path);
DIR *gm_hip_open_folder(const char *path);
/* A path below hip.sysfs. */
#define HIP_PATH_BYTES 1024
void gm_hip_sysfs_path(char path_out[HIP_PATH_BYTES], const char *format, ...)
	GPUMEM_PRINTF(2, 3);
/* The number that a file begins with. False: there is none. */
bool gm_hip_sysfs_number(const char *path, uint64_t *number_out);

/* ---- Around a call ----------------------------------------------------- */

/* The thread has no error that it may ask for. Around calls that concern no
 * device; what they leave goes if there was none before them. */
bool gpu_is_clean(void);
void gpu_clean(bool was_clean);

/* ---- Virtual memory at HIP_VM_SINGLE ----------------------------------- */

extern const struct gpu_pages gm_hip_pages_single;

/* NULL: no host memory. */
struct hip_ranges *gm_hip_ranges_new(void);
void gm_hip_ranges_free(struct hip_ranges *ranges);

/* ---- Raw allocations at HIP_VM_RESERVE --------------------------------- */

extern const struct gpu_raw gm_hip_raw_segments;

/* Of the device of that number. NULL: no host memory. */
struct hip_segments *gm_hip_segments_new(int device);
/* Of a device, which may have none. What the runtime did not take back is
 * offered a last time and forgotten. */
void gm_hip_segments_drop(struct gpu_device *device);
/* Addresses of what was freed are still taken. */
bool gm_hip_segments_left(struct hip_segments *segments);

/* A program has no contexts but devices. */
#define GPU_NATIVE_CONTEXT(device) ((void)(device), NULL)

/* ---- Calls that differ between the drivers ----------------------------- */

/* Every device has a name. */
#define gpu_find_adopted(index, device) ((void)(index), (void)(device), false)

#define gpu_knows_virtual() (gpu.vm)

/* Not every release has the function. */
static inline hipError_t gpu_get_uuid(hipUUID *uuid_out, hipDevice_t device)
{
	return gpu.DeviceGetUuid ? gpu.DeviceGetUuid(uuid_out, device)
				 : hipErrorNotSupported;
}

/* The context that a peer gets access to, and that events belong to. */
#define GPU_CONTEXT(device) ((device)->device)

static inline hipError_t gpu_copy(void *to, const void *from, size_t bytes,
				  hipStream_t stream)
{
	return gpu.MemcpyAsync(to, from, bytes, hipMemcpyDefault, stream);
}

/* Not every release knows the size of an imported allocation. */
#define GPU_TELLS_RANGES false

/* How a descriptor is passed to an import. */
static inline void *gpu_descriptor(int *fd)
{
	return gpu.fd_by_value ? (void *)(intptr_t)*fd : fd;
}

/* Where the runtime knows of this process only, the kernel is asked, and where
 * it does not tell, the runtime's word has to do. */
static inline void gpu_correct_memory(const struct gpu_device *device,
				      struct gpumem_memory *memory)
{
	if (!gpu.free_true)
		(void)gm_hip_sysfs_memory(device->pci, memory);
}

/* A page is the runtime's handle, which is a pointer. */
static inline gpumem_page gpu_page_of(hipMemGenericAllocationHandle_t handle)
{
	return (uintptr_t)handle;
}

static inline hipMemGenericAllocationHandle_t gpu_handle_of(gpumem_page page)
{
	return (hipMemGenericAllocationHandle_t)(uintptr_t)page;
}

#endif
