/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The checks on a backend's table alone, in one row, each with its sentence.
 * The table is foreign memory: it is copied before it is looked at, and nothing
 * beyond its own size is read. Pure but for the thread's last error.
 */
#include "loader_parts.h"
#include "base/error.h"
#include "slots.h"
#include <stddef.h>
#include <string.h>

#define SLOT_BYTES sizeof(void (*)(void))
#define REQUIRED_BYTES (offsetof(struct gpumem_backend, free) + SLOT_BYTES)

bool gm_name_is_sane(const char *name)
{
	size_t length = strnlen(name, GM_NAME_BYTES);

	return length > 0 && length < GM_NAME_BYTES && name[0] >= 'a' &&
	       name[0] <= 'z' && strcmp(name, "auto") != 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

/* The table's two first words, which say how much more there is. */
static gpumem_status check_size(const struct gpumem_backend *table,
				size_t bytes, uint32_t *size_out)
{
	struct {
		uint32_t abi, size;
	} head;

	if (bytes < sizeof(head))
		return gm_fail(GPUMEM_ABI, "its table is cut short");
	memcpy(&head, table, sizeof(head));
	if (head.abi != GPUMEM_BACKEND_ABI)
		return gm_fail(GPUMEM_ABI,
			       "it was built for plugin ABI %u, this library "
			       "has %u",
			       (unsigned)head.abi, GPUMEM_BACKEND_ABI);
	if (head.size < REQUIRED_BYTES)
		return gm_fail(GPUMEM_ABI,
			       "its table has %u bytes, the required slots "
			       "take %zu",
			       (unsigned)head.size, REQUIRED_BYTES);
	if (head.size % SLOT_BYTES != 0)
		return gm_fail(GPUMEM_ABI,
			       "its table has %u bytes, no whole number of "
			       "slots",
			       (unsigned)head.size);
	if (head.size > bytes)
		return gm_fail(GPUMEM_ABI,
			       "its table claims %u bytes and has %zu",
			       (unsigned)head.size, bytes);
	*size_out = head.size;
	return GPUMEM_OK;
}

static gpumem_status check_name(const char *name)
{
	if (!name || !name[0])
		return gm_fail(GPUMEM_ABI, "its table has no name");
	if (strnlen(name, GM_NAME_BYTES) == GM_NAME_BYTES)
		return gm_fail(GPUMEM_ABI,
			       "its name \"%.15s...\" has more than 15 letters",
			       name);
	if (!gm_name_is_sane(name))
		return gm_fail(GPUMEM_ABI,
			       "its name \"%s\" is none: lower case letters, "
			       "digits, '_' and '-', but not \"auto\"",
			       name);
	return GPUMEM_OK;
}

/* The slot of the same group that decides whether the group is there: its
 * first that is not NULL. NULL: the group is absent. */
static const struct gm_slot_row *group_member(const struct gpumem_backend *ops,
					      const char *group)
{
	unsigned i;

	for (i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (strcmp(gm_slot_rows[i].group, group) == 0 &&
		    gm_backend_has(ops, i))
			return &gm_slot_rows[i];
	return NULL;
}

static gpumem_status check_slots(const struct gpumem_backend *ops)
{
	unsigned i;

	for (i = 0; i < GPUMEM_SLOT_COUNT; i++) {
		const struct gm_slot_row *slot = &gm_slot_rows[i], *member;

		if (gm_backend_has(ops, i))
			continue;
		if (strcmp(slot->group, "REQUIRED") == 0)
			return gm_fail(GPUMEM_ABI,
				       "its required slot %s is NULL",
				       slot->name);
		member = group_member(ops, slot->group);
		if (member)
			return gm_fail(GPUMEM_ABI,
				       "its group %s is incomplete: %s is "
				       "there, %s is NULL",
				       slot->group, member->name, slot->name);
	}
	return GPUMEM_OK;
}

gpumem_status gm_backend_check(const struct gpumem_backend *table, size_t bytes,
			       struct gpumem_backend *ops_out)
{
	struct gpumem_backend ops = {0};
	gpumem_status status;
	uint32_t size = 0;

	status = check_size(table, bytes, &size);
	if (status != GPUMEM_OK)
		return status;
	memcpy(&ops, table, size < sizeof(ops) ? size : sizeof(ops));
	status = check_name(ops.name);
	if (status == GPUMEM_OK)
		status = check_slots(&ops);
	if (status == GPUMEM_OK)
		*ops_out = ops;
	return status;
}
