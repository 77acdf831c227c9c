/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pass that reads the trace while it runs, so that a trace of any length
 * needs no memory. What is read is replayed in stretches.
 */
#include "replay.h"

#include <stdlib.h>

/* Events on their way from the file to the policy. */
struct flow {
	struct replay *replay;
	struct trace_event events[REPLAY_STRETCH];
	uint32_t lines[REPLAY_STRETCH];
	uint64_t count, slots;
	uint32_t streams;
};

static bool flush_flow(struct flow *flow)
{
	uint64_t count = flow->count;

	flow->count = 0;
	return replay_reserve(flow->replay, flow->slots, flow->streams) &&
	       replay_events(flow->replay, flow->events, flow->lines, count);
}

static bool flow_event(const struct trace_event *event, uint32_t line,
		       void *user)
{
	struct flow *flow = user;

	if (event->slot >= flow->slots)
		flow->slots = (uint64_t)event->slot + 1;
	if (event->stream >= flow->streams)
		flow->streams = event->stream + 1u;
	flow->events[flow->count] = *event;
	flow->lines[flow->count++] = line;
	return flow->count < REPLAY_STRETCH || flush_flow(flow);
}

bool replay_file(struct replay *replay)
{
	struct flow *flow = calloc(1, sizeof(*flow));
	enum trace_result result;
	struct trace_error error;
	bool ok = false;

	if (!flow)
		return replay_fail(replay, "out of host memory");
	flow->replay = replay;
	result = trace_read(replay->config->trace, replay->config->divisor,
			    flow_event, flow, &replay->totals, &error);
	if (result == TRACE_OK)
		ok = flush_flow(flow);
	else if (result == TRACE_BAD)
		replay_fail(replay, "%s", error.text);
	free(flow);
	return ok;
}
