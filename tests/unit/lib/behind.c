/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Free memory of another stream behind its work: a stream gets it, and waits
 * for that work itself, before the host waits for anything. The streams are
 * held: no work on them is over unless somebody waits for it.
 */
#include "system.h"

enum { OLD = 0x11, NEW = 0x22, PART = 4 * MIB };

static gpumem_pool *pool;
static gpumem_stream a, b;
static unsigned char *kept, *freed[2];

static void fill(void *ptr, int value, size_t bytes, gpumem_stream stream)
{
	must(gpumem_fill(device, ptr, (uint8_t)value, bytes, stream));
}

static bool holds(const unsigned char *ptr, int value, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && ptr[i] == value)
		i++;
	return i == bytes;
}

static uint64_t waits(void)
{
	return calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count;
}

/* Stream A is going to write two blocks that it has freed, with a live one
 * between them; the pool has no other memory and may get none. */
static void begin(const char *wait)
{
	unsigned char *block_of[3];

	must(gpumem_option_set("wait", wait));
	pool = new_pool("behind", 0);
	a = new_stream();
	b = new_stream();
	must(gpumem_host_hold(0, a, true));
	must(gpumem_host_hold(0, b, true));
	for (int i = 0; i < 3; i++)
		block_of[i] = block(pool, PART, a);
	freed[0] = block_of[0];
	kept = block_of[1];
	freed[1] = block_of[2];
	must(gpumem_pool_set_limit(pool, 0, stats_of(pool).reserved.current));
	fill(freed[0], OLD, PART, a);
	fill(freed[1], OLD, PART, a);
	must(gpumem_free(freed[0], a));
	must(gpumem_free(freed[1], a));
}

/* A may be gone. */
static void end(void)
{
	must(gpumem_pool_check(pool));
	if (a)
		must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	must(gpumem_free_own(kept));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).reserved.current, 0,
		"when all is over, all goes back");
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	is_uint(gpumem_host_capture_violations(), 0, "nothing disturbed");
	must(gpumem_option_set("wait", NULL));
}

/* What B writes there comes after what A writes. */
static void is_behind(unsigned char *ptr, size_t bytes, const char *what)
{
	fill(ptr, NEW, bytes, b);
	is_uint(waits(), 0, "%s: the host waits for nothing", what);
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, b));
	ok(holds(ptr, NEW, bytes), "and what the stream writes stays");
	must(gpumem_stream_sync(device, a));
	ok(holds(ptr, NEW, bytes), "whatever the other does");
	must(gpumem_free(ptr, b));
}

static void test_fits(void)
{
	begin("on");
	is_behind(block(pool, PART, b), PART, "a block");
	end();
	begin("on");
	is_behind(block(pool, 1000, b), 1000, "a small one");
	end();
}

/* A stream that is gone has left an event. */
static void test_dropped(void)
{
	unsigned char *ptr;

	begin("on");
	must(gpumem_pool_drop_stream(pool, a));
	ptr = block(pool, PART, b);
	is_behind(ptr, PART, "of a dropped stream");
	end();
}

/* Two parts that are not side by side give their pages. */
static void test_pages(void)
{
	unsigned char *ptr;

	begin("on");
	ptr = block(pool, 2 * PART, b);
	is_behind(ptr, 2 * PART, "pages");
	end();
}

/* It goes on as before, for its own stream and others. */
static void test_chain(void)
{
	unsigned char *ptr;

	begin("on");
	ptr = block(pool, PART, b);
	fill(ptr, NEW, PART, b);
	must(gpumem_free(ptr, b));
	is_status(gpumem_pool_trim(pool, 0, NULL), GPUMEM_OK,
		  "a trim leaves it alone");
	ptr = block(pool, PART, a);
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
	must(gpumem_host_capture(0, b, true));
	refused(0, "nor for a stream that is being captured");
	must(gpumem_host_capture(0, b, false));
	must(gpumem_host_capture(0, a, true));
	refused(0, "nor from one");
	must(gpumem_host_capture(0, a, false));
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
		ptr = block(pool, PART, b);
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
	gpumem_pool *probe;
	bool vm;

	open_device(60);
	probe = new_pool("probe", 0);
	vm = has_vm(probe);
	must(gpumem_pool_destroy(probe, 0));
	test_fits();
	test_dropped();
	if (vm)
		test_pages();
	else
		skip("segments have no pages", 6);
	test_chain();
	test_refused();
	test_faults();
	must(gpumem_device_close(device));
	return done_testing();
}
