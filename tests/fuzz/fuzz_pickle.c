/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the reader of PyTorch's snapshots, and with it that of pickles.
 * Whatever the input: nothing beyond it is read, events are as torch.h
 * promises, time never goes back, there are no more of them than the input
 * could say, and reading it again gives the same.
 */
#include "events.h"
#include "pickles.h"

#include "common/torch.h"

#include <string.h>

const struct fuzz_seed fuzz_seeds[] = {PICKLE_SEEDS, {NULL, 0}};

static uint64_t read_all(const uint8_t *data, size_t size)
{
	struct torch_history history;
	struct recording_event event;
	struct events events = {0};

	if (!torch_open(&history, data, size)) {
		check(*history.reason);
		return (uint64_t)strlen(history.reason);
	}
	while (torch_next(&history, &event)) {
		events_add(&events, &event);
		check(event.pool <= TORCH_DEVICES);
	}
	check(!torch_next(&history, &event));
	check(events.count <= history.room);
	torch_close(&history);
	return events.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(read_all(data, size) == read_all(data, size));
	return 0;
}
