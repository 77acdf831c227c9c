/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's streams: order, signals, the default stream, and many
 * threads at once that rely on events. Kernels that wait at a door decide what
 * is over when; no clock does.
 */
#include "fake.h"

#include <signal.h>
#include <sys/wait.h>

static void add_digit(void *arg)
{
	static _Atomic int next;
	uint64_t *number = arg;

	*number = *number * 10 + (uint64_t)++next % 10;
}

static void test_order(void *device)
{
	gpumem_stream stream = new_stream(device);
	uint64_t number = 0;
	uint8_t bytes[64] = {0}, copy[64] = {0};
	struct door door = DOOR;

	must_launch(0, stream, door_kernel, &door);
	for (int i = 0; i < 5; i++)
		must_launch(0, stream, add_digit, &number);
	is_status(host->fill(device, (uintptr_t)bytes, 5, 64, stream),
		  GPUMEM_OK, "fill");
	is_status(host->copy(device, (uintptr_t)copy, (uintptr_t)bytes, 64,
			     stream),
		  GPUMEM_OK, "copy");
	is_status(host->fill(device, (uintptr_t)bytes, 9, 64, stream),
		  GPUMEM_OK, "fill again");
	door_await(&door);
	ok(number == 0 && bytes[0] == 0, "nothing happens before its turn");
	door_open(&door);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	is_uint(number, 12345, "launches ran in order");
	ok(copy[0] == 5 && copy[63] == 5, "the copy saw the fill before it");
	ok(bytes[0] == 9 && bytes[63] == 9, "and not the one after");
	is_status(host->stream_destroy(device, stream), GPUMEM_OK, "destroy");
}

static void look_at_mask(void *mask)
{
	pthread_sigmask(SIG_BLOCK, NULL, mask);
}

static void test_signals(void *device)
{
	gpumem_stream stream = new_stream(device);
	sigset_t own, before, after;
	bool same = true;

	sigemptyset(&before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	must_launch(0, stream, look_at_mask, &own);
	is_status(host->stream_sync(device, stream), GPUMEM_OK, "sync");
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	ok(sigismember(&own, SIGTERM) && sigismember(&own, SIGALRM) &&
		   sigismember(&own, SIGCHLD),
	   "a stream's thread takes no signals");
	ok(!sigismember(&own, SIGSEGV) && !sigismember(&own, SIGBUS),
	   "but its own faults");
	for (int i = 1; i < 32; i++)
		same = same &&
		       sigismember(&before, i) == sigismember(&after, i);
	ok(same, "the caller's mask is as it was");
	(void)!host->stream_destroy(device, stream);
}

struct suicide {
	void *device;
	gpumem_stream stream;
	gpumem_status status;
};

static void destroy_own_stream(void *arg)
{
	struct suicide *suicide = arg;

	suicide->status =
		host->stream_destroy(suicide->device, suicide->stream);
}

static void test_suicide(void *device)
{
	struct suicide suicide = {device, new_stream(device), GPUMEM_OK};

	must_launch(0, suicide.stream, destroy_own_stream, &suicide);
	is_status(host->stream_sync(device, suicide.stream), GPUMEM_OK, "sync");
	is_status(suicide.status, GPUMEM_INVALID,
		  "a stream's kernel cannot destroy the stream");
	is_status(host->stream_destroy(device, suicide.stream), GPUMEM_OK,
		  "others can");
}

static void test_default(void *device)
{
	void *event = new_event(device);
	struct door door = DOOR;

	must_launch(0, NULL, door_kernel, &door);
	(void)!host->event_record(device, event, NULL);
	is_status(host->event_query(device, event), GPUMEM_NOT_READY,
		  "the default stream is a queue too");
	door_open(&door);
	is_status(host->event_sync(device, event), GPUMEM_OK, "event_sync");
	is_status(host->stream_destroy(device, NULL), GPUMEM_INVALID,
		  "it cannot be destroyed");
	(void)!host->event_destroy(device, event);
}

/* ---- Threads ----------------------------------------------------------- */

#define THREADS 4

static struct {
	void *device;
	gpumem_stream shared;
	_Atomic unsigned long launched, ran, wrong;
	long rounds;
} stress;

/* Set by one stream, seen by another, ordered by nothing but an event. */
struct note {
	bool written;
};

static void write_note(void *arg)
{
	((struct note *)arg)->written = true;
}

static void read_note(void *arg)
{
	if (!((struct note *)arg)->written)
		atomic_fetch_add(&stress.wrong, 1);
	free(arg);
	atomic_fetch_add(&stress.ran, 1);
}

/* Plain memory, ordered only by events: a race here is one of the backend. */
static void bump(void *arg)
{
	++*(unsigned long *)arg;
}

static void stress_round(void *event, unsigned long *plain)
{
	gpumem_stream own = new_stream(stress.device);
	struct note *note = calloc(1, sizeof(*note));
	unsigned long before = *plain;

	must_launch(0, own, bump, plain);
	must_launch(0, own, write_note, note);
	(void)!host->event_record(stress.device, event, own);
	(void)!host->stream_wait(stress.device, stress.shared, event);
	must_launch(0, stress.shared, read_note, note);
	must_launch(0, own, bump, plain);
	while (host->event_query(stress.device, event) == GPUMEM_NOT_READY)
		sched_yield();
	(void)!host->event_record(stress.device, event, own);
	if (host->event_sync(stress.device, event) != GPUMEM_OK ||
	    *plain != before + 2)
		atomic_fetch_add(&stress.wrong, 1);
	must_launch(0, own, bump, plain);
	atomic_fetch_add(&stress.launched, 1);
	if (host->stream_destroy(stress.device, own) != GPUMEM_OK ||
	    *plain != before + 3)
		atomic_fetch_add(&stress.wrong, 1);
}

static void *stress_thread(void *arg)
{
	unsigned long plain = 0;

	(void)arg;
	for (long i = 0; i < stress.rounds; i++) {
		void *event = new_event(stress.device);

		stress_round(event, &plain);
		if (host->event_destroy(stress.device, event) != GPUMEM_OK)
			atomic_fetch_add(&stress.wrong, 1);
	}
	return NULL;
}

static void test_threads(void *device)
{
	pthread_t threads[THREADS];

	stress.device = device;
	stress.shared = new_stream(device);
	stress.rounds = scaled(2000, 200);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, stress_thread, NULL))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_status(host->stream_sync(device, stress.shared), GPUMEM_OK, "sync");
	is_uint(stress.wrong, 0, "events order memory between threads");
	is_uint(stress.ran, stress.launched, "every launch ran once");
	is_uint(stress.ran, (uintmax_t)(THREADS * stress.rounds),
		"all of them");
	(void)!host->stream_destroy(device, stress.shared);
}

/* A child that does nothing ends, whatever the threads were doing. */
static void test_fork(void *device)
{
	struct door door = DOOR;
	int state = -1;
	pid_t child;

	must_launch(0, NULL, door_kernel, &door);
	door_await(&door);
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, &state, 0);
	is_int(state, 0, "a forked child that does nothing ends well");
	door_open(&door);
	is_status(host->stream_sync(device, NULL), GPUMEM_OK, "so its parent");
}

int main(void)
{
	void *device;

	fake_start();
	device = open_device(0);
	test_order(device);
	test_signals(device);
	test_suicide(device);
	test_default(device);
	test_threads(device);
	test_fork(device);
	new_stream(device); /* closing takes what was left */
	new_event(device);
	host->device_close(device);
	return done_testing();
}
