/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The words of an entry, as far as they are known: a block's description
 * (gpumem_export()), and whatever the program put behind it. */
#ifndef GPUMEM_TOOLS_KEEP_WORDS_H
#define GPUMEM_TOOLS_KEEP_WORDS_H

#include "keep/wire.h"

struct gpumem_shared;

/* False: they begin with no description of a block. Its texts end. */
bool words_block(const struct wire_message *entry,
		 struct gpumem_shared *shared_out);

/* A file with as many words as there may be, or fewer; false, and told. */
bool words_read(const char *path, struct wire_message *message);
bool words_write(const char *path, const struct wire_message *entry);

#endif
