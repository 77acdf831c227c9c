/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where OpenCL does not say whether work is over, the plugin does not either:
 * if it did, memory would be given out that is still used.
 */
#include "layered.h"
#include <gpumem/backend.h>

static const struct gpumem_backend *table;
static void *event;
static void *opened;

static void fails(const char *name)
{
	if (!cl.fakecl_fault(name, 1, true, OUT_OF_HOST_MEMORY))
		bail("the layer has no %s", name);
}

static void of_events(void)
{
	static const char *const names[] = {"clRetainEvent", "clGetEventInfo"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fails(names[i]);
		ok(table->event_query(opened, event) != GPUMEM_OK,
		   "%s fails: an event is not over", names[i]);
		cl.fakecl_heal();
	}
	fails("clRetainEvent");
	ok(table->event_sync(opened, event) != GPUMEM_OK,
	   "and was not waited for");
	ok(table->stream_wait(opened, NULL, event) != GPUMEM_OK,
	   "on the device neither");
	cl.fakecl_heal();
	fails("clWaitForEvents");
	ok(table->event_sync(opened, event) != GPUMEM_OK,
	   "clWaitForEvents fails: nothing was waited for");
	cl.fakecl_heal();
}

static void of_streams(void)
{
	static const char *const names[] = {"clEnqueueMarkerWithWaitList",
					    "clFlush", "clGetEventInfo"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fails(names[i]);
		ok(table->stream_query(opened, NULL) != GPUMEM_OK,
		   "%s fails: a queue is not idle", names[i]);
		ok(table->stream_query(opened, queue[0]) != GPUMEM_OK,
		   "the program's own neither");
		cl.fakecl_heal();
	}
}

int main(void)
{
	int index = -1;

	alarm(300);
	layered_start();
	must(gpumem_backend_table("opencl", &table));
	must(table->device_adopt(context, native, &index));
	must(table->device_open(index, &opened));
	must(table->event_create(opened, &event));
	must(table->event_record(opened, event, NULL));
	of_events();
	of_streams();
	must(table->event_sync(opened, event));
	must(table->event_destroy(opened, event));
	table->device_close(opened);
	return done_testing();
}
