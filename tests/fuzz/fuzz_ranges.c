/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes ranges of addresses against a table with an entry for each address:
 * what is found, cut and replaced is the same, and ranges are visited in order,
 * whole and apart. An input is a few numbers, from which many steps follow, so
 * that there are several leaves.
 */
#include "fuzz.h"

#include "common/ranges.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESSES = 8192, STEPS = 3000, CHECKS = 1000 };

/* Bytes: where numbers begin, how long ranges are at most, how many of 256
 * steps take out, and whether addresses go up. */
const struct fuzz_seed fuzz_seeds[] = {
	FUZZ_SEED("\1\3\100\0"),   FUZZ_SEED("\2\1\40\0"),
	FUZZ_SEED("\3\100\200\0"), FUZZ_SEED("\4\2\20\1"),
	FUZZ_SEED("\5\10\160\1"),  {NULL, 0}};

/* Of each address the number of its range, from 1 on, and that one's value. */
struct model {
	uint32_t number[ADDRESSES], begun;
	uint64_t value[ADDRESSES];
	uint64_t state, next_address;
	uint8_t longest, taken;
	bool up;
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

static uint64_t draw(struct model *model, uint64_t below)
{
	model->state ^= model->state << 13;
	model->state ^= model->state >> 7;
	model->state ^= model->state << 17;
	return model->state % below;
}

static struct range draw_range(struct model *model)
{
	uint64_t bytes = 1 + draw(model, model->longest + 1);
	struct range range;

	range.first = model->up ? model->next_address++ * 2 % ADDRESSES
				: draw(model, ADDRESSES);
	range.last = range_last(range.first, bytes);
	if (range.last >= ADDRESSES)
		range.last = ADDRESSES - 1;
	range.value = 1 + draw(model, 1000);
	return range;
}

/* ---- the same twice ---- */

static void find(struct ranges *ranges, const struct model *model,
		 struct range wanted)
{
	const struct range *found =
		ranges_find(ranges, wanted.first, wanted.last);
	uint64_t at = wanted.first;

	while (at <= wanted.last && !model->number[at])
		at++;
	check(!found == (at > wanted.last));
	if (!found)
		return;
	check(found->first <= at && at <= found->last);
	check(found->value == model->value[at]);
}

static void cut(struct ranges *ranges, struct model *model, struct range what)
{
	uint64_t bytes = 0, had = 0;

	for (uint64_t at = what.first; at <= what.last; at++) {
		had += model->number[at] != 0;
		model->number[at] = 0;
	}
	check(ranges_cut(ranges, what.first, what.last, &bytes));
	check(bytes == had);
}

static void replace(struct ranges *ranges, struct model *model,
		    struct range what)
{
	uint64_t greatest = 0, had = 0;

	model->begun++;
	for (uint64_t at = what.first; at <= what.last; at++) {
		if (model->number[at] && model->value[at] > had)
			had = model->value[at];
		model->number[at] = model->begun;
		model->value[at] = what.value;
	}
	check(ranges_replace(ranges, what, &greatest));
	check(greatest == had);
}

static void take(struct ranges *ranges, struct model *model, struct range what)
{
	struct range *found = ranges_find(ranges, what.first, what.last);

	if (!found)
		return;
	for (uint64_t at = found->first; at <= found->last; at++)
		model->number[at] = 0;
	ranges_remove(ranges, found);
}

/* ---- all of them ---- */

struct visit {
	const struct model *model;
	uint64_t next;
};

/* One that was cut in two has the number twice. */
static void see(const struct range *range, void *user)
{
	struct visit *visit = user;
	const struct model *model = visit->model;

	check(visit->next <= range->first && range->first <= range->last);
	for (; visit->next < range->first; visit->next++)
		check(!model->number[visit->next]);
	for (; visit->next <= range->last; visit->next++)
		check(model->number[visit->next] ==
			      model->number[range->first] &&
		      model->value[visit->next] == range->value);
}

static void look(const struct ranges *ranges, const struct model *model)
{
	struct visit visit = {.model = model};

	ranges_visit(ranges, see, &visit);
	for (; visit.next < ADDRESSES; visit.next++)
		check(!model->number[visit.next]);
}

static void step(struct ranges *ranges, struct model *model)
{
	struct range range = draw_range(model);
	uint64_t kind = draw(model, 256);

	find(ranges, model, draw_range(model));
	if (kind < model->taken / 2u)
		cut(ranges, model, range);
	else if (kind < model->taken)
		take(ranges, model, range);
	else
		replace(ranges, model, range);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct model model;
	struct ranges ranges = {0};

	if (size < 4)
		return 0;
	memset(&model, 0, sizeof(model));
	for (size_t i = 0; i < size; i++)
		model.state = model.state * 31 + data[i] + 1;
	model.longest = data[1];
	model.taken = data[2];
	model.up = data[3] & 1;
	for (unsigned i = 0; i < STEPS; i++) {
		step(&ranges, &model);
		if (i % CHECKS == CHECKS - 1)
			look(&ranges, &model);
	}
	ranges_free(&ranges);
	return 0;
}
