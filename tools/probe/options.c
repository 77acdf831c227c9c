/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-probe --options: the one table of options, the backends' own
 * included.
 */
#include "probe.h"

#include "common/table.h"
#include "common/tool.h"

static bool skip_backend(const struct gpumem_backend_info *info, void *user)
{
	(void)info;
	(void)user;
	return true;
}

/* A backend's options are in the table once it is loaded. */
static bool load_backends(void)
{
	if (gpumem_backend_visit(skip_backend, NULL) == GPUMEM_OK)
		return true;
	tool_error_last("cannot list the backends");
	return false;
}

static bool add_row(const struct gpumem_option *option, void *user)
{
	struct table *table = user;

	table_cell(table, "%s", option->key);
	table_cell(table, "%s", *option->value ? option->value : "\"\"");
	table_cell(table, "%s", option->source);
	table_cell(table, "%s",
		   *option->default_value ? option->default_value : "\"\"");
	table_cell(table, "%s", option->text);
	return true;
}

bool probe_options_text(void)
{
	struct table table;
	bool ok;

	if (!load_backends())
		return false;
	table_init(&table, "lllll");
	table_cell(&table, "option");
	table_cell(&table, "value");
	table_cell(&table, "from");
	table_cell(&table, "default");
	table_cell(&table, "what it does");
	gpumem_option_visit(add_row, &table);
	ok = table_print(&table, 0);
	if (!ok)
		tool_error("out of memory");
	table_free(&table);
	return ok;
}

struct json_walk {
	json_t *array;
	bool ok;
};

static bool add_object(const struct gpumem_option *option, void *user)
{
	struct json_walk *walk = user;
	json_t *object = json_object();
	bool *ok = &walk->ok;

	json_put(object, "key", json_text(option->key), ok);
	json_put(object, "value", json_text(option->value), ok);
	json_put(object, "source", json_text(option->source), ok);
	json_put(object, "default", json_text(option->default_value), ok);
	json_put(object, "text", json_text(option->text), ok);
	json_put(walk->array, NULL, object, ok);
	return true;
}

bool probe_options_json(void)
{
	struct json_walk walk = {.array = json_array(), .ok = true};
	json_t *root = json_object();

	if (!load_backends()) {
		json_decref(walk.array);
		json_decref(root);
		return false;
	}
	gpumem_option_visit(add_object, &walk);
	json_put(root, "version", json_text(gpumem_version()), &walk.ok);
	json_put(root, "options", walk.array, &walk.ok);
	return json_print(root, walk.ok);
}
