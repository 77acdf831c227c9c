/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See loss.h. One mutex for all devices; nothing is called under it. */
#include "loss.h"
#include "base/error.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

bool gm_device_lose(struct gpumem_device *device)
{
	bool first;

	pthread_mutex_lock(&mutex);
	first = !atomic_load(&device->lost);
	if (first) {
		device->loss.size = sizeof(device->loss);
		gm_error_get(&device->loss);
		atomic_store(&device->lost, true);
	}
	pthread_mutex_unlock(&mutex);
	return first;
}

gpumem_status gm_fail_lost(const struct gpumem_device *device,
			   const char *sentence)
{
	gm_error_set(&device->loss);
	gm_error_context("%s: %s", device->info.name, sentence);
	return GPUMEM_LOST;
}
