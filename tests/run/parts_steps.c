/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * parts_steps SEED: allocates as a training program of PyTorch's does, whose
 * batches differ in size: parameters that stay; then steps, each of which keeps
 * what it computes forward, frees it on its way back beside gradients, and ends
 * when the device does. For tests/tool_run_parts.sh, which compares how often
 * the driver is asked.
 */
#include "pool.h"

#include <stdlib.h>

enum { LAYERS = 12, STEPS = 40, KEPT = 3 };

static uint64_t state;

static unsigned draw(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

/* What a kernel needs while it runs. */
static void scratch(size_t bytes)
{
	release(alloc(bytes));
}

static void train(size_t rows)
{
	static const size_t widths[KEPT] = {4096, 16384, 4096};
	address kept[LAYERS][KEPT], gradients[LAYERS], flow;

	for (int i = 0; i < LAYERS; i++)
		for (int j = 0; j < KEPT; j++) {
			kept[i][j] = alloc(rows * widths[j]);
			scratch(rows * 64 + 512);
		}
	flow = alloc(rows * 4096);
	for (int i = LAYERS; i-- > 0;) {
		for (int j = KEPT; j-- > 0;) {
			address next = alloc(rows * widths[j]);

			release(flow);
			release(kept[i][j]);
			flow = next;
		}
		gradients[i] = alloc(16 * MIB);
	}
	release(flow);
	for (int i = 0; i < LAYERS; i++) {
		scratch(16 * MIB);
		release(gradients[i]);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	state = strtoul(argv[1], NULL, 0);
	(void)begin();
	for (int i = 0; i < LAYERS; i++) {
		alloc(16 * MIB);
		alloc(16384);
	}
	for (int i = 0; i < STEPS; i++)
		train(520 + 64 * (size_t)draw(24));
	return 0;
}
