/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem-probe prints for programs.
 */
#include "probe.h"

static json_t *caps_json(uint32_t caps, bool *ok)
{
	json_t *array = json_array();

	for (uint32_t bit = 1; bit; bit <<= 1)
		if (caps & bit)
			json_put(array, NULL, json_text(gpumem_cap_name(bit)),
				 ok);
	return array;
}

static json_t *test_json(const struct probe_device *device, bool *ok)
{
	static const char *const words[] = {"ok", "failed", "skipped"};
	json_t *array = json_array();

	for (int i = 0; i < device->line_count; i++) {
		const struct probe_line *line = &device->lines[i];
		json_t *object = json_object();

		json_put(object, "name", json_text(line->name), ok);
		json_put(object, "result", json_text(words[line->verdict]), ok);
		json_put(object, "detail", json_text(line->detail), ok);
		if (line->ns > 0.0)
			json_put(object, "ns", json_number(line->ns), ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}

/* null: unknown, or not queried. */
static json_t *processes_json(const struct probe_device *device, bool *ok)
{
	const struct probe_processes *processes = &device->processes;
	json_t *array;

	if (!device->memory.size || *processes->reason)
		return json_null();
	array = json_array();
	for (int i = 0; i < processes->count; i++) {
		const struct gpumem_process *process = &processes->list[i];
		json_t *object = json_object();

		json_put(object, "pid", json_u64(process->pid), ok);
		json_put(object, "name", json_text(process->name), ok);
		json_put(object, "bytes",
			 process->bytes == UINT64_MAX
				 ? json_null()
				 : json_u64(process->bytes),
			 ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}

static json_t *device_json(const struct probe_device *device, bool *ok)
{
	const struct gpumem_device_info *info = &device->info;
	const struct gpumem_memory *memory = &device->memory;
	json_t *object = json_object();

	json_put(object, "name", json_text(info->name), ok);
	json_put(object, "product", json_text(info->product), ok);
	json_put(object, "uuid", json_text(info->uuid), ok);
	json_put(object, "pci", json_text(info->pci), ok);
	json_put(object, "note", json_text(info->note), ok);
	json_put(object, "total_bytes", json_u64(info->total_bytes), ok);
	json_put(object, "free_bytes",
		 memory->size ? json_u64(memory->free_bytes) : json_null(), ok);
	json_put(object, "outside_bytes",
		 memory->size ? json_u64(memory->outside_bytes) : json_null(),
		 ok);
	json_put(object, "processes", processes_json(device, ok), ok);
	json_put(object, "processes_reason",
		 json_text(device->processes.reason), ok);
	json_put(object, "granularity_bytes", json_u64(info->granularity_bytes),
		 ok);
	json_put(object, "alignment_bytes", json_u64(info->alignment_bytes),
		 ok);
	json_put(object, "max_alloc_bytes", json_u64(info->max_alloc_bytes),
		 ok);
	json_put(object, "capabilities", caps_json(info->caps, ok), ok);
	if (device->line_count)
		json_put(object, "test", test_json(device, ok), ok);
	return object;
}

static json_t *backend_json(const struct probe_backend *backend, bool *ok)
{
	const struct gpumem_backend_info *info = &backend->info;
	json_t *object = json_object();
	json_t *devices = json_array();

	for (int i = 0; i < backend->device_count; i++)
		json_put(devices, NULL, device_json(&backend->devices[i], ok),
			 ok);
	json_put(object, "name", json_text(info->name), ok);
	json_put(object, "status", json_text(gpumem_status_name(info->status)),
		 ok);
	json_put(object, "reason", json_text(info->reason), ok);
	json_put(object, "driver_version", json_text(info->driver_version), ok);
	json_put(object, "path", json_text(info->path), ok);
	json_put(object, "chosen", json_boolean(info->chosen), ok);
	json_put(object, "devices", devices, ok);
	return object;
}

bool probe_print_json(const struct probe *probe)
{
	json_t *root = json_object();
	json_t *backends = json_array();
	bool ok = true;

	for (int i = 0; i < probe->backend_count; i++)
		json_put(backends, NULL, backend_json(&probe->backends[i], &ok),
			 &ok);
	json_put(root, "version", json_text(gpumem_version()), &ok);
	json_put(root, "default", json_text(probe->default_device), &ok);
	json_put(root, "no_default", json_text(probe->no_default), &ok);
	json_put(root, "gpus", probe_gpus_json(probe, &ok), &ok);
	json_put(root, "backends", backends, &ok);
	return json_print(root, ok);
}
