/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every driver call of a program fails once, and every one from some call on,
 * on streams that run, that lag a little behind, and that only a wait moves:
 * each time pools stay sound, the counters of pool, program and device agree,
 * the library works on, and everything can be given back. Frees never fail for
 * the driver's sake. After the loss of the device all can still be closed.
 */
#include "aftermath.h"

struct mode {
	const char *suffix; /* after the number of the call */
	gpumem_status status;
	unsigned step; /* every call, or every so many */
};

static const struct mode modes[] = {
	{":no_memory", GPUMEM_NO_MEMORY, 1},
	{":driver", GPUMEM_DRIVER, 1},
	{":lost", GPUMEM_LOST, 1},
	{"+:no_memory", GPUMEM_NO_MEMORY, 1},
	{"+:driver", GPUMEM_DRIVER, 1},
};

struct pace {
	const char *name;
	uint64_t late_by; /* see late.h */
};

static const struct pace paces[] = {
	{"", 0},
	{", 6 works late", 6},
	{", late for ever", LATE_FOR_EVER},
};

/* Fails the nth call. Returns whether there was one. */
static bool run_once(const struct mode *mode, unsigned long nth)
{
	bool lost = mode->status == GPUMEM_LOST, opened, fired;
	char faults[64];

	work.nth = nth;
	work.injected = mode->status;
	snprintf(faults, sizeof(faults), "*@%lu%s", nth, mode->suffix);
	must(gpumem_host_faults(faults));
	opened = work_run();
	fired = gpumem_host_calls() >= nth;
	must(gpumem_host_faults(NULL));
	want(opened || fired, "the device did not open");
	if (opened)
		work_settle(lost && fired);
	return fired;
}

static void sweep(const struct mode *mode, bool vm, const struct pace *pace)
{
	unsigned long nth = 1;
	char name[64];

	snprintf(name, sizeof(name), "%s%s, *@N%s", vm ? "pages" : "segments",
		 pace->name, mode->suffix);
	/* What an earlier one left behind would spoil all others. */
	if (work.broken)
		return;
	option("vm", vm ? "on" : "off");
	late_by = pace->late_by;
	work.mode = name;
	while (run_once(mode, nth) && !work.broken)
		nth += mode->step;
	ok(!work.broken, "%s: N up to %lu", name, nth);
	work_seen(vm);
}

static void sweep_all(const struct pace *pace, unsigned step)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct mode mode = modes[i];

		mode.step = step;
		sweep(&mode, true, pace);
		sweep(&mode, false, pace);
	}
}

int main(void)
{
	unsigned step = (unsigned)scaled(1, 7);

	alarm(300);
	option("host.page", "512KiB");
	option("wait", "on");
	/* A backend is started once in a process, so not in the sweeps. */
	device_start("32MiB", true);
	must(gpumem_device_close(device));
	for (size_t i = 0; i < sizeof(paces) / sizeof(paces[0]); i++)
		sweep_all(&paces[i], step);
	return done_testing();
}
