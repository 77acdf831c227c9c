/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Other programs that make one file of another. No locks. */
#ifndef GPUMEM_TOOLS_PROCESS_H
#define GPUMEM_TOOLS_PROCESS_H

#include <stdbool.h>

/* Runs argv[0], which is looked for in PATH, with `from` as its standard input
 * and `to` as its output, until it ends. quiet: what it says of errors is not
 * seen. 0, and *code_out is what waitpid() says; or an errno, ENOENT if there
 * is no such program. */
int process_run(char *const argv[], int from, int to, bool quiet,
		int *code_out);

#endif
