/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What option `stream_waste` does: rather than that more is wasted, a stream
 * gets what another has freed, and waits for the work on it. Without a limit,
 * so there is no need.
 */
#include "held.h"

static bool vm;

static void begin(const char *stream_waste)
{
	must(gpumem_option_set("stream_waste", stream_waste));
	must(gpumem_option_set("waste", "0"));
	must(gpumem_option_set("waste_max", "0"));
	must(gpumem_option_set("segment_waste", "0"));
	held_begin();
}

static void end(void)
{
	held_end();
	must(gpumem_option_set("stream_waste", NULL));
	must(gpumem_option_set("waste", NULL));
	must(gpumem_option_set("waste_max", NULL));
	must(gpumem_option_set("segment_waste", NULL));
}

static void *grows(size_t bytes, const char *what)
{
	uint64_t before = reserved();
	void *ptr = new_block(pool, bytes, b);

	ok(reserved() > before, "%s", what);
	return ptr;
}

static void *reuses(size_t bytes, const char *what)
{
	uint64_t before = reserved();
	void *ptr = new_block(pool, bytes, b);

	is_uint(reserved(), before, "%s", what);
	return ptr;
}

static void test_block(void)
{
	begin("10%");
	is_behind(reuses(PART, "a block of the other stream"), PART, "a block");
	end();
	if (!vm)
		return;
	begin("10%");
	is_behind(reuses(1000, "a small one"), 1000, "a small block");
	end();
}

/* 12 MiB have been in use, and are reserved: with 4 more they are 16, a third
 * more. */
static void test_waste(void)
{
	begin("34%");
	must(gpumem_free(grows(PART, "below it the pool grows"), b));
	end();
	begin("33%");
	is_behind(reuses(PART, "above it does not"), PART, "above");
	end();
	begin("1000%");
	must(gpumem_free(grows(PART, "as far as the option says"), b));
	end();
}

/* Two parts that are not side by side give their pages. */
static void test_pages(void)
{
	unsigned char *ptr;

	begin("10%");
	is_behind(reuses(2 * PART, "pages of the other stream"), 2 * PART,
		  "pages");
	end();
	begin("10%");
	must(gpumem_host_faults("stream_wait@1+"));
	must(gpumem_free(grows(2 * PART, "if not: new ones"), b));
	must(gpumem_host_faults(NULL));
	end();
	begin("10%");
	must(gpumem_host_faults("map@1"));
	ptr = new_block(pool, 2 * PART, b);
	must(gpumem_host_faults(NULL));
	is_behind(ptr, 2 * PART, "after a map that failed");
	end();
}

static void grows_with(uint32_t flags, const char *what)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	static const size_t bytes[] = {PART, 2 * PART};
	uint64_t before;
	void *ptr;

	options.flags = flags;
	for (int i = 0; i < 2; i++) {
		before = reserved();
		must(gpumem_alloc_with(pool, bytes[i], b, &options, &ptr,
				       NULL));
		ok(reserved() > before, "%s", what);
		fill(ptr, NEW, bytes[i], b);
		must(gpumem_free(ptr, b));
		must(gpumem_stream_sync(device, b));
		must(gpumem_pool_trim(pool, 0, NULL));
	}
}

static void test_not(void)
{
	must(gpumem_option_set("wait", "off"));
	begin("10%");
	grows_with(0, "not without option wait");
	end();
	must(gpumem_option_set("wait", NULL));
	begin("10%");
	grows_with(GPUMEM_ALLOC_NO_WAIT, "nor with NO_WAIT");
	end();
	begin("10%");
	must(gpumem_host_capture(0, b, true));
	must(gpumem_free(grows(PART, "nor for a stream that is captured"), b));
	must(gpumem_host_capture(0, b, false));
	end();
	begin("10%");
	must(gpumem_host_capture(0, a, true));
	must(gpumem_free(grows(2 * PART, "nor pages of one"), b));
	must(gpumem_free(grows(3 * PART, "which are not over"), b));
	must(gpumem_host_capture(0, a, false));
	end();
	begin("10%");
	must(gpumem_host_capture(0, a, true));
	must(gpumem_free(grows(PART, "nor a block"), b));
	must(gpumem_host_capture(0, a, false));
	end();
}

static void test_graph(void)
{
	gpumem_graph *graph = NULL;
	void *ptr;

	begin("10%");
	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, b));
	ptr = grows(PART, "nor for a graph");
	must(gpumem_free(ptr, b));
	must(gpumem_graph_end(graph, b));
	must(gpumem_graph_destroy(graph, b));
	end();
}

/* Then it is as if the option said nothing. */
static void test_faults(void)
{
	static const char *const fault[] = {"stream_wait@1+",
					    "event_record@1+"};

	for (int i = 0; i < 2; i++) {
		begin("10%");
		must(gpumem_host_faults(fault[i]));
		must(gpumem_free(grows(PART, fault[i]), b));
		must(gpumem_host_faults(NULL));
		end();
	}
}

/* What a stream has waited for it comes after for good; what is freed later it
 * does not. */
static void test_follows(void)
{
	unsigned char *ptr[2];

	begin("10%");
	ptr[0] = reuses(PART, "it waits once");
	must(gpumem_host_faults("stream_wait@1+"));
	ptr[1] = reuses(PART, "and has the rest without another wait");
	fill(ptr[0], NEW, PART, b);
	fill(kept, OLD + 1, PART, a);
	must(gpumem_free(kept, a));
	must(gpumem_free(grows(PART, "but not what is freed later"), b));
	must(gpumem_host_faults(NULL));
	is_behind(ptr[1], PART, "the second");
	ok(holds(ptr[0], NEW, PART), "and the first");
	must(gpumem_free(ptr[0], b));
	kept = new_block(pool, PART, a);
	fill(kept, OLD, PART, a);
	end();
}

/* A stream comes after so many others at most, and forgets none of them before
 * its work is over. */
static void test_many(void)
{
	enum { MANY = 40 };
	gpumem_stream stream[MANY];
	unsigned char *ptr[MANY];
	bool right = true;
	uint64_t before;

	begin("0");
	for (int i = 0; i < MANY; i++) {
		stream[i] = new_stream();
		must(gpumem_host_hold(0, stream[i], true));
		ptr[i] = new_block(pool, PART, stream[i]);
	}
	for (int i = 0; i < MANY; i++) {
		fill(ptr[i], OLD, PART, stream[i]);
		must(gpumem_free(ptr[i], stream[i]));
	}
	before = reserved();
	for (int i = 0; i < MANY; i++) {
		ptr[i] = new_block(pool, PART, b);
		fill(ptr[i], NEW, PART, b);
	}
	ok(reserved() < before + MANY / 2 * PART, "most of it serves");
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(device, b));
	for (int i = 0; i < MANY; i++)
		must(gpumem_stream_sync(device, stream[i]));
	for (int i = 0; i < MANY; i++) {
		right &= holds(ptr[i], NEW, PART);
		must(gpumem_free(ptr[i], b));
		must(gpumem_stream_destroy(device, stream[i]));
	}
	ok(right, "behind the work of all of them");
	end();
}

int main(void)
{
	open_device(60);
	vm = has_vm();
	test_block();
	if (vm) {
		test_waste();
		test_pages();
	} else {
		skip("segments have no pages", 1);
	}
	test_not();
	test_graph();
	test_faults();
	test_follows();
	test_many();
	must(gpumem_device_close(device));
	return done_testing();
}
