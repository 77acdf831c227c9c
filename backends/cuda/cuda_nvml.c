/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group PROCESSES, by NVIDIA's management library, NVML, which comes with the
 * driver but not with every container. It is looked for when it is first
 * needed, and again as long as it is not there; what was opened is not closed.
 * A mutex of its own guards that; its other calls may be made by any thread.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The part of NVML that is used, in its own ABI. Declared by hand: its header
 * does not come with every CUDA Toolkit, and the library is opened when it is
 * needed.
 */
typedef struct nvml_device *nvml_device_t;

enum nvml_result { NVML_OK = 0, NVML_INSUFFICIENT_SIZE = 7 };

/* nvmlProcessInfo_v2_t, which _v2 and _v3 of the calls fill. */
struct nvml_process {
	unsigned pid;
	unsigned long long used_bytes; /* UINT64_MAX: not available */
	unsigned gpu_instance, compute_instance;
};

typedef int nvml_init_fn(void);
typedef const char *nvml_error_string_fn(int result);
typedef int nvml_device_by_uuid_fn(const char *uuid, nvml_device_t *device_out);
/* *count is the list's room before and the number of processes after, also with
 * NVML_INSUFFICIENT_SIZE. */
typedef int nvml_processes_fn(nvml_device_t device, unsigned *count,
			      struct nvml_process *list);
typedef int nvml_process_name_fn(unsigned pid, char *name_out, unsigned length);

/* The lists change between two questions; a few more than were there. */
enum { SPARE = 8, TRIES = 4 };

struct nvml {
	bool ready;
	nvml_init_fn *init;
	nvml_error_string_fn *error_string;
	nvml_device_by_uuid_fn *device_by_uuid;
	nvml_processes_fn *compute, *graphics;
	nvml_process_name_fn *process_name; /* may be NULL */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct nvml nvml; /* once ready, only read */

static gpumem_status unsupported(int result, const char *what)
{
	return gpu_fail(GPUMEM_UNSUPPORTED, CUDA_SUCCESS,
			"NVML cannot tell which processes use the device: "
			"%s: %s",
			what, nvml.error_string(result));
}

/* The newer name of a function, or the older one of the same ABI. */
static void find(void *library, const char *name, const char *older, void *slot)
{
	void *address = dlsym(library, name);

	if (!address && older)
		address = dlsym(library, older);
	memcpy(slot, &address, sizeof(address));
}

static gpumem_status look_up(void *library, const char *path)
{
	find(library, "nvmlInit_v2", NULL, &nvml.init);
	find(library, "nvmlErrorString", NULL, &nvml.error_string);
	find(library, "nvmlDeviceGetHandleByUUID", NULL, &nvml.device_by_uuid);
	find(library, "nvmlDeviceGetComputeRunningProcesses_v3",
	     "nvmlDeviceGetComputeRunningProcesses_v2", &nvml.compute);
	find(library, "nvmlDeviceGetGraphicsRunningProcesses_v3",
	     "nvmlDeviceGetGraphicsRunningProcesses_v2", &nvml.graphics);
	find(library, "nvmlSystemGetProcessName", NULL, &nvml.process_name);
	if (nvml.init && nvml.error_string && nvml.device_by_uuid &&
	    nvml.compute && nvml.graphics)
		return GPUMEM_OK;
	return gpu_fail(GPUMEM_UNSUPPORTED, CUDA_SUCCESS,
			"%s is no NVML, or one older than the driver 450, "
			"and cannot tell which processes use the device",
			path);
}

static gpumem_status start_locked(void)
{
	gpumem_status status;
	char path[512] = "";
	void *library;
	int result;

	if (nvml.ready)
		return GPUMEM_OK;
	gpu.services->option("cuda.nvml", path, sizeof(path));
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return gpu_fail(GPUMEM_UNSUPPORTED, CUDA_SUCCESS,
				"NVML, which knows the processes that use "
				"the device, is not there: %s",
				dlerror());
	status = look_up(library, path);
	if (status != GPUMEM_OK)
		goto close;
	result = nvml.init();
	if (result != NVML_OK) {
		status = unsupported(result, "nvmlInit");
		goto close;
	}
	nvml.ready = true;
	return GPUMEM_OK;

close:
	(void)dlclose(library);
	return status;
}

static gpumem_status start(void)
{
	gpumem_status status;

	pthread_mutex_lock(&mutex);
	status = start_locked();
	pthread_mutex_unlock(&mutex);
	return status;
}

/* What CUDA sees is a device or a part of a divided one (MIG), which NVML
 * names differently. */
static gpumem_status find_device(const struct gpu_device *device,
				 nvml_device_t *found_out)
{
	char digits[GPU_UUID_BYTES], uuid[GPU_UUID_BYTES + 4];
	int result;

	gpu_format_uuid(device, digits);
	snprintf(uuid, sizeof(uuid), "GPU-%s", digits);
	result = nvml.device_by_uuid(uuid, found_out);
	if (result == NVML_OK)
		return GPUMEM_OK;
	snprintf(uuid, sizeof(uuid), "MIG-%s", digits);
	if (nvml.device_by_uuid(uuid, found_out) == NVML_OK)
		return GPUMEM_OK;
	return unsupported(result, "nvmlDeviceGetHandleByUUID");
}

struct list {
	struct nvml_process *item;
	size_t count;
};

/* Appends what one of the two calls says. */
static gpumem_status ask(struct list *list, nvml_processes_fn *processes,
			 nvml_device_t device, const char *what)
{
	unsigned room = 0, tries = 0;
	int result;

	do {
		struct nvml_process *larger;

		room += SPARE;
		larger = realloc(list->item,
				 (list->count + room) * sizeof(*larger));
		if (!larger)
			return gpu_fail(GPUMEM_NO_HOST_MEMORY, CUDA_SUCCESS,
					"no host memory for a list of %u "
					"processes",
					room);
		list->item = larger;
		result = processes(device, &room, larger + list->count);
	} while (result == NVML_INSUFFICIENT_SIZE && ++tries < TRIES);
	if (result != NVML_OK)
		return unsupported(result, what);
	list->count += room;
	return GPUMEM_OK;
}

/* One that computes and draws is on both lists, with the same bytes. */
static bool is_first(const struct list *list, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (list->item[i].pid == list->item[at].pid)
			return false;
	return true;
}

static void tell(const struct list *list,
		 bool (*fn)(const struct gpumem_process *process, void *user),
		 void *user)
{
	for (size_t i = 0; i < list->count; i++) {
		struct gpumem_process process =
			GPUMEM_INIT(struct gpumem_process);

		if (!is_first(list, i))
			continue;
		process.pid = list->item[i].pid;
		process.bytes = list->item[i].used_bytes;
		/* Of one that has ended meanwhile, or is out of sight. */
		if (!nvml.process_name ||
		    nvml.process_name(list->item[i].pid, process.name,
				      sizeof(process.name)) != NVML_OK)
			process.name[0] = '\0';
		if (!fn(&process, user))
			return;
	}
}

gpumem_status gm_cuda_device_processes(
	void *handle,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user)
{
	struct list list = {0};
	nvml_device_t device;
	gpumem_status status = start();

	if (status == GPUMEM_OK)
		status = find_device(handle, &device);
	if (status == GPUMEM_OK)
		status = ask(&list, nvml.compute, device,
			     "nvmlDeviceGetComputeRunningProcesses");
	if (status == GPUMEM_OK)
		status = ask(&list, nvml.graphics, device,
			     "nvmlDeviceGetGraphicsRunningProcesses");
	if (status == GPUMEM_OK)
		tell(&list, fn, user);
	free(list.item);
	return status;
}
