/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What tests say to the double of NVIDIA's driver beside CUDA's own calls. The
 * double is the library libcuda.so.1 of tests/fake/cuda/, which a test reaches
 * by dlsym() in the library that is loaded already:
 *
 *	__typeof__(fakecuda_audit) *audit = dlsym(library, "fakecuda_audit");
 *
 * Any thread may call these at any time, also before cuInit().
 *
 * The environment, read at the first call of the library:
 *
 *	FAKECUDA_DEVICES=2            1 to 8; 1
 *	FAKECUDA_MEMORY=4GiB          of each device; 16GiB
 *	FAKECUDA_VERSION=11020        what cuDriverGetVersion says; 13000, the
 *	                              old double 10020
 *	FAKECUDA_INIT=100             what cuInit says; 0
 *	FAKECUDA_NO_VMM=1             devices without virtual memory
 *	FAKECUDA_NO_PEERS=1           no device sees another's memory
 *	FAKECUDA_DECOMPRESSES=1       as fakecuda_decompresses(1)
 *	FAKECUDA_ASYNC=1              a thread for each stream
 *	FAKECUDA_STEPPING=1           as fakecuda_stepping(true)
 *	FAKECUDA_STRICT=1             streams, events and blocks are refused
 *	                              while another context than their own is
 *	                              current, and blocks to the streams of
 *	                              another, though the real driver takes many
 *	FAKECUDA_FAULT=NAME:NTH[+]:CODE,...   as fakecuda_fault()
 *	FAKECUDA_LATENCY=NAME:TIME,...        as fakecuda_latency(); 5us, 1ms
 *
 * A NAME is a function's with or without its _vN.
 */
#ifndef GPUMEM_TESTS_FAKECUDA_H
#define GPUMEM_TESTS_FAKECUDA_H

#include <stdbool.h>
#include <stdint.h>

#define FAKECUDA_API __attribute__((visibility("default")))

/* What is not given back yet. A destroyed context gives back its own; handles,
 * mappings and reservations belong to none. */
struct fakecuda_held {
	uint64_t allocs;       /* cuMemAlloc, cuMemAllocManaged */
	uint64_t handles;      /* cuMemCreate, imports */
	uint64_t mappings;     /* cuMemMap */
	uint64_t reservations; /* cuMemAddressReserve */
	uint64_t pinned;       /* cuMemHostAlloc, cuMemHostRegister */
	uint64_t opened;       /* cuIpcOpenMemHandle */
	uint64_t contexts;     /* the primary ones too */
	uint64_t streams;      /* made by cuStreamCreate */
	uint64_t events;
	uint64_t graphs;
	uint64_t captures;
	uint64_t used_bytes; /* capacity - free, of all devices together */
};

FAKECUDA_API void fakecuda_audit(struct fakecuda_held *held_out);

/* With true nothing that is queued runs, but by fakecuda_step() or because a
 * call waits for it. With false it runs at once again. Returns what it was. */
FAKECUDA_API bool fakecuda_stepping(bool on);
/* Runs up to `count` items of the stream; stops before one that waits for
 * another stream. Returns how many ran. 0, 1 and 2 are those of the thread's
 * current context. */
FAKECUDA_API unsigned fakecuda_step(void *stream, unsigned count);
/* How many items are queued. */
FAKECUDA_API uint64_t fakecuda_pending(void *stream);
/* How many calls have found that they must wait for queued work. */
FAKECUDA_API uint64_t fakecuda_waits(void);
/* The NUMA node that is closest to each device from now on; -1: none. */
FAKECUDA_API void fakecuda_host_node(int node);
/* Devices decompress by these algorithms from now on; 0: they do not. */
FAKECUDA_API void fakecuda_decompresses(int algorithms);
/* The NUMA node that the thread preferred which took pinned memory last; -1: it
 * had no preference. */
FAKECUDA_API int fakecuda_pinned_node(void);

/* The nth call of `name` from now on, and with `onwards` all later ones, do
 * nothing and return `code`. False: no such function, or too many rules. */
FAKECUDA_API bool fakecuda_fault(const char *name, unsigned nth, bool onwards,
				 int code);
/* Forgets the rules, also the environment's. */
FAKECUDA_API void fakecuda_heal(void);
/* How often a function was called, whatever came of it; NULL: all together. */
FAKECUDA_API uint64_t fakecuda_calls(const char *name);
/* Every call of `name` takes that much longer. */
FAKECUDA_API bool fakecuda_latency(const char *name, uint64_t ns);
/* The contexts of a device are lost as after a bad kernel: 700 to 719. */
FAKECUDA_API void fakecuda_lose(int device, int code);
/* The next context that is made has the handle of the last one that was
 * destroyed, as addresses come again. */
FAKECUDA_API void fakecuda_recycle(void);
/* From now on the driver is shut down, as in a process that exits. */
FAKECUDA_API void fakecuda_deinit(void);

#endif
