/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Leaves out steps of a program that fails, as long as it still does: halves,
 * then quarters, down to single ones (Zeller, Hildebrandt, Simplifying and
 * Isolating Failure-Inducing Input, 2002). */
#include "model.h"

static size_t count(const bool *keep, size_t steps)
{
	size_t kept = 0;

	for (size_t i = 0; i < steps; i++)
		kept += keep[i];
	return kept;
}

/* Without so many of those that are kept, from the nth on. */
static void leave_out(bool *keep, size_t steps, size_t from, size_t width)
{
	size_t at = 0;

	for (size_t i = 0; i < steps; i++) {
		if (!keep[i])
			continue;
		if (at >= from && at < from + width)
			keep[i] = false;
		at++;
	}
}

static bool pass(bool *keep, size_t steps, size_t width, bool (*run)(void))
{
	static bool before[STEPS_MAX];
	bool less = false;

	for (size_t from = 0; from < count(keep, steps);) {
		memcpy(before, keep, steps * sizeof(*keep));
		leave_out(keep, steps, from, width);
		if (!run()) {
			less = true;
			continue;
		}
		memcpy(keep, before, steps * sizeof(*keep));
		from += width;
	}
	return less;
}

void shrink(bool *keep, size_t steps, bool (*run)(void))
{
	size_t width = count(keep, steps) / 2;

	while (width) {
		bool less = pass(keep, steps, width, run);

		if (width > 1)
			width /= 2;
		else if (!less)
			return;
	}
}
