/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes gpumem-report, with recordings, traces and snapshots. Whatever the
 * input, if it is taken: what is said of a moment is the sum of the blocks that
 * are live then, by tag, by size, by page, and in the curves; the map has a
 * place for each block; and pictures and pages, of one run and of two, are
 * well-formed.
 */
#include "events.h"
#include "image.h"
#include "pickles.h"
#include "written.h"

#include "report/map.h"
#include "report/stacks.h"

#include <string.h>

const struct fuzz_seed fuzz_seeds[] = {
	IMAGE_SEEDS,
	PICKLE_SEEDS,
	FUZZ_SEED("# gpumem-trace 2 x\nt 5\na 1 100 0\ng a/<b>\na 2 200 7\n"
		  "u 1 7\nt 90\nr 2 300\nr 1 5 7\nf 1 7\ng &\"\na 3 5 7\nf 3\n"
		  "f 2 9\n"),
	FUZZ_SEED("a 1 0 0\nf 1\na 1 18446744073709551615 0\nf 1\n"),
	FUZZ_SEED("# gpumem-trace 2\nt 18446744073709551615\ng &\na 1 9 0\n"),
	{NULL, 0},
};

enum { SPANS = 4096 }; /* no input that is read has more */

/* ---- moments ---- */

struct range {
	uint64_t pool, address;
	uint64_t first, last; /* pages */
};

static int compare(const void *a, const void *b)
{
	const struct range *one = a, *other = b;

	if (one->pool != other->pool)
		return one->pool < other->pool ? -1 : 1;
	return one->address < other->address ? -1
					     : one->address > other->address;
}

/* Pages that have a block, if no two blocks overlap. */
static uint64_t count_pages(struct range *ranges, size_t count)
{
	uint64_t pages = 0;

	if (count)
		qsort(ranges, count, sizeof(*ranges), compare);
	for (size_t i = 0; i < count; i++) {
		bool same = i && ranges[i].pool == ranges[i - 1].pool &&
			    ranges[i].first == ranges[i - 1].last;

		pages += ranges[i].last - ranges[i].first + !same;
	}
	return pages;
}

static bool is_apart(const struct model *model, uint64_t event)
{
	for (size_t i = 0; i < model->count; i++) {
		const struct model_span *one = &model->spans[i];

		if (one->bytes - 1 > UINT64_MAX - one->address)
			return false;
		for (size_t j = 0; j < model->count; j++) {
			const struct model_span *other = &model->spans[j];

			if (i != j && one->pool == other->pool &&
			    model_is_live(one, event) &&
			    model_is_live(other, event) &&
			    other->address - one->address < one->bytes)
				return false;
		}
	}
	return true;
}

static void check_pages(const struct model *model,
			const struct model_moment *moment)
{
	static struct range ranges[SPANS];
	size_t count = 0;

	for (size_t i = 0; i < model->count; i++) {
		const struct model_span *span = &model->spans[i];

		if (model_is_live(span, moment->event))
			ranges[count++] =
				(struct range){span->pool, span->address,
					       span->address / PAGES_BYTES,
					       (span->address + span->bytes -
						1) / PAGES_BYTES};
	}
	check(count_pages(ranges, count) * PAGES_BYTES == moment->page_bytes);
}

static void check_places(const struct model *model,
			 const struct model_moment *moment)
{
	const struct mapped *m = &model->mapped;
	uint64_t bytes = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct mapped_place *p = &m->places[i];

		check(p->begin && p->begin <= p->end && p->bytes);
		check(p->address + p->bytes <= RECORDING_BYTES_MAX);
		check(p->twin == MAPPED_NONE ||
		      (p->twin < i && m->places[p->twin].bytes == p->bytes));
		if (p->begin <= moment->event && moment->event < p->end)
			bytes += p->bytes;
		for (size_t j = 0; j < i; j++) {
			const struct mapped_place *q = &m->places[j];
			check(q->end <= p->begin || q->pool != p->pool ||
			      q->address + q->bytes <= p->address ||
			      p->address + p->bytes <= q->address);
		}
	}
	check(bytes == moment->mapped && moment->twice <= bytes &&
	      bytes <= m->ever_bytes);
}

static void check_moment(const struct model *model,
			 const struct model_moment *moment)
{
	check_places(model, moment);
	size_t count, tag_count;
	const struct model_span **blocks =
		model_blocks(model, moment->event, &count);
	struct model_tag *tags = model_tags(model, moment->event, &tag_count);
	uint64_t bytes = 0, tag_bytes = 0, tag_blocks = 0;

	check(blocks && tags && count == moment->blocks);
	for (size_t i = 0; i < count; i++) {
		check(!i || blocks[i]->bytes <= blocks[i - 1]->bytes);
		bytes += blocks[i]->bytes;
	}
	for (size_t i = 0; i < tag_count; i++) {
		check(!i || tags[i].bytes <= tags[i - 1].bytes);
		check(tags[i].largest_bytes <= tags[i].bytes);
		for (unsigned j = 0; j < MODEL_QUARTERS; j++)
			tag_bytes += tags[i].quarter_bytes[j];
		tag_blocks += tags[i].blocks;
	}
	check(bytes == moment->requested && tag_bytes == bytes);
	check(tag_blocks == count &&
	      moment->requested <= model->peak.requested);
	if (model->has_addresses && is_apart(model, moment->event))
		check_pages(model, moment);
	free((void *)blocks);
	free(tags);
}

/* ---- curves ---- */

static void check_curves(const struct model *model, const struct curves *curves)
{
	uint64_t highest = 0;

	for (unsigned i = 0; i < CURVES_BINS; i++) {
		const struct curves_bin *bin = &curves->bins[i];
		uint64_t sum = 0;

		for (unsigned j = 0; j <= CURVES_TAGS; j++)
			sum += bin->tag[j];
		check(sum == bin->requested && bin->requested <= curves->top);
		check(bin->reserved <= curves->top);
		if (bin->requested > highest)
			highest = bin->requested;
	}
	check(highest == model->peak.requested);
	check(curves_bin(curves, model, &model->peak) < CURVES_BINS);
}

/* ---- the map ---- */

static uint64_t units(const struct map_range *range)
{
	return (range->end - range->begin) / MAP_UNIT;
}

static void check_ranges(const struct map *map)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct map_range *range = &map->ranges[i];

		check(range->begin < range->end);
		check(range->begin % MAP_UNIT == 0);
		if (!i) {
			check(!range->at);
			continue;
		}
		check(range->at == range[-1].at + units(&range[-1]));
		check(map->rank[range[-1].pool] < map->rank[range->pool] ||
		      (range[-1].pool == range->pool &&
		       range[-1].end < range->begin));
	}
}

/* Each block lies in a range of its pool; only those at the end of all
 * addresses are moved there. */
static void check_map(const struct model *model, const struct groups *groups)
{
	struct map map;

	check(map_init(&map, model, groups));
	check(map.count);
	check_ranges(&map);
	for (size_t i = 0; i < model->count; i++) {
		const struct model_span *span = &model->spans[i];
		uint64_t at = map_at(&map, span->pool, span->address);
		size_t in = map.count - 1;
		uint64_t address;

		while (map.ranges[in].at > at)
			in--;
		address = map.ranges[in].begin +
			  (at - map.ranges[in].at) * MAP_UNIT;
		check(map.ranges[in].pool == span->pool);
		check(at < map.ranges[in].at + units(&map.ranges[in]));
		check(address <= span->address);
		check(span->address - address < MAP_UNIT ||
		      span->address > UINT64_MAX - 2 * PAGES_BYTES);
	}
	map_free(&map);
}

/* ---- stacks ---- */

/* Each live block whose stack is known is in the list, once. */
static void check_list(const struct stacks *stacks,
		       const struct stacks_list *list, uint64_t event)
{
	const struct model *model = stacks->model;
	uint64_t bytes = 0, blocks = 0, live_bytes = 0, live = 0;

	for (size_t i = 0; i < list->count; i++) {
		check(!i || list->of[i].bytes <= list->of[i - 1].bytes);
		check(list->of[i].blocks);
		bytes += list->of[i].bytes;
		blocks += list->of[i].blocks;
		for (size_t j = 0; j < list->of[i].stack->count; j++)
			check(frames_find(
				&stacks->frames,
				recording_stack_frame(list->of[i].stack, j)));
	}
	for (size_t i = 0; i < model->count; i++) {
		size_t at = stacks_find(stacks, list, &model->spans[i]);

		if (!model_is_live(&model->spans[i], event) ||
		    at == STACKS_NONE)
			continue;
		check(at < list->count);
		check(list->of[at].stack->number == model->spans[i].stack);
		live_bytes += model->spans[i].bytes;
		live++;
	}
	check(bytes == live_bytes && blocks == live);
}

static void check_stacks(const struct model *model)
{
	struct stacks stacks;

	check(stacks_read(&stacks, model, SIZE_MAX, false));
	check_list(&stacks, &stacks.peak, model->peak.event);
	check_list(&stacks, &stacks.end, model->end.event);
	stacks_free(&stacks);
}

/* ---- all of it ---- */

static void check_report(struct trace_source *source)
{
	static struct curves curves;
	struct model model;
	struct groups groups;
	struct devices devices;
	const struct page page = {.model = &model,
				  .curves = &curves,
				  .groups = &groups,
				  .devices = &devices};

	check(model_read(&model, source) && model.count <= SPANS);
	check_moment(&model, &model.peak);
	check_moment(&model, &model.end);
	if (model.has_addresses)
		check_moment(&model, &model.worst);
	check(curves_read(&curves, &model, NULL));
	check_curves(&model, &curves);
	check(groups_read(&groups, &model));
	if (map_is_there(&model))
		check_map(&model, &groups);
	check_stacks(&model);
	check(devices_read(&devices, &model, &curves, &groups));
	check_picture(&page);
	check_page(page);
	devices_free(&devices);
	groups_free(&groups);
	check_two(&model, REPORT_PAGE);
	check_two(&model, REPORT_SVG);
	model_free(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trace_config config = {
		.file = "<input>", .until_ns = UINT64_MAX, .or_text = true};
	struct trace_source source;
	const char *reason;
	void *copy;

	/* An event takes at least 8 bytes in a trace, and two in a pickle that
	 * names what it has said before. */
	if (size > 2 * SPANS)
		return 0;
	copy = malloc(size ? size : 1);
	check(copy);
	memcpy(copy, data, size);
	reason = trace_open_memory(&source, &config, copy, size);
	if (reason)
		check(*reason);
	else
		check_report(&source);
	trace_close(&source);
	return 0;
}
