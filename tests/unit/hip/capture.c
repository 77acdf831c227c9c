/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Captures and the hip backend, in each release of the runtime. */
#include "fixture.h"
#include "../gpu/capture.h"

int main(void)
{
	return on_all_releases(capture_checks);
}
