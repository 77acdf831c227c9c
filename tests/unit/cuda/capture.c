/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Captures and the cuda backend, in a thread whose context is the primary one.
 */
#include "fixture.h"
#include "../gpu/capture.h"

int main(void)
{
	void *context = NULL;

	cuda_start();
	if (driver.cuDevicePrimaryCtxRetain(&context, 0) ||
	    driver.cuCtxSetCurrent(context))
		bail("no context");
	capture_checks();
	return done_testing();
}
