/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The checks on a table, one by one, each with its sentence. */
#include "base/error.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "fake.h"

#define REQUIRED                                                               \
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
	void *table = malloc(REQUIRED);

	if (!table)
		bail("no memory");
	whole.size = REQUIRED;
	memcpy(table, &whole, REQUIRED);
	memset(&out, 0x5a, sizeof(out));
	is_status(gm_backend_check(table, SIZE_MAX, &out), GPUMEM_OK,
		  "required slots only");
	ok(out.alloc == fake_alloc && out.free == fake_free, "they are there");
	ok(!out.stream_create && !out.capture_id && !out.va_reserve,
	   "and all others are NULL");
	refuses(table, REQUIRED - 1,
		with("its table claims %zu bytes and has %zu", REQUIRED,
		     REQUIRED - 1));
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
	table.size = REQUIRED - 8;
	refuses(&table, SIZE_MAX, with(too_short, REQUIRED - 8, REQUIRED));
	table.size = 0;
	refuses(&table, SIZE_MAX, with(too_short, 0, REQUIRED));
	table.size = REQUIRED + 4;
	refuses(&table, SIZE_MAX,
		with("its table has %zu bytes, no whole number of slots",
		     REQUIRED + 4, 0));
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
#define SLOT(group, name)                                                      \
	{                                                                      \
		group, #name, offsetof(struct gpumem_backend, name)            \
	}
	SLOT("", init),
	SLOT("", driver_version),
	SLOT("", device_count),
	SLOT("", device_info),
	SLOT("", device_open),
	SLOT("", device_close),
	SLOT("", memory_info),
	SLOT("", alloc),
	SLOT("", free),
	SLOT("STREAMS", stream_create),
	SLOT("STREAMS", stream_destroy),
	SLOT("STREAMS", stream_sync),
	SLOT("STREAMS", stream_query),
	SLOT("STREAMS", stream_wait),
	SLOT("STREAMS", event_create),
	SLOT("STREAMS", event_destroy),
	SLOT("STREAMS", event_record),
	SLOT("STREAMS", event_query),
	SLOT("STREAMS", event_sync),
	SLOT("VM", va_reserve),
	SLOT("VM", va_release),
	SLOT("VM", page_create),
	SLOT("VM", page_destroy),
	SLOT("VM", map),
	SLOT("VM", unmap),
	SLOT("COPY", fill),
	SLOT("COPY", copy),
	SLOT("CAPTURE", capture_id),
	SLOT("KINDS", kind_alloc),
	SLOT("KINDS", kind_free),
	SLOT("PEERS", peer_query),
	SLOT("PEERS", peer_enable),
	SLOT("PEERS", map_peers),
	SLOT("PROCESSES", device_processes),
	SLOT("SHARE_IPC", ipc_export),
	SLOT("SHARE_IPC", ipc_open),
	SLOT("SHARE_IPC", ipc_close),
	SLOT("SHARE_FD", page_create_shared),
	SLOT("SHARE_FD", page_export),
	SLOT("SHARE_FD", page_import),
	SLOT("OBJECTS", object_of),
	SLOT("OBJECTS", view_create),
	SLOT("OBJECTS", view_destroy),
	SLOT("ADOPT", device_adopt),
};

#define COUNT (sizeof(slots) / sizeof(slots[0]))

static void set_slot(struct gpumem_backend *table, size_t i, any_slot slot)
{
	memcpy((char *)table + slots[i].offset, &slot, sizeof(slot));
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
		struct gpumem_backend table = fake_table, out;

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
			  *slots[i].group ? sentence : "required slot"),
		   "and its group");
	}
	for (i = 0; i < COUNT; i++) {
		struct gpumem_backend table = fake_table, out;

		if (!*slots[i].group || group_size(slots[i].group) == 1)
			continue;
		for (j = 0; j < COUNT; j++)
			if (*slots[j].group && j != i)
				set_slot(&table, j, NULL);
		is_status(gm_backend_check(&table, SIZE_MAX, &out), GPUMEM_ABI,
			  "only %s of %s", slots[i].name, slots[i].group);
	}
}

/* A table whose size cuts a group in two. */
static void test_cut_groups(void)
{
	struct gpumem_backend table = fake_table, out;
	size_t i, whole = 0;

	for (i = 8; i < COUNT; i++) {
		bool ends_group = i + 1 == COUNT ||
				  strcmp(slots[i].group, slots[i + 1].group);

		table.size = (uint32_t)(slots[i].offset + sizeof(any_slot));
		is_status(gm_backend_check(&table, SIZE_MAX, &out),
			  ends_group ? GPUMEM_OK : GPUMEM_ABI,
			  "a table that ends with %s", slots[i].name);
		whole += ends_group;
	}
	is_uint(whole, 12, "twelve sizes are whole");
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
