/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group PROCESSES, by the kernel's compute driver, KFD: of every process that
 * uses a device through it, /sys/class/kfd/kfd/proc/PID/vram_GPU says how many
 * bytes it has. GPU is a number of KFD's own, found by the place on the bus;
 * a device that is divided has several, of which the sum is reported. Keeps
 * nothing; no lock.
 */
#include "plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KFD "class/kfd/kfd"
#define GPUS_MAX 64 /* parts of one device */

struct gpus {
	uint64_t id[GPUS_MAX];
	size_t count;
};

/* The value of one line of a node's properties, "NAME VALUE". */
static bool property(FILE *file, const char *name, uint64_t *value_out)
{
	char found[64];
	uint64_t value;

	rewind(file);
	while (fscanf(file, "%63s %" SCNu64, found, &value) == 2)
		if (!strcmp(found, name)) {
			*value_out = value;
			return true;
		}
	return false;
}

/* The place on the bus is 8 bits of bus, 5 of device and 3 of function. */
static bool is_place(FILE *properties, const char *pci)
{
	unsigned domain, bus, slot, function;
	uint64_t found_domain = 0, location;

	if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 ||
	    !property(properties, "location_id", &location))
		return false;
	(void)property(properties, "domain", &found_domain);
	return found_domain == domain &&
	       location == ((uint64_t)bus << 8 | slot << 3 | function);
}

static bool is_node_of(const char *node, const char *pci)
{
	char path[HIP_PATH_BYTES];
	bool is = false;
	FILE *file;

	gm_hip_sysfs_path(path, KFD "/topology/nodes/%s/properties", node);
	file = gm_hip_open_file(path);
	if (file) {
		is = is_place(file, pci);
		(void)fclose(file);
	}
	return is;
}

static void find_gpus(const char *pci, struct gpus *gpus)
{
	char path[HIP_PATH_BYTES];
	struct dirent *entry;
	uint64_t id;
	DIR *nodes;

	gm_hip_sysfs_path(path, KFD "/topology/nodes");
	nodes = gm_hip_open_folder(path);
	while (nodes && gpus->count < GPUS_MAX && (entry = readdir(nodes))) {
		if (entry->d_name[0] == '.' || !is_node_of(entry->d_name, pci))
			continue;
		gm_hip_sysfs_path(path, KFD "/topology/nodes/%s/gpu_id",
				  entry->d_name);
		/* 0 is the processor. */
		if (gm_hip_sysfs_number(path, &id) && id)
			gpus->id[gpus->count++] = id;
	}
	if (nodes)
		(void)closedir(nodes);
}

/* False: the process does not use the device. */
static bool sum(const char *pid, const struct gpus *gpus, uint64_t *bytes_out)
{
	char path[HIP_PATH_BYTES];
	uint64_t bytes;
	bool uses = false;

	*bytes_out = 0;
	for (size_t i = 0; i < gpus->count; i++) {
		gm_hip_sysfs_path(path, KFD "/proc/%s/vram_%" PRIu64, pid,
				  gpus->id[i]);
		if (!gm_hip_sysfs_number(path, &bytes))
			continue;
		uses = true;
		*bytes_out += bytes;
	}
	return uses;
}

/* KFD's numbers are those of the machine. In a container they are another
 * process's, and a wrong name is worse than none. The first namespace's number
 * never changes. */
static bool sees_machine(void)
{
	static const char first[] = "pid:[4026531836]";
	char name[sizeof(first)] = "";

	return readlink("/proc/self/ns/pid", name, sizeof(name)) ==
		       (ssize_t)sizeof(first) - 1 &&
	       !memcmp(name, first, sizeof(first) - 1);
}

static void read_name(struct gpumem_process *process)
{
	char path[64];
	FILE *file;

	if (!sees_machine())
		return;
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", process->pid);
	file = gm_hip_open_file(path);
	if (!file)
		return;
	if (fgets(process->name, sizeof(process->name), file))
		process->name[strcspn(process->name, "\n")] = '\0';
	(void)fclose(file);
}

static void tell(DIR *processes, const struct gpus *gpus,
		 bool (*fn)(const struct gpumem_process *process, void *user),
		 void *user)
{
	struct dirent *entry;

	while ((entry = readdir(processes))) {
		struct gpumem_process process =
			GPUMEM_INIT(struct gpumem_process);
		char *end;

		process.pid = strtoull(entry->d_name, &end, 10);
		if (*end || !process.pid ||
		    !sum(entry->d_name, gpus, &process.bytes))
			continue;
		read_name(&process);
		if (!fn(&process, user))
			return;
	}
}

gpumem_status gm_hip_device_processes(
	void *handle,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user)
{
	const struct gpu_device *device = handle;
	char path[HIP_PATH_BYTES];
	struct gpus gpus = {0};
	DIR *processes;

	find_gpus(device->pci, &gpus);
	if (!gpus.count)
		return gpu_fail(GPUMEM_UNSUPPORTED, hipSuccess,
				"nobody can tell which processes use the "
				"device: the kernel's compute driver, KFD, "
				"knows no device at %s (hip.sysfs)",
				device->pci);
	gm_hip_sysfs_path(path, KFD "/proc");
	processes = gm_hip_open_folder(path);
	if (!processes)
		return gpu_fail(GPUMEM_UNSUPPORTED, hipSuccess,
				"nobody can tell which processes use the "
				"device: %s cannot be read",
				path);
	tell(processes, &gpus, fn, user);
	(void)closedir(processes);
	return GPUMEM_OK;
}
