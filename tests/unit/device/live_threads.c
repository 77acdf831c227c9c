/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is live, against a plain list, and with threads that all get the same,
 * or each its own.
 */
#include "live.h"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 4000, SLOTS = 64 };

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Ranges among 256 granules, against a list of who has each. */
static void test_model(void)
{
	static unsigned char owner[256];
	static uint64_t bytes_of[256];
	uint64_t state = 1, got;
	unsigned wrong = 0;

	for (int i = 0; i < 20000; i++) {
		uint64_t first = random_next(&state) % 256;
		uint64_t count = 1 + random_next(&state) % 8;
		bool clear = true;

		if (count > 256 - first)
			count = 256 - first;
		given = 0x100000 + first * 4096;
		if (bytes_of[first]) {
			wrong += gm_driver_free(&other_driver, given,
						bytes_of[first]) != GPUMEM_OK;
			memset(owner + first, 0, bytes_of[first] / 4096);
			bytes_of[first] = 0;
			continue;
		}
		for (uint64_t j = first; j < first + count; j++)
			clear = clear && !owner[j];
		wrong += gm_driver_alloc(&other_driver, count * 4096, &got) !=
			 (clear ? GPUMEM_OK : GPUMEM_DRIVER);
		if (clear) {
			memset(owner + first, 1, count);
			bytes_of[first] = count * 4096;
		}
	}
	is_uint(wrong, 0, "all answers are as a list has them");
}

static _Atomic unsigned owners[SLOTS], twice, refused, had;

/* All get the same few addresses: who is told OK has one alone. */
static void *contend(void *user)
{
	uint64_t state = (uintptr_t)user, got;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t slot = random_next(&state) % SLOTS;

		given = 0x40000000 + slot * 4096;
		if (gm_driver_alloc(&other_driver, 4096, &got) != GPUMEM_OK) {
			refused++;
			continue;
		}
		had++;
		twice += owners[slot]++ != 0;
		usleep(i % 256 == 0);
		owners[slot]--;
		if (gm_driver_free(&other_driver, got, 4096) != GPUMEM_OK)
			twice++;
	}
	return NULL;
}

/* Each has its own addresses: nobody is refused. */
static void *keep_apart(void *user)
{
	uint64_t base = 0x80000000 + (uintptr_t)user * 0x1000000, got;
	struct gm_driver own;

	gm_driver_init(&own, other);
	for (int i = 0; i < ROUNDS; i++) {
		size_t done;

		given = base + (uint64_t)(i % SLOTS) * 4096;
		if (i >= SLOTS &&
		    gm_driver_free(&own, given, 4096) != GPUMEM_OK)
			refused++;
		refused += gm_driver_alloc(&own, 4096, &got) != GPUMEM_OK;
		given++;
		refused += page_of(&own, given, 1, &done) != GPUMEM_OK;
		refused += gm_driver_page_destroy(&own, 4096, &given, 1,
						  &done) != GPUMEM_OK;
	}
	return NULL;
}

static void run(void *(*body)(void *user))
{
	pthread_t ids[THREADS];

	twice = refused = had = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&ids[i], NULL, body, (void *)(i + 1)))
			bail("no thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
}

static void test_threads(void)
{
	run(contend);
	is_uint(twice, 0, "no two threads have one range");
	is_uint(had + refused, THREADS * ROUNDS, "each call was answered");
	ok(had > 0, "%u had it, %u were refused", had, refused);
	run(keep_apart);
	is_uint(refused, 0, "none is refused what is nobody else's");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	open_devices();
	test_model();
	test_threads();
	ok(gm_device_release(other), "a device with live memory can be closed");
	ok(gm_device_release(device), "and one without");
	return done_testing();
}
