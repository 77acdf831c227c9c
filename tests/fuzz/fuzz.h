/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A fuzz target is one function that libFuzzer calls, and some seeds. Linked
 * with driver.c instead of libFuzzer it is a test program: a fixed number of
 * mutations of the seeds, in TAP. A target finds a bug by abort().
 */
#ifndef GPUMEM_TESTS_FUZZ_H
#define GPUMEM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_seed {
	const char *data;
	size_t bytes;
};

#define FUZZ_SEED(text)                                                        \
	{                                                                      \
		text, sizeof(text) - 1                                         \
	}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the target; ends with data NULL. */
extern const struct fuzz_seed fuzz_seeds[];

#endif
