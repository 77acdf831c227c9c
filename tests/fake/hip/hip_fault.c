/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of functions, and which of them fail.
 */
#include "hip_fake.h"

struct fake_function fake_functions[HIP_CALLS + 1] = {
#define HIP_FUNCTION(name, age) {#name, 0},
	HIP_SYMBOLS(HIP_FUNCTION)
#undef HIP_FUNCTION
};

bool fakehip_fault(const char *name, unsigned nth, bool onwards, int code)
{
	return fake_fault_add(name, nth, onwards, code);
}

void fakehip_heal(void)
{
	fake_fault_heal();
}

uint64_t fakehip_calls(const char *name)
{
	return fake_fault_calls(name);
}
