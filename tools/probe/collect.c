/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Finds the backends and devices that were asked for, without a driver
 * context unless one device is named or tested. See probe.h.
 */
#include "probe.h"

#include "common/raw.h"
#include "common/tool.h"

#include <stdlib.h>
#include <string.h>

struct walk {
	struct probe *probe;
	struct probe_backend *backend; /* whose devices are visited */
	const char *device;	       /* only that one; NULL: all */
	bool no_memory;
};

static bool add_backend(const struct gpumem_backend_info *info, void *user)
{
	struct walk *walk = user;
	struct probe *probe = walk->probe;
	size_t count = (size_t)probe->backend_count + 1;
	struct probe_backend *backends;

	if (info->chosen)
		snprintf(probe->default_device, sizeof(probe->default_device),
			 "%s:%d", info->name, info->chosen_index);
	if (probe->config->backend &&
	    strcmp(probe->config->backend, info->name))
		return true;
	backends = realloc(probe->backends, count * sizeof(*backends));
	if (!backends) {
		walk->no_memory = true;
		return false;
	}
	probe->backends = backends;
	backends[probe->backend_count++] = (struct probe_backend){
		.info = *info,
	};
	return true;
}

/* A name without a number is that of the backend's first device. */
static bool is_asked_for(const char *name, const char *asked)
{
	return !asked || !strchr(asked, ':') || !strcmp(name, asked);
}

static bool add_device(const struct gpumem_device_info *info, void *user)
{
	struct walk *walk = user;
	struct probe_backend *backend = walk->backend;
	size_t count = (size_t)backend->device_count + 1;
	struct probe_device *devices;

	if (!is_asked_for(info->name, walk->device))
		return true;
	devices = realloc(backend->devices, count * sizeof(*devices));
	if (!devices) {
		walk->no_memory = true;
		return false;
	}
	backend->devices = devices;
	devices[backend->device_count++] = (struct probe_device){
		.info = *info,
	};
	return !walk->device;
}

static int no_memory(void)
{
	tool_error("out of memory");
	return TOOL_FAILED;
}

static void find_default(struct probe *probe)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	const struct gpumem_backend *table;

	if (gpumem_backend_table(NULL, &table) == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	snprintf(probe->no_default, sizeof(probe->no_default), "%s",
		 error.text);
}

static int collect_backends(struct probe *probe)
{
	struct walk walk = {.probe = probe};
	const char *name = probe->config->backend;

	if (gpumem_backend_visit(add_backend, &walk) != GPUMEM_OK) {
		tool_error_last("cannot list the backends");
		return TOOL_FAILED;
	}
	if (walk.no_memory)
		return no_memory();
	find_default(probe);
	if (!name || probe->backend_count)
		return TOOL_OK;
	tool_error(
		"no such backend: %s; gpumem-probe shows those that are there",
		name);
	return TOOL_ABSENT;
}

static int collect_devices(struct probe *probe, struct probe_backend *backend)
{
	struct walk walk = {
		.probe = probe,
		.backend = backend,
		.device = probe->config->device,
	};
	gpumem_status status;

	if (backend->info.status != GPUMEM_OK)
		return TOOL_OK;
	status = gpumem_device_visit(backend->info.name, add_device, &walk);
	if (status != GPUMEM_OK) {
		tool_error_last("cannot list the devices of %s",
				backend->info.name);
		return tool_exit_of(status);
	}
	return walk.no_memory ? no_memory() : TOOL_OK;
}

/* What was named must be there and usable. */
static int check_named(const struct probe *probe)
{
	const struct probe_config *config = probe->config;
	const struct probe_backend *backend = probe->backends;

	if (!config->backend)
		return TOOL_OK;
	if (backend->info.status != GPUMEM_OK) {
		tool_error("%s cannot be used: %s", backend->info.name,
			   backend->info.reason);
		return backend->info.status == GPUMEM_INVALID ? TOOL_USAGE
							      : TOOL_ABSENT;
	}
	if (config->device && !backend->device_count) {
		tool_error("no such device: %s; %s has %d, from number 0 on",
			   config->device, backend->info.name,
			   backend->info.device_count);
		return TOOL_ABSENT;
	}
	return TOOL_OK;
}

static int open_devices(struct probe *probe)
{
	const struct probe_config *config = probe->config;
	int code = TOOL_OK;

	if (config->list || (!config->device && !config->test))
		return code;
	for (int i = 0; i < probe->backend_count; i++) {
		struct probe_backend *backend = &probe->backends[i];

		for (int j = 0; j < backend->device_count; j++) {
			int one = probe_open(probe, &backend->devices[j]);

			code = code ? code : one;
		}
	}
	return code;
}

int probe_collect(struct probe *probe)
{
	int code = collect_backends(probe);

	for (int i = 0; i < probe->backend_count && !code; i++)
		code = collect_devices(probe, &probe->backends[i]);
	if (!code)
		code = check_named(probe);
	if (!code && !probe->config->backend)
		probe_find_gpus(probe);
	return code ? code : open_devices(probe);
}

void probe_free(struct probe *probe)
{
	for (int i = 0; i < probe->backend_count; i++) {
		struct probe_backend *backend = &probe->backends[i];

		for (int j = 0; j < backend->device_count; j++)
			probe_free_processes(&backend->devices[j].processes);
		free(backend->devices);
	}
	free(probe->backends);
}

int probe_open(struct probe *probe, struct probe_device *device)
{
	int code = TOOL_OK;
	gpumem_device *handle = tool_open(device->info.name, &code);

	if (!handle)
		return code;
	/* Opening it may have shown more. */
	if (gpumem_device_get_info(handle, &device->info) != GPUMEM_OK) {
		tool_error_last("cannot describe %s", device->info.name);
		code = TOOL_FAILED;
	}
	device->memory = GPUMEM_INIT(struct gpumem_memory);
	if (gpumem_device_memory(handle, &device->memory) != GPUMEM_OK) {
		tool_error_last("cannot query the memory of %s",
				device->info.name);
		device->memory.size = 0;
		code = TOOL_FAILED;
	}
	if (!probe_ask_processes(handle, &device->processes))
		code = no_memory();
	if (probe->config->test)
		probe_test(handle, device);
	for (int i = 0; i < device->line_count; i++)
		if (device->lines[i].verdict == PROBE_FAILED)
			probe->failed_test = true;
	return tool_close(handle, code);
}
