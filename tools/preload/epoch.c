/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See epoch.h. A lane of as many events as it can have records its last one
 * once more, which then is over later than it might be, never earlier.
 */
#include "epoch.h"
#include "cuda_hooks.h"

#include <string.h>
#include <sys/mman.h>

/* Only the end of a stream visits a context that may be ending: one that has
 * the stream is alive. */
static CUcontext handle_of(const void *context)
{
	return (CUcontext)((uintptr_t)context & ~CONTEXT_MARK);
}

/* ---- visits ----------------------------------------------------------------
 */

void visit_begin(struct visit *visit)
{
	CUcontext context = NULL;

	(void)REAL(cuCtxGetCurrent)(&context);
	visit->own = visit->now = context;
}

bool visit_context(struct visit *visit, const void *context)
{
	if (visit->now == context)
		return true;
	visit_end(visit);
	if (visit->own == context)
		return true;
	if (REAL(cuCtxPushCurrent_v2)(handle_of(context)) != CUDA_SUCCESS)
		return false;
	visit->now = context;
	return true;
}

void visit_end(struct visit *visit)
{
	CUcontext popped;

	if (visit->now != visit->own)
		(void)REAL(cuCtxPopCurrent_v2)(&popped);
	visit->now = visit->own;
}

/* ---- lanes -----------------------------------------------------------------
 */

static bool make_lanes(struct epochs *epochs)
{
	void *pages;

	if (epochs->lanes)
		return true;
	pages = mmap(NULL, EPOCH_LANES * sizeof(struct lane),
		     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		return false;
	epochs->lanes = pages;
	return true;
}

static struct lane *add(struct epochs *epochs, void *stream,
			const void *context, enum lane_kind kind)
{
	struct lane *lane;

	if (!make_lanes(epochs) || epochs->count == EPOCH_LANES) {
		epochs->broken = true;
		return NULL;
	}
	lane = &epochs->lanes[epochs->count++];
	*lane = (struct lane){
		.stream = stream, .context = context, .kind = (uint8_t)kind};
	return lane;
}

/* Events of a context that is gone are gone too. */
static void remove_lane(struct epochs *epochs, struct lane *lane,
			bool with_events)
{
	for (int i = 0; with_events && i < EPOCH_EVENTS; i++)
		if (lane->events[i])
			(void)REAL(cuEventDestroy_v2)(lane->events[i]);
	*lane = epochs->lanes[--epochs->count];
}

bool epoch_knows(const struct epochs *epochs, const void *context)
{
	for (unsigned i = 0; i < epochs->count; i++)
		if (epochs->lanes[i].kind == LANE_LEGACY &&
		    epochs->lanes[i].context == context)
			return true;
	return false;
}

void epoch_add_context(struct epochs *epochs, const void *context)
{
	if (!epoch_knows(epochs, context))
		(void)add(epochs, CU_STREAM_LEGACY, context, LANE_LEGACY);
}

void epoch_add_stream(struct epochs *epochs, void *stream, const void *context)
{
	epoch_add_context(epochs, context);
	(void)add(epochs, stream, context, LANE_STREAM);
}

void epoch_rename(struct epochs *epochs, const void *from, const void *to)
{
	for (unsigned i = 0; i < epochs->count; i++)
		if (epochs->lanes[i].context == from)
			epochs->lanes[i].context = to;
}

void epoch_drop(struct epochs *epochs, const void *context)
{
	for (unsigned i = epochs->count; i-- > 0;)
		if (epochs->lanes[i].context == context)
			remove_lane(epochs, &epochs->lanes[i], false);
}

/* ---- events ----------------------------------------------------------------
 */

static bool is_captured(void *stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	return REAL(cuStreamIsCapturing)(stream, &status) != CUDA_SUCCESS ||
	       status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* With the lane's context current. */
static bool record(struct lane *lane, uint64_t epoch)
{
	bool full = lane->count == EPOCH_EVENTS;
	unsigned at = (lane->first + lane->count - full) % EPOCH_EVENTS;
	CUevent event = lane->events[at];

	if (!event && REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) !=
			      CUDA_SUCCESS)
		return false;
	lane->events[at] = event;
	if (REAL(cuEventRecord)(event, lane->stream) != CUDA_SUCCESS)
		return false;
	if (!full) {
		lane->epochs[at] = epoch;
		lane->count++;
	}
	return true;
}

static struct lane *lane_of(struct epochs *epochs, const void *stream)
{
	for (unsigned i = 0; i < epochs->count; i++)
		if (epochs->lanes[i].kind == LANE_STREAM &&
		    epochs->lanes[i].stream == stream)
			return &epochs->lanes[i];
	return NULL;
}

static bool record_end(struct epochs *epochs, void *stream)
{
	struct lane *lane = lane_of(epochs, stream);
	CUcontext context = NULL;
	struct visit visit;
	bool ok;

	if (is_captured(stream))
		return false;
	if (!lane) {
		if (REAL(cuStreamGetCtx)(stream, &context) != CUDA_SUCCESS)
			return false;
		lane = add(epochs, stream, context, LANE_DESTROYED);
	}
	if (!lane)
		return false;
	lane->kind = LANE_DESTROYED;
	visit_begin(&visit);
	/* What was freed before has its events. */
	ok = visit_context(&visit, lane->context) &&
	     record(lane, epochs->last + 1);
	visit_end(&visit);
	return ok;
}

void epoch_end_stream(struct epochs *epochs, void *stream)
{
	if ((uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD)
		return;
	if (!record_end(epochs, stream))
		epochs->broken = true;
}

bool epoch_quiet(struct epochs *epochs, struct visit *visit, bool all)
{
	for (unsigned i = 0; i < epochs->count; i++) {
		const struct lane *lane = &epochs->lanes[i];

		/* A context whose kernel has failed says so for any stream. */
		if (lane->kind == LANE_DESTROYED ||
		    (lane->kind == LANE_STREAM && !epochs->captured && !all))
			continue;
		if (!visit_context(visit, lane->context) ||
		    is_captured(lane->stream))
			return false;
	}
	epochs->captured = false;
	return !epochs->broken;
}

uint64_t epoch_begin(struct epochs *epochs, struct visit *visit)
{
	/* A number is used once, also if this fails. */
	uint64_t epoch = ++epochs->last;

	for (unsigned i = 0; i < epochs->count; i++) {
		struct lane *lane = &epochs->lanes[i];

		if (lane->kind == LANE_DESTROYED)
			continue;
		if (!visit_context(visit, lane->context) ||
		    !record(lane, epoch))
			return 0;
	}
	return epochs->broken ? 0 : epoch;
}

/* Forgets the events that are over. */
static void ask(struct lane *lane, struct visit *visit)
{
	if (lane->count && !visit_context(visit, lane->context))
		return;
	while (lane->count &&
	       REAL(cuEventQuery)(lane->events[lane->first]) == CUDA_SUCCESS) {
		lane->first = (lane->first + 1) % EPOCH_EVENTS;
		lane->count--;
	}
}

uint64_t epoch_done(struct epochs *epochs, struct visit *visit)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	uint64_t done = epochs->last;

	/* A capture that is not seen here is none of ours to disturb. */
	(void)REAL(cuThreadExchangeStreamCaptureMode)(&mode);
	for (unsigned i = epochs->count; i-- > 0;) {
		struct lane *lane = &epochs->lanes[i];

		ask(lane, visit);
		if (lane->count && lane->epochs[lane->first] <= done)
			done = lane->epochs[lane->first] - 1;
		else if (!lane->count && lane->kind == LANE_DESTROYED)
			remove_lane(epochs, lane, true);
	}
	(void)REAL(cuThreadExchangeStreamCaptureMode)(&mode);
	return epochs->broken ? 0 : done;
}
