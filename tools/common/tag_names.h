/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The tags of a file that has them as text: each different path has a number,
 * from 1 on, in the order in which they come. No locks.
 */
#ifndef GPUMEM_TOOLS_TAG_NAMES_H
#define GPUMEM_TOOLS_TAG_NAMES_H

#include "trace_ids.h"

enum { TAG_NAMES_MAX = UINT16_MAX };

/* path[i] is that of number i + 1. */
struct tag_names {
	char **path;
	size_t count, room;
	struct trace_ids numbers; /* by a hash of the path */
};

enum tag_names_result { TAG_NAMES_OK, TAG_NAMES_FULL, TAG_NAMES_NO_MEMORY };

void tag_names_init(struct tag_names *names);
/* The number of a path, 0 of an empty one. FULL: it would be one too many; the
 * number is 0 then. */
enum tag_names_result tag_names_number(struct tag_names *names,
				       const char *path, uint16_t *number_out);
/* NULL: there is none of that number. */
const char *tag_names_path(const struct tag_names *names, uint16_t number);
/* May be called again. */
void tag_names_free(struct tag_names *names);

#endif
