/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where --adopt has switched off the cache of a framework that does not share
 * its memory with others, what the program asks of cuMemAlloc() are parts of
 * larger allocations of the driver, as they would be of that cache: parts.h
 * says which. A part is handed out when the epoch of its free is over, and a
 * segment of which the program has no part any more is kept as a block of the
 * pool is, and goes back like one.
 *
 * The driver does not know parts, so it is not asked about them. The first call
 * that shares memory, or asks what only a whole allocation has, ends this: what
 * is allocated from then on are blocks of the driver's own, and live parts stay
 * what they are.
 *
 * All between preload_enter() and preload_leave(), none with the mutex held.
 */
#ifndef GPUMEM_PRELOAD_SEGMENT_H
#define GPUMEM_PRELOAD_SEGMENT_H

#include "pool.h"

/* A part of what is there. False: there is none. */
bool segment_take(CUdeviceptr *address_out, size_t bytes);
/* A part of a new segment. True: that is the answer, and it was counted. False:
 * the driver is to allocate what was asked for. */
bool segment_make(CUdeviceptr *address_out, size_t bytes, CUresult *result_out);
/* Where no memory is left: waits for all work, as a free of the driver would
 * have, if some free part is large enough, and takes that. */
bool segment_wait(CUdeviceptr *address_out, size_t bytes);
/* False: it is of no segment. True: that is the answer. */
bool segment_free(CUdeviceptr address, CUresult *result_out);

/* How the driver's answer, which is about the segment, is true of a part. */
enum segment_truth {
	SEGMENT_ANY,   /* always */
	SEGMENT_BEGIN, /* if it begins where the segment does */
	SEGMENT_ALL    /* if it is all of it */
};

/* Before a call of that name that shares memory. False: its answer would not be
 * true. */
bool segment_share(CUdeviceptr address, enum segment_truth truth,
		   const char *name);
/* The same as a question, which changes nothing. */
bool segment_is_true(CUdeviceptr address, enum segment_truth truth);

#endif
