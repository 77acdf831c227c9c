/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pages of the cuda backend can be used for what the driver's own allocations
 * can: decompression by a device that has an engine for it. */
#include "fixture.h"

enum { CAPABLE = 21, INVALID_VALUE = 1 };

static bool decompresses(void *device)
{
	gpumem_page page = 0;
	uint64_t range = 0;
	int yes = 0;

	if (gpu->va_reserve(device, PAGE, PAGE, &range) != GPUMEM_OK ||
	    gpu->page_create(device, PAGE, &page) != GPUMEM_OK ||
	    gpu->map(device, range, &page, 1, PAGE) != GPUMEM_OK)
		bail("no page: %s", said.text);
	if (driver.cuPointerGetAttribute(&yes, CAPABLE, range))
		bail("the double does not know the attribute");
	if (gpu->unmap(device, range, 1, PAGE) != GPUMEM_OK ||
	    gpu->page_destroy(device, page, PAGE) != GPUMEM_OK ||
	    gpu->va_release(device, range, PAGE) != GPUMEM_OK)
		bail("it stays: %s", said.text);
	return yes;
}

static void opened(bool wanted, const char *name)
{
	void *device = open_device(0);

	ok(decompresses(device) == wanted, "%s", name);
	gpu->device_close(device);
}

int main(void)
{
	cuda_start();
	opened(false, "a device that does not decompress");
	driver.fakecuda_decompresses(5);
	opened(true, "one that does");
	if (!fail_call("cuMemGetAllocationGranularity", 1, false,
		       INVALID_VALUE))
		bail("no fault");
	opened(false, "one whose driver takes no such pages");
	heal_calls();
	driver.fakecuda_decompresses(0);
	return done_testing();
}
