/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The order of the steps; see group.h. */
#include "suspend/group.h"
#include "common/clock.h"
#include "suspend/members.h"

#include <stdio.h>
#include <string.h>

const char *group_state_name(enum driver_state state)
{
	static const char *const names[] = {
		[DRIVER_RUNNING] = "running",
		[DRIVER_LOCKED] = "locked",
		[DRIVER_CHECKPOINTED] = "suspended",
		[DRIVER_FAILED] = "failed",
		[DRIVER_CHECKPOINTING] = "being suspended",
		[DRIVER_RESTORING] = "being resumed",
	};

	return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state]
								: "unknown";
}

/* A step of one process. */
typedef bool step_fn(struct member *member);

static bool checkpoint(struct member *member)
{
	return driver_checkpoint(member->pid, member->why);
}

static bool restore(struct member *member)
{
	return driver_restore(member->pid, member->why);
}

/* That takes seconds, as a rule. */
static bool take_step(struct member *member, step_fn *step,
		      enum driver_state after)
{
	uint64_t begin_ns = clock_ns();

	if (!step(member))
		return false;
	member->seconds = (double)(clock_ns() - begin_ns) / 1e9;
	member->state = after;
	member->ours = true;
	member->host_bytes = members_resident(member->pid);
	return true;
}

static bool lock(struct member *member, unsigned timeout_ms)
{
	if (!driver_lock(member->pid, timeout_ms, member->why))
		return false;
	member->state = DRIVER_LOCKED;
	member->ours = true;
	return true;
}

static bool unlock(struct member *member)
{
	char why[DRIVER_WHY];

	if (!driver_unlock(member->pid, *member->why ? why : member->why))
		return false;
	member->state = DRIVER_RUNNING;
	return true;
}

/* Leaves out descendants without CUDA. */
static bool ask_all(struct group *group)
{
	size_t kept = 0;
	bool ok = true;

	for (size_t i = 0; i < group->count; i++) {
		struct member *member = &group->members[i];
		bool asked =
			driver_state(member->pid, &member->state, member->why);

		if (!asked && member->optional)
			continue;
		ok = ok && asked;
		group->members[kept++] = *member;
	}
	group->count = kept;
	return ok;
}

/* In one of two states, or it is somebody else's business. */
static bool expect(struct member *member, enum driver_state one,
		   enum driver_state two)
{
	if (member->state == one || member->state == two)
		return true;
	if (member->state == DRIVER_FAILED)
		snprintf(member->why, sizeof(member->why),
			 "the driver could not bring it back, and it can only "
			 "be ended");
	else
		snprintf(member->why, sizeof(member->why), "it is %s already",
			 group_state_name(member->state));
	return false;
}

/* What cannot be brought back stays as it is, and says why. */
static void undo(struct group *group)
{
	char why[DRIVER_WHY];

	for (size_t i = 0; i < group->count; i++) {
		struct member *member = &group->members[i];

		if (member->ours && member->state == DRIVER_CHECKPOINTED &&
		    driver_restore(member->pid,
				   *member->why ? why : member->why))
			member->state = DRIVER_LOCKED;
	}
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].ours &&
		    group->members[i].state == DRIVER_LOCKED)
			(void)unlock(&group->members[i]);
}

/* What is locked by somebody else is not taken; what is suspended is as asked.
 */
static bool suspend_all(struct group *group, unsigned timeout_ms)
{
	for (size_t i = 0; i < group->count; i++)
		if (!expect(&group->members[i], DRIVER_RUNNING,
			    DRIVER_CHECKPOINTED))
			return false;
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].state == DRIVER_RUNNING &&
		    !lock(&group->members[i], timeout_ms))
			return false;
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].state == DRIVER_LOCKED &&
		    !take_step(&group->members[i], checkpoint,
			       DRIVER_CHECKPOINTED))
			return false;
	return true;
}

bool group_suspend(struct group *group, unsigned timeout_ms)
{
	bool ok = ask_all(group) && suspend_all(group, timeout_ms);

	if (!ok)
		undo(group);
	return ok;
}

/* What is locked may be left from a resume before, that failed. */
static bool restore_all(struct group *group)
{
	bool ok = true;

	for (size_t i = 0; i < group->count; i++) {
		struct member *member = &group->members[i];

		if (member->state == DRIVER_CHECKPOINTED)
			ok &= take_step(member, restore, DRIVER_LOCKED);
		else if (member->state != DRIVER_RUNNING)
			ok &= expect(member, DRIVER_LOCKED, DRIVER_LOCKED);
	}
	return ok;
}

bool group_resume(struct group *group)
{
	bool ok = ask_all(group) && restore_all(group);

	for (size_t i = 0; ok && i < group->count; i++)
		if (group->members[i].state == DRIVER_LOCKED)
			ok = unlock(&group->members[i]);
	return ok;
}
