/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a report says by pool and by device, as text, as JSON and in the page.
 */
#include "groups.h"
#include "page.h"
#include "report.h"

#include "common/human.h"
#include "common/json.h"
#include "common/table.h"
#include "common/tool.h"
#include "trace/print.h"

#include <stdlib.h>

static const char *const names[] = {"peak of", "requested", "at second",
				    "reserved", "end"};

enum { COLUMNS = sizeof(names) / sizeof(*names) };

/* All together, as one more row. */
static struct group total_of(const struct model *model)
{
	return (struct group){
		.peak = model->peak,
		.requested = model->end.requested,
		.peak_reserved = model->summary.all.peak_reserved_bytes,
	};
}

/* ---- text ---- */

static void text_row(struct table *table, const struct model *model,
		     const char *title, const struct group *group)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", title ? title : "");
	table_cell(table, "%s", human_bytes(text, group->peak.requested));
	if (model->has_times)
		table_cell(table, "%.6f", print_seconds(group->peak.ns));
	else
		table_cell(table, "-");
	table_cell(table, "%s",
		   model->summary.all.peak_reserved_bytes
			   ? human_bytes(text, group->peak_reserved)
			   : "-");
	table_cell(table, "%s", human_bytes(text, group->requested));
}

static bool text_peaks(const struct groups *groups, const struct model *model)
{
	const struct group total = total_of(model);
	struct table table;
	bool ok = true;

	table_init(&table, "lrrrr");
	for (unsigned i = 0; i < COLUMNS; i++)
		table_cell(&table, "%s", names[i]);
	for (size_t i = 0; i < groups->count; i++) {
		char *title = group_title(&groups->list[i]);

		ok = ok && title;
		text_row(&table, model, title, &groups->list[i]);
		free(title);
	}
	text_row(&table, model, "all together", &total);
	ok = table_print(&table, 0) && ok;
	table_free(&table);
	return ok;
}

static bool text_group(const struct groups *groups, const struct model *model,
		       const struct group *group)
{
	size_t count = 0;
	struct model_tag *tags = group_tags(model, groups, group, &count);
	char *title = group_title(group);
	bool ok = title != NULL;

	putchar('\n');
	ok = ok && term_say("Live at the peak of %s, by tag:", title);
	ok = text_tags(model, tags, count, group->peak.requested) && ok;
	free(title);
	return ok;
}

bool groups_text(const struct model *model)
{
	struct groups groups;
	bool ok = groups_read(&groups, model);

	if (ok && groups.count) {
		putchar('\n');
		term_say("Each pool%s at its own peak; what is said besides is "
			 "of all together:",
			 groups.count > groups.pools ? " and device" : "");
		ok = text_peaks(&groups, model);
	}
	for (size_t i = 0; i < groups.count && ok; i++)
		if (group_says_more(&groups.list[i]))
			ok = text_group(&groups, model, &groups.list[i]);
	groups_free(&groups);
	return ok;
}

/* ---- JSON ---- */

static json_t *group_json(const struct groups *groups,
			  const struct model *model, const struct group *group,
			  bool *ok)
{
	json_t *object = json_object();
	size_t count = 0;
	struct model_tag *tags = group_tags(model, groups, group, &count);

	*ok = *ok && tags;
	if (!group->is_device) {
		json_put(object, "pool", json_u64(group->pool), ok);
		json_put(object, "name", json_text(group->name), ok);
		json_put(object, "kind", json_text(group->kind), ok);
	}
	json_put(object, "device", json_text(group->device), ok);
	json_put(object, "peak_event", json_u64(group->peak.event), ok);
	json_put(object, "peak_seconds",
		 model->has_times ? json_number(print_seconds(group->peak.ns))
				  : json_null(),
		 ok);
	json_put(object, "peak_requested_bytes",
		 json_u64(group->peak.requested), ok);
	json_put(object, "peak_blocks", json_u64(group->peak.blocks), ok);
	json_put(object, "peak_reserved_bytes",
		 model->summary.all.peak_reserved_bytes
			 ? json_u64(group->peak_reserved)
			 : json_null(),
		 ok);
	json_put(object, "end_requested_bytes", json_u64(group->requested), ok);
	json_put(object, "tags", report_tags_json(model, tags, count, ok), ok);
	free(tags);
	return object;
}

void groups_json(json_t *root, const struct model *model, bool *ok)
{
	json_t *pools = json_array(), *devices = json_array();
	struct groups groups;

	*ok = groups_read(&groups, model) && *ok;
	for (size_t i = 0; i < groups.count && *ok; i++)
		json_put(i < groups.pools ? pools : devices, NULL,
			 group_json(&groups, model, &groups.list[i], ok), ok);
	json_put(root, "pools", pools, ok);
	json_put(root, "devices", devices, ok);
	groups_free(&groups);
}

/* ---- the page ---- */

static void page_row(struct page *page, const char *title,
		     const struct group *group)
{
	const struct model *model = page->model;
	char text[HUMAN_BYTES];

	fprintf(page->out, "<tr><td>%s</td>",
		human_bytes(text, group->peak.requested));
	if (model->has_times)
		fprintf(page->out, "<td>%.6f</td>",
			print_seconds(group->peak.ns));
	else
		fputs("<td>-</td>", page->out);
	fprintf(page->out, "<td>%s</td>",
		model->summary.all.peak_reserved_bytes
			? human_bytes(text, group->peak_reserved)
			: "-");
	fprintf(page->out, "<td>%s</td><td>",
		human_bytes(text, group->requested));
	page->ok = title && draw_text(page->out, title) && page->ok;
	fputs("</td></tr>\n", page->out);
}

static void page_peaks(struct page *page, const struct groups *groups)
{
	const struct group total = total_of(page->model);

	fputs("<h2>Each pool and device at its own peak</h2>\n<p>What names no "
	      "pool or device, in pictures and tables, is of all "
	      "together.</p>\n",
	      page->out);
	page_begin_table(page);
	for (unsigned i = 1; i <= COLUMNS; i++)
		fprintf(page->out, "<th>%s</th>", names[i % COLUMNS]);
	fputs("</tr></thead><tbody>\n", page->out);
	for (size_t i = 0; i < groups->count; i++) {
		char *title = group_title(&groups->list[i]);

		page_row(page, title, &groups->list[i]);
		free(title);
	}
	page_row(page, "all together", &total);
	page_end_table(page);
}

static void page_group(struct page *page, const struct groups *groups,
		       const struct group *group)
{
	size_t count = 0;
	struct model_tag *tags = group_tags(page->model, groups, group, &count);
	char *title = group_title(group);

	page->ok = page->ok && title;
	page_tags(page, "Live at the peak of ", title ? title : "", tags, count,
		  group->peak.requested);
	free(title);
}

void groups_page(struct page *page)
{
	const struct groups *groups = page->groups;

	if (groups->count)
		page_peaks(page, groups);
	for (size_t i = 0; i < groups->count && page->ok; i++)
		if (group_says_more(&groups->list[i]))
			page_group(page, groups, &groups->list[i]);
}
