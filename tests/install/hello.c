/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The smallest user: one block of what GPUMEM_BACKEND picks, and back. */
#include <gpumem/gpumem.h>
#include <stdio.h>

int main(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_device *device;
	gpumem_pool *pool;
	void *ptr;

	if (gpumem_device_open(NULL, &device) != GPUMEM_OK ||
	    gpumem_device_pool(device, &pool) != GPUMEM_OK ||
	    gpumem_alloc(pool, 1 << 20, NULL, &ptr) != GPUMEM_OK ||
	    gpumem_free(ptr, NULL) != GPUMEM_OK ||
	    gpumem_device_get_info(device, &info) != GPUMEM_OK ||
	    gpumem_device_close(device) != GPUMEM_OK) {
		struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

		gpumem_last_error(&error);
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("gpumem %s on %s\n", gpumem_version(), info.name);
	return 0;
}
