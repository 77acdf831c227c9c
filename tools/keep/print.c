/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What gpumem-keep prints of entries, as text and as JSON; see keep.h. */
#include "keep/client.h"
#include "keep/keep.h"
#include "keep/words.h"
#include "common/human.h"
#include "common/json.h"
#include "common/table.h"
#include "common/tool.h"

#include <string.h>
#include <unistd.h>

/* What is shown, and where to. */
struct shown {
	const char *name; /* NULL: all */
	size_t count;
	struct table table;
	json_t *list;
	bool ok;
};

static void add_row(struct shown *shown, const struct wire_message *entry)
{
	struct table *table = &shown->table;
	struct gpumem_shared block;
	char bytes[HUMAN_BYTES];

	table_cell(table, "%s", entry->name);
	if (words_block(entry, &block)) {
		table_cell(table, "%s", human_bytes(bytes, block.bytes));
		table_cell(table, "%s", block.backend);
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
	}
	table_cell(table, "%u", entry->fd_count);
	table_cell(table, "%llu s", (unsigned long long)entry->age_seconds);
	table_cell(table, "%u s", entry->lease_seconds);
	table_cell(table, entry->alive ? "%u" : "%u (ended)", entry->pid);
}

static json_t *json_of(const struct wire_message *entry)
{
	json_t *object = json_object();
	struct gpumem_shared block;
	bool ok = object, is = words_block(entry, &block);

	json_put(object, "name", json_text(entry->name), &ok);
	json_put(object, "bytes", is ? json_u64(block.bytes) : json_null(),
		 &ok);
	json_put(object, "backend", is ? json_text(block.backend) : json_null(),
		 &ok);
	json_put(object, "uuid", is ? json_text(block.uuid) : json_null(), &ok);
	json_put(object, "fds", json_integer(entry->fd_count), &ok);
	json_put(object, "word_bytes", json_integer(entry->word_bytes), &ok);
	json_put(object, "age_seconds", json_u64(entry->age_seconds), &ok);
	json_put(object, "lease_seconds", json_integer(entry->lease_seconds),
		 &ok);
	json_put(object, "pid", json_integer(entry->pid), &ok);
	json_put(object, "uid", json_integer(entry->uid), &ok);
	json_put(object, "alive", json_boolean(entry->alive), &ok);
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}

static bool show(const struct wire_message *entry, void *user)
{
	struct shown *shown = user;

	if (shown->name && strcmp(shown->name, entry->name))
		return true;
	shown->count++;
	if (shown->list)
		json_put(shown->list, NULL, json_of(entry), &shown->ok);
	else
		add_row(shown, entry);
	return true;
}

static bool print_table(const struct shown *shown)
{
	bool ok = table_print(&shown->table, 0);

	if (!ok)
		tool_error("out of memory");
	return ok;
}

static bool print_json(struct shown *shown)
{
	json_t *all = json_object();
	bool ok = shown->ok && all;

	json_put(all, "entries", shown->list, &ok);
	return json_print(all, ok);
}

static bool ask_and_print(int there, struct shown *shown, bool json)
{
	static const char *const heads[] = {"name",  "size",  "device", "fds",
					    "age",   "lease", "put by"};
	bool ok;

	table_init(&shown->table, "lrlrrrl");
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		table_cell(&shown->table, "%s", heads[i]);
		table_paint(&shown->table, TERM_TITLE);
	}
	shown->list = json ? json_array() : NULL;
	shown->ok = !json || shown->list;
	ok = client_list(there, show, shown);
	if (ok && shown->name && !shown->count) {
		tool_error("%s: there is no entry of that name", shown->name);
		ok = false;
	}
	if (!ok)
		json_decref(shown->list);
	else if (json)
		ok = print_json(shown);
	else if (shown->count)
		ok = print_table(shown);
	table_free(&shown->table);
	return ok;
}

static int print(const struct keep_config *config, const char *name)
{
	int there = client_connect(config->socket);
	struct shown shown = {.name = name};
	bool ok;

	if (there < 0)
		return TOOL_ABSENT;
	ok = ask_and_print(there, &shown, config->json);
	close(there);
	return ok ? TOOL_OK : TOOL_FAILED;
}

int keep_list(const struct keep_config *config)
{
	return print(config, NULL);
}

int keep_show(const struct keep_config *config)
{
	return print(config, config->args[0]);
}
