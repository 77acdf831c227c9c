/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file in which a process under gpumem-run counts its GPU memory, mapped
 * while the process runs and read by gpumem-run after its end, whatever that
 * was. One file for each process image that used a GPU; in a folder whose name
 * is in the environment variable LEDGER_VARIABLE. Both sides come from one
 * build: the layout is no interface.
 *
 * Its process writes, under the mutex of its state. Each number is an atomic
 * 64-bit store; readers may see them a few calls apart.
 */
#ifndef GPUMEM_PRELOAD_LEDGER_H
#define GPUMEM_PRELOAD_LEDGER_H

#include <stdint.h>

#define LEDGER_VARIABLE "GPUMEM_RUN_LEDGERS"
#define NO_POOL_VARIABLE "GPUMEM_RUN_NO_POOL" /* set: nothing is kept */
#define ADOPT_VARIABLE "GPUMEM_RUN_ADOPT"     /* set: the pool serves */
#define LIBRARY_VARIABLE "GPUMEM_RUN_LIBRARY" /* libgpumem's file */
#define DECAY_VARIABLE "GPUMEM_RUN_DECAY_MS" /* unset or 0: never */
#define BACKEND_VARIABLE "GPUMEM_RUN_BACKEND" /* unset: all */
#define LIMIT_VARIABLE "GPUMEM_RUN_LIMIT"     /* limit_value.h; unset: none */
#define RECORD_VARIABLE "GPUMEM_RUN_RECORD"   /* file; unset: none */
#define RECORD_FOLDER_VARIABLE "GPUMEM_RUN_FOLDER" /* of a relative one */
#define LEDGER_SUFFIX ".ledger"
#define LEDGER_MAGIC UINT64_C(0x38726567646c6d67)
#define LEDGER_DEVICES 32
#define LEDGER_PROGRAM 64
#define LEDGER_FOLDER 256 /* bytes of its name at most */
#define LEDGER_PATH 4096  /* of a recording */
#define LEDGER_TOLD 512

/* A process that uses several has a ledger of each. */
enum ledger_api { LEDGER_CUDA, LEDGER_HIP, LEDGER_OPENCL };

static inline const char *ledger_api_name(uint64_t api)
{
	return api == LEDGER_CUDA  ? "cuda"
	       : api == LEDGER_HIP ? "hip"
				   : "opencl";
}

/* X(name, key, text, on_device): kinds of memory of NVIDIA's driver, and of
 * AMD's runtime. */
#define LEDGER_DRIVER_LIST(X)                                                  \
	X(ALLOC, "allocations", "driver allocations", 1)                       \
	X(ASYNC, "async", "stream-ordered pools", 1)                           \
	X(VIRTUAL, "virtual", "virtual memory", 1)                             \
	X(ARRAY, "arrays", "arrays", 1)                                        \
	X(GRAPHS, "graphs", "graphs", 1)                                       \
	X(MANAGED, "managed", "managed", 0)                                    \
	X(PINNED, "pinned", "pinned host memory", 0)                           \
	X(REGISTERED, "registered", "registered host memory", 0)

/* The same of OpenCL. */
#define LEDGER_OPENCL_LIST(X)                                                  \
	X(BUFFER, "buffers", "buffers", 1)                                     \
	X(IMAGE, "images", "images", 1)                                        \
	X(PIPE, "pipes", "pipes", 1)                                           \
	X(SVM, "svm", "shared virtual memory", 1)                              \
	X(USM, "usm", "unified shared memory", 1)                              \
	X(HOST_PTR, "host_ptr", "on memory of the program", 0)

#define LEDGER_KIND_LIST(X)                                                    \
	LEDGER_DRIVER_LIST(X)                                                  \
	LEDGER_OPENCL_LIST(X)

enum ledger_kind {
#define LEDGER_KIND(name, key, text, on_device) LEDGER_##name,
	LEDGER_KIND_LIST(LEDGER_KIND)
#undef LEDGER_KIND
		LEDGER_KINDS
};

#define LEDGER_OPENCL_FIRST LEDGER_BUFFER /* those before it are drivers' */

/* X(name, key, text): what the counts of a process do not include. */
#define LEDGER_NOTE_LIST(X)                                                    \
	X(UNKNOWN, "unknown_frees", "frees of memory allocated elsewhere")     \
	X(UNHOOKED, "unhooked", "driver functions of an unknown variant")      \
	X(UNTRACKED, "untracked", "allocations that could not be followed")

enum ledger_note {
#define LEDGER_NOTE(name, key, text) LEDGER_##name,
	LEDGER_NOTE_LIST(LEDGER_NOTE)
#undef LEDGER_NOTE
		LEDGER_NOTES
};

/* current_bytes <= peak_bytes; frees <= allocs */
struct ledger_counts {
	_Atomic uint64_t current_bytes, peak_bytes;
	_Atomic uint64_t allocs, frees, failures;
};

/*
 * What the driver gave and the program does not have: blocks that it freed and
 * that are kept for its next allocations, and what the pool that serves
 * stream-ordered allocations has unused.
 *
 *     allocs of LEDGER_ALLOC and LEDGER_VIRTUAL
 *             == hits + what the driver allocated
 *     misses == requests that went to the driver while the pool was in use
 */
struct ledger_pool {
	_Atomic uint64_t current_bytes, peak_bytes;
	_Atomic uint64_t hits, misses;
	_Atomic uint64_t returned;     /* blocks that went back to the driver */
	_Atomic uint64_t unused_bytes; /* of that pool; in current_bytes */
	_Atomic uint64_t served;       /* allocs of LEDGER_ASYNC by that pool */
};

/*
 *     current_bytes  == sum of the current_bytes of the kinds on the device
 *     peak_bytes     == its highest value <= sum of their peak_bytes
 *     reserved_bytes == current_bytes + pool.current_bytes
 *                       + what blocks are larger than their requests
 */
struct ledger_device {
	_Atomic uint64_t current_bytes, peak_bytes;
	_Atomic uint64_t reserved_bytes, reserved_peak_bytes;
	_Atomic uint64_t refused; /* calls, by the limit */
	struct ledger_pool pool;
	struct ledger_counts kinds[LEDGER_KINDS];
	char name[LEDGER_PROGRAM]; /* of OpenCL's */
};

struct ledger {
	_Atomic uint64_t magic; /* written last */
	uint64_t pid, api;
	char program[LEDGER_PROGRAM];
	char stopped[LEDGER_PROGRAM]; /* why nothing is kept any more */
	_Atomic uint64_t exited;      /* 1: by exit() */
	char recording[LEDGER_PATH];  /* "": none was begun */
	char unrecorded[256];	      /* why, if one was to be */
	char told[LEDGER_TOLD];	      /* by gpumem_run_tell() */
	char unserved[256]; /* why nothing is served, if it was to be */
	char declined[256]; /* which framework took no setting */
	/* Of `gpumem-run --trim`, which writes the first: see request.h. */
	_Atomic uint32_t trim_asked, trim_done;
	_Atomic uint64_t trimmed_bytes; /* by the last one */
	_Atomic uint64_t listens;	/* 1: a thread waits for it */
	_Atomic uint64_t notes[LEDGER_NOTES];
	struct ledger_device devices[LEDGER_DEVICES];
};

/* In that folder. NULL: it could not be made. No cancellation point. */
struct ledger *ledger_make(const char *folder, enum ledger_api api);

#endif
