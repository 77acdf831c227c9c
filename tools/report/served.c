/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the allocations of a recording were served by, as text, as JSON and in
 * the page. A recording without one that the thread's cache did not serve was
 * made by something that does not say: nothing is shown of it.
 */
#include "page.h"
#include "report.h"

#include "common/table.h"
#include "common/tool.h"

#include <gpumem/gpumem.h>
#include <inttypes.h>

#define TEXT(name, number, statistic, text) [number] = (text),

static const char *const texts[GPUMEM_SERVED_COUNT] = {
	GPUMEM_SERVED_LIST(TEXT)};

static bool is_known(const struct model *model)
{
	for (unsigned i = GPUMEM_SERVED_CACHE + 1; i < GPUMEM_SERVED_COUNT; i++)
		if (model->summary.served[i])
			return true;
	return false;
}

static double share(const struct model *model, unsigned served)
{
	return 100.0 * (double)model->summary.served[served] /
	       (double)model->summary.all.allocs;
}

bool served_text(const struct model *model)
{
	struct table table;
	bool ok;

	if (!is_known(model))
		return true;
	table_init(&table, "lrr");
	table_cell(&table, "served by");
	table_cell(&table, "allocations");
	table_cell(&table, "share");
	for (unsigned i = 0; i < GPUMEM_SERVED_COUNT; i++) {
		if (!model->summary.served[i])
			continue;
		table_cell(&table, "%s", texts[i]);
		table_cell(&table, "%" PRIu64, model->summary.served[i]);
		table_cell(&table, "%.1f %%", share(model, i));
	}
	putchar('\n');
	ok = table_print(&table, 0);
	table_free(&table);
	return ok;
}

json_t *served_json(const struct model *model, bool *ok)
{
	json_t *object;

	if (!is_known(model))
		return json_null();
	object = json_object();
	for (unsigned i = 0; i < GPUMEM_SERVED_COUNT; i++)
		json_put(object, gpumem_served_name(i),
			 json_u64(model->summary.served[i]), ok);
	return object;
}

void served_page(struct page *page)
{
	const struct model *model = page->model;

	if (!is_known(model))
		return;
	fputs("<h2>What served the allocations</h2>\n", page->out);
	page_begin_table(page);
	fputs("<th>allocations</th><th>share</th><th>served by</th></tr>"
	      "</thead><tbody>\n",
	      page->out);
	for (unsigned i = 0; i < GPUMEM_SERVED_COUNT; i++)
		if (model->summary.served[i])
			fprintf(page->out,
				"<tr><td>%" PRIu64 "</td><td>%.1f %%</td>"
				"<td>%s</td></tr>\n",
				model->summary.served[i], share(model, i),
				texts[i]);
	page_end_table(page);
}
