/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The way into every call and out of it, and what the environment says.
 */
#include "cuda_fake.h"

#include <stdlib.h>
#include <time.h>

#ifdef FAKECUDA_OLD
#define DEFAULT_VERSION 10020
#define HAS_VMM false
#else
#define DEFAULT_VERSION 13000
#define HAS_VMM true
#endif

struct fake_state fake = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

_Thread_local bool fake_in_host_function;

void fake_lock(void)
{
	pthread_mutex_lock(&fake.mutex);
	fake_configure();
}

void fake_unlock(void)
{
	pthread_mutex_unlock(&fake.mutex);
}

bool fake_parse_amount(const char *text, uint64_t *amount_out)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{"", 1},
		{"KiB", 1ull << 10},
		{"MiB", 1ull << 20},
		{"GiB", 1ull << 30},
		{"TiB", 1ull << 40},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
	};
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (end == text)
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name))
			continue;
		*amount_out = number * units[i].factor;
		return true;
	}
	return false;
}

static uint64_t amount(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);
	uint64_t value;

	return text && fake_parse_amount(text, &value) ? value : otherwise;
}

/* A child has the parent's memory but not its driver, nor its threads. */
static void after_fork(void)
{
	pthread_mutex_init(&fake.mutex, NULL);
	fake.forked = true;
}

void fake_configure(void)
{
	uint64_t count;

	if (fake.configured)
		return;
	fake.configured = true;
	count = amount("FAKECUDA_DEVICES", 1);
	fake.device_count =
		count > FAKE_DEVICES_MAX ? FAKE_DEVICES_MAX : (int)count;
	fake.capacity_bytes =
		amount("FAKECUDA_MEMORY", 16ull << 30) & ~(FAKE_GRANULE - 1);
	fake.version = (int)amount("FAKECUDA_VERSION", DEFAULT_VERSION);
	fake.init_result = (int)amount("FAKECUDA_INIT", 0);
	fake.vmm = HAS_VMM && !amount("FAKECUDA_NO_VMM", 0);
	fake.peers = !amount("FAKECUDA_NO_PEERS", 0);
	fake.async = amount("FAKECUDA_ASYNC", 0);
	fake.stepping = amount("FAKECUDA_STEPPING", 0);
	for (int i = 0; i < FAKE_DEVICES_MAX; i++)
		fake.devices[i].fd = -1;
	fake_fault_configure();
	pthread_atfork(fake_lock, fake_unlock, after_fork);
}

/* These answer without cuInit(). */
static bool always_there(enum fake_call call)
{
	return call == FAKE_cuDriverGetVersion || call == FAKE_cuInit ||
	       call == FAKE_cuGetErrorName || call == FAKE_cuGetErrorString;
}

/* Holds up nobody else. */
static void pass_time(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000),
				(long)(ns % 1000000000)};

	fake_unlock();
	nanosleep(&time, NULL);
	fake_lock();
}

CUresult fake_enter(enum fake_call call)
{
	CUresult result;
	uint64_t ns;

	fake_lock();
	result = fake_fault_next(call, &ns);
	if (ns)
		pass_time(ns);
	if (result != CUDA_SUCCESS)
		return result;
	if (fake_in_host_function)
		return CUDA_ERROR_NOT_PERMITTED;
	if (fake.shut_down && call != FAKE_cuGetErrorName &&
	    call != FAKE_cuGetErrorString)
		return CUDA_ERROR_DEINITIALIZED;
	if (always_there(call))
		return CUDA_SUCCESS;
	if (!fake.initialised || fake.forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

CUresult fake_leave(CUresult result)
{
	fake_unlock();
	return result;
}
