/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Held streams: nothing is done but by who steps or waits, in the order that it
 * was queued in, and by the stream's own thread once it is let go.
 */
#include "fake.h"

static unsigned done[4];
static pthread_t doer;

static void count_done(void *arg)
{
	++*(unsigned *)arg;
	doer = pthread_self();
}

static gpumem_stream held_stream(void *device)
{
	gpumem_stream stream = new_stream(device);

	if (gpumem_host_hold(0, stream, true) != GPUMEM_OK)
		bail("gpumem_host_hold: %s", fake_error.text);
	return stream;
}

static void step(gpumem_stream stream, uint64_t number)
{
	is_status(gpumem_host_step(0, stream, number), GPUMEM_OK,
		  "step to %llu", (unsigned long long)number);
}

static void end(void *device, gpumem_stream stream)
{
	is_status(host->stream_destroy(device, stream), GPUMEM_OK, "destroy");
}

static void test_step(void *device)
{
	gpumem_stream stream = held_stream(device);
	void *event = new_event(device);
	uint64_t first = gpumem_host_queued(0, stream);

	done[0] = 0;
	for (int i = 0; i < 5; i++) {
		must_launch(0, stream, count_done, &done[0]);
		if (i == 2)
			(void)!host->event_record(device, event, stream);
	}
	is_uint(gpumem_host_queued(0, stream), first + 5, "five are queued");
	is_status(host->stream_query(device, stream), GPUMEM_NOT_READY, "busy");
	step(stream, first);
	is_uint(done[0], 0, "nothing is done");
	step(stream, first + 2);
	is_uint(done[0], 2, "two are done");
	ok(pthread_equal(doer, pthread_self()), "by this thread");
	is_status(host->event_query(device, event), GPUMEM_NOT_READY,
		  "the third is not over");
	step(stream, first + 3);
	is_status(host->event_query(device, event), GPUMEM_OK, "now it is");
	step(stream, first + 2);
	is_uint(done[0], 3, "nothing is done twice");
	step(stream, UINT64_MAX);
	is_uint(done[0], 5, "all are done");
	is_status(host->stream_query(device, stream), GPUMEM_OK, "idle");
	(void)!host->event_destroy(device, event);
	end(device, stream);
}

/* A wait for an event does what comes before it, also on other streams. */
static void test_wait(void *device)
{
	gpumem_stream a = held_stream(device), b = held_stream(device);
	void *event = new_event(device);

	done[0] = done[1] = 0;
	must_launch(0, a, count_done, &done[0]);
	(void)!host->event_record(device, event, a);
	must_launch(0, a, count_done, &done[0]);
	is_status(host->stream_wait(device, b, event), GPUMEM_OK, "b waits");
	must_launch(0, b, count_done, &done[1]);
	(void)!host->event_record(device, event, b);
	is_status(host->event_sync(device, event), GPUMEM_OK, "wait for b");
	is_uint(done[1], 1, "b's work is done");
	is_uint(done[0], 1, "and of a's what b waits for");
	is_status(host->stream_sync(device, a), GPUMEM_OK, "wait for a");
	is_uint(done[0], 2, "all of a's");
	(void)!host->event_destroy(device, event);
	end(device, a);
	end(device, b);
}

static void test_go_on(void *device)
{
	gpumem_stream stream = held_stream(device);

	done[0] = 0;
	must_launch(0, stream, count_done, &done[0]);
	is_status(gpumem_host_hold(0, stream, false), GPUMEM_OK, "let go");
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	is_uint(done[0], 1, "its work is done");
	ok(!pthread_equal(doer, pthread_self()), "by its own thread");
	end(device, stream);
}

/* A wait that ends at a time does a held stream's work, too; what another
 * thread is at it leaves in the end. */
static void test_wait_until(void *device)
{
	gpumem_stream held = held_stream(device), stream = new_stream(device);
	void *event = new_event(device);
	struct door door = DOOR;

	is_status(host->event_wait(device, event, 0), GPUMEM_OK,
		  "an event that was never recorded is over");
	done[0] = 0;
	must_launch(0, held, count_done, &done[0]);
	(void)!host->event_record(device, event, held);
	is_status(host->event_wait(device, event, 1000), GPUMEM_OK, "wait");
	is_uint(done[0], 1, "the work is done");
	must_launch(0, stream, door_kernel, &door);
	door_await(&door);
	(void)!host->event_record(device, event, stream);
	is_status(host->event_wait(device, event, 0), GPUMEM_NOT_READY,
		  "it is not over at once");
	is_status(host->event_wait(device, event, 2 * 1000 * 1000),
		  GPUMEM_NOT_READY, "nor after 2 ms");
	door_open(&door);
	is_status(host->event_wait(device, event, UINT64_MAX / 2), GPUMEM_OK,
		  "but in time");
	(void)!host->event_destroy(device, event);
	is_status(host->event_wait(device, event, 0), GPUMEM_INVALID,
		  "a destroyed one is none");
	end(device, held);
	end(device, stream);
}

static void *sync_it(void *stream)
{
	return (void *)(uintptr_t)gpumem_host_step(0, stream, UINT64_MAX);
}

/* Work that runs when the stream is held ends in its own thread, and the next
 * is not begun before. */
static void test_running(void *device)
{
	gpumem_stream stream = new_stream(device);
	struct door door = DOOR;
	pthread_t thread;

	done[0] = 0;
	must_launch(0, stream, door_kernel, &door);
	door_await(&door);
	must_launch(0, stream, count_done, &done[0]);
	is_status(gpumem_host_hold(0, stream, true), GPUMEM_OK, "held");
	if (pthread_create(&thread, NULL, sync_it, stream))
		bail("no thread");
	door_open(&door);
	pthread_join(thread, NULL);
	is_uint(done[0], 1, "the next was done");
	ok(pthread_equal(doer, thread), "by who stepped");
	end(device, stream);
}

/* Work that another thread does when the stream is let go: the stream's own
 * thread, which cannot begin the next meanwhile, does it afterwards. */
static void test_let_go(void *device)
{
	gpumem_stream stream = new_stream(device);
	struct door door = DOOR;
	pthread_t thread;

	/* Its thread is there and sleeps. */
	must_launch(0, stream, count_done, &done[0]);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	is_status(gpumem_host_hold(0, stream, true), GPUMEM_OK, "held");
	done[0] = 0;
	must_launch(0, stream, door_kernel, &door);
	must_launch(0, stream, count_done, &done[0]);
	if (pthread_create(&thread, NULL, sync_it, stream))
		bail("no thread");
	door_await(&door);
	is_status(gpumem_host_hold(0, stream, false), GPUMEM_OK, "let go");
	/* Long enough for its thread to wake and sleep again, mostly. */
	usleep(20000);
	door_open(&door);
	pthread_join(thread, NULL);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	is_uint(done[0], 1, "the next was done");
	end(device, stream);
}

static void test_end(void *device)
{
	gpumem_stream stream = held_stream(device);

	done[0] = 0;
	must_launch(0, stream, count_done, &done[0]);
	must_launch(0, stream, count_done, &done[0]);
	end(device, stream);
	is_uint(done[0], 2, "its end does what is queued");
	stream = new_stream(device);
	must_launch(0, stream, count_done, &done[0]);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	ok(!pthread_equal(doer, pthread_self()), "the next is not held");
	end(device, stream);
	is_status(gpumem_host_hold(0, stream, true), GPUMEM_INVALID,
		  "a stream that is gone");
	is_status(gpumem_host_step(0, stream, 1), GPUMEM_INVALID, "the same");
	is_uint(gpumem_host_queued(0, stream), 0, "has nothing");
}

enum { THREADS = 4, WORKS = 2000 };

static void *work(void *stream)
{
	for (unsigned i = 0; i < WORKS; i++) {
		must_launch(0, stream, count_done, &done[0]);
		if (i % 3 == 0 && gpumem_host_step(0, stream, i) != GPUMEM_OK)
			bail("gpumem_host_step: %s", fake_error.text);
		if (i % 100 == 0)
			(void)!gpumem_host_hold(0, stream, i % 200 == 0);
	}
	return NULL;
}

/* Works of one stream never overlap: the counter needs no lock. */
static void test_threads(void *device)
{
	gpumem_stream stream = held_stream(device);
	pthread_t thread[THREADS];

	done[0] = 0;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, stream))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	is_uint(done[0], THREADS * WORKS, "each was done once");
	end(device, stream);
}

/* On a lost device nothing runs any more, and nothing waits. */
static void test_lost(void *device)
{
	gpumem_stream stream = held_stream(device);

	done[0] = 0;
	must_launch(0, stream, count_done, &done[0]);
	must_launch(0, stream, count_done, &done[0]);
	(void)!gpumem_host_faults("memory_info@1:lost");
	(void)!host->memory_info(
		device,
		&(struct gpumem_memory){.size = sizeof(struct gpumem_memory)});
	(void)!gpumem_host_faults(NULL);
	is_status(host->stream_sync(device, stream), GPUMEM_LOST, "lost");
	step(stream, UINT64_MAX);
	is_uint(done[0], 0, "nothing ran");
	(void)!host->stream_destroy(device, stream);
}

int main(void)
{
	void *device;

	alarm(120);
	fake_start();
	device = open_device(0);
	test_step(device);
	test_wait(device);
	test_go_on(device);
	test_wait_until(device);
	test_running(device);
	test_let_go(device);
	test_end(device);
	test_threads(device);
	test_lost(device);
	host->device_close(device);
	is_status(gpumem_host_hold(0, NULL, true), GPUMEM_INVALID,
		  "a device that is not open");
	return done_testing();
}
