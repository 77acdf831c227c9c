/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The last part of an out of memory, what to do: each piece of advice in a
 * state that it fits, and never one that cannot help. That of captures is in
 * advice_capture.c, that of views in quarantine.c.
 */
#include "advice.h"

enum { MANY = 256, GIB = 1024 * MIB };

static void *held[MANY];

/* The sentence ends with one advice; `never`, if there is one, is no part of
 * it. */
static void advises(gpumem_pool *pool, size_t bytes, gpumem_status status,
		    const char *advice, const char *never)
{
	void *ptr = NULL;

	is_status(gpumem_alloc(pool, bytes, NULL, &ptr), status,
		  "%zu bytes are refused", bytes);
	ok(strstr(last_text(), advice), "advice: %s", advice);
	if (never)
		ok(!strstr(last_text(), never), "no word of %s", never);
	advises_told();
	if (tap.failed)
		diag("%s", last_text());
}

static gpumem_pool *pool_of_kind(gpumem_kind kind)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.kind = kind;
	must(gpumem_pool_create(device, &config, &pool));
	return pool;
}

static void test_size(void)
{
	gpumem_pool *pool = new_pool(0);
	gpumem_pool *pinned = pool_of_kind(GPUMEM_KIND_PINNED);

	advises(pool, 65 * MIB, GPUMEM_NO_MEMORY, "the device is too small",
		NULL);
	advises(pinned, (size_t)1 << 50, GPUMEM_NO_MEMORY,
		"the machine is too small", "device is");
	must(gpumem_pool_destroy(pinned, 0));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_limit(void)
{
	gpumem_pool *pool = new_pool(9 * MIB);
	void *ptr = new_block(pool, 4 * MIB, NULL);

	advises(pool, 6 * MIB, GPUMEM_LIMIT, "or raise the pool's limit",
		"whole");
	must(gpumem_free(ptr, NULL));
	/* That much is below the limit, but not in pages of 2 MiB. */
	advises(pool, 9 * MIB, GPUMEM_LIMIT,
		"the request takes 10.00 MiB in whole pages, more than the "
		"pool's limit: raise it",
		"free blocks,");
	advises(pool, 20 * MIB, GPUMEM_LIMIT, "takes 20.00 MiB in whole pages",
		"free blocks,");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* Free memory of 12 MiB in 24 places, the rest of 16 MiB is live. */
static gpumem_pool *scattered(size_t bytes)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	size_t count = 16 * MIB / bytes;

	for (size_t i = 0; i < count; i++)
		held[i] = new_block(pool, bytes, NULL);
	for (size_t i = 0; i < count; i++)
		if (i % 4)
			must(gpumem_free(held[i], NULL));
	return pool;
}

static void test_scattered(bool vm, bool has_vm, const char *advice,
			   const char *never)
{
	gpumem_pool *pool;

	option("host.vm", has_vm ? "on" : "off");
	device_start("64MiB", vm);
	pool = scattered(512 * KIB);
	advises(pool, 4 * MIB, GPUMEM_LIMIT, advice, never);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "nothing is left");
	option("host.vm", NULL);
}

/* Segments, whatever the option says: to share by name, and pinned memory. */
static void test_segments(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	static const struct {
		gpumem_kind kind;
		uint32_t shareable;
	} cases[] = {{GPUMEM_KIND_PINNED, GPUMEM_SHARE_NONE},
		     {GPUMEM_KIND_DEVICE, GPUMEM_SHARE_IPC}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		gpumem_pool *pool;
		void *kept;

		config.kind = cases[i].kind;
		config.shareable = cases[i].shareable;
		config.limit_bytes = 8 * MIB;
		must(gpumem_pool_create(device, &config, &pool));
		for (int b = 0; b < 16; b++)
			held[b] = new_block(pool, 500 * KIB, NULL);
		kept = held[0];
		for (int b = 1; b < 16; b++)
			if (b % 4)
				must(gpumem_free(held[b], NULL));
		advises(pool, 4 * MIB, GPUMEM_LIMIT,
			"allocate large blocks first", "`vm`");
		must(gpumem_free(kept, NULL));
		must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	}
}

/* The sentence says where free memory is, and the figures of that add up. */
static void tells(gpumem_pool *pool, size_t bytes, size_t alignment,
		  uint32_t flags, const char *where)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct gpumem_stats s;
	void *ptr = NULL;

	options.flags = flags;
	options.alignment = alignment;
	is_status(gpumem_alloc_with(pool, bytes, NULL, &options, &ptr, NULL),
		  GPUMEM_LIMIT, "%zu bytes are refused", bytes);
	ok(strstr(last_text(), where), "it tells of %s", where);
	if (tap.failed)
		diag("%s", last_text());
	s = stats_of(pool);
	is_uint(s.page_part_bytes + s.handle_part_bytes + s.slab_part_bytes +
			s.graph_bytes,
		s.unreleasable_bytes, "what is unreleasable adds up");
	must(gpumem_pool_check(pool));
}

/* Each part of free memory that cannot serve, planted alone. */
static void test_parts(void)
{
	gpumem_pool *pool;
	gpumem_stream stream = new_stream();
	struct gpumem_stats s;
	struct gate gate;
	const uint64_t bytes = GIB + GIB / 8 * 7;
	void *ptr;

	option("handle_max", "4MiB");
	pool = new_pool(0);
	option("handle_max", NULL);
	/* Of a handle of 4 MiB 1 MiB is live: 1 MiB in its page, 2 besides. */
	must(gpumem_free(new_block(pool, bytes, NULL), NULL));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	must(gpumem_pool_set_limit(pool, bytes));
	ptr = new_block(pool, MIB, NULL);
	tells(pool, bytes - MIB, 2 * MIB, 0,
	      "free: 1.00 MiB in pages that blocks have a part of, 2.00 MiB in "
	      "handles that blocks have a part of; ");
	s = stats_of(pool);
	is_uint(s.page_part_bytes, MIB, "a half of its page");
	is_uint(s.handle_part_bytes, 2 * MIB, "a page more");
	is_uint(s.slab_part_bytes + s.graph_bytes, 0, "and no more");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_set_limit(pool, GIB));

	/* A slab of which one slot is live, in a page of which it has a part.
	 */
	ptr = new_block(pool, 256, NULL);
	tells(pool, GIB - KIB, 0, 0, "in slabs; ");
	s = stats_of(pool);
	is_uint(s.page_part_bytes + s.slab_part_bytes, 2 * MIB - 256,
		"a page less a slot");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));

	/* Pages that another stream is at work on. */
	ptr = new_block(pool, GIB, stream);
	gate_launch(&gate, stream, NULL, 0);
	must(gpumem_free(ptr, stream));
	tells(pool, 4 * MIB, 0, GPUMEM_ALLOC_NO_WAIT,
	      "free: 1.00 GiB in use by streams; ");
	ok(strstr(last_text(), "enough is free but in use by streams"),
	   "and advises to synchronise");
	gate_finish(&gate, stream);
	must(gpumem_free(new_block(pool, GIB, NULL), NULL));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_graphs(void)
{
	gpumem_pool *pool = new_pool(16 * MIB);
	gpumem_stream stream = new_stream();
	gpumem_graph *graph;
	void *ptr;

	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, stream));
	ptr = new_block(pool, 10 * MIB, stream);
	must(gpumem_free(ptr, stream));
	must(gpumem_graph_end(graph, stream));
	advises(pool, 8 * MIB, GPUMEM_LIMIT, "gpumem_graph_destroy", "`page`");
	tells(pool, 8 * MIB, 0, 0, "free: 10.00 MiB kept for graphs; ");
	is_uint(stats_of(pool).graph_bytes, 10 * MIB, "all of it");
	must(gpumem_graph_destroy(graph, NULL));
	must(gpumem_free(new_block(pool, 8 * MIB, NULL), NULL));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_pending(void)
{
	gpumem_stream stream = new_stream();
	gpumem_pool *pool;
	struct gate gate;
	void *ptr;

	option("wait", "off");
	pool = new_pool(0);
	option("wait", NULL);
	ptr = new_block(pool, 60 * MIB, NULL);
	gate_launch(&gate, stream, NULL, 0);
	must(gpumem_use_on(ptr, stream));
	must(gpumem_free(ptr, NULL));
	advises(pool, 40 * MIB, GPUMEM_NO_MEMORY, "synchronise them", NULL);
	gate_finish(&gate, stream);
	must(gpumem_free(new_block(pool, 40 * MIB, NULL), NULL));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_pool_destroy(pool, 0));
}

static void test_full(void)
{
	gpumem_pool *pool = new_pool(0);

	must(gpumem_host_outside(0, 40 * MIB));
	advises(pool, 30 * MIB, GPUMEM_NO_MEMORY, "gpumem-probe shows", NULL);
	must(gpumem_host_outside(0, 0));
	(void)new_block(pool, 60 * MIB, NULL);
	advises(pool, 30 * MIB, GPUMEM_NO_MEMORY,
		"free blocks, or make the model or the batch smaller", NULL);
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* The figures say that there is enough: then it is the driver's own word that
 * counts. */
static void test_refused(void)
{
	gpumem_pool *pool = new_pool(0);
	gpumem_pool *pinned = pool_of_kind(GPUMEM_KIND_PINNED);
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	void *ptr = new_block(pool, 10 * MIB, NULL);

	must(gpumem_host_faults("page_create@1+"));
	advises(pool, 20 * MIB, GPUMEM_NO_MEMORY,
		"the device has enough, but: host:0: page_create: ",
		"batch smaller");
	gpumem_last_error(&error);
	ok(error.native_name[0] && strstr(error.text, error.native_name),
	   "with its name: %s", error.native_name);
	must(gpumem_host_faults("kind_alloc@1+"));
	advises(pinned, 20 * MIB, GPUMEM_NO_MEMORY,
		"host:0: kind_alloc: ", "batch smaller");
	/* Nobody knows what is free: no advice can be wrong about that. */
	must(gpumem_host_faults("page_create@1+;memory_info@1+"));
	advises(pool, 20 * MIB, GPUMEM_NO_MEMORY,
		"host:0: page_create: ", "has enough");
	must(gpumem_host_faults(""));
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pinned, 0));
	must(gpumem_pool_destroy(pool, 0));
}

/* Handles that the driver did not map are free memory, but no block. */
static void test_unplaced(void)
{
	gpumem_pool *pool = new_pool(0);

	(void)new_block(pool, 10 * MIB, NULL);
	must(gpumem_host_faults("map@1+:no_memory"));
	advises(pool, 12 * MIB, GPUMEM_NO_MEMORY,
		", no free block; free: 12.00 MiB in whole handles that are at "
		"no address yet; ",
		"fragmentation");
	must(gpumem_host_faults(""));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

int main(void)
{
	alarm(60);
	gpumem_oom_set(told_note, &told);
	device_start("64MiB", true);
	test_size();
	test_limit();
	test_segments();
	test_graphs();
	test_pending();
	test_full();
	test_refused();
	test_unplaced();
	ok(device_end(), "nothing is left");
	device_start("4GiB", true);
	test_parts();
	ok(device_end(), "nothing is left");
	test_scattered(true, true, "pages that also hold live blocks", "`vm`");
	test_scattered(false, true, "turn virtual memory on (option `vm`)",
		       NULL);
	test_scattered(true, false, "allocate large blocks first", "`vm`");
	return done_testing();
}
