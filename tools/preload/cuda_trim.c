/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program calls that does know of gpumem-run, or a person at its prompt:
 * gpumem-run(1) tells how. No function of a driver.
 */
#include "hooks.h"
#include "pool.h"

#include <dlfcn.h>

/* What pools of gpumem's have unused that the program made itself, as PyTorch's
 * are of gpumem.torch.enable(): of each libgpumem that is loaded and has the
 * function. They call the driver as a program does. */
static uint64_t trim_programs_own(void)
{
	int (*trim)(uint64_t *bytes_out);
	uint64_t bytes, sum = 0;
	void *library;

	for (int i = 0; (library = hook_file_open("libgpumem.so", i)); i++) {
		*(void **)&trim = preload_dlsym(library, "gpumem_trim");
		bytes = 0;
		if (trim)
			(void)trim(&bytes); /* some may have gone */
		sum += bytes;
		(void)dlclose(library);
	}
	return sum;
}

uint64_t gpumem_run_trim(void)
{
	uint64_t bytes = 0;

	if (!pool_enter())
		return 0;
	for (int device = 0; device < LEDGER_DEVICES; device++)
		bytes += pool_empty(device);
	preload_leave();
	return bytes + trim_programs_own();
}
