/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What readers of events promise alike, whatever the input: time never goes
 * back, and an event has the values that it says it has.
 */
#ifndef GPUMEM_TESTS_FUZZ_EVENTS_H
#define GPUMEM_TESTS_FUZZ_EVENTS_H

#include "common/recording.h"

#include <stdlib.h>

static inline void check(bool condition)
{
	if (!condition)
		abort();
}

/* So far; sum is of what the events say, and differs if they do. */
struct events {
	uint64_t last_ns, count, sum;
};

static inline void events_add(struct events *events,
			      const struct recording_event *event)
{
	check(event->time_ns >= events->last_ns && event->pool);
	check(event->kind >= GPUMEM_RECORD_BLOCK &&
	      event->kind <= GPUMEM_RECORD_WAKE);
	if (recording_is_block(event)) {
		check(event->bytes && event->bytes <= RECORDING_BYTES_MAX);
	} else {
		check(event->values >= 1 && event->values <= RECORDING_VALUES);
		for (unsigned i = event->values; i < RECORDING_VALUES; i++)
			check(!event->value[i]);
	}
	events->last_ns = event->time_ns;
	events->count++;
	events->sum = events->sum * 31 + event->time_ns + event->kind * 7u +
		      event->address + event->stream + event->stack;
}

#endif
