/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The slots by their numbers: what the list in backend.h says of each, which of
 * them the device has, and which were called. See conform.h.
 */
#include "conform.h"

#include <stdatomic.h>
#include <string.h>

const struct conform_slot conform_slots[] = {
#define SLOT(slot, group, caps, counted) {#slot, #group, caps},
	GPUMEM_SLOT_LIST(SLOT)
#undef SLOT
};

static const char no_check[] = "no check called";

enum {
	WHY_BYTES = sizeof(no_check)
#define NAME_BYTES(slot, group, caps, counted) +sizeof(" " #slot)
		GPUMEM_SLOT_LIST(NAME_BYTES)
#undef NAME_BYTES
};

/* init is none of ours: the library has started the backend. */
static atomic_bool called[GPUMEM_SLOT_COUNT] = {[GPUMEM_SLOT_init] = true};

bool conform_slot_is_there(const struct gpumem_backend *ops,
			   enum gpumem_slot slot)
{
	switch (slot) {
#define IS_THERE(slot, group, caps, counted)                                   \
	case GPUMEM_SLOT_##slot:                                               \
		return ops->slot != NULL;
		GPUMEM_SLOT_LIST(IS_THERE)
#undef IS_THERE
	case GPUMEM_SLOT_COUNT:
		break;
	}
	return false;
}

uint32_t conform_usable_caps(const struct gpumem_backend *ops)
{
	uint32_t caps = UINT32_MAX;

	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (!conform_slot_is_there(ops, i))
			caps &= ~conform_slots[i].caps;
	if (!(caps & GPUMEM_CAP_VM)) /* they are mapped as others are */
		caps &= ~(uint32_t)GPUMEM_CAP_SHARE_FD;
	return caps;
}

void conform_slot_called(enum gpumem_slot slot)
{
	atomic_store(&called[slot], true);
}

static bool is_untried(const struct conform *c, enum gpumem_slot slot)
{
	uint32_t caps = conform_slots[slot].caps;

	return conform_slot_is_there(c->ops, slot) &&
	       (!caps || (caps & c->info.caps)) && !atomic_load(&called[slot]);
}

void conform_covered(struct conform *c)
{
	char why[WHY_BYTES];
	bool all = true;

	strcpy(why, no_check);
	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++) {
		if (!is_untried(c, i))
			continue;
		strcat(strcat(why, " "), conform_slots[i].name);
		all = false;
	}
	if (all)
		conform_ok(c, true, "every slot is tried");
	else
		conform_skip(c, "every slot is tried", why);
}
