/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Free memory of another stream behind its work: a stream gets it, and waits
 * for that work itself, before the host waits for anything.
 */
#include "held.h"

/* The pool has no other memory and may get none. */
static void begin(const char *wait)
{
	must(gpumem_option_set("wait", wait));
	held_begin();
	must(gpumem_pool_set_limit(pool, reserved()));
}

static void end(void)
{
	held_end();
	must(gpumem_option_set("wait", NULL));
}

static void test_fits(void)
{
	begin("on");
	is_behind(new_block(pool, PART, b), PART, "a block");
	end();
	begin("on");
	is_behind(new_block(pool, 1000, b), 1000, "a small one");
	end();
}

/* A stream that is gone has left an event. */
static void test_dropped(void)
{
	unsigned char *ptr;

	begin("on");
	must(gpumem_pool_drop_stream(pool, a));
	ptr = new_block(pool, PART, b);
	is_behind(ptr, PART, "of a dropped stream");
	end();
}

/* Two parts that are not side by side give their pages. */
static void test_pages(void)
{
	unsigned char *ptr;

	begin("on");
	ptr = new_block(pool, 2 * PART, b);
	is_behind(ptr, 2 * PART, "pages");
	end();
}

/* It goes on as before, for its own stream and others. */
static void test_chain(void)
{
	unsigned char *ptr;

	begin("on");
	ptr = new_block(pool, PART, b);
	fill(ptr, NEW, PART, b);
	must(gpumem_free(ptr, b));
	is_status(gpumem_pool_trim(pool, 0, NULL), GPUMEM_OK,
		  "a trim leaves it alone");
	ptr = new_block(pool, PART, a);
	fill(ptr, OLD, PART, a);
	fill(ptr, OLD + 1, PART, a);
	must(gpumem_stream_sync(device, a));
	must(gpumem_stream_sync(device, b));
	ok(holds(ptr, OLD + 1, PART), "and it can come back");
	must(gpumem_free(ptr, a));
	end();
}

static void refused(uint32_t flags, const char *what)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	void *ptr = NULL;

	options.flags = flags;
	is_status(gpumem_alloc_with(pool, PART, b, &options, &ptr, NULL),
		  GPUMEM_LIMIT, "%s", what);
}

static void test_refused(void)
{
	begin("off");
	refused(0, "not without option wait");
	end();
	begin("on");
	refused(GPUMEM_ALLOC_NO_WAIT, "nor with NO_WAIT");
	end();
}

static void test_captured(void)
{
	begin("on");
	must(gpumem_host_capture(0, b, true));
	refused(0, "nor for a stream that is being captured");
	must(gpumem_host_capture(0, b, false));
	must(gpumem_host_capture(0, a, true));
	refused(0, "nor from one");
	must(gpumem_host_capture(0, a, false));
	end();
}

/* Of work that was queued before the capture, on whichever stream, the host
 * waits for the event. */
static void test_captured_waits(bool receiver)
{
	unsigned char *ptr;

	begin("on");
	must(gpumem_host_capture(0, receiver ? b : a, true));
	ptr = new_block(pool, PART, b);
	ok(calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count > 0,
	   "the host waits, not a stream");
	must(gpumem_host_capture(0, receiver ? b : a, false));
	must(gpumem_free(ptr, b));
	end();
}

/* Then the host waits. */
static void test_faults(void)
{
	static const char *const fault[] = {"stream_wait@1+", "event_record@1"};
	unsigned char *ptr;

	for (int i = 0; i < 2; i++) {
		begin("on");
		must(gpumem_host_faults(fault[i]));
		ptr = new_block(pool, PART, b);
		must(gpumem_host_faults(NULL));
		fill(ptr, NEW, PART, b);
		must(gpumem_stream_sync(device, b));
		must(gpumem_stream_sync(device, a));
		ok(holds(ptr, NEW, PART), "%s: the work is over", fault[i]);
		must(gpumem_free(ptr, b));
		end();
	}
}

int main(void)
{
	open_device(60);
	test_fits();
	test_dropped();
	if (has_vm())
		test_pages();
	else
		skip("segments have no pages", 6);
	test_chain();
	test_refused();
	test_faults();
	test_captured_waits(true);
	test_captured_waits(false);
	must(gpumem_device_close(device));
	must(gpumem_option_set("host.capture_frees", "off"));
	open_device(60);
	test_captured();
	must(gpumem_device_close(device));
	return done_testing();
}
