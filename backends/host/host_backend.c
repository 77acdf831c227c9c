/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The backend itself: started, its devices counted and described; and the
 * table. No locks.
 */
#include "host_device.h"

#include <stdio.h>
#include <unistd.h>

/* The workers of the streams live in this process alone. */
static pid_t owner;

bool gm_host_forked(void)
{
	return owner && owner != getpid();
}

gpumem_status gm_host_init(const struct gpumem_services *services)
{
	struct host_config config;
	gpumem_status status;

	owner = getpid();
	gm_host_services_set(services);
	status = gm_host_config_read(&config);
	if (status == GPUMEM_OK)
		status = gm_host_fault_option(config.fail);
	if (status == GPUMEM_OK)
		status = gm_host_enter(NULL, GPUMEM_SLOT_init);
	return status;
}

const char *gm_host_driver_version(void)
{
	return "host simulator 1";
}

gpumem_status gm_host_device_count(int *count_out)
{
	struct host_config config;
	gpumem_status status = gm_host_enter(NULL, GPUMEM_SLOT_device_count);

	if (status == GPUMEM_OK)
		status = gm_host_config_read(&config);
	if (status != GPUMEM_OK)
		return status;
	if (!config.devices)
		return gm_host_fail(GPUMEM_NO_DEVICE,
				    "option host.devices is 0");
	*count_out = config.devices;
	return GPUMEM_OK;
}

gpumem_status gm_host_config_of(int index, struct host_config *config)
{
	gpumem_status status = gm_host_config_read(config);

	if (status != GPUMEM_OK)
		return status;
	if (index < 0 ||
	    (index >= config->devices && !gm_host_is_adopted(index)))
		return gm_host_fail(GPUMEM_NO_DEVICE,
				    "device %d of %d, as option host.devices "
				    "has it",
				    index, config->devices);
	return GPUMEM_OK;
}

gpumem_status gm_host_device_info(int index, struct gpumem_device_info *info)
{
	struct host_config config;
	gpumem_status status = gm_host_enter(NULL, GPUMEM_SLOT_device_info);

	if (status == GPUMEM_OK)
		status = gm_host_config_of(index, &config);
	if (status != GPUMEM_OK)
		return status;
	snprintf(info->product, sizeof(info->product), "gpumem simulated GPU");
	snprintf(info->uuid, sizeof(info->uuid),
		 "67707573-696d-4000-8000-%012x", (unsigned)index);
	info->total_bytes = config.capacity;
	info->granularity_bytes = config.granularity;
	info->alignment_bytes = config.alignment;
	info->max_alloc_bytes = config.max_alloc;
	info->caps = config.caps;
	return GPUMEM_OK;
}

#define ENTRY(slot, ...) GPUMEM_SLOT_ENTRY(gm_host_, slot)

const struct gpumem_backend gm_host_backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "host",
	.options = gm_host_options,
	GPUMEM_SLOT_LIST(ENTRY)};
