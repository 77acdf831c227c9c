/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The checks on a table, one by one, each with its sentence. */
#include "base/error.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "fake.h"

#define REQUIRED_BYTES                                                         \
	(offsetof(struct gpumem_backend, free) + sizeof(void (*)(void)))

typedef void (*any_slot)(void);

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

/* A sentence with two numbers in it. */
static const char *with(const char *format, size_t one, size_t two)
{
	static char text[128];

	snprintf(text, sizeof(text), format, one, two);
	return text;
}

static void refuses(const struct gpumem_backend *table, size_t bytes,
		    const char *sentence)
{
	struct gpumem_backend out, before;

	memset(&before, 0x5a, sizeof(before));
	out = before;
	is_status(gm_backend_check(table, bytes, &out), GPUMEM_ABI, "refused");
	is_str(last_text(), sentence, "%s", sentence);
	ok(memcmp(&out, &before, sizeof(out)) == 0, "output left alone");
}

static void test_good(void)
{
	struct gpumem_backend out;

	memset(&out, 0x5a, sizeof(out));
	is_status(gm_backend_check(&fake_table, SIZE_MAX, &out), GPUMEM_OK,
		  "a whole table");
	ok(memcmp(&out, &fake_table, sizeof(out)) == 0, "is copied");
	is_status(gm_backend_check(&fake_table, sizeof(fake_table), &out),
		  GPUMEM_OK, "with exactly its bytes");
}

/* An older plugin: its table ends earlier, in memory that ends there too. */
static void test_short(void)
{
	struct gpumem_backend whole = fake_table, out;
	void *table = malloc(REQUIRED_BYTES);

	if (!table)
		bail("no memory");
	whole.size = REQUIRED_BYTES;
	memcpy(table, &whole, REQUIRED_BYTES);
	memset(&out, 0x5a, sizeof(out));
	is_status(gm_backend_check(table, SIZE_MAX, &out), GPUMEM_OK,
		  "required slots only");
	ok(out.alloc == fake_alloc && out.free == fake_free, "they are there");
	ok(!out.stream_create && !out.capture_id && !out.va_reserve,
	   "and all others are NULL");
	refuses(table, REQUIRED_BYTES - 1,
		with("its table claims %zu bytes and has %zu", REQUIRED_BYTES,
		     REQUIRED_BYTES - 1));
	free(table);
}

static void test_head(void)
{
	static const char too_short[] =
		"its table has %zu bytes, the required slots take %zu";
	struct gpumem_backend table = fake_table;

	refuses(&table, 0, "its table is cut short");
	refuses(&table, 7, "its table is cut short");
	table.abi = 2;
	refuses(&table, SIZE_MAX,
		"it was built for plugin ABI 2, this library has 1");
	table.abi = GPUMEM_BACKEND_ABI;
	table.size = REQUIRED_BYTES - 8;
	refuses(&table, SIZE_MAX,
		with(too_short, REQUIRED_BYTES - 8, REQUIRED_BYTES));
	table.size = 0;
	refuses(&table, SIZE_MAX, with(too_short, 0, REQUIRED_BYTES));
	table.size = REQUIRED_BYTES + 4;
	refuses(&table, SIZE_MAX,
		with("its table has %zu bytes, no whole number of slots",
		     REQUIRED_BYTES + 4, 0));
	table.size = UINT32_MAX - 7;
	refuses(&table, sizeof(table),
		with("its table claims %zu bytes and has %zu", UINT32_MAX - 7,
		     sizeof(table)));
}

static void test_name(void)
{
	struct gpumem_backend table = fake_table, out;
	char endless[16];

	table.name = NULL;
	refuses(&table, SIZE_MAX, "its table has no name");
	table.name = "";
	refuses(&table, SIZE_MAX, "its table has no name");
	table.name = "sixteen-letters-";
	refuses(&table, SIZE_MAX,
		"its name \"sixteen-letters...\" has more than 15 letters");
	memset(endless, 'e', sizeof(endless)); /* not ended */
	table.name = endless;
	refuses(&table, SIZE_MAX,
		"its name \"eeeeeeeeeeeeeee...\" has more than 15 letters");
	table.name = "Fake";
	refuses(&table, SIZE_MAX,
		"its name \"Fake\" is none: lower case letters, digits, '_' "
		"and '-', but not \"auto\"");
	table.name = "auto";
	is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_ABI, "auto");
	table.name = "a/b";
	is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_ABI, "a/b");
	table.name = "1st";
	is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_ABI, "1st");
	table.name = "a-b_c4567890123";
	is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_OK,
		  "fifteen letters");
}

static const struct {
	const char *group, *name;
	size_t offset;
} slots[] = {
#define SLOT(slot, group, caps, counted)                                       \
	{#group, #slot, offsetof(struct gpumem_backend, slot)},
	GPUMEM_SLOT_LIST(SLOT)
#undef SLOT
};

#define COUNT (sizeof(slots) / sizeof(slots[0]))

static void set_slot(struct gpumem_backend *table, size_t i, any_slot slot)
{
	memcpy((char *)table + slots[i].offset, &slot, sizeof(slot));
}

static void nothing(void)
{
}

static struct gpumem_backend whole_table(void)
{
	struct gpumem_backend table = fake_table;

	for (size_t i = 0; i < COUNT; i++)
		set_slot(&table, i, nothing);
	return table;
}

static bool is_required(size_t i)
{
	return strcmp(slots[i].group, "REQUIRED") == 0;
}

static size_t group_size(const char *group)
{
	size_t i, size = 0;

	for (i = 0; i < COUNT; i++)
		size += strcmp(slots[i].group, group) == 0;
	return size;
}

/* Each slot alone missing, and each slot of a group alone there. */
static void test_slots(void)
{
	char sentence[128];
	size_t i, j;

	for (i = 0; i < COUNT; i++) {
		struct gpumem_backend table = whole_table(), out;

		set_slot(&table, i, NULL);
		if (group_size(slots[i].group) == 1) {
			is_status(gm_backend_check(&table, SIZE_MAX, &out),
				  GPUMEM_OK, "%s alone is its group",
				  slots[i].name);
			continue;
		}
		is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_ABI,
			  "without %s", slots[i].name);
		snprintf(sentence, sizeof(sentence), "%s is NULL",
			 slots[i].name);
		ok(strstr(last_text(), sentence), "it is named");
		snprintf(sentence, sizeof(sentence), "group %s is incomplete",
			 slots[i].group);
		ok(strstr(last_text(),
			  is_required(i) ? "required slot" : sentence),
		   "and its group");
	}
	for (i = 0; i < COUNT; i++) {
		struct gpumem_backend table = whole_table(), out;

		if (is_required(i) || group_size(slots[i].group) == 1)
			continue;
		for (j = 0; j < COUNT; j++)
			if (!is_required(j) && j != i)
				set_slot(&table, j, NULL);
		is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_ABI,
			  "only %s of %s", slots[i].name, slots[i].group);
	}
}

/* A table whose size cuts a group in two. */
static void test_cut_groups(void)
{
	struct gpumem_backend table = whole_table(), out;
	size_t i;

	for (i = group_size("REQUIRED") - 1; i < COUNT; i++) {
		bool ends_group = i + 1 == COUNT ||
				  strcmp(slots[i].group, slots[i + 1].group);

		table.size = (uint32_t)(slots[i].offset + sizeof(any_slot));
		is_status(gm_backend_check(&table, SIZE_MAX, &out),
			  ends_group ? GPUMEM_OK : GPUMEM_ABI,
			  "a table that ends with %s", slots[i].name);
	}
}

int main(void)
{
	test_good();
	test_short();
	test_head();
	test_name();
	test_slots();
	test_cut_groups();
	return done_testing();
}
