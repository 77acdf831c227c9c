/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the reader of PyTorch's snapshots, and with it that of pickles.
 * Whatever the input: nothing beyond it is read, events are as torch.h
 * promises, time never goes back, there are no more of them than the input
 * could say, stacks are of places that have a name, and reading it again gives
 * the same.
 */
#include "events.h"
#include "pickles.h"

#include "common/torch.h"

#include <string.h>

const struct fuzz_seed fuzz_seeds[] = {PICKLE_SEEDS, {NULL, 0}};

static void check_stacks(const struct recording_stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++) {
		const struct recording_stack *stack = &stacks->stack[i];

		check(stack->number == i + 1 && stack->count);
		for (size_t j = 0; j < stack->count; j++)
			check(stack->frames[j] < stacks->place_count);
	}
	for (size_t i = 0; i < stacks->place_count; i++)
		check((stacks->place[i].function &&
		       *stacks->place[i].function) ||
		      (stacks->place[i].file && *stacks->place[i].file));
}

static uint64_t read_all(const uint8_t *data, size_t size)
{
	struct torch_history history;
	struct recording_event event;
	struct events events = {0};

	if (!torch_open(&history, data, size)) {
		check(*history.reason);
		return (uint64_t)strlen(history.reason);
	}
	check_stacks(&history.stacks.table);
	while (torch_next(&history, &event)) {
		events_add(&events, &event);
		check(event.stack <= history.stacks.table.count);
		check(event.pool <= TORCH_POOLS);
	}
	check(!torch_next(&history, &event));
	torch_close(&history);
	return events.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(read_all(data, size) == read_all(data, size));
	return 0;
}
