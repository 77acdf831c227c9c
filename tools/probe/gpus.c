/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which GPUs this machine shows by their device nodes, and of each whether its
 * vendor's backend uses it, or what to do so that it does. It asks the same
 * question of the nodes as the library (core/loader/sight.c), and opens none.
 */
#include "probe.h"

#include "common/table.h"
#include "loader/sight.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct probe_backend *find(const struct probe *probe,
					const char *name)
{
	for (int i = 0; i < probe->backend_count; i++)
		if (!strcmp(probe->backends[i].info.name, name))
			return &probe->backends[i];
	return NULL;
}

/* OpenCL for the processor is there, and that for the GPU is not. */
static bool has_gpu(const struct probe_backend *backend)
{
	for (int i = 0; i < backend->device_count; i++)
		if (!(backend->devices[i].info.caps & GPUMEM_CAP_CPU))
			return true;
	return false;
}

/* Drivers say of a node that may not be opened that there is no device. */
static bool is_closed(const struct probe_gpu *gpu)
{
	return gpu->status != GPUMEM_NOT_FOUND &&
	       gpu->status != GPUMEM_NO_DRIVER &&
	       access(gpu->node, R_OK | W_OK) != 0 && errno == EACCES;
}

static void judge(struct probe_gpu *gpu, const struct probe_backend *backend)
{
	gpu->status = backend ? backend->info.status : GPUMEM_NOT_FOUND;
	gpu->device_count = backend ? backend->device_count : 0;
	if (gpu->status == GPUMEM_OK && has_gpu(backend))
		return;
	if (gpu->status == GPUMEM_OK) {
		gpu->status = GPUMEM_NO_DEVICE;
		snprintf(gpu->reason, sizeof(gpu->reason),
			 "%s has only CPU devices: install the GPU's own "
			 "driver, for one of Intel on Debian apt install "
			 "intel-opencl-icd",
			 gpu->backend);
	} else if (is_closed(gpu)) {
		snprintf(gpu->reason, sizeof(gpu->reason),
			 "this user may not open it: join the group that owns "
			 "it (ls -l %s), such as render",
			 gpu->node);
	} else {
		snprintf(gpu->reason, sizeof(gpu->reason), "%s",
			 backend ? backend->info.reason : "");
	}
}

static void add(struct probe *probe, const struct gm_sight *sight)
{
	struct probe_gpu gpu = {.backend = sight->backend};

	memcpy(gpu.node, sight->node, sizeof(gpu.node));
	judge(&gpu, find(probe, gpu.backend));
	probe->gpus[probe->gpu_count++] = gpu;
}

void probe_find_gpus(struct probe *probe)
{
	struct gm_sight sights[GM_SIGHTS], gpus[PROBE_GPUS];
	size_t count = gm_sight("", sights);

	for (size_t i = 0; i < count; i++) {
		size_t each =
			gm_sight_gpus("", sights[i].backend, gpus, PROBE_GPUS);

		if (!each)
			add(probe, &sights[i]);
		for (size_t j = 0; j < each && j < PROBE_GPUS; j++)
			add(probe, &gpus[j]);
	}
}

/* ---- output ---- */

/* What is said of a GPU is not said once more of its neighbour. */
static bool is_same(const struct probe_gpu *gpu, const struct probe_gpu *other)
{
	return gpu->status != GPUMEM_OK && other->status != GPUMEM_OK &&
	       gpu->backend == other->backend &&
	       !strcmp(gpu->reason, other->reason);
}

static void row(struct table *table, const struct probe *probe, int i)
{
	const struct probe_gpu *gpu = &probe->gpus[i];

	table_cell(table, "%s", gpu->node);
	if (i && is_same(gpu, gpu - 1))
		table_cell(table, "cannot be used: the same");
	else if (gpu->status == GPUMEM_OK)
		table_cell(table, "used by %s (%d device%s)", gpu->backend,
			   gpu->device_count,
			   gpu->device_count == 1 ? "" : "s");
	else
		table_cell(table, "cannot be used: %s", gpu->reason);
}

bool probe_gpus_text(const struct probe *probe)
{
	struct table table;
	bool ok;

	printf("\nGPUs here\n");
	table_init(&table, "ll");
	if (!probe->gpu_count) {
		table_cell(&table, "none");
		table_cell(&table, "there is no /dev/nvidia*, /dev/kfd, "
				   "/dev/dxg, nor a GPU's /dev/dri/renderD*");
	}
	for (int i = 0; i < probe->gpu_count; i++)
		row(&table, probe, i);
	ok = table_print(&table, 2);
	table_free(&table);
	return ok;
}

json_t *probe_gpus_json(const struct probe *probe, bool *ok)
{
	json_t *array = json_array();

	for (int i = 0; i < probe->gpu_count; i++) {
		const struct probe_gpu *gpu = &probe->gpus[i];
		json_t *object = json_object();

		json_put(object, "node", json_text(gpu->node), ok);
		json_put(object, "backend", json_text(gpu->backend), ok);
		json_put(object, "status",
			 json_text(gpumem_status_name(gpu->status)), ok);
		json_put(object, "reason", json_text(gpu->reason), ok);
		json_put(array, NULL, object, ok);
	}
	return array;
}
