/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about streams, moving bytes, and graphs. */
#include "attack.h"
#include "rows.h"

void attack_gpumem_stream_create(void)
{
	struct device *device = pick_device();
	int index = 1 + (int)random_below(STREAMS - 1);
	gpumem_stream *out = out_plain(sizeof(gpumem_stream));

	if (device && device->there[index])
		return;
	if (device && !has(device, GPUMEM_CAP_STREAMS))
		step.wrong = B(UNSUPPORTED);
	if (!judge(gpumem_stream_create(device_of(device), out)))
		return;
	expect(*out, "a stream that is NULL");
	device->stream[index] = *out;
	device->there[index] = true;
}

/* Blocks of a stream that is gone belong to no stream: any may free them. */
static void forget_stream(const struct device *device, int index)
{
	for (unsigned i = 0; i < world.blocks; i++)
		if (world.block[i].pool->device == device &&
		    world.block[i].stream == index)
			world.block[i].stream = 0;
}

static bool is_begun(const struct device *device, int index)
{
	for (unsigned i = 0; i < GRAPHS && index >= 0; i++)
		if (world.graph[i].handle &&
		    world.graph[i].pool->device == device &&
		    world.graph[i].begun[index])
			return true;
	return false;
}

void attack_gpumem_stream_destroy(void)
{
	struct device *device = pick_device();
	int index;
	gpumem_stream stream = pick_stream(device, &index);

	if (!stream)
		wrong(B(INVALID));
	if (device && !has(device, GPUMEM_CAP_STREAMS))
		step.wrong = B(UNSUPPORTED);
	if (is_begun(device, index))
		wrong(B(BUSY) | B(CAPTURING));
	else if (index < 0)
		step.perhaps |= B(BUSY) | B(CAPTURING);
	if (!judge(gpumem_stream_destroy(device_of(device), stream)))
		return;
	for (int i = 1; i < STREAMS; i++)
		if (device->there[i] && device->stream[i] == stream) {
			device->there[i] = device->captured[i] = false;
			forget_stream(device, i);
		}
}

void attack_gpumem_stream_sync(void)
{
	struct device *device = pick_device();
	int index;
	gpumem_stream stream = pick_stream(device, &index);

	if (device && !has(device, GPUMEM_CAP_STREAMS))
		step.wrong = B(UNSUPPORTED);
	else if (device && index >= 0 && device->captured[index])
		wrong(B(CAPTURING));
	(void)judge(gpumem_stream_sync(device_of(device), stream));
}

/* What a fill writes is ordered before all that the program does next, since
 * the stream is waited for; what is dropped, by a capture, writes nothing. A
 * part of it may have been marked. */
void attack_gpumem_fill(void)
{
	struct block *block = pick_block();
	struct device *device = pick_device();
	size_t bytes = block ? 1 + random_below(block->requested) : 1;
	void *ptr = block ? block->ptr : pick_nowhere();
	gpumem_stream stream;
	int index;

	if (block && (!device || block->pool->device != device))
		device = device ? block->pool->device : NULL;
	stream = pick_stream(device, &index);
	if (rarely())
		bytes = 0;
	if (bytes && (!block || rarely())) {
		ptr = one_in(4) ? NULL : pick_nowhere();
		wrong(ptr ? B(BAD_POINTER) : B(INVALID));
	} else if (bytes && rarely()) {
		/* Its end may lie in another device's memory. */
		bytes = SIZE_MAX - random_below(300);
		wrong(B(BAD_POINTER) | B(INVALID));
	}
	if (judge(gpumem_fill(device_of(device), ptr, 0x77, bytes, stream)) &&
	    bytes) {
		block->marked = false;
		world_wait(device, stream);
	}
}

/* Into a block from the host, or out of it: what comes out is what was in. */
void attack_gpumem_copy(void)
{
	static unsigned char host[2][PROBE];
	struct block *block = pick_block();
	struct device *device = pick_device();
	gpumem_stream stream;
	size_t bytes;
	bool in = one_in(4);
	void *ptr;
	int index;

	if (!block)
		return;
	device = device ? block->pool->device : NULL;
	stream = pick_stream(device, &index);
	bytes = block->requested < PROBE ? (size_t)block->requested : PROBE;
	ptr = block->ptr;
	if (rarely())
		bytes = 0;
	if (bytes && rarely()) {
		ptr = one_in(4) ? NULL : pick_nowhere();
		wrong(ptr ? B(BAD_POINTER) : B(INVALID));
	}
	if (!judge(gpumem_copy(device_of(device), in ? ptr : host[1],
			       in ? (const void *)host[0] : ptr, bytes,
			       stream)))
		return;
	block->marked &= !in || !bytes;
	if (bytes)
		world_wait(device, stream);
}

static struct graph *pick_graph(void)
{
	struct graph *graph = &world.graph[random_below(GRAPHS)];

	if (graph->handle && !rarely())
		return graph;
	wrong(B(INVALID));
	return NULL;
}

static gpumem_graph *graph_of(const struct graph *graph)
{
	return graph ? graph->handle : NULL;
}

void attack_gpumem_graph_create(void)
{
	struct graph *graph = &world.graph[random_below(GRAPHS)];
	struct pool *pool = pick_pool();
	gpumem_graph **out = out_plain(sizeof(gpumem_graph *));

	if (!graph->handle && judge(gpumem_graph_create(pool_of(pool), out)))
		*graph = (struct graph){.handle = *out, .pool = pool};
}

void attack_gpumem_graph_begin(void)
{
	struct graph *graph = pick_graph();
	int index;
	gpumem_stream stream =
		pick_stream(graph ? graph->pool->device : NULL, &index);

	for (unsigned i = 0; i < GRAPHS && graph && index >= 0; i++)
		if (world.graph[i].pool == graph->pool &&
		    world.graph[i].begun[index])
			wrong(B(BUSY));
	/* A stream that the program does not know would stay begun. */
	if (index < 0)
		return;
	if (judge(gpumem_graph_begin(graph_of(graph), stream)))
		graph->begun[index] = true;
}

void attack_gpumem_graph_end(void)
{
	struct graph *graph = pick_graph();
	int index;
	gpumem_stream stream =
		pick_stream(graph ? graph->pool->device : NULL, &index);

	if (graph && index >= 0 && !graph->begun[index])
		wrong(B(INVALID));
	if (index < 0)
		return;
	if (judge(gpumem_graph_end(graph_of(graph), stream)))
		graph->begun[index] = false;
}

void attack_gpumem_graph_destroy(void)
{
	struct graph *graph = pick_graph();
	int index;
	gpumem_stream stream =
		pick_stream(graph ? graph->pool->device : NULL, &index);

	for (int i = 0; i < STREAMS && graph; i++)
		if (graph->begun[i])
			wrong(B(BUSY));
	if (graph && index >= 0 && graph->pool->device->captured[index])
		wrong(B(CAPTURING));
	if (judge(gpumem_graph_destroy(graph_of(graph), stream)))
		*graph = (struct graph){0};
}
