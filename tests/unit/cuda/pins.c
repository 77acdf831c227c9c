/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The cuda backend pins memory of the process where it is. */
#include "fixture.h"
#include "../gpu/pins.h"

int main(void)
{
	cuda_start();
	check_pins();
	return done_testing();
}
