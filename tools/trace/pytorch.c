/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Writes the snapshot that torch.cuda.memory._snapshot() returns, as a pickle,
 * which the tools made for those open: for each device the history of its
 * blocks, and the blocks that are live at the end, in segments. A recording
 * does not say where memory was, so segments are the addresses that blocks ever
 * had. Each device takes a reading of the recording.
 */
#include "pytorch.h"

#include "common/clean.h"
#include "common/tool.h"

#include <stdlib.h>

/* ---- what there is ---- */

static bool fail(const struct snapshot *snapshot)
{
	tool_error("%s: out of host memory", snapshot->source->config->file);
	return false;
}

static bool collect(const struct recording_event *event,
		    const struct history_block *block, void *user)
{
	struct snapshot *snapshot = user;
	unsigned device = trace_device(snapshot->source, event->pool);

	if (device >= TORCH_DEVICES + snapshot->hosts)
		snapshot->hosts = device - TORCH_DEVICES + 1;
	else if (device < TORCH_DEVICES && device >= snapshot->devices)
		snapshot->devices = device + 1;
	if (!block || event->kind == GPUMEM_RECORD_FREE)
		return true;
	return (regions_add(&snapshot->regions[device], block->address,
			    event->bytes) &&
		snapshot_want(snapshot, block->stack)) ||
	       fail(snapshot);
}

static bool collect_live(const struct history_block *block, void *user)
{
	struct snapshot *snapshot = user;
	size_t room = snapshot->live_room ? snapshot->live_room * 2 : 1024;
	struct snapshot_live *live;

	if (snapshot->live_count == snapshot->live_room) {
		live = realloc(snapshot->live, room * sizeof(*live));
		if (!live)
			return fail(snapshot);
		snapshot->live = live;
		snapshot->live_room = room;
	}
	snapshot->live[snapshot->live_count++] = (struct snapshot_live){
		.address = block->address,
		.bytes = block->bytes,
		.device = trace_device(snapshot->source, block->pool),
		.stack = block->stack};
	return true;
}

static int compare_live(const void *a, const void *b)
{
	const struct snapshot_live *one = a, *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return (one->address > other->address) -
	       (one->address < other->address);
}

/* A damaged recording may have blocks within others: what is shared is the
 * one's that begins later. */
static void cut_overlaps(struct snapshot *snapshot)
{
	struct snapshot_live *live = snapshot->live;

	for (size_t i = 0; i + 1 < snapshot->live_count; i++)
		if (live[i].device == live[i + 1].device &&
		    live[i].bytes > live[i + 1].address - live[i].address)
			live[i].bytes = live[i + 1].address - live[i].address;
}

/* ---- the whole ---- */

static void end_snapshot(struct snapshot *snapshot)
{
	const struct gpumem_record_header *header =
		&snapshot->source->recording.header;
	char *library = clean_copy(header->library);

	gm_torch_end(&snapshot->torch, library ? library : "");
	free(library);
}

static bool write_snapshot(struct snapshot *snapshot)
{
	if (!trace_each(snapshot->source, collect, collect_live, snapshot))
		return false;
	if (!snapshot_resolve(snapshot))
		return fail(snapshot);
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		regions_merge(&snapshot->regions[i]);
	if (snapshot->live_count)
		qsort(snapshot->live, snapshot->live_count,
		      sizeof(*snapshot->live), compare_live);
	cut_overlaps(snapshot);
	gm_torch_begin(&snapshot->torch);
	for (unsigned host = 0; host <= (snapshot->hosts > 0); host++) {
		if (!snapshot_traces(snapshot, host))
			return false;
		snapshot_segments(snapshot, host);
	}
	end_snapshot(snapshot);
	return true;
}

static void write_bytes(const void *bytes, size_t count, void *user)
{
	fwrite(bytes, 1, count, user);
}

bool trace_write_pytorch(struct trace_source *source, FILE *out)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	bool ok;

	if (!snapshot) {
		tool_error("out of memory");
		return false;
	}
	snapshot->source = source;
	snapshot->torch =
		(struct gm_torch){.pickle = {.write = write_bytes, .user = out},
				  .frames = snapshot_frames,
				  .user = snapshot};
	ok = write_snapshot(snapshot);
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		regions_free(&snapshot->regions[i]);
	frames_free(&snapshot->frames);
	free(snapshot->stacks);
	free(snapshot->live);
	free(snapshot);
	return ok;
}
