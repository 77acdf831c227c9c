/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about pools. */
#include "attack.h"
#include "rows.h"

static const uint64_t sizes[] = {
	0,	   1,	       255,	   4096,
	256 * KIB, 3 * MIB,    2 * MIB,	   8 * MIB,
	64 * MIB,  4096 * MIB, 8192 * MIB, UINT64_MAX,
	1 << 30,   UINT32_MAX, INT64_MAX,  UINT64_MAX / 2 + 1};

static uint64_t pick_size(void)
{
	return sizes[random_below(COUNT(sizes))];
}

/* The limits and pages of a config may be refused or not: the pool knows its
 * smallest. */
static void draw_config(struct gpumem_pool_config *config,
			gpumem_device *peers[2])
{
	config->name = one_in(2) ? NULL : pick_text();
	if (one_in(6)) {
		step.perhaps |= B(INVALID);
		config->limit_bytes = pick_size();
		config->soft_limit_bytes = pick_size();
	}
	if (one_in(6)) {
		step.perhaps |= B(INVALID);
		config->page_bytes = pick_size();
	}
	if (one_in(3))
		config->kind = (gpumem_kind)random_below(3);
	if (one_in(3))
		config->shareable = (uint32_t)random_below(4);
	if (one_in(6)) {
		config->peers = peers;
		config->peer_count = 1 + random_below(2);
		for (size_t i = 0; i < config->peer_count; i++)
			peers[i] = device_of(pick_device());
	}
	if (rarely()) {
		wrong(B(INVALID) | B(UNSUPPORTED));
		if (one_in(3))
			config->kind = (gpumem_kind)(3 + random_below(1000));
		else if (one_in(2))
			config->shareable = 4 + (uint32_t)random_below(1000);
		else
			config->peers = NULL, config->peer_count = 1;
	}
}

void attack_gpumem_pool_create(void)
{
	struct pool *room = pool_room();
	struct device *device = pick_device();
	gpumem_pool **out = out_plain(sizeof(gpumem_pool *));
	gpumem_device *peers[2] = {NULL, NULL};
	struct gpumem_pool_config *config = NULL, own;
	struct {
		struct gpumem_pool_config config;
		unsigned char beyond[64];
	} larger = {.config.size = sizeof(larger)};

	/* A place stays for a default pool of each device. */
	for (int i = 0, used = 0; i < POOLS && room; i++)
		if (world.pool[i].handle && !world.pool[i].usual &&
		    ++used == POOLS - DEVICES)
			room = NULL;
	if (!room)
		return;
	if (!one_in(4)) {
		config = &larger.config;
		draw_config(config, peers);
		own = *config;
		own.size = sizeof(own);
	}
	if (config && one_in(2)) {
		config = &own;
		if (rarely()) {
			own.size = random_below(sizeof(own) - 8);
			wrong(B(INVALID));
		}
	} else if (config && rarely()) {
		larger.beyond[random_below(sizeof(larger.beyond))] = 1;
		wrong(B(UNSUPPORTED));
	}
	if (!judge(gpumem_pool_create(device_of(device), config, out)))
		return;
	*room = (struct pool){.handle = *out,
			      .device = device,
			      .kind = config ? config->kind
					     : GPUMEM_KIND_DEVICE,
			      .shareable = config ? config->shareable : 0};
}

/* The driver's word about memory that did not go back comes after the end. */
void attack_gpumem_pool_destroy(void)
{
	struct pool *pool = pick_pool();
	unsigned flags = one_in(2) ? GPUMEM_DESTROY_FORCE : 0;
	bool used = false;
	gpumem_status status;

	for (int i = 0; i < GRAPHS && pool; i++)
		used |= world.graph[i].pool == pool;
	if (pool && !flags && (pool->count || used))
		wrong(B(BUSY));
	if (rarely()) {
		wrong(B(INVALID));
		flags |= 2u << random_below(31);
	}
	status = gpumem_pool_destroy(pool_of(pool), flags);
	if (judge(status) ||
	    (status != GPUMEM_BUSY && status != GPUMEM_INVALID && pool))
		pool_gone(pool);
}

/* A default pool that is opened to another device's may never end. */
void attack_gpumem_pool_add_peer(void)
{
	struct pool *pool = pick_pool();
	struct device *peer =
		pool && pool->usual ? pool->device : pick_device();

	if (judge(gpumem_pool_add_peer(pool_of(pool), device_of(peer))) &&
	    peer != pool->device)
		expect(!gpumem_pool_check(pool->handle), "%s",
		       gpumem_error_text());
}

void attack_gpumem_device_pool(void)
{
	struct device *device = pick_device();
	gpumem_pool **out = out_plain(sizeof(gpumem_pool *));

	if (judge(gpumem_device_pool(device_of(device), out)))
		(void)pool_new(device, *out);
}

void attack_gpumem_pool_set_limit(void)
{
	struct pool *pool = pick_pool();
	uint64_t hard = one_in(2) ? 0 : pick_size();

	if (hard && hard < 256)
		wrong(B(INVALID));
	step.perhaps |= hard ? B(INVALID) : 0;
	(void)judge(gpumem_pool_set_limit(pool_of(pool), hard));
}

void attack_gpumem_pool_set_soft_limit(void)
{
	struct pool *pool = pick_pool();

	(void)judge(gpumem_pool_set_soft_limit(pool_of(pool),
					       one_in(2) ? 0 : pick_size()));
}

/* It frees now and then, as a program would. */
static bool press(gpumem_pool *handle, const struct gpumem_pressure *pressure,
		  void *user)
{
	struct block *block = pick_block();

	(void)user;
	expect(pressure->needed_bytes && pressure->limit >= 1 &&
		       pressure->limit <= 3 && pressure->limit_bytes,
	       "pressure for nothing");
	if (block && block->pool->handle == handle && one_in(2) &&
	    block->stream >= 0 &&
	    !gpumem_free(block->ptr,
			 block->pool->device->stream[block->stream])) {
		block_remove(block);
		return true;
	}
	return one_in(3);
}

static bool press_not(gpumem_pool *handle,
		      const struct gpumem_pressure *pressure, void *user)
{
	(void)handle;
	(void)pressure;
	(void)user;
	return false;
}

static gpumem_pressure_fn pick_function(void)
{
	static const gpumem_pressure_fn functions[] = {press, press_not};

	if (!rarely())
		return functions[random_below(2)];
	wrong(B(INVALID));
	return NULL;
}

void attack_gpumem_pool_pressure_add(void)
{
	struct pool *pool = pick_pool();
	gpumem_pressure_fn fn = pick_function();

	(void)judge(gpumem_pool_pressure_add(
		pool_of(pool), fn, (void *)(uintptr_t)random_below(3)));
}

void attack_gpumem_pool_pressure_remove(void)
{
	struct pool *pool = pick_pool();
	gpumem_pressure_fn fn = pick_function();

	(void)judge(gpumem_pool_pressure_remove(
		pool_of(pool), fn, (void *)(uintptr_t)random_below(3)));
}

void attack_gpumem_pool_trim(void)
{
	struct pool *pool = pick_pool();
	uint64_t *out = out_plain(sizeof(uint64_t));
	gpumem_status status;

	if (!out)
		step.wrong = pool ? 0 : B(INVALID);
	step.writes_always = true;
	step.perhaps |= B(INVALID); /* a stream's, of which there is none */
	status = gpumem_pool_trim(pool_of(pool), one_in(2) ? 0 : pick_size(),
				  out);
	(void)judge(status);
	expect(!out || *out <= 1024 * MIB, "released %llu",
	       (ull)(out ? *out : 0));
}

/* Others look into its blocks: so it wakes at once, for which nothing may fail
 * and nobody else have memory. */
void attack_gpumem_pool_sleep(void)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);
	struct gpumem_slept *out;
	struct pool *pool;
	gpumem_status status;

	if (world.faulty || world.outside)
		return;
	pool = pick_pool();
	out = one_in(2) ? NULL : out_struct(sizeof(*out));
	if (!out)
		step.wrong = pool ? 0 : B(INVALID);
	options.flags = (uint32_t)random_below(4);
	options.timeout_ns = 1 + random_below(1000000);
	options.host_limit_bytes = one_in(3) ? random_below(64 * MIB) : 0;
	options.tag = one_in(2) ? 0 : gpumem_tag_get();
	if (rarely()) {
		wrong(B(INVALID));
		if (one_in(3))
			options.flags = 4;
		else if (one_in(2))
			options.tag = UINT32_MAX;
		else
			options.size = 1;
	}
	status = gpumem_pool_sleep(pool_of(pool), &options, out);
	(void)judge(status);
	if (pool && status != GPUMEM_LOST)
		must(gpumem_pool_wake(pool->handle, 0, NULL));
}

void attack_gpumem_pool_wake(void)
{
	struct pool *pool = pick_pool();
	uint32_t tag = one_in(2) ? 0 : gpumem_tag_get();

	if (rarely()) {
		tag = UINT32_MAX;
		wrong(B(INVALID));
	}
	(void)judge(gpumem_pool_wake(pool_of(pool), tag, NULL));
}

void attack_gpumem_pool_drop_stream(void)
{
	struct pool *pool = pick_pool();
	int index;
	gpumem_stream stream = pick_stream(pool ? pool->device : NULL, &index);

	if (judge(gpumem_pool_drop_stream(pool_of(pool), stream)))
		for (unsigned i = 0; i < world.blocks; i++)
			if (world.block[i].pool == pool &&
			    world.block[i].stream == index)
				world.block[i].stream = 0;
}

void attack_gpumem_pool_stats(void)
{
	struct pool *pool = pick_pool();
	struct gpumem_stats *out = out_struct(sizeof(*out));

	if (judge(gpumem_pool_stats(pool_of(pool), out)))
		expect(out->requested.current == pool->requested,
		       "%llu bytes requested, not %llu",
		       (ull)out->requested.current, (ull)pool->requested);
}

void attack_gpumem_pool_calls(void)
{
	struct pool *pool = pick_pool();
	struct gpumem_call_stats *out = out_struct(sizeof(*out));
	unsigned call = (unsigned)random_below(GPUMEM_CALL_COUNT);

	if (rarely()) {
		wrong(B(INVALID));
		call += GPUMEM_CALL_COUNT << random_below(20);
	}
	if (judge(gpumem_pool_calls(pool_of(pool), call, out)))
		expect(out->failed <= out->count, "%llu of %llu calls failed",
		       (ull)out->failed, (ull)out->count);
}

void attack_gpumem_pool_reset_stats(void)
{
	unsigned flags = one_in(2) ? GPUMEM_RESET_TOTALS : 0;

	if (rarely()) {
		wrong(B(INVALID));
		flags |= 2u << random_below(31);
	}
	(void)judge(gpumem_pool_reset_stats(pool_of(pick_pool()), flags));
}

struct sum {
	uint64_t requested, count;
	bool stops, stopped;
};

static bool add_block(const struct gpumem_block *block, void *user)
{
	struct sum *sum = user;

	expect(!sum->stopped, "called after it said stop");
	expect(block->size == sizeof(*block), "size %zu", block->size);
	if (block->state == GPUMEM_BLOCK_LIVE) {
		sum->requested += block->requested_bytes;
		sum->count++;
	}
	sum->stopped = sum->stops && one_in(8);
	return !sum->stopped;
}

void attack_gpumem_block_visit(void)
{
	struct pool *pool = pick_pool();
	struct sum sum = {.stops = one_in(2)};
	bool none = rarely();

	if (none)
		wrong(B(INVALID));
	if (judge(gpumem_block_visit(pool_of(pool), none ? NULL : add_block,
				     &sum)) &&
	    !sum.stopped)
		expect(sum.requested == pool->requested &&
			       sum.count == pool->count,
		       "visited %llu blocks of %llu bytes, not %llu of %llu",
		       (ull)sum.count, (ull)sum.requested, (ull)pool->count,
		       (ull)pool->requested);
}

void attack_gpumem_pool_check(void)
{
	(void)judge(gpumem_pool_check(pool_of(pick_pool())));
}

static bool add_pool(gpumem_pool *handle, const char *name, void *user)
{
	struct sum *sum = user;

	expect(!sum->stopped && handle && name, "called after it said stop");
	sum->count++;
	sum->stopped = sum->stops && one_in(2);
	return !sum->stopped;
}

void attack_gpumem_pool_visit(void)
{
	const struct device *device = pick_device();
	struct sum sum = {.stops = one_in(2)};
	bool none = rarely();
	uint64_t count = 0;

	if (none)
		wrong(B(INVALID));
	for (unsigned i = 0; i < POOLS; i++)
		count += device && world.pool[i].handle &&
			 world.pool[i].device == device;
	if (judge(gpumem_pool_visit(device_of(device), none ? NULL : add_pool,
				    &sum)) &&
	    !sum.stopped)
		expect(sum.count == count, "%llu pools, not %llu",
		       (ull)sum.count, (ull)count);
}
