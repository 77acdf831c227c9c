/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Freed blocks that another stream still uses, for a stream that is made to
 * wait for that use: their own, the one that uses them, and a third; in need,
 * and rather than that more is wasted. The streams are held: no work on them is
 * over unless somebody waits for it.
 */
#include "held.h"

/* With one more a pool that has three has grown by more than a little. */
enum { SIZE = 24 * MIB };

static gpumem_stream c;

struct scene {
	const char *wait, *stream_waste;
	bool limited; /* the pool may not grow */
};

static const struct scene in_need = {.stream_waste = "1000%", .limited = true},
			  to_waste_less = {.stream_waste = "10%"};

static gpumem_event *event;

static void free_used(unsigned char *ptr)
{
	must(gpumem_use_on(ptr, b));
	must(gpumem_free(ptr, a));
}

static void free_after(unsigned char *ptr)
{
	must(gpumem_free_after(ptr, event));
}

static void begin_pool(const struct scene *scene)
{
	must(gpumem_option_set("wait", scene->wait));
	must(gpumem_option_set("stream_waste", scene->stream_waste));
	must(gpumem_option_set("waste", "0"));
	must(gpumem_option_set("waste_max", "0"));
	must(gpumem_option_set("segment_waste", "0"));
	pool = new_pool(0);
	a = new_stream();
	b = new_stream();
	c = new_stream();
	must(gpumem_host_hold(0, a, true));
	must(gpumem_host_hold(0, b, true));
	must(gpumem_host_hold(0, c, true));
	must(gpumem_event_create(device, &event));
}

/* Three blocks of A side by side, which B is going to write; the first and the
 * last are freed. */
static void begin(const struct scene *scene, void (*end)(unsigned char *ptr))
{
	unsigned char *ptr[3];

	begin_pool(scene);
	for (int i = 0; i < 3; i++)
		ptr[i] = new_block(pool, SIZE, a);
	for (int i = 0; i < 3; i++)
		fill(ptr[i], OLD - 1, SIZE, a);
	for (int i = 0; i < 3; i++)
		fill(ptr[i], OLD, SIZE, b);
	must(gpumem_event_record(event, b));
	end(ptr[0]);
	kept = ptr[1];
	end(ptr[2]);
	if (scene->limited)
		must(gpumem_pool_set_limit(pool, reserved()));
	is_uint(stats_of(pool).pending_bytes, 2 * SIZE, "two are pending");
}

static void finish(void)
{
	must(gpumem_host_faults(NULL));
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, c));
	must(gpumem_event_destroy(event));
	must(gpumem_stream_sync(device, a));
	must(gpumem_stream_sync(device, b));
	must(gpumem_free_own(kept));
	(void)trim_all(pool, (const gpumem_stream[]){a, b, c}, 3);
	is_uint(reserved(), 0, "when all is over, all goes back");
	must(gpumem_stream_destroy(device, a));
	must(gpumem_stream_destroy(device, b));
	must(gpumem_stream_destroy(device, c));
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	is_uint(gpumem_host_capture_violations(), 0, "nothing disturbed");
	must(gpumem_option_set("wait", NULL));
	must(gpumem_option_set("stream_waste", NULL));
	must(gpumem_option_set("waste", NULL));
	must(gpumem_option_set("waste_max", NULL));
	must(gpumem_option_set("segment_waste", NULL));
}

/* The stream gets the memory, and what it writes comes after what A and B
 * write, whoever is waited for first. */
static void gets(gpumem_stream stream, size_t bytes, const char *what)
{
	uint64_t before = reserved();
	unsigned char *ptr = new_block(pool, bytes, stream);

	is_uint(reserved(), before, "%s: the pool does not grow", what);
	is_uint(calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count, 0,
		"and the host waits for nothing");
	fill(ptr, NEW, bytes, stream);
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, stream));
	ok(holds(ptr, NEW, bytes), "what the stream writes stays");
	must(gpumem_stream_sync(device, b));
	must(gpumem_stream_sync(device, a));
	ok(holds(ptr, NEW, bytes), "whatever the others do");
	must(gpumem_free(ptr, stream));
}

static void test_streams(const struct scene *scene,
			 void (*end)(unsigned char *ptr))
{
	begin(scene, end);
	gets(a, SIZE, "the block's own stream");
	finish();
	begin(scene, end);
	gets(b, SIZE, "the one that uses it");
	finish();
	begin(scene, end);
	gets(c, SIZE, "a third one");
	finish();
}

/* Both give their pages. */
static void test_pages(const struct scene *scene)
{
	begin(scene, free_used);
	gets(a, 2 * SIZE, "two that are not side by side");
	finish();
	begin(scene, free_used);
	gets(c, 2 * SIZE, "for a third stream");
	finish();
}

/* The last of what is pending fits; what was freed before that is as much, in
 * two pieces. */
static void test_fits(void)
{
	static const size_t bytes[] = {SIZE / 2, SIZE / 2, SIZE / 2, SIZE};
	unsigned char *ptr[4];

	begin_pool(&to_waste_less);
	for (int i = 0; i < 4; i++)
		ptr[i] = new_block(pool, bytes[i], a);
	for (int i = 0; i < 4; i++)
		fill(ptr[i], OLD, bytes[i], b);
	free_used(ptr[0]);
	kept = ptr[1];
	free_used(ptr[2]);
	free_used(ptr[3]);
	gets(a, SIZE, "the one that fits");
	finish();
}

static void grows(size_t bytes, const char *what)
{
	uint64_t before = reserved();

	must(gpumem_free(new_block(pool, bytes, a), a));
	ok(reserved() > before, "%s: the pool grows", what);
	ok(stats_of(pool).pending_bytes == 2 * SIZE, "and nothing waits");
}

/* Three have been allocated, and are reserved; with one more they are a third
 * more. What is pending is no part of what has been. */
static void test_waste(void)
{
	static const struct scene third = {.stream_waste = "34%"},
				  none = {.stream_waste = "0"};

	begin(&third, free_used);
	grows(SIZE, "below the waste");
	finish();
	begin(&none, free_used);
	grows(SIZE / 2, "by so little");
	finish();
}

/* A stream that is gone has left an event. */
static void test_dropped(void)
{
	begin(&in_need, free_used);
	must(gpumem_pool_drop_stream(pool, a));
	gets(c, SIZE, "of a stream that is gone");
	finish();
	begin(&in_need, free_used);
	must(gpumem_pool_drop_stream(pool, b));
	gets(a, SIZE, "that one which is gone used");
	finish();
}

static void refused(gpumem_stream stream, uint32_t flags, const char *what)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	void *ptr = NULL;

	options.flags = flags;
	is_status(gpumem_alloc_with(pool, SIZE, stream, &options, &ptr, NULL),
		  GPUMEM_LIMIT, "%s", what);
}

static void test_refused(void)
{
	static const struct scene no_wait = {.wait = "off", .limited = true};

	begin(&no_wait, free_used);
	refused(a, 0, "not without option wait");
	finish();
	begin(&in_need, free_used);
	refused(a, GPUMEM_ALLOC_NO_WAIT, "nor with NO_WAIT");
	finish();
}

/* Whatever is captured, or fails: then the host waits, and nothing is early. */
static void host_waits(const char *what)
{
	unsigned char *ptr = new_block(pool, SIZE, a);

	ok(calls_of(pool, GPUMEM_CALL_EVENT_SYNC).count > 0,
	   "%s: the host waits", what);
	must(gpumem_host_faults(NULL));
	ok(holds(ptr, OLD, 1), "for the work of the other stream");
	must(gpumem_free(ptr, a));
}

static void test_host_waits(void)
{
	begin(&in_need, free_used);
	must(gpumem_host_capture(0, a, true));
	host_waits("the stream is being captured");
	must(gpumem_host_capture(0, a, false));
	finish();
	begin(&in_need, free_used);
	must(gpumem_host_faults("stream_wait@1+"));
	host_waits("the driver refuses");
	finish();
}

/* Without events nobody can wait; they are recorded when they can be. */
static void test_unrecorded(void)
{
	must(gpumem_host_faults("event_record@2+"));
	begin(&in_need, free_used);
	refused(a, 0, "what has no event is not waited for");
	finish();
}

int main(void)
{
	open_device(240);
	test_streams(&in_need, free_used);
	test_streams(&in_need, free_after);
	test_streams(&to_waste_less, free_used);
	test_streams(&to_waste_less, free_after);
	if (has_vm()) {
		test_pages(&in_need);
		test_pages(&to_waste_less);
	} else {
		skip("segments have no pages", 20);
	}
	test_fits();
	test_waste();
	test_dropped();
	test_refused();
	test_host_waits();
	test_unrecorded();
	must(gpumem_device_close(device));
	return done_testing();
}
