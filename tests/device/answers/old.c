/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Questions of a function that has another ABI under the name that cuda.h gives
 * to a newer one.
 */
#include "answers.h"

#undef cuMemGetInfo
CUresult cuMemGetInfo(unsigned *free_out, unsigned *total_out);

void ask_old(void)
{
	unsigned total[2] = {1, 1}, left = 1;

	(void)start();
	ASK(cuMemGetInfo(&left, total));
	question("it has written 32 bits");
	answer_bool(CUDA_SUCCESS, total[1] == 1);
	question("as many as there are");
	answer_bool(CUDA_SUCCESS, total[0] == UINT32_MAX);
	ASK(cuMemGetInfo(NULL, total));
	ASK(cuMemGetInfo(&left, NULL));
}
