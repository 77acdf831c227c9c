/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Raw allocations of the hip backend made of virtual memory, at the level
 * "reserve" of hip.vm: what the device says of itself, that memory and
 * addresses go with each free whatever is queued meanwhile, that peers are let
 * in to all of it, and what becomes of calls that fail half way. Over the
 * doubles of ROCm 6 and 7.
 */
#include "fixture.h"
#include <pthread.h>

enum { BLOCKS = 5, THREADS = 3, ROUNDS = 60 };
#define SOME 64 /* bytes to work on */

static void *device, *peer, *third;

/* For what is no test's subject. */
static void must_hold(gpumem_status status)
{
	if (status != GPUMEM_OK)
		bail("%s", said.text);
}

static uint64_t take(uint64_t bytes)
{
	uint64_t address = 0;

	must_hold(gpu->alloc(device, bytes, &address));
	return address;
}

static uint64_t free_bytes(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	must_hold(gpu->memory_info(device, &memory));
	return memory.free_bytes;
}

/* Handles, mappings and reservations as many as allocations. */
static void holds(uint64_t count, const char *when)
{
	struct fakecuda_held held = audit();

	if (!ok(held.allocs == 0 && held.handles == count &&
			held.mappings == count && held.reservations == count,
		"%s: one of each for each of %llu allocations", when,
		(unsigned long long)count))
		diag("%llu, %llu, %llu; %llu of the runtime's own",
		     (unsigned long long)held.handles,
		     (unsigned long long)held.mappings,
		     (unsigned long long)held.reservations,
		     (unsigned long long)held.allocs);
}

/* What a device's own fill of that memory says. */
static gpumem_status fills(void *by, uint64_t address, uint8_t value)
{
	gpumem_status status = gpu->fill(by, address, value, SOME, NULL);

	return status == GPUMEM_OK ? gpu->stream_sync(by, NULL) : status;
}

static uint8_t first_byte(uint64_t address)
{
	uint8_t byte = 0;

	must_hold(gpu->copy(device, (uintptr_t)&byte, address, 1, NULL));
	must_hold(gpu->stream_sync(device, NULL));
	return byte;
}

static uint32_t caps_of(int index)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	must_hold(gpu->device_info(index, &info));
	return info.caps;
}

static void capabilities(void)
{
	static const struct {
		const char *level;
		uint32_t caps;
	} rows[] = {
		{"off", GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_SHARE_IPC},
		{"reserve", 0},
		{"single", GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_SHARE_IPC |
				   GPUMEM_CAP_VM | GPUMEM_CAP_SHARE_FD},
		{"full", GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_SHARE_IPC |
				 GPUMEM_CAP_VM | GPUMEM_CAP_SHARE_FD},
	};
	const uint32_t asked = rows[3].caps;
	const uint32_t always = GPUMEM_CAP_STREAMS | GPUMEM_CAP_PINNED |
				GPUMEM_CAP_MANAGED | GPUMEM_CAP_PEER;

	hip_vm = "reserve";
	is_uint(caps_of(0) & asked, 0, "what is claimed for reserve");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		hip_vm = rows[i].level;
		gpu->device_close(open_device(0));
		is_uint(caps_of(0) & asked, rows[i].caps, "found at %s",
			rows[i].level);
		is_uint(caps_of(0) & always, always, "and what it always has");
	}
}

/* With memory that stays taken until its addresses are free. */
static void comes_back(void)
{
	uint64_t block[BLOCKS], before = free_bytes(), taken = 0;
	int bad = 0;

	runtime.fakehip_quirk("stuck", true);
	for (int i = 0; i < BLOCKS; i++) {
		uint64_t bytes = (uint64_t)(i + 1) * PAGE;

		block[i] = take(bytes);
		bad += block[i] % PAGE != 0;
		bad += fills(device, block[i] + bytes - SOME, 1) != GPUMEM_OK;
		taken += bytes;
	}
	is_int(bad, 0, "aligned, and used to the end");
	holds(BLOCKS, "taken");
	is_uint(free_bytes(), before - taken, "what is free moves");
	for (int i = 0; i < BLOCKS; i++) {
		int at = (i * 2 + 1) % BLOCKS;
		uint64_t bytes = (uint64_t)(at + 1) * PAGE;

		must_hold(gpu->free(device, block[at], bytes));
		taken -= bytes;
		is_uint(free_bytes(), before - taken, "by each at once");
	}
	runtime.fakehip_quirk("stuck", false);
	holds(0, "freed");
}

static void refuses(void)
{
	uint64_t block = take(2 * PAGE);

	said.count = 0;
	is_status(gpu->free(device, block + PAGE, PAGE), GPUMEM_INVALID,
		  "not half of one");
	ok(said.count == 1 && strstr(said.text, "no raw allocation"),
	   "which is said: %s", said.text);
	is_status(fills(device, block, 1), GPUMEM_OK, "and it is there");
	must_hold(gpu->free(device, block, 2 * PAGE));
	is_status(gpu->free(device, block, 2 * PAGE), GPUMEM_INVALID,
		  "nor twice");
	block = UNTOUCHED;
	is_status(gpu->alloc(device, UINT64_C(1) << 46, &block),
		  GPUMEM_NO_MEMORY, "nor more than there is");
	is_uint(block, UNTOUCHED, "which gives nothing");
	holds(0, "refused");
}

/* A stream stands still beside it; hipFree() has to let it go on. */
static void waits(void)
{
	void *still, *off;
	uint64_t used = take(PAGE), block = take(PAGE), before, own = 0;

	hip_vm = "off";
	off = open_device(0);
	hip_vm = "reserve";
	must_hold(gpu->stream_create(device, &still));
	must_hold(gpu->alloc(off, PAGE, &own));
	driver.fakecuda_stepping(true);
	must_hold(gpu->fill(device, used, 1, PAGE, still));
	before = driver.fakecuda_waits();
	must_hold(gpu->free(device, block, PAGE));
	block = take(PAGE);
	must_hold(gpu->free(device, block, PAGE));
	is_uint(driver.fakecuda_waits() - before, 0, "no free waits");
	is_status(gpu->stream_query(device, still), GPUMEM_NOT_READY,
		  "the stream does");
	must_hold(gpu->free(off, own, PAGE));
	ok(driver.fakecuda_waits() > before, "one of the runtime's own waits");
	driver.fakecuda_stepping(false);
	must_hold(gpu->stream_sync(device, still));
	must_hold(gpu->stream_destroy(device, still));
	must_hold(gpu->free(device, used, PAGE));
	gpu->device_close(off);
}

static void peers(void)
{
	uint64_t before[2] = {take(PAGE), take(PAGE)}, after;

	ok(fills(peer, before[0], 2) != GPUMEM_OK, "a peer is not let in");
	runtime.fakehip_fault("hipMemSetAccess", 2, false, 1);
	said.count = 0;
	is_status(gpu->peer_enable(device, peer), GPUMEM_INVALID,
		  "opened to it half way");
	is_uint(said.count, 1, "which is said");
	runtime.fakehip_heal();
	ok(fills(peer, before[0], 2) != GPUMEM_OK &&
		   fills(peer, before[1], 2) != GPUMEM_OK,
	   "is closed again");
	after = take(PAGE);
	ok(fills(peer, after, 2) != GPUMEM_OK, "and stays so");
	must_hold(gpu->free(device, after, PAGE));
	is_status(gpu->peer_enable(device, peer), GPUMEM_OK, "opened");
	is_status(gpu->peer_enable(device, peer), GPUMEM_OK, "once more");
	after = take(PAGE);
	for (int i = 0; i < 2; i++) {
		is_status(fills(peer, before[i], 2), GPUMEM_OK, "as it was");
		is_status(fills(device, before[i], 3), GPUMEM_OK,
			  "by the device too");
	}
	is_status(fills(peer, after, 4), GPUMEM_OK, "and will be");
	is_uint(first_byte(after), 4, "which the device reads");
	ok(fills(third, after, 2) != GPUMEM_OK, "to that peer only");
	must_hold(gpu->free(device, after, PAGE));
	for (int i = 0; i < 2; i++)
		must_hold(gpu->free(device, before[i], PAGE));
}

/* A free that fails has left the block as it was, for its peer too. */
static void half_freed(const char *call)
{
	uint64_t block = take(PAGE);

	must_hold(fills(device, block, 5));
	runtime.fakehip_fault(call, 1, false, 1);
	said.count = 0;
	is_status(gpu->free(device, block, PAGE), GPUMEM_INVALID,
		  "%s fails in a free", call);
	is_uint(said.count, 1, "which is said");
	runtime.fakehip_heal();
	holds(1, "not freed");
	is_uint(first_byte(block), 5, "it has its content");
	is_status(fills(peer, block, 6), GPUMEM_OK, "and its peer");
	is_status(gpu->free(device, block, PAGE), GPUMEM_OK, "freed");
	holds(0, "freed");
}

/* Addresses that the runtime takes back at the second time of asking. */
static void addresses_stay(void)
{
	uint64_t block[2] = {take(PAGE), take(PAGE)}, again, own;

	runtime.fakehip_fault("hipMemAddressFree", 1, true, 1);
	is_status(gpu->free(device, block[0], PAGE), GPUMEM_OK,
		  "memory is freed, and its addresses are not");
	is_status(gpu->free(device, block[1], PAGE), GPUMEM_OK, "twice");
	is_uint(audit().handles, 0, "no memory is left");
	is_uint(audit().reservations, 2, "addresses are");
	runtime.fakehip_heal();
	again = take(PAGE);
	holds(1, "they go before the next one comes");
	runtime.fakehip_fault("hipMemAddressFree", 1, false, 1);
	own = take(PAGE);
	must_hold(gpu->free(device, again, PAGE));
	is_uint(audit().reservations, 2, "addresses are left again");
	must_hold(gpu->free(device, own, PAGE));
	holds(0, "they go with the next free");
	runtime.fakehip_heal();
	gpu->device_close(device);
	device = open_device(0);
	again = take(PAGE);
	runtime.fakehip_fault("hipMemAddressFree", 1, false, 1);
	must_hold(gpu->free(device, again, PAGE));
	runtime.fakehip_heal();
	is_uint(audit().reservations, 1, "and again");
	gpu->device_close(device);
	holds(0, "they go with the device");
	device = open_device(0);
}

static void *take_and_give(void *kept_out)
{
	uint64_t *kept = kept_out;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t block = take(PAGE);

		if (i < ROUNDS / 2)
			must_hold(gpu->free(device, block, PAGE));
		else if (*kept)
			must_hold(gpu->free(device, *kept, PAGE));
		if (i >= ROUNDS / 2)
			*kept = block;
	}
	return NULL;
}

/* A peer that is let in meanwhile misses none. */
static void threads(void)
{
	uint64_t kept[THREADS] = {0};
	pthread_t thread[THREADS];
	int bad = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, take_and_give, &kept[i]))
			bail("pthread_create");
	must_hold(gpu->peer_enable(device, third));
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		bad += fills(third, kept[i], 1) != GPUMEM_OK;
	is_int(bad, 0, "a peer that came meanwhile uses what each kept");
	holds(THREADS, "kept");
	for (int i = 0; i < THREADS; i++)
		must_hold(gpu->free(device, kept[i], PAGE));
}

/* On a lost device the calls of virtual memory work as if nothing were. */
static void lost(void)
{
	uint64_t block = UNTOUCHED;

	driver.fakecuda_lose(0, 719);
	is_status(gpu->alloc(device, PAGE, &block), GPUMEM_LOST,
		  "a lost device gives nothing");
	is_uint(block, UNTOUCHED, "and leaves its output alone");
}

static void checks(void)
{
	capabilities();
	hip_vm = "reserve";
	device = open_device(0);
	peer = open_device(1);
	third = open_device(2);
	(void)runtime.hipSetDevice(1);
	set_capture_mode(MODE_THREAD_LOCAL);
	comes_back();
	refuses();
	waits();
	peers();
	half_freed("hipMemUnmap");
	half_freed("hipMemRelease");
	ok(current_device() == 1 && capture_mode() == MODE_THREAD_LOCAL &&
		   runtime.hipPeekAtLastError() == 0,
	   "the thread is as it was");
	addresses_stay();
	threads();
	holds(0, "at the end");
	lost();
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "3", 1);
	on_release(6, checks);
	on_release(7, checks);
	return done_testing();
}
