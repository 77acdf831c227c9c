/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the environment says to a double. Keeps nothing.
 */
#ifndef GPUMEM_TESTS_FAKE_ENVIRONMENT_H
#define GPUMEM_TESTS_FAKE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/* "4GiB" or "5us" and the like. False: no number, or no such unit. */
bool fake_parse_amount(const char *text, uint64_t *amount_out);
/* A variable's amount; `otherwise` if it is not set, or is none. */
uint64_t fake_amount(const char *variable, uint64_t otherwise);
/* Gives each piece of a comma-separated variable to `take`, which may write
 * into it. One that it refuses would make a test pass for nothing, so it ends
 * the process. */
void fake_each(const char *variable, bool (*take)(char *piece));

#endif
