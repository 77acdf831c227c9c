/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that read PyTorch's snapshots.
 */
#ifndef GPUMEM_TOOLS_TORCH_DEVICE_H
#define GPUMEM_TOOLS_TORCH_DEVICE_H

#include "torch.h"
#include "trace_ids.h"
#include "unpickle.h"

/* A device while it is read. reserved_bytes is what its segments got so far,
 * less what they gave back, modulo 2^64. */
struct torch_device {
	struct torch_history *history;
	const struct unpickle *unpickle;
	struct trace_ids live; /* by address */
	struct trace_ids seen;
	uint64_t first_us;
	uint64_t reserved_bytes;
	uint16_t pool;
};

/* Writes the reason; gives false. */
bool torch_fail(struct torch_history *history, const char *reason);
/* Adds what the entries of the device, and those of the segments that are its
 * own, say. */
bool torch_read_device(struct torch_device *device,
		       const struct unpickled *entries,
		       const struct unpickled *segments);

/* torch_names.c: the tag of an entry, and the stack of an entry or block; 0:
 * none. False: out of memory. */
bool torch_read_tag(struct torch_device *device, const struct unpickled *entry,
		    uint16_t *tag_out);
bool torch_read_stack(struct torch_device *device, const struct unpickled *of,
		      uint64_t *stack_out);

#endif
