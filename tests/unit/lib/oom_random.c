/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What random programs are told when they run out of memory, held against what
 * else the library says at the same moment: each call, the figures, the table,
 * the tags, and the blocks that pin memory, which are live. What is said to fit
 * is allocated.
 */
#include "oom.h"

enum { BLOCKS = 400, STREAMS = 3, POOLS = 2, TAGS = 4, CAPACITY = 64 };

static gpumem_pool *pool[POOLS];
static gpumem_stream stream[STREAMS]; /* the first is the default one */
static uint32_t tag[TAGS];
static struct {
	void *ptr;
	gpumem_stream stream;
} block[BLOCKS];
static unsigned blocks, advised[GPUMEM_ADVICE_OUTSIDE + 1], pins;
static const char *fault;

static void agrees(bool right, const char *what)
{
	if (!right && !fault)
		fault = what;
}

/* The numbers of a list's rows add up to this. */
static ull sum_of(const char *at, const char *end)
{
	ull bytes = 0;

	while ((at = strstr(at, "\"bytes\": ")) && at < end) {
		at += strlen("\"bytes\": ");
		bytes += strtoull(at, NULL, 10);
	}
	return bytes;
}

static void check_table(const char *json)
{
	const char *at = strstr(json, "\"rows\": [");
	const char *end = at ? strstr(at, "\"beside\": [") : NULL;

	agrees(end && sum_of(at, end) == CAPACITY * MIB,
	       "the rows of the table add up");
}

static void check_pins(const char *json)
{
	struct gpumem_block is = GPUMEM_INIT(struct gpumem_block);
	const char *at = strstr(json, "\"pins\": [");
	ull last = UINT64_MAX;
	char path[256];

	while (at && (at = strstr(at + 1, "{\"ptr\": "))) {
		ull free_bytes = json_number(at, "free_bytes");
		void *ptr = (void *)(uintptr_t)json_number(at, "ptr");

		json_member(at, "tag", path, sizeof(path));
		if (gpumem_query(ptr, &is)) {
			agrees(false, "what pins is live");
			return;
		}
		agrees(is.ptr == ptr &&
			       is.requested_bytes == json_number(at, "bytes") &&
			       !strcmp(path,
				       is.tag ? gpumem_tag_path(is.tag) : ""),
		       "what pins is told with its tag and size");
		agrees(free_bytes && free_bytes <= last &&
			       free_bytes < json_number(at, "unit_bytes"),
		       "what pins most is first");
		last = free_bytes;
		pins++;
	}
}

struct top {
	const char *path;
	ull bytes;
	bool any; /* a block has a tag */
};

static bool find_top(const struct gpumem_tag *one, void *user)
{
	struct top *top = user;

	top->any |= one->tag != 0;
	if (one->bytes.current > top->bytes) {
		top->bytes = one->bytes.current;
		top->path = one->path;
	}
	return true;
}

static void check_tags(gpumem_pool *of, const char *json)
{
	const char *at = strstr(json, "\"tags\": [");
	struct top top = {"", 0, false};

	must(gpumem_tag_visit(of, find_top, &top));
	if (top.any && top.bytes)
		agrees(json_number(at, "bytes") == top.bytes,
		       "the tag with the most is the first");
}

static void check(const struct gpumem_oom *oom, void *user)
{
	struct gpumem_stats stats = stats_of(oom->pool);
	void *ptr;

	told_note(oom, user);
	agrees(json_whole(told.json), "the JSON is whole");
	agrees(oom->requested_bytes == stats.requested.current &&
		       json_number(strstr(told.json, "\"allocated\""),
				   "current") == stats.allocated.current,
	       "the figures are those of the pool");
	agrees(oom->fits_bytes < oom->bytes || oom->flags,
	       "what fits is less than what failed");
	check_table(told.json);
	check_pins(told.json);
	check_tags(oom->pool, told.json);
	advised[oom->advice]++;
	if (!oom->fits_bytes)
		return;
	if (gpumem_alloc(oom->pool, oom->fits_bytes, oom->stream, &ptr))
		agrees(false, "what fits is allocated");
	else
		must(gpumem_free(ptr, oom->stream));
}

/* ---- the program ---- */

static void step_alloc(void)
{
	static const unsigned shift[] = {9, 14, 18, 20, 21, 22, 23, 24};
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	gpumem_pool *in = pool[random_below(POOLS)];
	gpumem_stream on = stream[random_below(STREAMS)];
	size_t bytes = 1 + random_below(1ull << shift[random_below(8)]);
	unsigned before = told.calls;
	gpumem_status status;
	void *ptr;

	options.tag = tag[random_below(TAGS)];
	if (one_in(8))
		options.flags =
			one_in(2) ? GPUMEM_ALLOC_NO_GROW : GPUMEM_ALLOC_NO_WAIT;
	status = gpumem_alloc_with(in, bytes, on, &options, &ptr, NULL);
	agrees(told.calls - before == (status != GPUMEM_OK),
	       "one call for each failure");
	if (status) {
		agrees(told.oom.status == status && told.oom.bytes == bytes &&
			       told.oom.pool == in &&
			       told.oom.tag == options.tag &&
			       !strcmp(told.text, last_text()),
		       "with the request and its error");
		return;
	}
	if (one_in(4))
		must(gpumem_use_on(ptr, stream[random_below(STREAMS)]));
	block[blocks].ptr = ptr;
	block[blocks++].stream = on;
}

static void step(void)
{
	if (blocks < BLOCKS && one_in(2))
		step_alloc();
	if (blocks && random_below(100) < 48) {
		unsigned i = (unsigned)random_below(blocks);

		must(gpumem_free(block[i].ptr, block[i].stream));
		block[i] = block[--blocks];
	}
	if (one_in(16))
		must(gpumem_stream_sync(device, stream[random_below(STREAMS)]));
	if (one_in(50))
		must(gpumem_pool_set_limit(pool[0],
					   one_in(2) ? 0 : CAPACITY * MIB));
}

/* One program; false: something did not agree. */
static bool run(bool vm, bool busy, long steps)
{
	device_start("64MiB", vm);
	for (int i = 0; i < STREAMS; i++) {
		stream[i] = i ? new_stream() : NULL;
		must(gpumem_host_hold(0, stream[i], busy));
	}
	for (int i = 0; i < POOLS; i++)
		pool[i] = new_pool(i ? 24 * MIB : 0);
	for (long i = 0; i < steps && !fault; i++)
		step();
	while (blocks--)
		must(gpumem_free(block[blocks].ptr, block[blocks].stream));
	blocks = 0;
	for (int i = 0; i < STREAMS; i++)
		must(gpumem_stream_sync(device, stream[i]));
	for (int i = 0; i < POOLS; i++)
		must(gpumem_pool_destroy(pool[i], 0));
	for (int i = 1; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, stream[i]));
	if (!device_end())
		agrees(false, "nothing is left");
	return !fault;
}

static void run_all(bool vm, bool busy, uint64_t seed)
{
	long count = scaled(20, 2), done = 0;

	/* What fits has to be true without a wait. */
	option("wait", "off");
	option("decay_ms", "0");
	option("host.page", vm ? "256KiB" : "64KiB");
	told.calls = pins = 0;
	fault = NULL;
	for (long i = 0; i < count && !fault; i++, seed++) {
		random_seed(seed);
		done += run(vm, busy, 6000);
	}
	is_int(done, count, "%s, %s: programs%s%s", vm ? "pages" : "segments",
	       busy ? "busy" : "idle", fault ? "; not: " : "",
	       fault ? fault : "");
	if (fault)
		diag("with seed %llu", (ull)seed - 1);
	ok(told.calls > 10, "%u failures", told.calls);
	ok(pins, "%u blocks that pin", pins);
}

int main(void)
{
	static const char *const paths[] = {"weights", "model/layer", "kv"};
	unsigned kinds = 0;

	alarm(240);
	for (int i = 1; i < TAGS; i++)
		must(gpumem_tag_intern(paths[i - 1], &tag[i]));
	gpumem_oom_set(check, &told);
	for (int i = 0; i < 4; i++)
		run_all(i & 1, i & 2, 40 + 1000 * (uint64_t)i);
	for (int i = 0; i <= GPUMEM_ADVICE_OUTSIDE; i++)
		kinds += advised[i] > 0;
	ok(kinds >= 4, "%u kinds of advice", kinds);
	return done_testing();
}
