/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Files of others (torch.h) as traces: their blocks as lines for the parser.
 * No locks: one thread per parser.
 */
#ifndef GPUMEM_TOOLS_TRACE_FOREIGN_H
#define GPUMEM_TOOLS_TRACE_FOREIGN_H

#include "trace.h"

/* All of the file. NULL, or why it is none, in `text`; the parser, whose
 * function may stop it, knows of itself. */
const char *trace_foreign_feed(struct trace_parser *parser, const void *data,
			       size_t bytes, char text[200]);
/* The same of a file that is not held. False: it is not such a one (see
 * torch_open_file()), and nothing has happened. */
bool trace_foreign_file(struct trace_parser *parser, const char *path,
			char text[200], const char **reason_out);

#endif
