/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the readers of files of others share: pools, begun when something is
 * said of them, the line at which a reader is, and addresses as C++ prints
 * them. What a file says is not here: rmm.h, umpire.h, kineto.h. No locks.
 */
#ifndef GPUMEM_TOOLS_FOREIGN_H
#define GPUMEM_TOOLS_FOREIGN_H

#include "torch_device.h"

/* devices[i] is of pool i + 1 of the history, as torch.h numbers them. */
struct foreign {
	struct torch_history *history;
	struct torch_device *devices;
	uint64_t line; /* from 1 on */
};

/* The history is one that torch_history_init() made. False: no memory. */
bool foreign_begin(struct foreign *foreign, struct torch_history *history);
/* Once all is read, well or not: gives that, if what follows is well too. */
bool foreign_end(struct foreign *foreign, bool ok);
/* The pool of a device from 0 on. */
struct torch_device *foreign_pool(struct foreign *foreign, unsigned pool);
/* Nothing was said of any pool. */
bool foreign_is_empty(const struct foreign *foreign);
/* Writes the reason with the line; gives false. */
bool foreign_fail(const struct foreign *foreign, const char *reason);
/* An address, as C++ prints it. */
bool foreign_pointer(const char *text, uint64_t *value_out);

#endif
