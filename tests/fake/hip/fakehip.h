/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * AMD's HIP runtime, spoken over NVIDIA's driver: libamdhip64.so.5, .6 and .7
 * of tests/fake/hip/, one source built three times. Never installed.
 *
 * Over the real libcuda.so.1 it is a translator: a program built for AMD runs,
 * unmodified, on a real asynchronous device. That proves what the program
 * calls, in which order, from which threads, and what it does about errors. It
 * proves nothing about AMD's runtime, its kernel driver or its devices.
 *
 *	LD_LIBRARY_PATH=tests/fake/hip/6/.libs GPUMEM_BACKEND=hip gpumem-conform
 *
 * Over the double of NVIDIA's driver (tests/fake/cuda/fakecuda.h) it is a
 * double of HIP, with that one's memory, stepping and audits, which a test
 * reaches as ever by dlsym() in libcuda.so.1:
 *
 *	LD_LIBRARY_PATH=tests/fake/hip/6/.libs:tests/fake/cuda/.libs ...
 *
 * libcuda.so.1 is opened at the first call; one that the process has loaded
 * already is taken. A caller's own CUDA context stays as it was.
 *
 * What the three differ in:
 *
 *	                             .5         .6         .7
 *	hipRuntimeGetVersion()       50221153   60443484   70125424
 *	no device: most calls say    101        100        100
 *	attribute 89, virtual memory refused    1          1
 *	hipMemAllocationProp         of 5.2     later      later
 *	numbers of hipMemoryType     0, 1       1, 2, 3    1, 2, 3
 *	an address that is unknown   1          is 0       is 0
 *	the flag of hipIpcOpen...()  0          1          1
 *	import takes a descriptor's  address    address    value
 *	hipGetLastError() forgets    at every   at every   when asked
 *	an error                     success    success
 *	text of an error             its name   words      words
 *	hipMallocAsync() while its   is not     is a node  is a node
 *	stream is captured           captured
 *	functions                    no hipLaunchHostFunc, hipStreamGetDevice,
 *	                             hipExtGetLastError in .5, and of graphs
 *	                             none that is about memory
 *
 * Attribute 88 is 1 in all three: the pools of hipMallocAsync() are those of
 * the driver below.
 *
 * The environment, read at the first call:
 *
 *	FAKEHIP_VERSION=60032830    what hipRuntimeGetVersion() says. Before
 *	                            6.1 there is no virtual memory, and before
 *	                            7.1 a descriptor is imported by address
 *	FAKEHIP_VM=1                with virtual memory all the same, or (0) not
 *	FAKEHIP_FAULT=NAME:NTH[+]:CODE,...   as fakehip_fault()
 *	FAKEHIP_QUIRKS=NAME,...     as fakehip_quirk(NAME, true):
 *
 * - stuck: memory of a handle that was released comes back only when the range
 *   is freed that it was last mapped to (ROCm/hip#3781)
 * - never: memory of a handle that was mapped never comes back
 * - release_mapped: nor does that of one released while it is mapped
 * - joint_unmap: hipMemUnmap() of several mappings takes the first only, and
 *   says that all is well (ROCR-Runtime#285)
 * - joint_access: hipMemSetAccess() refuses several mappings at once
 * - no_access: hipMemSetAccess() refuses always
 * - optimistic: hipMemGetInfo() knows of what this process took only
 * - once: hipMemMap() refuses what is mapped already
 * - copies: it maps other memory at a second address, and says that all is well
 * - together: hipMemUnmap() of one mapping takes the others of its memory, too
 * - twice_taken: memory that was mapped twice never comes back
 * - foreign: what is mapped again is mapped where it was before, and what is
 *   there is the memory of whoever was mapped there first and has not gone
 *   (rocm-systems#11693)
 *
 * A NAME of FAKEHIP_FAULT is a function's, as it is exported.
 */
#ifndef GPUMEM_TESTS_FAKEHIP_H
#define GPUMEM_TESTS_FAKEHIP_H

#include <stdbool.h>
#include <stdint.h>

#define FAKEHIP_API __attribute__((visibility("default")))

/* False: there is no such quirk. Counts for what is called from now on. */
FAKEHIP_API bool fakehip_quirk(const char *name, bool on);
/* The nth call of `name` from now on, and with `onwards` all later ones, do
 * nothing and return `code`. False: no such function, or too many rules. */
FAKEHIP_API bool fakehip_fault(const char *name, unsigned nth, bool onwards,
			       int code);
/* Forgets the rules, also the environment's. */
FAKEHIP_API void fakehip_heal(void);
/* How often a function was called, whatever came of it; NULL: all together. */
FAKEHIP_API uint64_t fakehip_calls(const char *name);

#endif
