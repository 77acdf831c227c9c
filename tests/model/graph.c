/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Captured graphs. The driver drops what is queued in a capture, so the model
 * notes it, and queues it all as one work for each launch. A launch comes after
 * all that uses the graph's memory; that is the program's part. The memory of
 * blocks that were freed is the graph's until it is destroyed.
 */
#include "model.h"

static struct capture *open_capture(const struct graph *graph)
{
	struct capture *capture = graph->captures;

	while (capture && !capture->open)
		capture = capture->next;
	return capture;
}

static bool touches_nodes(const struct capture *capture, uintptr_t address,
			  uint64_t bytes, bool written)
{
	for (unsigned i = 0; i < capture->nodes; i++)
		if ((capture->node[i].writes || !written) &&
		    capture->node[i].address < address + bytes &&
		    address < capture->node[i].address + capture->node[i].bytes)
			return true;
	return false;
}

static bool after_all_of(const struct capture *capture, int stream)
{
	struct graph *graph = capture->graph;
	struct device *device = graph->pool->device;

	if (!stream_after_all(device, stream, &capture->after) ||
	    !stream_after_all(device, stream, &graph->launches))
		return false;
	for (const struct work *work = world.first; work; work = work->next)
		for (unsigned i = 0; i < work->accesses; i++)
			if (work->device == device &&
			    touches_nodes(capture, work->access[i].address,
					  work->access[i].bytes, false) &&
			    !stream_after(device, stream, work))
				return false;
	return true;
}

/* What live blocks hold afterwards. */
static void launched(const struct capture *capture)
{
	for (unsigned i = 0; i < world.blocks; i++) {
		struct block *block = &world.block[i];

		if (!touches_nodes(capture, block->address, block->bytes, true))
			continue;
		block->known = block->capture == capture && block->node_stamp;
		block->stamp = block->node_stamp;
	}
}

static void launch(struct capture *capture, int stream)
{
	struct graph *graph = capture->graph;
	struct device *device = graph->pool->device;

	if (capture->open || !capture->real || !capture->nodes ||
	    device->stream[stream].captured || !after_all_of(capture, stream))
		return;
	(void)work_queue(device, stream, capture->node, capture->nodes,
			 capture->claim, capture->claims);
	graph->launches.at[stream] = device->stream[stream].queued;
	launched(capture);
	say(0, 0, "graph %llu is launched on s%d: work %llu",
	    (ull)graph->number, stream, (ull)world.works);
}

static void forget(struct graph *graph)
{
	while (graph->captures) {
		struct capture *capture = graph->captures;

		graph->captures = capture->next;
		for (unsigned i = 0; i < world.blocks; i++)
			if (world.block[i].capture == capture) {
				world.block[i].capture = NULL;
				world.block[i].shared = true;
			}
		free(capture);
	}
	*graph = (struct graph){0};
}

void graphs_forget(const struct pool *pool)
{
	for (int i = 0; i < GRAPHS; i++)
		if (world.graph[i].handle && world.graph[i].pool == pool)
			forget(&world.graph[i]);
}

bool pool_has_graphs(const struct pool *pool)
{
	for (int i = 0; i < GRAPHS; i++)
		if (world.graph[i].handle && world.graph[i].pool == pool)
			return true;
	return false;
}

/* Those that its memory goes back to must not be captured. */
static bool is_captured(const struct device *device)
{
	for (int i = 0; i < STREAMS; i++)
		if (device->stream[i].captured)
			return true;
	return false;
}

bool graph_destroy(struct graph *graph)
{
	struct device *device = graph->pool->device;
	int stream = pick_stream();
	gpumem_status status;

	if (is_captured(device) ||
	    !stream_after_all(device, stream, &graph->launches))
		return false;
	perhaps_failing(status,
			gpumem_graph_destroy(graph->handle,
					     device->stream[stream].handle));
	say(0, 0, "graph %llu is destroyed on s%d: %s", (ull)graph->number,
	    stream, gpumem_status_name(status));
	judge("gpumem_graph_destroy", status);
	if (!status)
		forget(graph);
	return !status;
}

static void create(struct graph *graph)
{
	struct pool *pool = pick_pool();

	if (!pool)
		return;
	*graph = (struct graph){.pool = pool, .number = ++world.graphs};
	must(gpumem_graph_create(pool->handle, &graph->handle));
	say(0, 0, "graph %llu is made in %s", (ull)graph->number,
	    name_of(pool));
}

static void go_on(struct graph *graph)
{
	struct capture *capture = open_capture(graph);

	if (capture) {
		capture_end(capture);
	} else if (!graph->captures || one_in(5)) {
		capture_begin(graph);
	} else if (one_in(4)) {
		(void)graph_destroy(graph);
	} else {
		capture = graph->captures;
		while (capture->next && one_in(2))
			capture = capture->next;
		launch(capture, pick_stream());
	}
}

void step_graph(void)
{
	struct graph *graph = &world.graph[random_below(GRAPHS)];

	if (!world.configuration.captures)
		return;
	if (!graph->handle)
		create(graph);
	else
		go_on(graph);
}

void graphs_end(struct device *device)
{
	for (int i = 0; i < GRAPHS; i++) {
		struct graph *graph = &world.graph[i];
		struct capture *capture;

		if (!graph->handle || graph->pool->device != device)
			continue;
		capture = open_capture(graph);
		if (capture)
			capture_end(capture);
	}
}
