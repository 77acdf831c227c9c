/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of views share: a pool of host:0, whose memory is named by
 * objects. For the main thread.
 */
#ifndef LIB_VIEWS_H
#define LIB_VIEWS_H

#include "fixture.h"

static gpumem_pool *pool;

static void start(const char *capacity)
{
	option("host.objects", "on");
	device_start(capacity, true);
	pool = new_pool(0);
}

static void end(void)
{
	must(gpumem_pool_destroy(pool, 0));
	is_uint(gpumem_host_views(0), 0, "no view is left");
	ok(device_end(), "no memory is left");
}

LIB_USE void *view_of(const void *ptr)
{
	void *view = NULL;

	must(gpumem_view(ptr, &view));
	return view;
}

LIB_USE void finish_work(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	must(gpumem_device_get_info(device, &info));
	if (info.caps & GPUMEM_CAP_STREAMS)
		must(gpumem_stream_sync(device, NULL));
}

static uint64_t quarantined(void)
{
	return stats_of(pool).quarantined_bytes;
}

#endif
