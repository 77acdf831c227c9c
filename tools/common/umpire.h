/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The log that Umpire writes with UMPIRE_REPLAY, a line of JSON for each event,
 * read as PyTorch's snapshots are: each device is a pool, the name of an
 * allocator is the tag of its blocks. Memory of the CPU is left out. No locks.
 */
#ifndef GPUMEM_TOOLS_UMPIRE_H
#define GPUMEM_TOOLS_UMPIRE_H

#include "torch.h"

/* Does it begin with such a line? */
bool umpire_is(const void *data, size_t bytes);
/* Nothing is kept of the bytes. False: reason says why. */
bool umpire_open(struct torch_history *history, const void *data, size_t bytes);

#endif
