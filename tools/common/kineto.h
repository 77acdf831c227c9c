/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The JSON that PyTorch's profiler writes by Kineto, of which the [memory]
 * events are read as PyTorch's snapshots are: each GPU is a pool, and the order
 * of its events is that of the file. Memory of the CPU is left out. No locks.
 */
#ifndef GPUMEM_TOOLS_KINETO_H
#define GPUMEM_TOOLS_KINETO_H

#include "torch.h"

/* Does it begin as such a file? */
bool kineto_is(const void *data, size_t bytes);
/* Nothing is kept of the bytes. False: reason says why. */
bool kineto_open(struct torch_history *history, const void *data, size_t bytes);

#endif
