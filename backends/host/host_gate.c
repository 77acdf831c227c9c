/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The gate that every slot passes: calls are counted, capabilities looked at,
 * faults injected, latency added, and a lost device found. No lock.
 */
#include "host_device.h"

#include <errno.h>
#include <time.h>

#define BUSY_NS 100000 /* shorter waits do not give the processor away */
#define NS_PER_S UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void gm_host_sleep(uint64_t ns)
{
	uint64_t end = now_ns() + ns;
	struct timespec until = {
		.tv_sec = (time_t)(end / NS_PER_S),
		.tv_nsec = (long)(end % NS_PER_S),
	};

	if (ns < BUSY_NS) {
		while (now_ns() < end)
			continue;
		return;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
	       EINTR)
		continue;
}

void gm_host_lose(struct host_device *device)
{
	struct host_stream *stream;

	atomic_store(&device->lost, true);
	for (uint32_t i = 0; i < 1u << HOST_SLOT_BITS; i++) {
		stream = gm_host_table_at(&device->streams, i);
		if (!stream)
			break;
		gm_host_stream_wake(stream);
	}
}

gpumem_status gm_host_fail_lost(const struct host_device *device)
{
	uint64_t address = atomic_load(&device->bad_address);

	if (!address)
		return gm_host_fail(GPUMEM_LOST,
				    "the simulated device is lost");
	return gm_host_fail(GPUMEM_LOST,
			    "the simulated device is lost: a fill or copy to "
			    "0x%llx was to use memory that was taken away "
			    "after it was queued",
			    (unsigned long long)address);
}

/* The fate of a call that is to fail. */
static gpumem_status inject(struct host_device *device, gpumem_status status)
{
	if (status == GPUMEM_NOT_READY)
		return status;
	if (status == GPUMEM_LOST && device)
		gm_host_lose(device);
	return gm_host_fail(status, "a fault that was requested (host.fail)");
}

/* Whether the options leave the device any of the slot's capabilities. */
static bool is_on(const struct host_device *device, enum gpumem_slot slot)
{
	static const uint32_t caps[] = {
#define SLOT_CAPS(slot, group, caps, counted) caps,
		GPUMEM_SLOT_LIST(SLOT_CAPS)
#undef SLOT_CAPS
	};

	return !caps[slot] || (caps[slot] & device->config.caps);
}

/* True when this call is one more than the device lives for. */
static bool life_is_over(struct host_device *device)
{
	if (!device->config.lose)
		return false;
	return atomic_fetch_add(&device->calls, 1) >= device->config.lose;
}

gpumem_status gm_host_enter(struct host_device *device, enum gpumem_slot slot)
{
	gpumem_status status = gm_host_fault_next(slot);

	if (device) {
		bool lost = atomic_load(&device->lost);

		if (!lost && life_is_over(device)) {
			gm_host_lose(device);
			lost = true;
		}
		if (lost)
			return gm_host_fail_lost(device);
		if (!is_on(device, slot))
			return gm_host_fail(GPUMEM_UNSUPPORTED,
					    "switched off by an option");
		if (device->config.latency_ns[slot])
			gm_host_sleep(device->config.latency_ns[slot]);
	}
	return status == GPUMEM_OK ? GPUMEM_OK : inject(device, status);
}
