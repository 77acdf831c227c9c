/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The peaks of one thread are exact, however many streams it uses, whatever it
 * frees on another stream than it allocated on, or resizes, and whatever
 * graphs, trims and resets come between. Those of several threads are in
 * peaks_threads.c.
 */
#include "peaks.h"
#include <pthread.h>

static unsigned long wrong, grown, shrunk;
static uint64_t seed;

static void same(const char *what, const struct gpumem_gauge *got,
		 const struct level *want)
{
	if (got->current == want->now && got->peak == want->peak)
		return;
	if (wrong++ < 5)
		diag("seed %" PRIu64 ", %s: %" PRIu64 ", at most %" PRIu64
		     "; should be %" PRIu64 ", %" PRIu64,
		     seed, what, got->current, got->peak, want->now,
		     want->peak);
}

static void compare(void)
{
	struct gpumem_stats stats = stats_of(pool);

	same("requested", &stats.requested, &model.requested);
	same("allocated", &stats.allocated, &model.allocated);
	same("active", &stats.active, &model.active);
	same("blocks", &stats.blocks, &model.blocks);
	if (stats.cache_bound_bytes && wrong++ < 5)
		diag("seed %" PRIu64 ": a bound of %" PRIu64, seed,
		     stats.cache_bound_bytes);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void wait_at_gate(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
}

/* Streams that are held keep pending what is pending. */
static void hold(unsigned count)
{
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < count; i++)
		must(gpumem_host_launch(0, streams[i], wait_at_gate, NULL));
}

static void let_go(unsigned count)
{
	pthread_mutex_unlock(&gate);
	for (unsigned i = 0; i < count; i++)
		must(gpumem_stream_sync(device, streams[i]));
	must(gpumem_pool_trim(pool, 0, NULL));
	model.active.now = model.allocated.now;
}

static bool in_graph; /* stream 0 */

/* Calls without a look at the statistics. Large sizes are seldom, so that most
 * are hits; not many streams at a time, so that caches have something. */
static void wander(struct live *live, unsigned *count, unsigned used,
		   unsigned steps)
{
	while (steps--) {
		unsigned stream = (unsigned)roll(&seed, used);
		unsigned at = *count ? (unsigned)roll(&seed, *count) : 0;
		bool foreign;

		if (!*count || (*count < LIVE && roll(&seed, 2))) {
			allocate(&live[*count], random_bytes(&seed), stream);
			live[(*count)++].graph = in_graph && !stream;
			continue;
		}
		if (roll(&seed, 8) == 0) {
			uint64_t before = live[at].bytes;

			(void)resize(&live[at], 1 + roll(&seed, 2 * before));
			grown += live[at].bytes > before;
			shrunk += live[at].bytes < before;
			continue;
		}
		foreign = roll(&seed, 8) == 0;
		if (roll(&seed, 16) == 0) {
			must(gpumem_use_on(live[at].ptr, streams[stream]));
			live[at].used |= stream != live[at].stream;
			continue;
		}
		if (!foreign)
			stream = live[at].stream;
		release(&live[at], stream,
			live[at].used || stream != live[at].stream);
		live[at] = live[--*count];
	}
}

/* What is allocated meanwhile is of a graph. What of it outlived the graph
 * would belong to no stream, or to another one. */
static void with_graph(struct live *live, unsigned *count, unsigned used)
{
	gpumem_graph *graph;

	must(gpumem_graph_create(pool, &graph));
	must(gpumem_graph_begin(graph, streams[0]));
	in_graph = true;
	wander(live, count, used, 50);
	in_graph = false;
	must(gpumem_graph_end(graph, streams[0]));
	wander(live, count, used, 50);
	for (unsigned i = *count; i-- > 0;) {
		if (!live[i].graph)
			continue;
		release(&live[i], 0, live[i].used);
		live[i] = live[--*count];
	}
	must(gpumem_graph_destroy(graph, streams[0]));
}

static void phase(struct live *live, unsigned *count, unsigned used)
{
	hold(used);
	if (roll(&seed, 4) == 0)
		with_graph(live, count, used);
	else
		wander(live, count, used, 20 + (unsigned)roll(&seed, 400));
	if (roll(&seed, 2))
		must(gpumem_pool_trim(pool, 0, NULL));
	wander(live, count, used, (unsigned)roll(&seed, 100));
	if (roll(&seed, 2))
		compare();
	let_go(used);
	if (roll(&seed, 2))
		compare();
	if (roll(&seed, 4))
		return;
	must(gpumem_pool_reset_stats(pool, 0));
	model_reset();
}

static void alone(unsigned used, unsigned phases)
{
	struct live *live = calloc(LIVE, sizeof(*live));
	unsigned count = 0;

	if (!live)
		bail("no memory");
	memset(&model, 0, sizeof(model));
	pool = new_pool(0);
	wrong = 0;
	seed = used;
	while (phases--)
		phase(live, &count, used);
	compare();
	is_uint(wrong, 0, "one thread on %u streams: every peak is exact",
		used);
	while (count--)
		must(gpumem_free(live[count].ptr, streams[live[count].stream]));
	must(gpumem_pool_destroy(pool, 0));
	free(live);
}

int main(void)
{
	/* No stream waits for what is pending, which stays that. */
	must(gpumem_option_set("stream_waste", "1000%"));
	open_device(300);
	for (int i = 1; i < STREAMS; i++)
		streams[i] = new_stream();
	for (unsigned used = 1; used <= STREAMS; used++)
		alone(used, (unsigned)scaled(60, 15));
	for (int i = 1; i < STREAMS; i++)
		must(gpumem_stream_destroy(device, streams[i]));
	ok(grown && shrunk, "%lu blocks grew, and %lu shrank", grown, shrunk);
	must(gpumem_device_close(device));
	return done_testing();
}
