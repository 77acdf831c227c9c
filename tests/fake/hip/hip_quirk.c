/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which of the faults of AMD's field are switched on. What they do stands
 * where the call is that has them.
 */
#include "hip_fake.h"

#include <stdatomic.h>
#include <string.h>

static const char *const names[HIP_QUIRKS] = {
	[HIP_STUCK] = "stuck",
	[HIP_NEVER] = "never",
	[HIP_RELEASE_MAPPED] = "release_mapped",
	[HIP_JOINT_UNMAP] = "joint_unmap",
	[HIP_JOINT_ACCESS] = "joint_access",
	[HIP_NO_ACCESS] = "no_access",
	[HIP_OPTIMISTIC] = "optimistic",
	[HIP_ONCE] = "once",
	[HIP_COPIES] = "copies",
	[HIP_TOGETHER] = "together",
	[HIP_TWICE_TAKEN] = "twice_taken",
	[HIP_FOREIGN] = "foreign",
};

static atomic_bool quirks[HIP_QUIRKS];

static bool set(const char *name, bool on)
{
	for (int i = 0; i < HIP_QUIRKS; i++) {
		if (strcmp(names[i], name))
			continue;
		quirks[i] = on;
		return true;
	}
	return false;
}

/* Not before the environment's, which would undo it. */
bool fakehip_quirk(const char *name, bool on)
{
	bool known;

	fake_lock();
	known = set(name, on);
	fake_unlock();
	return known;
}

static bool take_quirk(char *piece)
{
	return set(piece, true);
}

void hip_quirk_configure(void)
{
	fake_each("FAKEHIP_QUIRKS", take_quirk);
}

bool hip_quirk(enum hip_quirk quirk)
{
	return quirks[quirk];
}
