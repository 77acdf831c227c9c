/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the checks on a plugin's table. The input is the table's memory, to
 * its last byte; only the two pointers that the checks follow are made good,
 * since nobody can check those: the name points to what is left of the input
 * after the table, copied to memory of its own. Whatever is accepted has every
 * required slot, whole groups, and nothing from beyond its size.
 */
#include "fuzz.h"

#include "loader/loader.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_AT offsetof(struct gpumem_backend, init)
#define SLOTS                                                                  \
	((sizeof(struct gpumem_backend) - SLOTS_AT) / sizeof(void (*)(void)))

/* In host order, like a table: abi 1; size; name and options; the slots. */
#define HEAD(size) "\1\0\0\0" size "\0\0\0nnnnnnnnoooooooo"
#define FOUR "ssssssssssssssssssssssssssssssss"
#define NINE FOUR FOUR "ssssssss"
#define NONE "\0\0\0\0\0\0\0\0"
#define ONE "ssssssss"
#define NAME "fake\0"

/* A table of 40 slots and a larger one. */
#define OUR_HEAD "\1\0\0\0\130\1\0\0nnnnnnnnoooooooo"
#define LARGE_HEAD "\1\0\0\0\140\1\0\0nnnnnnnnoooooooo"
#define STREAMS NINE ONE
#define FIRST NINE STREAMS FOUR FOUR ONE /* up to CAPTURE */
#define ALL FIRST FOUR FOUR FOUR

const struct fuzz_seed fuzz_seeds[] = {
	FUZZ_SEED(OUR_HEAD ALL NAME),
	FUZZ_SEED(OUR_HEAD FIRST ONE NONE FOUR FOUR ONE ONE NAME),
	FUZZ_SEED(HEAD("\370") FIRST NAME),
	FUZZ_SEED(HEAD("\140") NINE NAME),
	FUZZ_SEED(HEAD("\260") NINE STREAMS NAME),
	FUZZ_SEED(HEAD("\370") NINE STREAMS FOUR ONE NONE NONE NONE ONE NAME),
	FUZZ_SEED(HEAD("\370") FOUR NONE FOUR STREAMS FOUR FOUR ONE NAME),
	FUZZ_SEED(LARGE_HEAD ALL ONE NAME),
	FUZZ_SEED(HEAD("\370") FIRST "sixteen-letters-\0"),
	FUZZ_SEED(HEAD("\370") FIRST "Upper\0"),
	{NULL, 0},
};

/* The group of each slot, in the table's order. */
static const char *const groups[SLOTS] = {
#define GROUP(slot, group, caps, counted) #group,
	GPUMEM_SLOT_LIST(GROUP)
#undef GROUP
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

static bool slot_is_there(const struct gpumem_backend *ops, size_t slot)
{
	void (*function)(void);

	memcpy(&function,
	       (const char *)ops + SLOTS_AT + slot * sizeof(function),
	       sizeof(function));
	return function != NULL;
}

static void check_accepted(const struct gpumem_backend *ops, const void *table,
			   size_t bytes)
{
	const char *copy = (const char *)ops;
	size_t known = ops->size < sizeof(*ops) ? ops->size : sizeof(*ops);
	size_t slot, i;

	check(ops->abi == GPUMEM_BACKEND_ABI && ops->size <= bytes);
	check(ops->name && strlen(ops->name) < 16 && ops->name[0]);
	check(!memcmp(ops, table, known));
	for (i = known; i < sizeof(*ops); i++)
		check(!copy[i]);
	for (slot = 0; slot < SLOTS; slot++) {
		bool there = slot_is_there(ops, slot);

		check(there || strcmp(groups[slot], "REQUIRED") != 0);
		check(!slot || strcmp(groups[slot], groups[slot - 1]) != 0 ||
		      there == slot_is_there(ops, slot - 1));
	}
}

/* The pointers in the table's memory, as far as it reaches. */
static void put_pointer(uint8_t *table, size_t bytes, size_t at,
			const void *pointer)
{
	if (at + sizeof(pointer) <= bytes)
		memcpy(table + at, &pointer, sizeof(pointer));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* What is behind the table is its name; a byte without one: NULL. */
	size_t whole = sizeof(struct gpumem_backend);
	size_t bytes = size < whole ? size : whole, left = size - bytes;
	uint8_t *table = malloc(bytes ? bytes : 1);
	char *name = left ? malloc(left + 1) : NULL;
	struct gpumem_backend ops, before;

	if (!table || (left && !name))
		abort();
	memcpy(table, data, bytes);
	if (left) {
		memcpy(name, data + bytes, left);
		name[left] = '\0';
	}
	put_pointer(table, bytes, offsetof(struct gpumem_backend, name), name);
	put_pointer(table, bytes, offsetof(struct gpumem_backend, options),
		    NULL);
	memset(&before, 0x5a, sizeof(before));
	ops = before;
	if (gm_backend_check((void *)table, bytes, &ops) == GPUMEM_OK)
		check_accepted(&ops, table, bytes);
	else
		check(!memcmp(&ops, &before, sizeof(ops)));
	free(name);
	free(table);
	return 0;
}
