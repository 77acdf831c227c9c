/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Rings, against an array in the order of coming. */
#include "extent/ring.h"
#include "../../tap.h"

enum { EXTENTS = 40 };

static struct gm_extent extent[EXTENTS + 1];
static const struct gm_nodes nodes = {.node = extent};
static uint32_t subject;

static uint32_t model[EXTENTS];
static size_t count;

/* The same from first to last, and from last to first. */
static unsigned compare(void)
{
	const struct gm_extent *at = gm_node(&nodes, subject);
	unsigned wrong = 0;

	for (size_t i = 0; i < count; i++) {
		size_t before = i ? i - 1 : count - 1;

		if (!at || at != &extent[model[i]])
			return 1;
		wrong += at->ring_prev != model[before];
		at = gm_ring_next(&nodes, subject, at);
	}
	return wrong + (at != NULL);
}

static void toggle(uint32_t number)
{
	size_t at = 0;

	while (at < count && model[at] != number)
		at++;
	if (at == count) {
		gm_ring_add(&nodes, &subject, &extent[number]);
		model[count++] = number;
		return;
	}
	gm_ring_remove(&nodes, &subject, &extent[number]);
	for (count--; at < count; at++)
		model[at] = model[at + 1];
}

int main(void)
{
	long rounds = scaled(100000, 10000);
	unsigned wrong = 0;

	srand(3);
	for (long i = 0; i < rounds; i++) {
		/* Short rings and long ones. */
		long most = 1 + i / 100 % EXTENTS;

		toggle(1 + (uint32_t)(rand() % most));
		wrong += compare();
	}
	is_uint(wrong, 0, "in and out at random, the order is that of coming");
	while (count)
		toggle(model[(size_t)rand() % count]);
	is_uint(subject, 0, "all out, it is empty");
	return done_testing();
}
