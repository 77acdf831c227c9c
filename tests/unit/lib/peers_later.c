/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Peers that are added to a pool that there is already: they write what is
 * live, what is free, pages that have two places, and what comes later, also
 * while other threads take memory and give it back; one that is refused is
 * none.
 */
#include "peers.h"

#include <pthread.h>

enum { THREADS = 3 };

static gpumem_pool *open_pool(void)
{
	gpumem_pool *pool = NULL;

	must(gpumem_pool_create(devices[0], NULL, &pool));
	return pool;
}

static gpumem_pool *pool_of_blocks(void *ptr[8])
{
	gpumem_pool *pool = open_pool();

	for (size_t i = 0; i < 8; i++)
		ptr[i] = new_block(pool, 2 * MIB + i * MIB / 4, NULL);
	return pool;
}

/* What is live, what was free, what moves and what is new. */
static void later(bool vm)
{
	void *ptr[8], *large;
	gpumem_pool *pool = pool_of_blocks(ptr);
	unsigned bad = 0;

	if (vm)
		is_status(fills(devices[1], ptr[0], MIB), GPUMEM_INVALID,
			  "a pool is closed at first");
	for (size_t i = 0; i < 8; i += 2)
		must(gpumem_free(ptr[i], NULL));
	is_status(gpumem_pool_add_peer(pool, devices[1]), GPUMEM_OK,
		  "a peer is added");
	is_status(gpumem_pool_add_peer(pool, devices[1]), GPUMEM_OK, "again");
	is_status(gpumem_pool_add_peer(pool, devices[0]), GPUMEM_OK,
		  "and the device itself");
	for (size_t i = 1; i < 8; i += 2)
		bad += fills(devices[1], ptr[i], 2 * MIB + i * MIB / 4) !=
		       GPUMEM_OK;
	is_uint(bad, 0, "it writes blocks that were live");
	for (size_t i = 0; i < 8; i += 2) {
		ptr[i] = new_block(pool, 2 * MIB + i * MIB / 4, NULL);
		bad += fills(devices[1], ptr[i], 2 * MIB + i * MIB / 4) !=
		       GPUMEM_OK;
	}
	is_uint(bad, 0, "those in what was free");
	for (size_t i = 0; i < 8; i++)
		must(gpumem_free(ptr[i], NULL));
	large = new_block(pool, 24 * MIB, NULL);
	is_status(fills(devices[1], large, 24 * MIB), GPUMEM_OK,
		  "and a new one, of pages that were moved and others");
	is_status(fills(devices[2], large, MIB), GPUMEM_INVALID,
		  "another device does not");
	sound(pool, "the pool is sound");
	is_status(gpumem_device_close(devices[1]), GPUMEM_BUSY,
		  "the peer stays open");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_status(gpumem_device_close(devices[1]), GPUMEM_OK,
		  "as long as the pool");
	must(gpumem_device_open("host:1", &devices[1]));
}

/* Work is queued: the free blocks' pages serve elsewhere by a second mapping;
 * then blocks are again where those were. */
static void stale(void)
{
	gpumem_pool *pool = open_pool();
	gpumem_stream stream;
	void *ptr[8], *large;
	unsigned bad = 0;

	must(gpumem_stream_create(devices[0], &stream));
	must(gpumem_host_hold(0, stream, true));
	for (size_t i = 0; i < 8; i++) {
		ptr[i] = new_block(pool, 2 * MIB, stream);
		must(gpumem_fill(devices[0], ptr[i], 1, MIB, stream));
	}
	for (size_t i = 0; i < 8; i += 2)
		must(gpumem_free(ptr[i], stream));
	must(gpumem_pool_set_limit(pool, stats_of(pool).reserved.current));
	large = new_block(pool, 8 * MIB, stream);
	ok(stats_of(pool).stale_bytes, "pages have a second place");
	is_status(gpumem_pool_add_peer(pool, devices[1]), GPUMEM_OK,
		  "a peer is added");
	is_status(fills(devices[1], large, 8 * MIB), GPUMEM_OK,
		  "it writes the new place");
	must(gpumem_free(large, stream));
	for (size_t i = 0; i < 8; i += 2) {
		ptr[i] = new_block(pool, 2 * MIB, stream);
		bad += fills(devices[1], ptr[i], 2 * MIB) != GPUMEM_OK;
	}
	is_uint(bad, 0, "and the former ones");
	must(gpumem_host_hold(0, stream, false));
	must(gpumem_stream_sync(devices[0], stream));
	sound(pool, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(devices[0], stream));
}

/* A large pool has handles of several sizes. */
static void sizes(void)
{
	enum { BLOCKS = 40 };
	gpumem_device *large;
	gpumem_pool *pool = NULL;
	unsigned char *ptr[BLOCKS];
	unsigned bad = 0;

	option("host.capacity", "8GiB");
	must(gpumem_device_open("host:3", &large));
	must(gpumem_pool_create(large, NULL, &pool));
	for (size_t i = 0; i < BLOCKS; i++)
		ptr[i] = new_block(pool, (5 + i * 3) * MIB, NULL);
	for (size_t i = 0; i < BLOCKS; i += 3)
		must(gpumem_free(ptr[i], NULL));
	is_status(gpumem_pool_add_peer(pool, devices[1]), GPUMEM_OK,
		  "a peer of a large pool");
	for (size_t i = 0; i < BLOCKS; i++)
		for (size_t at = 0; i % 3 && at < (5 + i * 3) * MIB; at += MIB)
			bad += gpumem_fill(devices[1], ptr[i] + at, 1, 1,
					   NULL) != GPUMEM_OK;
	is_uint(bad, 0, "it writes every page of its blocks");
	must(gpumem_stream_sync(devices[1], NULL));
	sound(pool, "the pool is sound");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(large));
	option("host.capacity", "64MiB");
}

/* A peer that is refused is none, and can be added later. */
static void refused(bool vm)
{
	const char *call = vm ? "open_mapped" : "peer_enable";
	void *ptr[8];
	gpumem_pool *pool = pool_of_blocks(ptr);
	char faults[32];

	snprintf(faults, sizeof(faults), "%s@1", call);
	must(gpumem_host_faults(faults));
	is_status(gpumem_pool_add_peer(pool, devices[1]), GPUMEM_DRIVER,
		  "%s fails", call);
	must(gpumem_host_faults(NULL));
	sound(pool, "the pool is sound");
	if (vm)
		is_status(fills(devices[1], ptr[0], MIB), GPUMEM_INVALID,
			  "nothing was opened");
	is_status(gpumem_device_close(devices[1]), GPUMEM_OK,
		  "the device is not held");
	must(gpumem_device_open("host:1", &devices[1]));
	is_status(gpumem_pool_add_peer(pool, devices[1]), GPUMEM_OK,
		  "the next time it works");
	is_status(fills(devices[1], ptr[0], MIB), GPUMEM_OK, "it writes");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

/* ---- beside other threads ---- */

static gpumem_pool *shared_pool;
static atomic_bool over;
static atomic_uint bad_calls;

/* Grows, moves and gives back. */
static void *work(void *seed)
{
	unsigned state = *(unsigned *)seed;
	void *ptr[6] = {NULL};
	uint64_t released;

	while (!atomic_load(&over)) {
		size_t i = (state >> 16) % 6;

		state = state * 1103515245u + 12345u;
		if (ptr[i])
			bad_calls += gpumem_free_own(ptr[i]) != GPUMEM_OK;
		if (gpumem_alloc(shared_pool, (1 + (state >> 20) % 9) * MIB / 2,
				 NULL, &ptr[i]) != GPUMEM_OK)
			ptr[i] = NULL;
		if ((state >> 24) % 8 == 0)
			bad_calls += gpumem_pool_trim(shared_pool, 0,
						      &released) != GPUMEM_OK;
	}
	for (size_t i = 0; i < 6; i++)
		bad_calls += ptr[i] && gpumem_free_own(ptr[i]) != GPUMEM_OK;
	return NULL;
}

/* From its addition on each peer writes whatever is allocated. */
static void use_as_peer(int number, unsigned *bad)
{
	must(gpumem_pool_add_peer(shared_pool, devices[number]));
	for (size_t i = 0; i < 60; i++) {
		size_t bytes = (1 + i % 7) * MIB / 2;
		void *ptr;

		if (gpumem_alloc(shared_pool, bytes, NULL, &ptr) != GPUMEM_OK)
			continue;
		*bad += fills(devices[number], ptr, bytes) != GPUMEM_OK;
		must(gpumem_free(ptr, NULL));
	}
}

static void crowd(void)
{
	unsigned seed[THREADS], bad = 0;
	pthread_t thread[THREADS];

	for (int round = 0; round < scaled(8, 3); round++) {
		shared_pool = open_pool();
		atomic_store(&over, false);
		for (unsigned i = 0; i < THREADS; i++) {
			seed[i] = 77 * i + (unsigned)round;
			pthread_create(&thread[i], NULL, work, &seed[i]);
		}
		use_as_peer(1, &bad);
		use_as_peer(2, &bad);
		atomic_store(&over, true);
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		bad += gpumem_pool_check(shared_pool) != GPUMEM_OK;
		must(gpumem_pool_destroy(shared_pool, 0));
	}
	is_uint(bad, 0, "peers write what is allocated beside other threads");
	is_uint(bad_calls, 0, "whose calls do as they should");
}

int main(void)
{
	alarm(300);
	option("host.devices", "4");
	option("host.capacity", "64MiB");
	for (int vm = 1; vm >= 0; vm--) {
		diag("%s", vm ? "pages" : "segments");
		option("vm", vm ? "on" : "off");
		open_devices();
		later(vm);
		if (vm)
			stale();
		if (vm)
			sizes();
		refused(vm);
		crowd();
		close_devices();
	}
	return done_testing();
}
