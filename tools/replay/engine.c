/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Runs a trace under a policy: opens, replays each pass in stretches of which
 * only the policy's loop is timed, and gives everything back. See replay.h.
 */
#include "replay.h"

#include "common/clock.h"
#include "common/tool.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool replay_fail(struct replay *replay, const char *format, ...)
{
	va_list args;

	if (*replay->error)
		return false;
	va_start(args, format);
	vsnprintf(replay->error, sizeof(replay->error), format, args);
	va_end(args);
	return false;
}

bool replay_fail_last(struct replay *replay, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	return replay_fail(replay, "%s: %s", what, error.text);
}

static bool reserve_slots(struct replay *replay, uint64_t slots)
{
	uint64_t room = replay->ptr_room ? replay->ptr_room : 1024;
	uint64_t *sizes;
	void **ptrs;

	if (slots <= replay->ptr_room)
		return true;
	while (room < slots)
		room *= 2;
	ptrs = realloc(replay->ptrs, room * sizeof(*ptrs));
	if (ptrs)
		replay->ptrs = ptrs;
	sizes = realloc(replay->sizes, room * sizeof(*sizes));
	if (sizes)
		replay->sizes = sizes;
	if (!ptrs || !sizes)
		return replay_fail(replay, "out of host memory");
	memset(ptrs + replay->ptr_room, 0,
	       (room - replay->ptr_room) * sizeof(*ptrs));
	replay->ptr_room = room;
	return true;
}

bool replay_reserve(struct replay *replay, uint64_t slots, uint32_t streams)
{
	bool have = replay->info.caps & GPUMEM_CAP_STREAMS;
	gpumem_stream *next = &replay->streams[replay->stream_count];

	if (!reserve_slots(replay, slots))
		return false;
	for (; have && replay->stream_count < streams; next++) {
		if (gpumem_stream_create(replay->device, next) != GPUMEM_OK)
			return replay_fail_last(replay,
						"cannot create a stream");
		replay->stream_count++;
		if (!replay_lag_stream(replay, *next))
			return false;
	}
	return true;
}

/* How many events may be run before something else is to be done. */
static uint64_t stretch(const struct replay *replay, uint64_t left)
{
	const uint64_t every[] = {replay->config->check_every,
				  replay->config->sample_every};
	uint64_t most = replay->progress.on ? REPLAY_STRETCH : UINT64_MAX;

	for (int i = 0; i < 2; i++)
		if (every[i] && every[i] - replay->run_done % every[i] < most)
			most = every[i] - replay->run_done % every[i];
	return left < most ? left : most;
}

/* What is due after the events so far. */
static bool look(struct replay *replay)
{
	const struct replay_config *config = replay->config;
	uint64_t check = config->check_every, sample = config->sample_every;

	if (check && replay->run_done % check == 0 &&
	    !config->policy->check(replay))
		return false;
	return !sample || replay->run_done % sample || replay_sample(replay);
}

static bool fail_event(struct replay *replay, uint32_t line,
		       const struct trace_event *event, gpumem_status status)
{
	static const char *const kinds[] = {"allocation", "free", "use",
					    "resize"};
	char what[512];

	snprintf(what, sizeof(what), "%.400s:%u: %s of %llu bytes failed",
		 replay->config->trace, line, kinds[event->kind],
		 (unsigned long long)event->bytes);
	if (replay->pool)
		return replay_fail_last(replay, what);
	return replay_fail(replay, "%s: %s", what, gpumem_status_text(status));
}

static void count_call(struct replay *replay, enum gpumem_call call,
		       uint64_t bytes)
{
	bytes = replay_direct_bytes(replay, bytes);
	if (bytes)
		count_add(&replay->native, call, 0, bytes);
}

/* The calls of a program without a pool, beside those that are made. */
static void count_native(struct replay *replay,
			 const struct trace_event *events, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		if (replay_ends(event))
			count_call(replay, GPUMEM_CALL_FREE, event->before);
		if (replay_begins(event))
			count_call(replay, GPUMEM_CALL_ALLOC, event->bytes);
	}
}

bool replay_events(struct replay *replay, const struct trace_event *events,
		   const uint32_t *lines, uint64_t count)
{
	const struct replay_config *config = replay->config;
	const struct replay_policy *policy = config->policy;
	uint64_t at = 0, done, start;

	while (at < count) {
		uint64_t part = stretch(replay, count - at);
		gpumem_status status;

		start = clock_ns();
		status = policy->run(replay, events + at, part, &done);
		replay->run_ns += clock_ns() - start;
		if (config->model)
			count_native(replay, events + at, part);
		if (status != GPUMEM_OK)
			return fail_event(replay, lines[at + done],
					  &events[at + done], status);
		at += part;
		replay->run_done += part;
		if (!look(replay))
			return false;
		if (replay->trace.count)
			progress_show(&replay->progress,
				      replay->passes_done *
						      replay->trace.count +
					      replay->run_done,
				      config->passes * replay->trace.count);
	}
	return true;
}

static bool run_pass(struct replay *replay, uint64_t number)
{
	struct replay_pass *pass = &replay->passes[number];
	const struct model *model = replay->config->model;
	struct replay_usage before;
	bool ok;

	if (!replay->config->policy->usage(replay, &before))
		return false;
	replay->run_ns = 0;
	replay->run_done = 0;
	replay->native = (struct counts){0};
	pass->model_ns = model ? -model_ns(model, count_now()) : 0.0;
	if (replay->config->load)
		ok = replay_events(replay, replay->trace.events,
				   replay->trace.lines, replay->trace.count);
	else
		ok = replay_file(replay);
	replay->passes_done++;
	if (!ok || !replay->config->policy->usage(replay, &replay->end))
		return false;
	pass->ns = replay->run_ns;
	pass->driver_calls = replay->end.driver_calls - before.driver_calls;
	replay->counts = *count_now();
	pass->model_ns += model ? model_ns(model, &replay->counts) : 0.0;
	return true;
}

/* The library's counters against the trace's. */
static bool compare(struct replay *replay)
{
	const struct trace_totals *totals = &replay->totals;
	const struct replay_usage *end = &replay->end;

	if (end->peak_requested_bytes == totals->peak_live_bytes &&
	    end->requested_bytes == totals->live_bytes)
		return true;
	return replay_fail(replay,
			   "%llu bytes requested at the peak and %llu at the "
			   "end by the statistics, but %llu and %llu by the "
			   "trace",
			   (unsigned long long)end->peak_requested_bytes,
			   (unsigned long long)end->requested_bytes,
			   (unsigned long long)totals->peak_live_bytes,
			   (unsigned long long)totals->live_bytes);
}

static bool run_passes(struct replay *replay)
{
	const struct replay_policy *policy = replay->config->policy;
	struct replay_usage trimmed;
	bool ok = true;

	progress_begin(&replay->progress, "replaying");
	for (uint64_t i = 0; i < replay->config->passes && ok; i++)
		ok = (!i || policy->clear(replay)) && run_pass(replay, i);
	progress_end(&replay->progress);
	if (!ok)
		return false;
	if (!compare(replay) || !policy->trim(replay) ||
	    !policy->usage(replay, &trimmed))
		return false;
	replay->trimmed_reserved = trimmed.reserved_bytes;
	return true;
}

static bool load(struct replay *replay)
{
	struct trace_error error;

	if (!replay->config->load)
		return true;
	if (!trace_load(replay->config->trace, replay->config->divisor,
			&replay->trace, &error))
		return replay_fail(replay, "%s", error.text);
	replay->totals = replay->trace.totals;
	return replay_reserve(replay, replay->totals.peak_live_blocks,
			      replay->totals.streams);
}

static bool close_streams(struct replay *replay)
{
	bool ok = true;

	while (replay->stream_count > 1) {
		gpumem_stream stream = replay->streams[--replay->stream_count];

		if (gpumem_stream_destroy(replay->device, stream) != GPUMEM_OK)
			ok = replay_fail_last(replay,
					      "cannot destroy a stream");
	}
	return ok;
}

bool replay_run(struct replay *replay)
{
	const struct replay_config *config = replay->config;
	bool ok;

	replay->stream_count = 1;
	replay->passes = calloc(config->passes, sizeof(*replay->passes));
	replay->info = GPUMEM_INIT(struct gpumem_device_info);
	if (!replay->passes)
		return replay_fail(replay, "out of host memory");
	if (gpumem_device_get_info(replay->device, &replay->info) != GPUMEM_OK)
		return replay_fail_last(replay, "cannot query the device");
	ok = replay_lag_open(replay) && replay_tags_open(replay) &&
	     load(replay) && config->policy->open(replay) && run_passes(replay);
	ok = config->policy->close(replay) && ok;
	ok = close_streams(replay) && ok;
	replay_lag_close(replay);
	trace_free(&replay->trace);
	free(replay->ptrs);
	free(replay->sizes);
	return ok;
}
