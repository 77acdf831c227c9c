/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of functions, which of them fail, and how long they take.
 */
#include "cuda_fake.h"

struct fake_function fake_functions[FAKE_CALLS + 1] = {
#define FAKE_FUNCTION(name, type, age) {#name, 0},
	FAKE_SYMBOLS(FAKE_FUNCTION)
#undef FAKE_FUNCTION
};

static uint64_t latency_ns[FAKE_CALLS];

bool fakecuda_fault(const char *name, unsigned nth, bool onwards, int code)
{
	return fake_fault_add(name, nth, onwards, code);
}

void fakecuda_heal(void)
{
	fake_fault_heal();
}

uint64_t fakecuda_calls(const char *name)
{
	return fake_fault_calls(name);
}

static bool set_latency(const char *name, uint64_t ns)
{
	int call = fake_call_named(name);

	if (call < 0)
		return false;
	latency_ns[call] = ns;
	return true;
}

bool fakecuda_latency(const char *name, uint64_t ns)
{
	bool set;

	fake_lock();
	set = set_latency(name, ns);
	fake_unlock();
	return set;
}

/* NAME:TIME */
static bool take_latency(char *piece)
{
	char *colon = strchr(piece, ':');
	uint64_t ns;

	if (!colon || !fake_parse_amount(colon + 1, &ns))
		return false;
	*colon = '\0';
	return set_latency(piece, ns);
}

void fake_latency_configure(void)
{
	fake_each("FAKECUDA_LATENCY", take_latency);
}

uint64_t fake_latency_ns(enum fake_call call)
{
	return latency_ns[call];
}
