/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The hip backend pins memory of the process where it is, with each release. */
#include "fixture.h"
#include "../gpu/pins.h"

int main(void)
{
	return on_all_releases(check_pins);
}
