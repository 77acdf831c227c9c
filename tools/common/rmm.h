/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The log of RMM's logging_resource_adaptor, a table of comma-separated values,
 * read as PyTorch's snapshots are: one pool, whose blocks that are freed and
 * were not allocated in the log were there before. No locks.
 */
#ifndef GPUMEM_TOOLS_RMM_H
#define GPUMEM_TOOLS_RMM_H

#include "torch.h"

/* Does it begin with the line of the names of the columns? */
bool rmm_is(const void *data, size_t bytes);
/* Nothing is kept of the bytes. False: reason says why. */
bool rmm_open(struct torch_history *history, const void *data, size_t bytes);

#endif
