/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's own command queues as streams of the opencl backend, in order
 * and out of order, and contexts that are its own. What a queue has to wait for
 * is an event that the test ends itself, so nothing here is a matter of time.
 */
#include "fixture.h"

/* A context of the program's that the backend works in. */
static struct {
	void *native, *context, *device;
	uint64_t block;
	void *object;
} own;

static void adopt(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *second = new_context(native_device(1));
	int index = -1, again = -1, count = 0, other = -1;

	own.native = native_device(0);
	own.context = new_context(own.native);
	is_status(gpu->device_count(&count), GPUMEM_OK, "devices");
	is_int(count, 2, "two");
	is_status(gpu->device_adopt(own.context, own.native, &index), GPUMEM_OK,
		  "adopt a context");
	is_int(index, 2, "is the next device");
	is_status(gpu->device_adopt(own.context, own.native, &again), GPUMEM_OK,
		  "again");
	is_int(again, index, "is the same");
	is_status(gpu->device_adopt(second, native_device(1), &other),
		  GPUMEM_OK, "another context");
	is_int(other, 3, "is another");
	other = -1;
	is_status(gpu->device_adopt(own.context, native_device(1), &other),
		  GPUMEM_INVALID, "a device of another context");
	says("not one of that device");
	is_status(gpu->device_adopt(own.context, &other, &other),
		  GPUMEM_INVALID, "no device");
	is_int(other, -1, "no number");
	is_status(gpu->device_info(index, &info), GPUMEM_OK, "it is described");
	cl.clReleaseContext(second);
	own.device = open_device(index);
	own.block = take(own.device, MIB);
}

static void *new_event(void)
{
	int error = -1;
	void *event = cl.clCreateUserEvent(own.context, &error);

	if (error)
		bail("clCreateUserEvent: %d", error);
	return event;
}

static void end_event(void *event, int status)
{
	if (cl.clSetUserEventStatus(event, status))
		bail("clSetUserEventStatus");
	cl.clReleaseEvent(event);
}

/* What is queued stays so until `event` ends. */
static void hold_up(void *queue, void *event)
{
	if (cl.clEnqueueMarkerWithWaitList(queue, 1, &event, NULL))
		bail("clEnqueueMarkerWithWaitList");
}

/* An event stands for all that was queued, also where that has no order. */
static void test_record(uint64_t properties)
{
	void *queue = new_queue(own.context, own.native, properties);
	void *gate = new_event();
	void *event = NULL;

	is_status(gpu->event_create(own.device, &event), GPUMEM_OK, "event");
	hold_up(queue, gate);
	is_status(gpu->event_record(own.device, event, queue), GPUMEM_OK,
		  "record behind work that does not end");
	is_status(gpu->event_query(own.device, event), GPUMEM_NOT_READY,
		  "it is not over");
	is_status(gpu->stream_query(own.device, queue), GPUMEM_NOT_READY,
		  "nor the queue");
	end_event(gate, 0);
	is_status(gpu->event_sync(own.device, event), GPUMEM_OK, "wait");
	is_status(gpu->event_query(own.device, event), GPUMEM_OK, "over");
	is_status(gpu->stream_sync(own.device, queue), GPUMEM_OK, "wait");
	is_status(gpu->event_destroy(own.device, event), GPUMEM_OK, "gone");
	cl.clReleaseCommandQueue(queue);
}

/* The program's write cannot begin; a fill that overtook it would be lost. */
static void test_fill(uint64_t properties)
{
	void *queue = new_queue(own.context, own.native, properties);
	static unsigned char before[MIB], after[MIB];
	void *gate = new_event();
	uint64_t offset;

	memset(before, 0xaa, sizeof(before));
	if (gpu->object_of(own.device, own.block, &own.object, &offset))
		bail("%s", said.text);
	if (cl.clEnqueueWriteBuffer(queue, own.object, 0, 0, MIB, before, 1,
				    &gate, NULL))
		bail("clEnqueueWriteBuffer");
	is_status(gpu->fill(own.device, own.block, 0x55, MIB, queue), GPUMEM_OK,
		  "a fill behind a write");
	is_status(gpu->copy(own.device, (uint64_t)(uintptr_t)after, own.block,
			    MIB, queue),
		  GPUMEM_OK, "and a copy behind that");
	end_event(gate, 0);
	is_status(gpu->stream_sync(own.device, queue), GPUMEM_OK, "wait");
	ok(after[0] == 0x55 && !memcmp(after, after + 1, MIB - 1),
	   "come in that order");
	cl.clReleaseCommandQueue(queue);
}

static void test_wait(uint64_t properties)
{
	void *first = new_queue(own.context, own.native, properties);
	void *second = new_queue(own.context, own.native, properties);
	void *one = NULL, *two = NULL;
	void *gate = new_event();

	if (gpu->event_create(own.device, &one) != GPUMEM_OK ||
	    gpu->event_create(own.device, &two) != GPUMEM_OK)
		bail("%s", said.text);
	hold_up(first, gate);
	is_status(gpu->event_record(own.device, one, first), GPUMEM_OK,
		  "an event on one queue");
	is_status(gpu->stream_wait(own.device, second, one), GPUMEM_OK,
		  "that another waits for");
	is_status(gpu->fill(own.device, own.block, 1, MIB, second), GPUMEM_OK,
		  "work there");
	is_status(gpu->event_record(own.device, two, second), GPUMEM_OK,
		  "and its event");
	is_status(gpu->event_query(own.device, two), GPUMEM_NOT_READY,
		  "has to wait");
	end_event(gate, 0);
	is_status(gpu->event_sync(own.device, two), GPUMEM_OK, "and then");
	is_status(gpu->event_query(own.device, one), GPUMEM_OK, "all");
	is_status(gpu->event_destroy(own.device, one), GPUMEM_OK, "is");
	is_status(gpu->event_destroy(own.device, two), GPUMEM_OK, "over");
	cl.clReleaseCommandQueue(second);
	cl.clReleaseCommandQueue(first);
}

/* A barrier of the program's between its write, which cannot begin, and its
 * read; behind the barrier a wait of ours, which is over. The read is given a
 * moment to overtake the write. */
static void test_barrier(void)
{
	void *queue = new_queue(own.context, own.native, QUEUE_OUT_OF_ORDER);
	void *second = new_queue(own.context, own.native, QUEUE_IN_ORDER);
	static unsigned char before[MIB], after[MIB];
	void *gate = new_event(), *one = NULL, *read = NULL, *read_event = NULL;

	memset(before, 0x77, sizeof(before));
	if (gpu->fill(own.device, own.block, 0x11, MIB, second) ||
	    gpu->event_create(own.device, &one) ||
	    gpu->event_record(own.device, one, second) ||
	    gpu->event_sync(own.device, one) ||
	    cl.clEnqueueWriteBuffer(queue, own.object, 0, 0, MIB, before, 1,
				    &gate, NULL) ||
	    cl.clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL))
		bail("a write and a barrier: %s", said.text);
	is_status(gpu->stream_wait(own.device, queue, one), GPUMEM_OK,
		  "a wait behind a barrier of the program's");
	if (cl.clEnqueueReadBuffer(queue, own.object, 0, 0, MIB, after, 0, NULL,
				   &read) ||
	    cl.clFlush(queue) ||
	    gpu->event_import(own.device, read, &read_event))
		bail("a read: %s", said.text);
	for (int i = 0; i < 20 && gpu->event_query(own.device, read_event) ==
					  GPUMEM_NOT_READY;
	     i++)
		usleep(10000);
	is_status(gpu->event_query(own.device, read_event), GPUMEM_NOT_READY,
		  "a read behind it waits for the barrier, too");
	end_event(gate, 0);
	is_status(gpu->stream_sync(own.device, queue), GPUMEM_OK, "wait");
	ok(after[0] == 0x77 && !memcmp(after, after + 1, MIB - 1),
	   "and so has what was written");
	is_status(gpu->event_destroy(own.device, one), GPUMEM_OK, "gone");
	is_status(gpu->event_destroy(own.device, read_event), GPUMEM_OK,
		  "gone");
	cl.clReleaseEvent(read);
	cl.clReleaseCommandQueue(second);
	cl.clReleaseCommandQueue(queue);
}

/* What fails in the queue is not over, and not "not yet" for ever. */
static void test_failure(void)
{
	void *queue = new_queue(own.context, own.native, QUEUE_IN_ORDER);
	void *event = NULL;
	void *gate = new_event();
	void *mark = NULL;

	if (gpu->event_create(own.device, &event) != GPUMEM_OK ||
	    cl.clEnqueueMarkerWithWaitList(queue, 1, &gate, &mark))
		bail("an event and a marker");
	is_status(gpu->event_record(own.device, event, queue), GPUMEM_OK,
		  "record behind work that will fail");
	end_event(gate, -5);
	is_status(gpu->event_sync(own.device, event), GPUMEM_DRIVER,
		  "waiting says that it failed");
	is_status(gpu->event_query(own.device, event), GPUMEM_DRIVER,
		  "asking too");
	is_status(gpu->event_destroy(own.device, event), GPUMEM_OK, "gone");
	cl.clReleaseEvent(mark);
	cl.clReleaseCommandQueue(queue);
}

/* The program's own event: a marker behind work that does not end, released
 * right after, and a user event. */
static void test_import(void)
{
	void *queue = new_queue(own.context, own.native, QUEUE_IN_ORDER);
	void *second = new_queue(own.context, own.native, QUEUE_IN_ORDER);
	void *gate = new_event(), *mark = NULL, *native = NULL;
	void *event = NULL, *user = NULL, *after = NULL;

	if (cl.clEnqueueMarkerWithWaitList(queue, 1, &gate, &mark) ||
	    gpu->event_create(own.device, &after) != GPUMEM_OK)
		bail("a marker and an event");
	is_status(gpu->event_import(own.device, mark, &event), GPUMEM_OK,
		  "the program's event");
	is_status(gpu->event_native(own.device, event, &native), GPUMEM_OK,
		  "and back");
	is_ptr(native, mark, "is the same");
	cl.clReleaseEvent(mark);
	is_status(gpu->event_import(own.device, gate, &user), GPUMEM_OK,
		  "a user event");
	is_status(gpu->event_query(own.device, event), GPUMEM_NOT_READY,
		  "neither is over");
	is_status(gpu->event_query(own.device, user), GPUMEM_NOT_READY,
		  "neither is over");
	is_status(gpu->stream_wait(own.device, second, event), GPUMEM_OK,
		  "another queue waits");
	is_status(gpu->event_record(own.device, after, second), GPUMEM_OK,
		  "record");
	is_status(gpu->event_query(own.device, after), GPUMEM_NOT_READY,
		  "so it is not over");
	end_event(gate, 0);
	is_status(gpu->event_sync(own.device, after), GPUMEM_OK, "wait");
	is_status(gpu->event_query(own.device, event), GPUMEM_OK, "over");
	is_status(gpu->event_query(own.device, user), GPUMEM_OK, "over");
	is_status(gpu->event_destroy(own.device, event), GPUMEM_OK, "gone");
	is_status(gpu->event_destroy(own.device, user), GPUMEM_OK, "gone");
	is_status(gpu->event_destroy(own.device, after), GPUMEM_OK, "gone");
	cl.clReleaseCommandQueue(second);
	cl.clReleaseCommandQueue(queue);
}

static void test_import_foreign(void)
{
	void *context = new_context(own.native), *event = NULL, *theirs;
	int error = 0;

	theirs = cl.clCreateUserEvent(context, &error);
	is_status(gpu->event_import(own.device, theirs, &event), GPUMEM_INVALID,
		  "an event of another context");
	says("another context");
	is_ptr(event, NULL, "no output is touched");
	end_event(theirs, 0);
	cl.clReleaseContext(context);
}

/* Each slot that takes a stream, of a context that is not the device's. */
static void refuses(void *queue, const char *part)
{
	void *event = NULL;
	char host[16];

	if (gpu->event_create(own.device, &event) != GPUMEM_OK)
		bail("%s", said.text);
	said.text[0] = '\0';
	is_status(gpu->stream_sync(own.device, queue), GPUMEM_INVALID, "sync");
	says(part);
	is_status(gpu->stream_query(own.device, queue), GPUMEM_INVALID,
		  "query");
	is_status(gpu->stream_wait(own.device, queue, event), GPUMEM_INVALID,
		  "wait");
	is_status(gpu->stream_destroy(own.device, queue), GPUMEM_INVALID,
		  "destroy");
	is_status(gpu->event_record(own.device, event, queue), GPUMEM_INVALID,
		  "record");
	is_status(gpu->fill(own.device, own.block, 1, 16, queue),
		  GPUMEM_INVALID, "fill");
	is_status(gpu->copy(own.device, (uint64_t)(uintptr_t)host, own.block,
			    16, queue),
		  GPUMEM_INVALID, "copy");
	is_status(gpu->event_destroy(own.device, event), GPUMEM_OK, "event");
}

static void test_foreign(void)
{
	void *context = new_context(own.native);
	void *queue = new_queue(context, own.native, QUEUE_IN_ORDER);
	void *second = native_device(1);
	void *elsewhere = new_context(second);
	void *other = new_queue(elsewhere, second, QUEUE_IN_ORDER);

	diag("a queue of another context");
	refuses(queue, "another context");
	diag("a queue of another device");
	refuses(other, "another device");
	is_int(cl.clFinish(queue), 0, "both are untouched");
	is_int(cl.clReleaseCommandQueue(other), 0, "and the program's");
	cl.clReleaseCommandQueue(queue);
	cl.clReleaseContext(elsewhere);
	cl.clReleaseContext(context);
}

/* The backend has a reference of its own. */
static void test_outlives(void)
{
	cl.clReleaseContext(own.context);
	is_status(gpu->fill(own.device, own.block, 1, MIB, NULL), GPUMEM_OK,
		  "the program's reference is gone, the context is not");
	is_status(gpu->stream_sync(own.device, NULL), GPUMEM_OK, "wait");
	is_status(gpu->free(own.device, own.block, MIB), GPUMEM_OK, "free");
	gpu->device_close(own.device);
}

int main(void)
{
	opencl_start();
	memory_option = "buffer";
	adopt();
	test_record(QUEUE_IN_ORDER);
	test_record(QUEUE_OUT_OF_ORDER);
	test_fill(QUEUE_IN_ORDER);
	test_fill(QUEUE_OUT_OF_ORDER);
	test_wait(QUEUE_IN_ORDER);
	test_wait(QUEUE_OUT_OF_ORDER);
	test_barrier();
	test_failure();
	test_import();
	test_import_foreign();
	test_foreign();
	test_outlives();
	return done_testing();
}
