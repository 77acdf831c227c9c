/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a capture sees. The driver drops what is queued in it, so the model
 * notes it; the memory that blocks get is looked at when the graph is launched.
 */
#include "model.h"

bool graph_node(struct block *block, int stream, bool writes)
{
	struct capture *capture = block->pool->device->stream[stream].capture;
	struct access *node = &capture->node[capture->nodes];

	if (block->capture != capture || capture->nodes == NODES ||
	    !(writes || block->node_stamp))
		return false;
	if (writes)
		block->node_stamp = block->id << 24 | 0x800000 | capture->nodes;
	*node = (struct access){.address = block->address,
				.bytes = block->requested,
				.block = block->id,
				.stamp = block->node_stamp,
				.writes = writes,
				.looks = !writes};
	capture->nodes++;
	say(block->address, block->bytes,
	    "node %u of graph %llu on s%d %s %llu", capture->nodes,
	    (ull)capture->graph->number, stream, writes ? "writes" : "reads",
	    (ull)block->id);
	return true;
}

void graph_claim(struct capture *capture, int stream, uintptr_t address,
		 uint64_t bytes)
{
	struct claim claim[CLAIMS];
	unsigned claims = claims_on(capture->graph->pool->device, stream,
				    address, bytes, claim);

	for (unsigned i = 0; i < claims && capture->claims < CLAIMS; i++)
		capture->claim[capture->claims++] = claim[i];
}

static void begin_stream(struct capture *capture, int stream)
{
	struct device *device = capture->graph->pool->device;
	struct stream *begins = &device->stream[stream];

	/* What earlier captures saw is the same memory. */
	if (begins->capture ||
	    !stream_after_all(device, stream, &capture->graph->launches))
		return;
	say(0, 0, "graph %llu begins on s%d%s", (ull)capture->graph->number,
	    stream, capture->real ? ", captured" : "");
	must(gpumem_graph_begin(capture->graph->handle, begins->handle));
	begins->capture = capture;
	if (!capture->real)
		return;
	must(gpumem_host_capture(device->number, begins->handle, true));
	begins->captured = true;
}

void capture_begin(struct graph *graph)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	struct capture **link = &graph->captures;

	if (!capture)
		bail("no memory for a capture");
	capture->graph = graph;
	capture->open = true;
	capture->real = !one_in(4);
	while (*link)
		link = &(*link)->next;
	*link = capture;
	begin_stream(capture, pick_stream());
	if (one_in(3))
		begin_stream(capture, pick_stream());
	if (one_in(6))
		begin_stream(capture, pick_stream());
}

/* The blocks that were born in it are their streams' from now on. */
static void settle(struct capture *capture, int stream)
{
	struct device *device = capture->graph->pool->device;
	struct access access[BLOCKS];
	unsigned count = 0;

	for (unsigned i = 0; i < world.blocks; i++)
		if (world.block[i].capture == capture)
			access[count++] = (struct access){
				.address = world.block[i].address,
				.bytes = world.block[i].bytes,
				.block = world.block[i].id};
	(void)work_queue(device, stream, access, count, capture->claim,
			 capture->claims);
}

void capture_end(struct capture *capture)
{
	struct device *device = capture->graph->pool->device;
	struct clock clock;

	for (int i = 0; i < STREAMS; i++) {
		struct stream *ends = &device->stream[i];

		if (ends->capture != capture)
			continue;
		say(0, 0, "graph %llu ends on s%d", (ull)capture->graph->number,
		    i);
		if (ends->captured)
			must(gpumem_host_capture(device->number, ends->handle,
						 false));
		ends->captured = false;
		must(gpumem_graph_end(capture->graph->handle, ends->handle));
		ends->capture = NULL;
		if (capture->real)
			settle(capture, i);
		clock = clock_of(device, i);
		clock_merge(&capture->after, &clock);
	}
	capture->open = false;
}
