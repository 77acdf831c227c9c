/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real NVIDIA GPU: a captured graph whose blocks come from a pool. The
 * pool goes on working for others meanwhile, trims included, and does not spoil
 * the capture; and what the graph writes at each launch is nobody else's
 * memory, though it was freed in the capture. Built and run by
 * tests/device/run.sh.
 */
#include "calls.h"

enum { OTHERS = 64, OURS = 0x11, THEIRS = 0x77 };

static gpumem_pool *pool;
static CUstream stream, other;

/* Small and large ones, freed as a program frees what it needs no more. */
static void work(void)
{
	static const size_t sizes[] = {1000, 100000, 3 * MIB, 20 * MIB};

	for (int i = 0; i < 16; i++) {
		size_t bytes = sizes[i % 4];
		void *ptr;

		must(gpumem_alloc(pool, bytes, stream, &ptr));
		CALL(cuMemsetD8Async((CUdeviceptr)ptr, OURS, bytes, stream));
		must(gpumem_free(ptr, stream));
	}
}

/* What other streams of the same thread do while one is captured. */
static void meanwhile(void)
{
	void *ptr;

	must(gpumem_alloc(pool, 64 * MIB, other, &ptr));
	must(gpumem_free(ptr, other));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_alloc(pool, 500, other, &ptr));
	must(gpumem_free(ptr, other));
}

static CUgraphExec record_graph(gpumem_graph *graph)
{
	CUgraphExec launched;
	CUgraph captured;

	must(gpumem_graph_begin(graph, stream));
	CALL(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	work();
	meanwhile();
	work();
	is_int((int)cuStreamEndCapture(stream, &captured), 0,
	       "the capture is as good as if the pool had done nothing");
	must(gpumem_graph_end(graph, stream));
	CALL(cuGraphInstantiateWithFlags(&launched, captured, 0));
	return launched;
}

static unsigned overwritten(void *const *block)
{
	static unsigned char bytes[4 * MIB];
	unsigned count = 0;

	for (int i = 0; i < OTHERS; i++) {
		CALL(cuMemcpyDtoH(bytes, (CUdeviceptr)block[i], sizeof(bytes)));
		for (size_t k = 0; k < sizeof(bytes); k++) {
			if (bytes[k] == THEIRS)
				continue;
			count++;
			break;
		}
	}
	return count;
}

static void test_launches(gpumem_graph *graph)
{
	CUgraphExec launched = record_graph(graph);
	void *block[OTHERS];

	must(gpumem_pool_trim(pool, 0, NULL));
	for (int i = 0; i < OTHERS; i++) {
		must(gpumem_alloc(pool, 4 * MIB, i % 2 ? stream : other,
				  &block[i]));
		CALL(cuMemsetD8((CUdeviceptr)block[i], THEIRS, 4 * MIB));
	}
	for (int i = 0; i < 3; i++)
		CALL(cuGraphLaunch(launched, stream));
	CALL(cuStreamSynchronize(stream));
	is_uint(overwritten(block), 0,
		"what it writes at each launch is nobody else's");
	for (int i = 0; i < OTHERS; i++)
		must(gpumem_free(block[i], i % 2 ? stream : other));
	CALL(cuGraphExecDestroy(launched));
}

int main(void)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_device *device;
	gpumem_graph *graph;

	(void)start_cuda();
	CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	CALL(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	must(gpumem_device_open("cuda:0", &device));
	must(gpumem_pool_create(device, NULL, &pool));
	must(gpumem_graph_create(pool, &graph));
	test_launches(graph);
	must(gpumem_graph_destroy(graph, stream));
	CALL(cuStreamSynchronize(stream));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_stats(pool, &stats));
	is_uint(stats.reserved.current, 0, "the graph gone, all goes back");
	must(gpumem_pool_drop_stream(pool, stream));
	must(gpumem_pool_drop_stream(pool, other));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	done_testing();
}
