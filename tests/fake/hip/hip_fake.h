/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of HIP over CUDA: what its files share. A call is
 *
 *	hipError_t hipDoThat(int x)
 *	{
 *		HIP_CALL(hipDoThat, do_that(x));
 *	}
 *
 * which counts it, lets faults have their way, starts NVIDIA's driver if
 * nobody has yet, and keeps the result for hipGetLastError(). HIP_CALL_ON()
 * makes the context of a stream the current one meanwhile, stream 0 being the
 * current device's.
 *
 * One mutex guards the state, the rules and the records of virtual memory. It
 * is not held while the driver waits for work.
 */
#ifndef GPUMEM_TESTS_HIP_FAKE_H
#define GPUMEM_TESTS_HIP_FAKE_H

#include "../common/environment.h"
#include "../common/fault.h"
#include "../common/lock.h"
#include "../common/object.h"
#include "../common/span.h"
#include "fakehip.h"
#include "hip_driver.h"
#include "hip_symbols.h"

#include <stddef.h>
#include <stdint.h>

#define HIP_DECLARE(name, age)                                                 \
	extern __attribute__((visibility("default"))) __typeof__(name) name;
HIP_SYMBOLS(HIP_DECLARE)
#undef HIP_DECLARE

enum hip_call {
#define HIP_NAME(name, age) HIP_##name,
	HIP_SYMBOLS(HIP_NAME)
#undef HIP_NAME
		HIP_CALLS
};

#define HIP_CALL(name, body)                                                   \
	do {                                                                   \
		hipError_t result = hip_enter(HIP_##name);                     \
		if (result == hipSuccess)                                      \
			result = (body);                                       \
		return hip_leave(result);                                      \
	} while (0)

#define HIP_CALL_ON(stream, name, body)                                        \
	do {                                                                   \
		hipError_t result = hip_enter(HIP_##name);                     \
		if (result == hipSuccess)                                      \
			result = hip_context_push(stream);                     \
		if (result == hipSuccess) {                                    \
			result = (body);                                       \
			hip_context_pop();                                     \
		}                                                              \
		return hip_leave(result);                                      \
	} while (0)

/* For what virtual memory does: with the mutex, and only if there is any. */
#define HIP_VM(body)                                                           \
	(hip.vm ? (fake_lock(), hip_unlocked(body)) : hipErrorNotSupported)

/* As hipRuntimeGetVersion() writes it, without the patch. */
#define HIP_RELEASE(major, minor) ((major)*10000000 + (minor)*100000)

#define HIP_DEVICES_MAX 64

/* ---- The whole ------------------------------------------------------------
 */

struct hip_state {
	bool started, vm;
	int version;
	int device_count; /* 0: no driver, or nothing that it drives */
	/* Primary contexts, retained for good. */
	CUcontext contexts[HIP_DEVICES_MAX];
	/* What this process has of each device. */
	uint64_t taken_bytes[HIP_DEVICES_MAX];
};

extern struct hip_state hip;

hipError_t hip_unlocked(hipError_t result);

hipError_t hip_enter(enum hip_call call);
hipError_t hip_leave(hipError_t result);

/* ---- Devices --------------------------------------------------------------
 */

/* The thread's. */
extern _Thread_local int hip_device;
/* False: 101. */
bool hip_device_good(int device);
hipError_t hip_context_of(int device, CUcontext *context_out);
hipError_t hip_context_push(hipStream_t stream);
void hip_context_pop(void);

/* ---- Errors ---------------------------------------------------------------
 */

/* The last error of the thread. */
extern _Thread_local hipError_t hip_last_error;
hipError_t hip_error_of(CUresult result);

/* ---- Quirks ---------------------------------------------------------------
 */

enum hip_quirk {
	HIP_STUCK,
	HIP_NEVER,
	HIP_RELEASE_MAPPED,
	HIP_JOINT_UNMAP,
	HIP_JOINT_ACCESS,
	HIP_NO_ACCESS,
	HIP_OPTIMISTIC,
	HIP_ONCE,
	HIP_COPIES,
	HIP_TOGETHER,
	HIP_TWICE_TAKEN,
	HIP_FOREIGN,
	HIP_QUIRKS
};

void hip_quirk_configure(void);
bool hip_quirk(enum hip_quirk quirk);

/* ---- Memory ---------------------------------------------------------------
 */

/* The block that holds the address; 0, 0: the driver knows none. */
void hip_block_of(const void *address, CUdeviceptr *start_out,
		  size_t *bytes_out);

/* ---- The records of virtual memory, all under the mutex ------------------
 */

/* Addresses that are reserved. */
struct hip_range {
	struct fake_span span;
	uint64_t serial;	     /* 1, 2, ...: never used twice */
	struct hip_handle *withheld; /* HIP_STUCK: until the range goes */
};

/* The one that holds the address, or NULL. */
struct hip_range *hip_range_find(uint64_t address);

/* Physical memory. Its record goes when nobody holds it and nothing maps it,
 * and then its memory, but for quirks. */
struct hip_handle {
	struct fake_object object;
	CUmemGenericAllocationHandle memory;
	int device;
	uint64_t bytes; /* 0: imported */
	bool lost;	/* its memory never comes back */
	unsigned mappings;
	uint64_t last_address, last_serial; /* of the range; 0: never mapped */
	uint64_t last_place;		    /* in it */
	struct hip_handle *next;	    /* in a range's list */
};

/* Takes over what the driver made, or imported (then 0 bytes); gives it back
 * if that fails. */
hipError_t hip_handle_adopt(CUmemGenericAllocationHandle memory, int device,
			    uint64_t bytes,
			    hipMemGenericAllocationHandle_t *name_out);
/* NULL: nobody holds such a one. */
struct hip_handle *hip_handle_find(hipMemGenericAllocationHandle_t name);
hipError_t hip_handle_release(hipMemGenericAllocationHandle_t name);
/* One more, or one less, that maps it. */
void hip_handle_map(struct hip_handle *handle, const struct hip_range *range,
		    uint64_t place);
/* What work sees that is mapped at a place: its own memory, but for quirks. */
CUmemGenericAllocationHandle hip_handle_seen(const struct hip_handle *handle,
					     uint64_t place);
void hip_handle_unmap(struct hip_handle *handle);
/* Gives back what the range withheld. */
void hip_handle_free_withheld(struct hip_range *range);

#endif
