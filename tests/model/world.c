/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What there is at the beginning and at the end, random numbers, and which step
 * comes next. Numbers of a step follow from the seed and the step's number: a
 * step draws the same, whichever others are left out.
 */
#include "model.h"

struct world world;

static uint64_t mix(uint64_t number)
{
	number += 0x9e3779b97f4a7c15u;
	number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
	number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
	return number ^ (number >> 31);
}

uint64_t random_below(uint64_t end)
{
	uint64_t key = mix(world.seed) ^ mix(world.step << 20 | world.draws++);

	return end ? mix(key) % end : 0;
}

bool one_in(uint64_t n)
{
	return !random_below(n);
}

uint64_t weight_of(uint64_t id)
{
	return mix(mix(world.seed ^ world.step) ^ id);
}

/* ---- faults ---- */

void fault_arm(void)
{
	static const char *const slots[] = {
		"*",	       "alloc",	       "free",
		"map",	       "unmap",	       "page_create",
		"va_reserve",  "event_create", "event_record",
		"event_query", "stream_wait",  "stream_query",
		"capture_id",  "page_destroy", "kind_alloc"};
	char text[64];

	world.failed = world.armed;
	if (!world.armed)
		return;
	world.armed = false;
	snprintf(text, sizeof(text), "%s@%llu%s",
		 slots[random_below(COUNT(slots))],
		 (ull)(1 + random_below(1ull << random_below(5))),
		 one_in(4) ? "+" : "");
	must(gpumem_host_faults(text));
	say(0, 0, "fails: %s", text);
}

void fault_disarm(void)
{
	if (world.failed)
		must(gpumem_host_faults(NULL));
}

void judge(const char *what, gpumem_status status)
{
	expect(!status || world.failed, "%s: %s: %s", what,
	       gpumem_status_name(status), gpumem_error_text());
}

/* ---- pools ---- */

unsigned number_of(const struct pool *pool)
{
	return (unsigned)(pool - world.pool);
}

const char *name_of(const struct pool *pool)
{
	static const char *const names[] = {"p0", "p1", "p2", "p3", "p4", "p5"};

	return names[number_of(pool)];
}

/* The first have most to do. */
struct pool *pick_pool(void)
{
	unsigned pools = world.configuration.pools;
	unsigned pick = (unsigned)random_below(pools);

	return &world.pool[one_in(2) ? pick : random_below(pick + 1)];
}

void pool_create(struct pool *pool)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	unsigned number = number_of(pool);
	struct device *device = &world.device[one_in(number < 2 ? 6 : 2)];
	gpumem_status status;

	*pool = (struct pool){.device = device};
	if (number == 3 || number == 4)
		pool->kind = (gpumem_kind)(number - 2);
	if (number == 5)
		pool->kind = (gpumem_kind)random_below(3);
	if (one_in(3))
		pool->limit = 2 * MIB + random_below(world.configuration.large
							     ? 96 * MIB
							     : 12 * MIB);
	config.name = name_of(pool);
	config.kind = pool->kind;
	config.limit_bytes = pool->limit;
	status = gpumem_pool_create(device->handle, &config, &pool->handle);
	if (status == GPUMEM_INVALID && pool->limit) {
		config.limit_bytes = pool->limit = 0;
		status = gpumem_pool_create(device->handle, &config,
					    &pool->handle);
	}
	judge("gpumem_pool_create", status);
	say(0, 0, "%s: host:%d, kind %d, limit %llu", name_of(pool),
	    device->number, (int)pool->kind, (ull)pool->limit);
}

/* ---- the beginning ---- */

static void on_oom(const struct gpumem_oom *oom, void *user)
{
	(void)user;
	world.fits = oom->fits_bytes;
}

static void open_device(struct device *device, int number)
{
	device->number = number;
	must(gpumem_device_open(number ? "host:1" : "host:0", &device->handle));
	must(gpumem_event_create(device->handle, &device->scratch));
	for (int i = 0; i < STREAMS; i++)
		stream_new(device, i);
}

void world_begin(void)
{
	static const char *const tags[] = {NULL, "a", "a/b", "c"};

	work_begin();
	options_draw();
	for (int i = 0; i < DEVICES; i++)
		open_device(&world.device[i], i);
	for (unsigned i = 1; i < TAGS; i++)
		must(gpumem_tag_intern(tags[i], &world.tag[i]));
	/* What is in "a" has handles of its own. */
	must(gpumem_tag_set_sleep(world.tag[1], GPUMEM_SLEEP_KEEP));
	for (unsigned i = 0; i < world.configuration.pools; i++)
		pool_create(&world.pool[i]);
	if (world.configuration.tell)
		gpumem_oom_set(on_oom, NULL);
}

/* ---- a step ---- */

static const struct {
	unsigned weight;
	void (*fn)(void);
} steps[] = {
	{300, step_alloc},   {260, step_free},	{160, step_use},
	{30, step_use_on},   {50, step_resize}, {30, step_verify},
	{110, step_run},     {60, step_event},	{12, step_stream},
	{60, step_graph},    {20, step_trim},	{8, step_limit},
	{14, step_capacity}, {3, step_pool},	{6, step_quiet},
	{5, step_tag_limit}, {8, step_reset},	{5, step_largest},
};

static void (*pick_step(void))(void)
{
	unsigned sum = 0, pick;

	for (size_t i = 0; i < COUNT(steps); i++)
		sum += steps[i].weight;
	pick = (unsigned)random_below(sum);
	for (size_t i = 0;; i++) {
		if (pick < steps[i].weight)
			return steps[i].fn;
		pick -= steps[i].weight;
	}
}

void random_step(uint64_t number)
{
	void (*step)(void);

	world.step = number;
	world.draws = 0;
	step = pick_step();
	world.armed = world.configuration.faults && one_in(8);
	world.failed = false;
	step();
	work_mapped();
	for (unsigned i = 0; i < world.configuration.pools; i++)
		exam_counters(&world.pool[i]);
	if (number % 8 == 0)
		exam_all();
}

/* ---- the end ---- */

static void close_device(struct device *device)
{
	for (int i = 0; i < EVENTS; i++)
		if (device->event[i].handle)
			must(gpumem_event_destroy(device->event[i].handle));
	must(gpumem_event_destroy(device->scratch));
	for (int i = 1; i < STREAMS; i++)
		must(gpumem_stream_destroy(device->handle,
					   device->stream[i].handle));
	must(gpumem_device_close(device->handle));
}

void world_end(void)
{
	world.armed = false;
	for (int i = 0; i < DEVICES; i++) {
		graphs_end(&world.device[i]);
		stream_sync_all(&world.device[i]);
	}
	expect(!world.first, "work is left when all streams are idle");
	exam_all();
	for (unsigned i = 0; i < world.blocks; i++)
		if (world.block[i].known)
			stamp_verify(&world.block[i]);
	for (unsigned i = 0; i < world.configuration.pools; i++) {
		graphs_forget(&world.pool[i]);
		must(gpumem_pool_destroy(world.pool[i].handle,
					 GPUMEM_DESTROY_FORCE));
	}
	for (int i = 0; i < DEVICES; i++)
		close_device(&world.device[i]);
}
