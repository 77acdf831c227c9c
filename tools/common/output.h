/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Detects output that could not be written. However the program exits, --help
 * and --version included, that is reported on standard error and makes it exit
 * with TOOL_FAILED.
 *
 * A reader that closes its end of a pipe ends the program by SIGPIPE, as it
 * does others, unless that is ignored; then it is output that cannot be
 * written.
 */
#ifndef GPUMEM_TOOLS_OUTPUT_H
#define GPUMEM_TOOLS_OUTPUT_H

#include <stdbool.h>

/* To be called before anything is opened: a standard descriptor that is closed
 * would be the number of the next file. Each gets a stand-in that can neither
 * be read nor written, and that a program which is executed does not have. With
 * standard output closed, and `needed`, the program ends here, by TOOL_FAILED:
 * all that a tool could do would be lost. */
void output_begin(bool needed);

#endif
