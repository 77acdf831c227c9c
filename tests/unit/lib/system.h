/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the whole library share. They see it as a program does:
 * through <gpumem/gpumem.h> and <gpumem/host.h> alone. Functions that use TAP
 * are for the main thread; the others say so.
 */
#ifndef LIB_SYSTEM_H
#define LIB_SYSTEM_H

#include "../../law.h"
#include "../../tap.h"
#include <gpumem/gpumem.h>
#include <gpumem/host.h>
#include <unistd.h>

#define SYS_USE __attribute__((unused)) static

enum { KIB = 1024, MIB = 1024 * 1024 };

SYS_USE gpumem_device *device;

/* Nothing that follows would mean anything if this call failed. Any thread. */
#define must(call) must_at((call), #call, TAP_HERE)

SYS_USE void must_at(gpumem_status status, const char *call, const char *at)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (status == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	bail("%s: %s gave %s: %s", at, call, gpumem_status_name(status),
	     error.text);
}

/* The device, for a test that may take so many seconds. */
SYS_USE void open_device(unsigned seconds)
{
	alarm(seconds);
	must(gpumem_device_open("host:0", &device));
}

SYS_USE gpumem_pool *new_pool(const char *name, uint64_t limit_bytes)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = NULL;

	config.name = name;
	config.limit_bytes = limit_bytes;
	must(gpumem_pool_create(device, &config, &pool));
	return pool;
}

SYS_USE gpumem_stream new_stream(void)
{
	gpumem_stream stream = NULL;

	must(gpumem_stream_create(device, &stream));
	return stream;
}

/* A block that there must be. Any thread. */
SYS_USE void *block(gpumem_pool *pool, size_t bytes, gpumem_stream stream)
{
	void *ptr = NULL;

	must(gpumem_alloc(pool, bytes, stream, &ptr));
	return ptr;
}

SYS_USE struct gpumem_stats stats_of(gpumem_pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool, &stats));
	return stats;
}

SYS_USE struct gpumem_call_stats calls_of(gpumem_pool *pool, unsigned call)
{
	struct gpumem_call_stats stats = GPUMEM_INIT(struct gpumem_call_stats);

	must(gpumem_pool_calls(pool, call, &stats));
	return stats;
}

/* Does a pool of the device have virtual memory? */
SYS_USE bool has_vm(void)
{
	gpumem_pool *pool = new_pool("probe", 0);
	bool vm = calls_of(pool, GPUMEM_CALL_VA_RESERVE).count > 0;

	must(gpumem_pool_destroy(pool, 0));
	return vm;
}

/* The last call of this thread gave `status` and left a sentence about it. */
SYS_USE bool said(gpumem_status got, gpumem_status status, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	bool right;

	gpumem_last_error(&error);
	right = got == status && error.status == status &&
		strlen(error.text) > 8;
	ok(right, "%s: %s, with a sentence", what, gpumem_status_name(status));
	if (!right)
		diag("got %s; last error %s: %s", gpumem_status_name(got),
		     gpumem_status_name(error.status), error.text);
	return right;
}

/* What nobody uses goes back to the driver. Each round waits for the events
 * that the one before recorded: uses by other streams are over after the first,
 * the blocks' own streams are after the second. Gives what stays reserved. */
SYS_USE uint64_t trim_all(gpumem_pool *pool, const gpumem_stream *streams,
			  size_t count)
{
	for (int round = 0; round < 4; round++) {
		must(gpumem_pool_trim(pool, 0, NULL));
		must(gpumem_stream_sync(device, NULL));
		for (size_t i = 0; i < count; i++)
			must(gpumem_stream_sync(device, streams[i]));
	}
	return stats_of(pool).reserved.current;
}

/* A kernel that runs until the gate is opened. */
struct gate {
	_Atomic bool open;
};

SYS_USE void gate_wait(void *gate)
{
	while (!((struct gate *)gate)->open)
		usleep(100);
}

SYS_USE void hold_stream(gpumem_stream stream, struct gate *gate)
{
	gate->open = false;
	must(gpumem_host_launch(0, stream, gate_wait, gate));
}

#endif
