/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Work that fails, and a device that is gone: NVIDIA says -9999 from then on.
 * All calls are made once as the first that notices, and all others after that.
 * No free fails, pools and device end, nothing is held but what OpenCL does not
 * let go, and a device that is opened again has all of its memory.
 */
#include "layered.h"

enum { EXECUTION_STATUS = 0x11D3, LOST = -9999, BLOCKS = 8 };

static gpumem_pool *pool;
static void *block[BLOCKS];

static void state_of_work(int32_t state)
{
	lie("clGetEventInfo", EXECUTION_STATUS, &state, sizeof(state));
}

static void break_down(bool releases)
{
	static const char *const names[] = {
		"clFlush",
		"clWaitForEvents",
		"clCreateBuffer",
		"clCreateSubBuffer",
		"clCreateCommandQueue",
		"clGetMemObjectInfo",
		"clEnqueueMarkerWithWaitList",
		"clEnqueueBarrierWithWaitList",
		"clEnqueueReadBuffer",
		"clEnqueueWriteBuffer",
		"clEnqueueCopyBuffer",
		"clEnqueueFillBuffer",
		"clEnqueueMigrateMemObjects",
		"clEnqueueSVMMemcpy",
		"clEnqueueSVMMemFill",
		/* if also these do */
		"clReleaseMemObject",
		"clReleaseEvent",
	};
	size_t count = sizeof(names) / sizeof(names[0]);

	state_of_work(LOST);
	for (size_t i = 0; i < count - (releases ? 0 : 2); i++)
		if (!cl.fakecl_fault(names[i], 1, true, LOST))
			bail("the layer has no %s", names[i]);
}

/* ---- What may notice it ------------------------------------------------- */

static gpumem_status by_fill(void)
{
	return gpumem_fill(device, block[0], 1, 100, queue[0]);
}

static gpumem_status by_copy(void)
{
	char host[100];

	return gpumem_copy(device, host, block[0], sizeof(host), queue[1]);
}

static gpumem_status by_sync(void)
{
	return gpumem_stream_sync(device, queue[1]);
}

static gpumem_status by_default_sync(void)
{
	return gpumem_stream_sync(device, NULL);
}

static gpumem_status by_alloc(void)
{
	void *ptr = NULL;
	gpumem_status status = gpumem_alloc(pool, 40 * MIB, queue[0], &ptr);

	return status ? status : gpumem_free(ptr, queue[0]);
}

/* A raw stream is the driver's own. */
static gpumem_status by_stream(void)
{
	gpumem_stream stream = NULL;
	gpumem_status status = gpumem_stream_create(device, &stream);

	return status ? status : gpumem_stream_destroy(device, stream);
}

static gpumem_status by_trim(void)
{
	return gpumem_pool_trim(pool, 0, NULL);
}

static const struct {
	const char *name;
	gpumem_status (*call)(void);
	bool objects_only; /* SVM has no command there */
	bool may_pass;	   /* the pool may have no need of the driver */
	const char *word;
} calls[] = {
	{"fill", by_fill, false, false, "-9999"},
	{"copy", by_copy, false, false, "-9999"},
	{"sync", by_sync, false, false, "-9999"},
	{"sync of the default stream", by_default_sync, false, false, "-9999"},
	/* The pool may notice before, when it asks for an event. */
	{"alloc", by_alloc, true, false, "lost"},
	{"stream_create", by_stream, false, false, "-9999"},
	{"trim", by_trim, false, true, "lost"},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* ------------------------------------------------------------------------- */

static void begin(bool objects)
{
	void *view;

	must(gpumem_device_adopt("opencl", context, native, &device));
	pool = new_pool(0);
	for (unsigned i = 0; i < BLOCKS; i++)
		block[i] = new_block(pool, i % 2 ? 3 * MIB : 100, queue[i % 2]);
	if (objects)
		must(gpumem_view(block[3], &view));
	if (objects)
		must(gpumem_view(block[4], &view));
	/* Pending, with events. */
	for (unsigned i = 4; i < BLOCKS; i++) {
		must(gpumem_use_on(block[i], queue[(i + 1) % 2]));
		must(gpumem_free(block[i], queue[i % 2]));
	}
}

static void end(void)
{
	gpumem_status status;

	for (unsigned i = 0; i < 4; i++)
		is_status(gpumem_free(block[i], queue[i % 2]), GPUMEM_OK,
			  "a free");
	status = gpumem_pool_destroy(pool, 0);
	is_status(status, GPUMEM_OK, "the pool ends: %s",
		  status ? last_text() : "");
	is_status(gpumem_device_close(device), GPUMEM_OK, "the device closes");
	cl.fakecl_heal();
	cl.fakecl_be_honest();
}

static void all_is_free(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	must(gpumem_device_adopt("opencl", context, native, &device));
	must(gpumem_device_memory(device, &memory));
	is_uint(memory.free_bytes, memory.total_bytes, "and all is free again");
	must(gpumem_device_close(device));
}

static void lose(size_t first, bool objects, bool releases)
{
	struct fakecl_held before;

	diag("%s, noticed by %s", objects ? "objects" : "pointers",
	     calls[first].name);
	cl.fakecl_audit(&before);
	begin(objects);
	break_down(releases);
	for (size_t i = 0; i < CALLS; i++) {
		size_t at = (first + i) % CALLS;
		gpumem_status status = calls[at].call();

		if (!i && (calls[at].may_pass ||
			   (calls[at].objects_only && !objects)))
			continue;
		is_status(status, GPUMEM_LOST, "%s", calls[at].name);
		if (!i && !ok(strstr(last_text(), calls[at].word) != NULL,
			      "and says \"%s\"", calls[at].word))
			diag("%s", last_text());
	}
	end();
	if (!releases)
		is_int(left(&before), 0, "nothing is left");
	all_is_free();
}

/* It is the work's fault, and not the device's. */
static void test_failed_work(void)
{
	struct fakecl_held before;

	cl.fakecl_audit(&before);
	begin(true);
	state_of_work(OUT_OF_RESOURCES);
	if (!cl.fakecl_fault("clWaitForEvents", 1, true, -14))
		bail("the layer has no clWaitForEvents");
	is_status(gpumem_stream_sync(device, queue[0]), GPUMEM_DRIVER,
		  "work that failed");
	if (!ok(strstr(last_text(), "has failed (-5)") != NULL, "is told"))
		diag("%s", last_text());
	cl.fakecl_heal();
	cl.fakecl_be_honest();
	is_status(gpumem_stream_sync(device, queue[0]), GPUMEM_OK,
		  "and the queue goes on");
	is_status(by_fill(), GPUMEM_OK, "with other work");
	must(by_sync());
	must(gpumem_stream_sync(device, queue[0]));
	end();
	is_int(left(&before), 0, "nothing is left");
}

static void test_lost(const char *memory)
{
	bool objects = strcmp(memory, "buffer") == 0;

	option("opencl.memory", memory);
	for (size_t i = 0; i < CALLS; i++)
		lose(i, objects, false);
	lose(0, objects, true);
}

int main(void)
{
	alarm(300);
	layered_start();
	option("opencl.capacity", "128MiB");
	option("opencl.memory", "buffer");
	all_is_free(); /* the first adoption keeps the context for good */
	test_failed_work();
	test_lost("buffer");
	test_lost("svm");
	return done_testing();
}
