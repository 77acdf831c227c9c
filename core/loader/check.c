/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The checks on a backend's table alone, in one row, each with its sentence.
 * The table is foreign memory: it is copied before it is looked at, and nothing
 * beyond its own size is read. Pure but for the thread's last error.
 */
#include "loader_parts.h"
#include "base/error.h"
#include <stddef.h>
#include <string.h>

typedef void (*any_slot)(void);

struct slot {
	const char *group, *name;
	size_t offset;
};

static const struct slot slots[] = {
#define SLOT_ROW(slot, group, caps, counted)                                   \
	{#group, #slot, offsetof(struct gpumem_backend, slot)},
	GPUMEM_SLOT_LIST(SLOT_ROW)
#undef SLOT_ROW
};

/* The list names every slot, in the order of the table. */
#define SLOT_OFFSET(number)                                                    \
	(offsetof(struct gpumem_backend, init) + (number) * sizeof(any_slot))
_Static_assert(SLOT_OFFSET(GPUMEM_SLOT_COUNT) == sizeof(struct gpumem_backend),
	       "GPUMEM_SLOT_LIST lacks a slot of struct gpumem_backend");
#define SLOT_IN_ORDER(slot, group, caps, counted)                              \
	_Static_assert(offsetof(struct gpumem_backend, slot) ==                \
			       SLOT_OFFSET(GPUMEM_SLOT_##slot),                \
		       #slot " stands elsewhere in GPUMEM_SLOT_LIST");
GPUMEM_SLOT_LIST(SLOT_IN_ORDER)
#undef SLOT_IN_ORDER

#define REQUIRED_BYTES                                                         \
	(offsetof(struct gpumem_backend, free) + sizeof(any_slot))

bool gm_name_is_sane(const char *name)
{
	size_t length = strnlen(name, GM_NAME_BYTES);

	return length > 0 && length < GM_NAME_BYTES && name[0] >= 'a' &&
	       name[0] <= 'z' && strcmp(name, "auto") != 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

static bool has_slot(const struct gpumem_backend *ops, const struct slot *slot)
{
	any_slot function;

	memcpy(&function, (const char *)ops + slot->offset, sizeof(function));
	return function != NULL;
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
	if (head.size % sizeof(any_slot) != 0)
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
static const struct slot *group_member(const struct gpumem_backend *ops,
				       const char *group)
{
	size_t i;

	for (i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (strcmp(slots[i].group, group) == 0 &&
		    has_slot(ops, &slots[i]))
			return &slots[i];
	return NULL;
}

static gpumem_status check_slots(const struct gpumem_backend *ops)
{
	size_t i;

	for (i = 0; i < GPUMEM_SLOT_COUNT; i++) {
		const struct slot *slot = &slots[i], *member;

		if (has_slot(ops, slot))
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
