/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Sizes of structs that callers give, with a struct that has had a second
 * version: programs and libraries of both, and sizes that are none.
 */
#include "../../tap.h"
#include "base/error.h"
#include "base/struct.h"
#include <stddef.h>
#include <string.h>

struct first {
	size_t size;
	uint64_t one, two;
};

struct second {
	size_t size;
	uint64_t one, two, three;
};

static const struct gm_struct old = {"thing", sizeof(struct first),
				     sizeof(struct first)};
static const struct gm_struct new = {"thing", sizeof(struct first),
				     sizeof(struct second)};

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static void test_check(void)
{
	static const size_t bad[] = {1, 8, sizeof(struct first) - 1,
				     GM_STRUCT_BYTES_MAX + 1, SIZE_MAX};
	struct second given = {0};

	is_status(gm_struct_check(&new, &given), GPUMEM_INVALID, "no size");
	is_str(last_text(),
	       "struct thing has size 0; initialise it with "
	       "GPUMEM_INIT(struct thing)",
	       "is told so");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		given.size = bad[i];
		is_status(gm_struct_check(&new, &given), GPUMEM_INVALID,
			  "size %zu", bad[i]);
		ok(strstr(last_text(), "begin with 24 bytes"), "says: %s",
		   last_text());
	}
	for (size_t size = sizeof(struct first); size <= GM_STRUCT_BYTES_MAX;
	     size++) {
		given.size = size;
		if (gm_struct_check(&new, &given) ||
		    gm_struct_check(&old, &given))
			ok(false, "size %zu", size);
	}
}

/* An older program keeps running: the minimum does not move. */
static void test_older_program(void)
{
	const struct first given = {sizeof(given), 1, 2};
	struct second own = {sizeof(own), 7, 8, 9};

	is_status(gm_struct_take(&new, &own, &given), GPUMEM_OK,
		  "the first version's struct");
	is_uint(own.one + own.two, 3, "is read");
	is_uint(own.three, 0, "what it has not is the default");
	is_uint(own.size, sizeof(own), "our size stays");
}

static void test_newer_program(void)
{
	struct second given = {sizeof(given), 1, 2, 0};
	struct first own = {sizeof(own), 7, 8};

	is_status(gm_struct_take(&old, &own, &given), GPUMEM_OK,
		  "a newer program that asks for nothing new");
	is_uint(own.one + own.two, 3, "is served");
	for (size_t i = sizeof(own); i < sizeof(given); i++) {
		own = (struct first){sizeof(own), 7, 8};
		((unsigned char *)&given)[i] = 1;
		is_status(gm_struct_take(&old, &own, &given),
			  GPUMEM_UNSUPPORTED, "byte %zu is set", i);
		is_uint(own.one, 7, "nothing is taken over");
		((unsigned char *)&given)[i] = 0;
	}
	given.three = 1;
	(void)gm_struct_take(&old, &own, &given);
	ok(strstr(last_text(), "byte 24 is not 0") &&
		   strstr(last_text(), GPUMEM_VERSION_STRING),
	   "says: %s", last_text());
}

static void test_bad_input(void)
{
	struct first given = {sizeof(given) - 1, 1, 2};
	struct first own = {sizeof(own), 7, 8};

	is_status(gm_struct_take(&old, &own, &given), GPUMEM_INVALID,
		  "one byte short");
	given.size = 0;
	is_status(gm_struct_take(&old, &own, &given), GPUMEM_INVALID,
		  "no size");
	is_uint(own.one, 7, "nothing is taken over");
}

static void test_copy(void)
{
	const struct first ours = {sizeof(ours), 1, 2};
	struct second theirs = {sizeof(theirs), 7, 8, 9};

	gm_struct_copy(&theirs, &ours);
	is_uint(theirs.one + theirs.two, 3, "what both know");
	is_uint(theirs.three, 0, "and zero for what is unknown");
	is_uint(theirs.size, sizeof(theirs), "the caller's size stays");
	theirs = (struct second){offsetof(struct second, two) + 4, 7,
				 UINT64_MAX, 9};
	gm_struct_copy(&theirs, &ours);
	is_uint(theirs.two, UINT64_MAX << 32 | 2,
		"a size inside a member is taken by the byte");
	is_uint(theirs.three, 9, "nothing beyond is touched");
}

/* What is promised of the list. */
static void test_list(void)
{
	for (size_t i = 0; i < GM_STRUCT_COUNT; i++) {
		const struct gm_struct *of = &gm_structs[i];

		ok(of->first > sizeof(size_t) && of->first <= of->now,
		   "struct %s has %zu bytes, at first %zu", of->name, of->now,
		   of->first);
	}
}

int main(void)
{
	test_check();
	test_older_program();
	test_newer_program();
	test_bad_input();
	test_copy();
	test_list();
	return done_testing();
}
