/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The allocators of a log of Umpire: each is of the memory of that on which it
 * rests, and the name of the last says what that is.
 */
#include "umpire_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static uint8_t memory_of(const char *resource)
{
	static const char *const cpu[] = {"HOST", "FILE", "SHARED", "NULL"};
	const char *number = strstr(resource, "::");
	unsigned long device = number && isdigit((unsigned char)number[2])
				       ? strtoul(number + 2, NULL, 10)
				       : 0;

	for (size_t i = 0; i < sizeof(cpu) / sizeof(cpu[0]); i++)
		if (!strncmp(resource, cpu[i], strlen(cpu[i])))
			return UMPIRE_CPU;
	if (device >= TORCH_DEVICES)
		return UMPIRE_OTHER;
	if (!strncmp(resource, "PINNED", 6))
		return (uint8_t)(UMPIRE_POOL + TORCH_DEVICES);
	if (!strncmp(resource, "DEVICE", 6) || !strncmp(resource, "UM", 2))
		return (uint8_t)(UMPIRE_POOL + device);
	return UMPIRE_OTHER;
}

static bool number_of(struct umpire *umpire, const char *name,
		      uint16_t *number_out)
{
	enum tag_names_result result = tag_names_number(
		&umpire->foreign.history->tags, name, number_out);

	if (result == TAG_NAMES_NO_MEMORY)
		return torch_no_memory(umpire->foreign.history);
	return *number_out ||
	       foreign_fail(&umpire->foreign,
			    "an allocator without a name, or one too many");
}

static bool bind(struct umpire *umpire, uint64_t allocator, uint16_t number)
{
	(void)trace_ids_take(&umpire->names, allocator);
	return trace_ids_add(&umpire->names, allocator, number) ||
	       torch_no_memory(umpire->foreign.history);
}

/* base NULL: it is memory itself. */
bool umpire_make(struct umpire *umpire, const struct umpire_said *said,
		 const char *base)
{
	uint16_t number, below;
	uint64_t allocator;

	if (!number_of(umpire, said->name ? said->name : "", &number))
		return false;
	if (base) {
		if (!number_of(umpire, base, &below))
			return false;
		if (umpire->memory[below] == UMPIRE_NOT_SAID)
			umpire->memory[below] = memory_of(base);
		umpire->memory[number] = umpire->memory[below];
	} else {
		umpire->memory[number] = memory_of(said->name);
	}
	if (said->allocator && foreign_pointer(said->allocator, &allocator)) {
		umpire->open_count -= umpire->open == number;
		umpire->open = umpire->open == number ? 0 : umpire->open;
		return bind(umpire, allocator, number);
	}
	umpire->open = number;
	umpire->open_count++;
	return true;
}

/* The number of its name. What was made without saying where it is can only be
 * the one that is used then. */
bool umpire_find(struct umpire *umpire, const struct umpire_said *said,
		 uint16_t *number_out)
{
	uint64_t allocator;
	uint32_t slot;

	if (!said->allocator || !foreign_pointer(said->allocator, &allocator))
		return foreign_fail(&umpire->foreign,
				    "expected an address as allocator_ref");
	slot = trace_ids_find(&umpire->names, allocator);
	if (slot == TRACE_NO_SLOT && umpire->open && umpire->open_count == 1) {
		slot = umpire->open;
		umpire->open = 0;
		umpire->open_count = 0;
		if (!bind(umpire, allocator, (uint16_t)slot))
			return false;
	}
	if (slot == TRACE_NO_SLOT || umpire->memory[slot] <= UMPIRE_OTHER)
		return foreign_fail(
			&umpire->foreign,
			"the log does not say what memory its "
			"allocator is of, or one that is not known");
	*number_out = (uint16_t)slot;
	return true;
}
