/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The course of memory over a replay: what is requested, allocated and reserved
 * after every N events, for a plot. Reading it is not part of the measured
 * time.
 */
#include "replay.h"

#include <stdlib.h>

bool replay_sample(struct replay *replay)
{
	struct replay_usage usage;
	struct replay_sample *sample;

	if (replay->sample_count == replay->sample_room) {
		uint64_t room =
			replay->sample_room ? 2 * replay->sample_room : 1024;

		sample = realloc(replay->samples, room * sizeof(*sample));
		if (!sample)
			return replay_fail(replay, "out of host memory");
		replay->samples = sample;
		replay->sample_room = room;
	}
	if (!replay->config->policy->usage(replay, &usage))
		return false;
	sample = &replay->samples[replay->sample_count++];
	sample->pass = replay->passes_done;
	sample->events = replay->run_done;
	sample->requested_bytes = usage.requested_bytes;
	sample->allocated_bytes = usage.allocated_bytes;
	sample->reserved_bytes = usage.reserved_bytes;
	return true;
}

json_t *replay_sample_json(const struct replay *replay, bool *ok)
{
	json_t *array = json_array();

	for (uint64_t i = 0; i < replay->sample_count; i++) {
		const struct replay_sample *sample = &replay->samples[i];
		json_t *object = json_object();

		json_put(object, "pass", json_u64(sample->pass + 1), ok);
		json_put(object, "events", json_u64(sample->events), ok);
		json_put(object, "requested_bytes",
			 json_u64(sample->requested_bytes), ok);
		json_put(object, "allocated_bytes",
			 json_u64(sample->allocated_bytes), ok);
		json_put(object, "reserved_bytes",
			 json_u64(sample->reserved_bytes), ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}
