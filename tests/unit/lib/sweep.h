/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each driver call of a scene fails, for the tests of the whole library: the
 * scene runs once for each call that it makes, which fails as a suffix says, or
 * with a "+" all from it on. A scene says with want() what does not hold. For
 * the main thread.
 */
#ifndef LIB_SWEEP_H
#define LIB_SWEEP_H

#include "fixture.h"
#include <limits.h>

/* The run under way. */
static struct {
	const char *suffix; /* after the number of the call */
	unsigned long nth;
	unsigned bad;
	bool fired; /* there was such a call */
	bool lost;  /* and with it the device went */
} sweep;

LIB_USE void want(bool right, const char *what)
{
	if (right)
		return;
	sweep.bad++;
	diag("*@%lu%s: %s: %s", sweep.nth, sweep.suffix, what, last_text());
}

/* A scene calls these around what is to fail. */
LIB_USE void faults_begin(void)
{
	char faults[64];

	snprintf(faults, sizeof(faults), "*@%lu%s", sweep.nth, sweep.suffix);
	must(gpumem_host_faults(faults));
}

LIB_USE void faults_end(void)
{
	sweep.fired |= gpumem_host_calls() >= sweep.nth;
	sweep.lost = sweep.fired && strstr(sweep.suffix, "lost");
	must(gpumem_host_faults(NULL));
}

/* Until the scene has no such call, or `most` have failed, or enough is wrong.
 * Gives how many did. */
LIB_USE unsigned long sweep_calls(const char *suffix, unsigned long most,
				  void (*scene)(void))
{
	sweep.suffix = suffix;
	sweep.bad = 0;
	for (sweep.nth = 1; sweep.nth <= most && sweep.bad <= 5; sweep.nth++) {
		sweep.fired = sweep.lost = false;
		scene();
		if (!sweep.fired && most == ULONG_MAX)
			break;
	}
	return sweep.nth - 1;
}

/* A scene of more than so many calls, with every status. */
LIB_USE void sweep_scene(const char *name, void (*scene)(void),
			 unsigned long more_than)
{
	static const char *const suffixes[] = {
		":driver",  ":no_memory",  ":busy", ":lost",
		"+:driver", "+:no_memory", "+:lost"};
	unsigned long calls;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		calls = sweep_calls(suffixes[i], ULONG_MAX, scene);
		is_uint(sweep.bad, 0, "%s: *@N%s, N up to %lu", name,
			suffixes[i], calls);
		ok(calls > more_than, "which is all of it");
	}
}

#endif
