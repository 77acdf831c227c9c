/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Two runs side by side, for people and for programs.
 */
#include "compare.h"

#include "common/table.h"
#include "common/tool.h"
#include "trace/print.h"

/* ---- for people ---- */

static void value_cells(struct table *table, const uint64_t value[2],
			const bool known[2], bool is_bytes)
{
	struct compare_cells cells;

	compare_cells(&cells, value, known, is_bytes);
	for (unsigned i = 0; i < COMPARE_CELLS; i++)
		table_cell(table, "%s", cells.text[i]);
}

static void begin_table(struct table *table, const char *what)
{
	table_init(table, "rrrrl");
	table_cell(table, "first");
	table_cell(table, "second");
	table_cell(table, "difference");
	table_cell(table, "ratio");
	table_cell(table, "%s", what);
}

static bool end_table(struct table *table)
{
	bool ok = table_print(table, 0);

	table_free(table);
	return ok;
}

static bool print_figures(const struct model *one, const struct model *other)
{
	struct compare_figure figures[COMPARE_FIGURES];
	struct table table;

	compare_figures(one, other, figures);
	begin_table(&table, "figure");
	for (unsigned i = 0; i < COMPARE_FIGURES; i++) {
		value_cells(&table, figures[i].value, figures[i].known,
			    figures[i].is_bytes);
		table_cell(&table, "%s", figures[i].words);
	}
	return end_table(&table);
}

static bool print_tags(const struct model *one, const struct model *other)
{
	static const bool known[2] = {true, true};
	struct compare compare;
	struct table table;
	bool ok = compare_tags(&compare, one, other);

	if (ok) {
		begin_table(&table, "tag");
		for (size_t i = 0; i < compare.count; i++) {
			const char *path = compare.tags[i].path;

			value_cells(&table, compare.tags[i].bytes, known, true);
			table_cell(&table, "%s", *path ? path : "-");
		}
		ok = end_table(&table);
	}
	compare_free(&compare);
	return ok;
}

bool compare_text(const struct model *one, const struct model *other)
{
	bool ok;

	print_about(one->source, &one->summary);
	print_about(other->source, &other->summary);
	putchar('\n');
	ok = print_figures(one, other);
	putchar('\n');
	term_say("Live at the peak of each, by tag:");
	ok = print_tags(one, other) && ok;
	if (!ok)
		tool_error("out of memory");
	return ok;
}

/* ---- for programs ---- */

static json_t *run_json(const struct model *model, unsigned which,
			const struct compare_figure *figures, bool *ok)
{
	json_t *object = json_object();

	print_json_about(object, model->source, &model->summary, ok);
	for (unsigned i = 0; i < COMPARE_FIGURES; i++)
		json_put(object, figures[i].key,
			 figures[i].known[which]
				 ? json_u64(figures[i].value[which])
				 : json_null(),
			 ok);
	return object;
}

static json_t *tag_json(const struct compare_tag *tag, bool *ok)
{
	json_t *object = json_object();

	json_put(object, "tag", *tag->path ? json_text(tag->path) : json_null(),
		 ok);
	json_put(object, "first_bytes", json_u64(tag->bytes[0]), ok);
	json_put(object, "second_bytes", json_u64(tag->bytes[1]), ok);
	json_put(object, "first_blocks", json_u64(tag->blocks[0]), ok);
	json_put(object, "second_blocks", json_u64(tag->blocks[1]), ok);
	return object;
}

bool compare_json(const struct model *one, const struct model *other)
{
	struct compare_figure figures[COMPARE_FIGURES];
	struct compare compare;
	json_t *root = json_object(), *tags = json_array();
	bool ok = compare_tags(&compare, one, other);

	compare_figures(one, other, figures);
	json_put(root, "first", run_json(one, 0, figures, &ok), &ok);
	json_put(root, "second", run_json(other, 1, figures, &ok), &ok);
	for (size_t i = 0; i < compare.count; i++)
		json_put(tags, NULL, tag_json(&compare.tags[i], &ok), &ok);
	json_put(root, "tags", tags, &ok);
	compare_free(&compare);
	return json_print(root, ok);
}
