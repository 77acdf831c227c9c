/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each call of each OpenCL function fails once below a program that uses a
 * device in a context of its own with queues of both orders: made to fail by
 * the layer of tests/fake, over PoCL, with memory of both kinds. Whatever
 * fails, frees do not, pools stay sound, everything can be given back
 * afterwards, and the layer counts no reference that is held and was not
 * before; but for the one whose own release failed.
 */
#include "layered.h"

enum { BLOCKS = 12 };
static const char *const names[] = {
	"clRetainContext",
	"clCreateCommandQueue",
	"clReleaseContext",
	"clReleaseCommandQueue",
	"clGetDeviceInfo",
	"clGetContextInfo",
	"clGetCommandQueueInfo",
	"clGetMemObjectInfo",
	"clGetEventInfo",
	"clRetainEvent",
	"clReleaseEvent",
	"clWaitForEvents",
	"clFlush",
	"clEnqueueMarkerWithWaitList",
	"clEnqueueBarrierWithWaitList",
	"clCreateBuffer",
	"clCreateSubBuffer",
	"clReleaseMemObject",
	"clEnqueueMigrateMemObjects",
	"clEnqueueFillBuffer",
	"clEnqueueReadBuffer",
	"clEnqueueWriteBuffer",
	"clEnqueueCopyBuffer",
	"clSVMAlloc",
	"clEnqueueSVMMemcpy",
	"clEnqueueSVMMemFill",
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

static unsigned felt;
static bool objects; /* what blocks are named by, in this sweep */

static struct {
	const char *name;
	unsigned nth;
	int code;
	bool broken, failed;
	gpumem_pool *pool;
	void *block[BLOCKS];
} run;

#define want(condition, ...)                                                   \
	do {                                                                   \
		if (!(condition))                                              \
			broken(#condition, __VA_ARGS__);                       \
	} while (0)

TAP_PRINTF(2, 3)
void broken(const char *condition, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!run.broken)
		diag("%s@%u:%d: %s\n  false: %s\n  last error: %s", run.name,
		     run.nth, run.code, text, condition, last_text());
	run.broken = true;
}

/* True: it worked. Else it was for the driver's sake, and has a sentence. */
static bool tried(const char *call, gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (!status)
		return true;
	run.failed = true;
	gpumem_last_error(&error);
	want(error.status == status && *error.text, "%s gave %s without a word",
	     call, gpumem_status_name(status));
	want(status == GPUMEM_DRIVER || status == GPUMEM_NO_MEMORY ||
		     status == GPUMEM_NO_HOST_MEMORY ||
		     status == GPUMEM_UNSUPPORTED,
	     "%s gave %s", call, gpumem_status_name(status));
	return false;
}

#define TRY(call) tried(#call, (call))

static void take(unsigned number, size_t bytes, gpumem_stream stream)
{
	if (!TRY(gpumem_alloc(run.pool, bytes, stream, &run.block[number])))
		run.block[number] = NULL;
}

static void give(unsigned number, gpumem_stream stream)
{
	void *ptr = run.block[number];

	run.block[number] = NULL;
	want(!ptr || !gpumem_free(ptr, stream), "block %u is not freed",
	     number);
}

/* Fills, copies and reads it back, each block on a queue of either order. */
static void use(unsigned number, gpumem_stream stream)
{
	static unsigned char bytes[4096];
	char *ptr = run.block[number];

	if (!ptr)
		return;
	TRY(gpumem_fill(device, ptr, 7, 4096, stream));
	TRY(gpumem_copy(device, ptr, bytes, 1024, stream));
	TRY(gpumem_copy(device, ptr + 2048, ptr, 1024, stream));
	TRY(gpumem_copy(device, bytes, ptr, 4096, stream));
	TRY(gpumem_stream_sync(device, stream));
}

static void look(unsigned number)
{
	void *object = NULL, *view = NULL;
	uint64_t offset;

	if (!run.block[number])
		return;
	if (!objects) {
		want(gpumem_view(run.block[number], &view) ==
			     GPUMEM_UNSUPPORTED,
		     "memory with addresses has a view");
		return;
	}
	TRY(gpumem_object(run.block[number], &object, &offset));
	TRY(gpumem_view(run.block[number], &view));
}

/* Small and large blocks, used on two queues, of which some go while the other
 * queue may still use them. */
static void work(void)
{
	static const size_t bytes[BLOCKS] = {100,     5000, 40000,   3 * MIB,
					     300,     MIB,  5 * MIB, 2 * MIB,
					     8 * MIB, 4096, 3 * MIB, 6 * MIB};
	unsigned i;

	for (i = 0; i < BLOCKS / 2; i++)
		take(i, bytes[i], queue[i % QUEUES]);
	use(1, queue[1]);
	use(3, queue[0]);
	look(3);
	look(5);
	for (i = 0; i < BLOCKS / 2; i++)
		if (run.block[i])
			TRY(gpumem_use_on(run.block[i], queue[(i + 1) % 2]));
	for (i = 1; i < BLOCKS / 2; i++)
		give(i, queue[i % QUEUES]);
	TRY(gpumem_pool_trim(run.pool, 0, NULL));
	for (i = BLOCKS / 2; i < BLOCKS; i++)
		take(i, bytes[i], i % 3 ? queue[i % QUEUES] : NULL);
	look(9);
	give(8, queue[1]);
	take(8, 20 * MIB, NULL);
	TRY(gpumem_pool_drop_stream(run.pool, queue[0]));
}

/* Nothing fails any more. */
static void settle(void)
{
	struct gpumem_stats stats;
	const char *law;
	unsigned i;

	want(!gpumem_pool_check(run.pool), "the pool is not sound");
	stats = stats_of(run.pool);
	law = unlawful(&stats);
	want(!law, "%s", law);
	for (i = 0; i < BLOCKS; i++)
		give(i, queue[0]);
	for (i = 0; i < QUEUES; i++)
		want(!gpumem_stream_sync(device, queue[i]), "queue %u", i);
	take(0, 3 * MIB, queue[1]);
	want(run.block[0], "it works again");
	give(0, queue[1]);
	want(!gpumem_stream_sync(device, queue[1]), "the queue works again");
	want(!gpumem_pool_trim(run.pool, 0, NULL), "trim");
	want(!reserved_of(run.pool), "%llu bytes are kept, %llu pending",
	     (ull)reserved_of(run.pool), (ull)stats_of(run.pool).pending_bytes);
	want(!gpumem_pool_destroy(run.pool, 0), "the pool ends");
}

static void program(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	if (!TRY(gpumem_device_adopt("opencl", context, native, &device)))
		return;
	if (TRY(gpumem_pool_create(device, &config, &run.pool))) {
		work();
		cl.fakecl_heal();
		settle();
	}
	run.pool = NULL;
	cl.fakecl_heal();
	want(!gpumem_device_close(device), "the device closes");
	device = NULL;
}

static bool releases(const char *name)
{
	return strncmp(name, "clRelease", 9) == 0;
}

/* Whether there was such a call. */
static bool run_once(const char *name, unsigned nth, bool onwards, int code)
{
	uint64_t calls = cl.fakecl_calls(name);
	struct fakecl_held before;

	run.name = name;
	run.nth = nth;
	run.code = code;
	run.failed = false;
	cl.fakecl_audit(&before);
	if (!cl.fakecl_fault(name, nth, onwards, code))
		bail("the layer has no %s", name);
	program();
	cl.fakecl_heal();
	felt += run.failed;
	want(left(&before) <= (releases(name) ? 1 : 0),
	     "something is left behind");
	return cl.fakecl_calls(name) - calls >= nth;
}

/* The number of calls differs from run to run where something is waited for,
 * so the sweep ends where the fault finds no call. */
static void sweep(const char *memory, const char *name, bool onwards, int code)
{
	unsigned nth = 1, step = (unsigned)scaled(1, 11);
	unsigned dense = (unsigned)scaled(8, 4);

	felt = 0;
	run.broken = false;
	while (nth < 400 && !run.broken && run_once(name, nth, onwards, code))
		nth += nth < dense ? 1 : step;
	ok(!run.broken, "%s: %s fails with %d%s, up to call %u, felt %u times",
	   memory, name, code, onwards ? " from then on" : "", nth - 1, felt);
}

static void sweep_all(const char *memory)
{
	uint64_t calls[NAME_COUNT];
	size_t i;

	option("opencl.memory", memory);
	objects = !strcmp(memory, "buffer");
	run.broken = run.failed = false;
	program(); /* what the first adoption keeps is kept for good */
	for (i = 0; i < NAME_COUNT; i++)
		calls[i] = cl.fakecl_calls(names[i]);
	run.name = "nothing";
	program();
	ok(!run.failed && !run.broken, "%s: nothing fails by itself", memory);
	for (i = 0; i < NAME_COUNT; i++) {
		if (cl.fakecl_calls(names[i]) == calls[i]) {
			diag("%s: %s is not called", memory, names[i]);
			continue;
		}
		sweep(memory, names[i], false, OUT_OF_RESOURCES);
		sweep(memory, names[i], false, OUT_OF_HOST_MEMORY);
		if (!releases(names[i]))
			sweep(memory, names[i], true, OUT_OF_RESOURCES);
	}
}

int main(void)
{
	alarm(300);
	layered_start();
	option("opencl.capacity", "64MiB");
	sweep_all("svm");
	sweep_all("buffer");
	return done_testing();
}
