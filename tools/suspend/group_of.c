/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which processes a group has; see group.h. */
#include "suspend/group.h"
#include "common/tool.h"
#include "suspend/members.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has(const struct group *group, pid_t pid)
{
	for (size_t i = 0; i < group->count; i++)
		if (group->members[i].pid == pid)
			return true;
	return false;
}

static bool add(struct group *group, pid_t pid, bool optional)
{
	struct member *more;

	if (has(group, pid))
		return true;
	more = realloc(group->members, (group->count + 1) * sizeof(*more));
	if (!more) {
		tool_error("out of memory");
		return false;
	}
	group->members = more;
	more[group->count] = (struct member){.pid = pid, .optional = optional};
	members_name(pid, more[group->count].name,
		     sizeof(more[group->count].name));
	group->count++;
	return true;
}

bool group_add(struct group *group, pid_t pid)
{
	if (pid == getpid()) {
		tool_error("%ld: that is this program", (long)pid);
		return false;
	}
	if (!add(group, pid, false))
		return false;
	if (*group->members[group->count - 1].name)
		return true;
	tool_error("%ld: there is no such process", (long)pid);
	return false;
}

/* A child may stand before its parent there. */
bool group_add_descendants(struct group *group)
{
	size_t count, before;
	struct members_link *links = members_all(&count);
	bool ok = links;

	do {
		before = group->count;
		for (size_t i = 0; ok && i < count; i++)
			if (has(group, links[i].parent) &&
			    links[i].pid != getpid())
				ok = add(group, links[i].pid, true);
	} while (ok && group->count > before);
	free(links);
	return ok;
}

void group_free(struct group *group)
{
	free(group->members);
	*group = (struct group){0};
}
