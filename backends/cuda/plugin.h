/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the `cuda` backend: the driver API of NVIDIA's libcuda.so.1,
 * which is found when the plugin is started, not when it is linked. Its files,
 * from the ground up, beside those of ../common/gpu/:
 *
 *     names.h         names for ../common/gpu/
 *     cuda_symbols.h  the driver functions, with the version that brought them
 *     cuda_error.c    what the driver's results mean
 *     cuda_driver.c   which library it is
 *     cuda_context.c  the current context around every call
 *     cuda_device.c   devices opened and closed
 *     cuda_adopt.c    group ADOPT: the program's own contexts
 *     cuda_nvml.c     group PROCESSES: another library, NVML
 *
 * Nothing is kept but `gpu`, which init writes once, what a device is opened
 * with, which contexts were adopted, events, the streams on which imported ones
 * wait, and NVML once it was needed: only cuda_adopt.c, cuda_nvml.c and
 * native.c lock. It does not cache, count or retry.
 */
#ifndef GM_CUDA_PLUGIN_H
#define GM_CUDA_PLUGIN_H

#include "../common/gpu/gpu.h"

/* ---- The driver -------------------------------------------------------- */

struct gpu_driver {
	const struct gpumem_services *services;
	char version[16]; /* "13.0" */
#define CUDA_POINTER(symbol, name, since) PFN_cu##name##_v##since name;
	CUDA_SYMBOL_LIST(CUDA_POINTER)
#undef CUDA_POINTER
};

/* Written by init, then only read. */
extern struct gpu_driver gpu;

/* ---- A device ---------------------------------------------------------- */

struct cuda_place;

struct gpu_device {
	CUdevice device;
	CUcontext context; /* the primary one, retained, or the program's */
	struct cuda_place *place; /* of an adopted one; else NULL */
	uint64_t context_id;	  /* likewise; 0: not known */
	char pci[GPU_PCI_BYTES];
	CUuuid uuid;
	struct gpu_traits traits;
	const struct gpu_raw *raw;
	const struct gpu_pages *pages;	 /* NULL: it has none */
	struct gpu_followers *followers; /* see ../common/gpu/native.c */
};

#define GPU_NATIVE_CONTEXT(device) ((void *)(device)->context)

/* The adopted device of that index, but for what is asked of every device.
 * False: there is none. */
bool gm_cuda_find_adopted(int index, struct gpu_device *device);
#define gpu_find_adopted gm_cuda_find_adopted
/* As many more opens, or fewer, of an adopted device. */
void gm_cuda_count_open(struct cuda_place *place, int opens);

/* ---- Around a call ----------------------------------------------------- */

/* Makes any context current, and tells its device's number. INVALID with the
 * sentence `gone` if it was destroyed. Between begin and end. */
gpumem_status gm_cuda_enter(struct gpu_call *call, CUcontext context,
			    const char *gone, int *number_out);
/* A number that no other context of the process has or had; 0: the driver does
 * not tell. */
uint64_t gm_cuda_context_id(CUcontext context);

/* ---- Calls that differ between the drivers ----------------------------- */

/* CUDA keeps no error of a thread that a program could ask for. */
static inline bool gpu_is_clean(void)
{
	return true;
}

static inline void gpu_clean(bool was_clean)
{
	(void)was_clean;
}

#define gpu_knows_virtual() true

/* The newer call tells the parts of a divided device (MIG) apart. */
static inline CUresult gpu_get_uuid(CUuuid *uuid_out, CUdevice device)
{
	return gpu.DeviceGetUuid_v2 ? gpu.DeviceGetUuid_v2(uuid_out, device)
				    : gpu.DeviceGetUuid(uuid_out, device);
}

/* The context that a peer gets access to, and that events belong to. */
#define GPU_CONTEXT(device) ((device)->context)

static inline CUresult gpu_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes,
				CUstream stream)
{
	return gpu.MemcpyAsync(to, from, bytes, stream);
}

/* The driver always knows the size of an imported allocation. */
#define GPU_TELLS_RANGES true

/* How a descriptor is passed to an import. */
static inline void *gpu_descriptor(const int *fd)
{
	return (void *)(intptr_t)*fd;
}

/* What the driver says is free is free. */
#define gpu_correct_memory(device, memory) ((void)(device), (void)(memory))

/* A page is the driver's handle, of which the driver does not say that it is
 * not 0, as a page may not be; that none is all ones is taken for granted. */
static inline gpumem_page gpu_page_of(CUmemGenericAllocationHandle handle)
{
	return handle + 1;
}

static inline CUmemGenericAllocationHandle gpu_handle_of(gpumem_page page)
{
	return page - 1;
}

#endif
