/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls that make and end pools, and find them. */
#include "attack.h"
#include "rows.h"

/* The limits and pages of a config may be refused or not: the pool knows its
 * smallest. */
static void draw_config(struct gpumem_pool_config *config,
			gpumem_device *peers[2])
{
	config->name = one_in(2) ? NULL : pick_text();
	if (one_in(6)) {
		step.perhaps |= B(INVALID);
		config->limit_bytes = pick_pool_bytes();
		config->soft_limit_bytes = pick_pool_bytes();
	}
	if (one_in(6)) {
		step.perhaps |= B(INVALID);
		config->page_bytes = pick_pool_bytes();
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

struct visited {
	uint64_t count;
	bool stops, stopped;
};

static bool add_pool(gpumem_pool *handle, const char *name, void *user)
{
	struct visited *visited = user;

	expect(!visited->stopped && handle && name,
	       "called after it said stop");
	visited->count++;
	visited->stopped = visited->stops && one_in(2);
	return !visited->stopped;
}

void attack_gpumem_pool_visit(void)
{
	const struct device *device = pick_device();
	struct visited visited = {.stops = one_in(2)};
	bool none = rarely();
	uint64_t count = 0;

	if (none)
		wrong(B(INVALID));
	for (unsigned i = 0; i < POOLS; i++)
		count += device && world.pool[i].handle &&
			 world.pool[i].device == device;
	if (judge(gpumem_pool_visit(device_of(device), none ? NULL : add_pool,
				    &visited)) &&
	    !visited.stopped)
		expect(visited.count == count, "%llu pools, not %llu",
		       (ull)visited.count, (ull)count);
}
