/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of the page that has the map of addresses. It needs a script, which
 * shows it.
 */
#include "map.h"
#include "page.h"

#include "trace/print.h"

#include <gpumem/gpumem.h>
#include <inttypes.h>
#include <stdlib.h>

static const char section[] =
	"<section id=\"map\" hidden><h2>Addresses</h2>\n"
	"<label>event <input type=\"range\" id=\"when\" min=\"0\" step=\"1\"/>"
	"</label>\n<p id=\"happens\" aria-live=\"polite\"></p>\n";

static const char notes[] =
	"<p class=\"note\">From left to right, line by line: all addresses at "
	"which a block or memory was at any time; a vertical line stands where "
	"others are left out. Coloured by tag as above, pale where blocks fill "
	"a place in part. ";

/* Each is a box as the canvas has it, and words. */
static const char legend[] =
	"<span class=\"key free\"></span> memory without a block, "
	"<span class=\"key\"></span> a hole: no memory now, "
	"<span class=\"key twice\"></span> mapped twice: the memory serves at "
	"another address, and stays here until work on it is over, "
	"<span class=\"key to\"></span> pages that were moved or lent to here "
	"in this step, <span class=\"key from\"></span> from here.";

static const char unknown[] =
	"Grey: no block is there now. Whether memory is mapped there the file "
	"does not say: of pages that were taken, moved from free blocks or "
	"mapped a second time it has the sizes, not the addresses.";

static const char unpooled[] = "Grey: no block is there now.";

static const char *words(const struct model *model)
{
	if (model_has_places(model))
		return legend;
	return model->has_pages ? unknown : unpooled;
}

static void put_heading(struct page *page, const struct map_device *device)
{
	fputs("<h3>", page->out);
	page->ok = draw_text(page->out, device->heading) && page->ok;
	fputs("</h3>\n<p class=\"holds\"></p>\n", page->out);
}

/* A stretch of the map; if there are several, a number tells it from others. */
static void put_canvas(struct page *page, const struct map_device *device,
		       size_t number)
{
	FILE *out = page->out;
	char suffix[24] = "";

	if (device->heading) {
		put_heading(page, device);
		snprintf(suffix, sizeof(suffix), "-%zu", number);
	}
	fprintf(out,
		"<canvas id=\"cells%s\" class=\"cells\" width=\"800\" "
		"height=\"288\" tabindex=\"0\" role=\"img\" "
		"aria-label=\"Which block is where",
		suffix);
	if (device->heading) {
		fputs(", ", out);
		page->ok = draw_text(out, device->heading) && page->ok;
	}
	fprintf(out,
		"\" aria-describedby=\"tip%s\"></canvas>\n"
		"<p class=\"tip\" id=\"tip%s\" aria-live=\"polite\"></p>\n",
		suffix, suffix);
}

static void put_ranges(struct page *page, const struct map *map)
{
	const struct map_range *last = &map->ranges[map->count - 1];

	fputs("\"ranges\":[", page->out);
	for (size_t i = 0; i < map->count; i++)
		fprintf(page->out, "%s[%u,\"%" PRIx64 "\",%" PRIu64 "]",
			i ? ",\n" : "", map->ranges[i].pool,
			map->ranges[i].begin, map->ranges[i].at);
	fprintf(page->out, "],\"end\":%" PRIu64,
		last->at + (last->end - last->begin) / MAP_UNIT);
}

static void put_paths(struct page *page)
{
	bool *seen = calloc(UINT16_MAX + 1, sizeof(*seen));
	const struct model *model = page->model;
	const char *between = "";
	char buffer[MODEL_TAG];

	page->ok = page->ok && seen;
	fputs("\"paths\":{", page->out);
	for (size_t i = 0; i < model->count && seen; i++) {
		uint16_t tag = model->spans[i].tag;

		if (seen[tag] || !tag)
			continue;
		seen[tag] = true;
		fprintf(page->out, "%s\"%u\":", between, tag);
		page_string(page, model_tag_path(model, tag, buffer));
		between = ",\n";
	}
	fputs("}", page->out);
	free(seen);
}

static void put_kinds(struct page *page)
{
	static const struct {
		unsigned number;
		const char *words;
	} kinds[] = {
#define KIND(name, words) {GPUMEM_RECORD_##name, words},
		PRINT_KIND_LIST(KIND)
#undef KIND
	};

	fputs("\"kinds\":{", page->out);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		fprintf(page->out, "%s\"%s\":[%u,\"%s\"]", i ? ",\n" : "",
			gpumem_record_kind_name(kinds[i].number),
			kinds[i].number, kinds[i].words);
	fputs("}", page->out);
}

/* Each from and to which unit, and how much memory it ever had. */
static void put_devices(struct page *page, const struct map *map)
{
	fputs("\"devices\":[", page->out);
	for (size_t i = 0; i < map->device_count; i++) {
		const struct map_device *device = &map->devices[i];

		fprintf(page->out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
			i ? ",\n" : "", device->begin, device->end,
			device->ever_bytes);
	}
	fputs("],\"pools\":{", page->out);
	for (size_t i = 0;
	     groups_has_devices(page->groups) && i < page->groups->pools; i++) {
		const struct group *pool = &page->groups->list[i];
		char *title = group_title(pool);

		fprintf(page->out, "%s\"%u\":", i ? ",\n" : "", pool->pool);
		page->ok = page->ok && title;
		page_string(page, title ? title : "");
		free(title);
	}
	fputs("}", page->out);
}

static void put_curves(struct page *page)
{
	const struct curves *curves = page->curves;

	fputs("\"curves\":[", page->out);
	for (unsigned i = 0; i < curves->tag_count; i++)
		fprintf(page->out, "%s%u", i ? "," : "", curves->tags[i]);
	fputs("]", page->out);
}

/* What the script is to find at some moments. */
static void put_mapped(struct page *page)
{
	const struct model *model = page->model;
	const struct model_moment *moments[] = {&model->peak, &model->end,
						&model->worst};

	fprintf(page->out, "\"places\":%zu,\"ever\":%" PRIu64 ",\"mapped\":[",
		model->mapped.count, model->mapped.ever_bytes);
	for (unsigned i = 0; i < 3; i++)
		fprintf(page->out, "%s[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
			i ? "," : "", moments[i]->event, moments[i]->mapped,
			moments[i]->twice);
	fputs("]", page->out);
}

static void put_data(struct page *page, const struct map *map)
{
	FILE *out = page->out;

	fprintf(out,
		"<script type=\"application/json\" id=\"map-data\">{"
		"\"events\":%" PRIu64 ",\"spans\":%zu,\"unit\":%d,",
		page->model->summary.all.events, page->model->count, MAP_UNIT);
	put_ranges(page, map);
	fputs(",", out);
	put_paths(page);
	fputs(",", out);
	put_kinds(page);
	fputs(",", out);
	put_devices(page, map);
	fputs(",", out);
	put_curves(page);
	fputs(",", out);
	put_mapped(page);
	fputs("}</script>\n<script type=\"text/plain\" id=\"map-events\">",
	      out);
	page->ok = page->ok && map_put_events(out, map);
	fputs("</script>\n", out);
}

static void put_map(struct page *page, const struct map *map)
{
	fputs(section, page->out);
	for (size_t i = 0; i < map->device_count; i++)
		put_canvas(page, &map->devices[i], i);
	fputs(notes, page->out);
	fputs(words(page->model), page->out);
	fputs("</p>\n</section>\n", page->out);
	put_data(page, map);
}

void page_map(struct page *page)
{
	struct map map;

	if (!map_is_there(page->model)) {
		if (page->model->summary.all.events > MAP_EVENTS)
			fprintf(page->out,
				"<p>There is no map of addresses: the file has "
				"more than %d events.</p>\n",
				MAP_EVENTS);
		return;
	}
	if (map_init(&map, page->model, page->groups))
		put_map(page, &map);
	else
		page->ok = false;
	map_free(&map);
}
