/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device that is full of what another pool has free, but in use by its
 * stream: an allocation waits for that work and gets the memory. One that must
 * not wait, or would gain nothing, fails while the work goes on.
 */
#include "fixture.h"

static gpumem_pool *holder, *pool;
static gpumem_stream stream;
static struct gate gate;

/* The holder has 40 of 64 MiB free, behind a gate. */
static void begin(void)
{
	void *ptr = new_block(holder, 40 * MIB, stream);

	gate_launch(&gate, stream, ptr, 1);
	must(gpumem_free(ptr, stream));
}

static gpumem_status ask(gpumem_pool *of, size_t bytes, uint32_t flags)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	gpumem_status status;
	void *ptr = NULL;

	options.flags = flags;
	status = gpumem_alloc_with(of, bytes, NULL, &options, &ptr, NULL);
	if (status == GPUMEM_OK)
		must(gpumem_free(ptr, NULL));
	must(gpumem_pool_check(of));
	return status;
}

static void test_waits(void)
{
	pthread_t thread;

	begin();
	thread = gate_open_later(&gate);
	is_status(ask(pool, 30 * MIB, 0), GPUMEM_OK, "it waits for that work");
	pthread_join(thread, NULL);
	gate_finish(&gate, stream);
	is_uint(reserved_of(holder), 0, "and has what the other gave back");
	must(gpumem_pool_check(holder));
	must(gpumem_pool_trim(pool, 0, NULL));
}

/* A pressure callback, called after the other pools were trimmed. */
static bool finish(gpumem_pool *of, const struct gpumem_pressure *pressure,
		   void *user)
{
	(void)of;
	(void)pressure;
	(void)user;
	gate_finish(&gate, stream);
	return false;
}

/* Where nothing is left to wait for, what is done is had all the same. */
static void test_done(void)
{
	begin();
	must(gpumem_pool_pressure_add(pool, finish, NULL));
	is_status(ask(pool, 30 * MIB, 0), GPUMEM_OK,
		  "work that ends before it is waited for");
	must(gpumem_pool_pressure_remove(pool, finish, NULL));
	is_uint(reserved_of(holder), 0, "the other gave its memory back");
	must(gpumem_pool_trim(pool, 0, NULL));
}

/* All of them while the gate is closed: a wait would be for ever. */
static void test_does_not_wait(void)
{
	gpumem_pool *bounded = new_pool(16 * MIB);

	begin();
	is_status(ask(pool, 30 * MIB, GPUMEM_ALLOC_NO_WAIT), GPUMEM_NO_MEMORY,
		  "a request that must not wait");
	is_status(ask(pool, 30 * MIB, GPUMEM_ALLOC_NO_GROW), GPUMEM_NO_MEMORY,
		  "one that could not use it");
	is_status(ask(bounded, 17 * MIB, 0), GPUMEM_LIMIT,
		  "one that its own limit forbids");
	option("wait", "off");
	must(gpumem_pool_destroy(bounded, 0));
	bounded = new_pool(0);
	is_status(ask(bounded, 30 * MIB, 0), GPUMEM_NO_MEMORY,
		  "one of a pool that never waits");
	option("wait", NULL);
	must(gpumem_pool_destroy(bounded, 0));
	gate_finish(&gate, stream);
	is_status(ask(pool, 30 * MIB, 0), GPUMEM_OK, "then there is enough");
	must(gpumem_pool_trim(pool, 0, NULL));
	must(gpumem_pool_trim(holder, 0, NULL));
}

static void *ask_in_thread(void *status)
{
	*(gpumem_status *)status = ask(pool, 30 * MIB, 0);
	return NULL;
}

/* Others may use the device meanwhile, and who destroys the pool waits too. */
static void test_others(void)
{
	gpumem_pool *third = new_pool(0);
	gpumem_status status = GPUMEM_LIMIT;
	pthread_t waiter, opener;

	begin();
	if (pthread_create(&waiter, NULL, ask_in_thread, &status))
		bail("no thread");
	for (unsigned i = 0; i < 20; i++) {
		usleep(2000);
		if (ask(third, 30 * MIB, GPUMEM_ALLOC_NO_WAIT) !=
		    GPUMEM_NO_MEMORY)
			bail("memory in use was given away");
	}
	ok(true, "others do not wait for it");
	must(gpumem_pool_destroy(third, 0));
	opener = gate_open_later(&gate);
	must(gpumem_pool_destroy(holder, 0));
	pthread_join(opener, NULL);
	pthread_join(waiter, NULL);
	is_status(status, GPUMEM_OK, "who waited has the memory");
	gate_finish(&gate, stream);
	must(gpumem_pool_trim(pool, 0, NULL));
	holder = new_pool(0);
}

int main(void)
{
	alarm(60);
	for (int vm = 0; vm < 2; vm++) {
		device_start("64MiB", vm);
		holder = new_pool(0);
		pool = new_pool(0);
		stream = new_stream();
		test_waits();
		test_done();
		test_does_not_wait();
		test_others();
		must(gpumem_stream_destroy(device, stream));
		must(gpumem_pool_destroy(holder, 0));
		must(gpumem_pool_destroy(pool, 0));
		ok(device_end(), "nothing is left");
	}
	return done_testing();
}
