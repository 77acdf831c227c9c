/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The cuda backend takes pinned memory of the node that its driver says is the
 * closest to the device, where the program has not chosen one. */
#include "fixture.h"
#include "../gpu/near.h"

enum { INVALID_VALUE = 1 };

int main(void)
{
	void *device;

	cuda_start();
	device = open_device(0);
	check_near(device, -1);
	driver.fakecuda_host_node(0);
	check_near(device, 0);
	diag("a driver of CUDA 12.1, which does not know");
	if (!fail_call("cuDeviceGetAttribute", 1, true, INVALID_VALUE))
		bail("no fault");
	check_near(device, -1);
	heal_calls();
	gpu->device_close(device);
	return done_testing();
}
