/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program calls that does know of gpumem-run, or a person at its prompt:
 * gpumem-run(1) tells how. No function of a driver.
 */
#include "pool.h"

uint64_t gpumem_run_trim(void)
{
	uint64_t bytes = 0;

	if (!pool_enter())
		return 0;
	for (int device = 0; device < LEDGER_DEVICES; device++)
		bytes += pool_empty(device);
	preload_leave();
	return bytes;
}
