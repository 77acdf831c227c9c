/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What an allocation that must not wait, or must not grow, does not do, where
 * it takes a look inside: it takes no lock that a trim of another thread holds,
 * has no driver wait in its free, and makes no purge step of decay. */
#include "fixture.h"

static gpumem_status request(size_t bytes, uint32_t flags, void **ptr_out)
{
	const struct gm_request request = {
		.bytes = bytes, .alignment = 1, .flags = flags};

	return gm_heap_alloc(&heap, &request, ptr_out);
}

/* A trim is under way, as far as others can see, and does not end. */
static void test_trims(void)
{
	static const uint32_t flags[] = {
		GPUMEM_ALLOC_NO_WAIT, GPUMEM_ALLOC_NO_GROW,
		GPUMEM_ALLOC_NO_WAIT | GPUMEM_ALLOC_NO_GROW};
	void *all = NULL, *ptr = NULL;

	heap_start();
	must(request(60 * MIB, 0, &all));
	pthread_mutex_lock(&heap.policy->trim_mutex);
	heap.space->releases++;
	for (int i = 0; i < 3; i++)
		is_status(request(32 * MIB, flags[i], &ptr), GPUMEM_NO_MEMORY,
			  "flags %u: fails without waiting for a trim",
			  flags[i]);
	pthread_mutex_unlock(&heap.policy->trim_mutex);
	is_uint(heap.counters.trims, 0, "makes none of its own");
	must(gm_heap_free(all, NULL));
	heap_end();
}

static void use_segments(void)
{
	void *ptr = NULL;

	must(request(8 * MIB, 0, &ptr));
	must(gm_heap_free(ptr, NULL));
	pthread_mutex_lock(&heap.mutex);
	gm_locals_flush_own(&heap);
	pthread_mutex_unlock(&heap.mutex);
}

/* A segment that nobody uses goes back before a larger one is taken, unless
 * that waits for the device. */
static void test_segments(void)
{
	void *ptr = NULL;

	option("vm", "off");
	heap_start();
	use_segments();
	must(request(16 * MIB, GPUMEM_ALLOC_NO_WAIT, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 1,
		"NO_WAIT gives a segment back for a larger one");
	must(gm_heap_free(ptr, NULL));
	heap_end();
	device->info.caps |= GPUMEM_CAP_FREE_WAITS;
	heap_start();
	use_segments();
	must(request(16 * MIB, GPUMEM_ALLOC_NO_WAIT, &ptr));
	is_uint(calls(GPUMEM_CALL_FREE), 0,
		"but not where the driver waits then");
	must(gm_heap_free(ptr, NULL));
	pthread_mutex_lock(&heap.mutex);
	gm_locals_flush_own(&heap);
	pthread_mutex_unlock(&heap.mutex);
	must(request(32 * MIB, 0, &ptr));
	ok(calls(GPUMEM_CALL_FREE) > 0, "as it does without the flag");
	must(gm_heap_free(ptr, NULL));
	heap_end();
	device->info.caps &= ~(uint32_t)GPUMEM_CAP_FREE_WAITS;
	option("vm", NULL);
}

/* Does a call of the slow path come nearer to the next purge step? */
static bool counts_for_decay(uint32_t flags)
{
	unsigned before = heap.policy->decay.countdown;
	void *ptr = NULL;
	bool counts;

	must(request(MIB, flags, &ptr));
	counts = heap.policy->decay.countdown != before;
	must(gm_heap_free(ptr, NULL));
	return counts;
}

static void test_decay(void)
{
	heap_start();
	ok(counts_for_decay(0), "an allocation may make a purge step");
	ok(!counts_for_decay(GPUMEM_ALLOC_NO_WAIT), "NO_WAIT makes none");
	ok(!counts_for_decay(GPUMEM_ALLOC_NO_GROW), "nor does NO_GROW");
	heap_end();
}

int main(void)
{
	alarm(60);
	option("wait", "on");
	device_start();
	test_trims();
	test_segments();
	test_decay();
	device_end();
	return done_testing();
}
