/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the kernel's driver, amdgpu, writes about devices under /sys. Files are
 * read each time; keeps nothing; no lock.
 */
#include "plugin.h"
#include "../common/descriptor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

void gm_hip_sysfs_path(char path_out[HIP_PATH_BYTES], const char *format, ...)
{
	char root[HIP_PATH_BYTES / 2] = "", rest[HIP_PATH_BYTES / 2];
	va_list args;

	gpu.services->option("hip.sysfs", root, sizeof(root));
	va_start(args, format);
	vsnprintf(rest, sizeof(rest), format, args);
	va_end(args);
	snprintf(path_out, HIP_PATH_BYTES, "%s/%s", root, rest);
}

FILE *gm_hip_open_file(const char *path)
{
	int fd = gm_descriptor_move(open(path, O_RDONLY | O_CLOEXEC),
				    GM_DESCRIPTOR_LEAST);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

DIR *gm_hip_open_folder(const char *path)
{
	int fd = gm_descriptor_move(
		open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		GM_DESCRIPTOR_LEAST);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !folder)
		close(fd);
	return folder;
}

bool gm_hip_sysfs_number(const char *path, uint64_t *number_out)
{
	FILE *file = gm_hip_open_file(path);
	bool ok;

	if (!file)
		return false;
	ok = fscanf(file, "%" SCNu64, number_out) == 1;
	(void)fclose(file);
	return ok;
}

bool gm_hip_sysfs_memory(const char *pci, struct gpumem_memory *memory)
{
	char path[HIP_PATH_BYTES];
	uint64_t total, used;

	gm_hip_sysfs_path(path, "bus/pci/devices/%s/mem_info_vram_total", pci);
	if (!*pci || !gm_hip_sysfs_number(path, &total))
		return false;
	gm_hip_sysfs_path(path, "bus/pci/devices/%s/mem_info_vram_used", pci);
	if (!gm_hip_sysfs_number(path, &used) || used > total)
		return false;
	memory->total_bytes = total;
	memory->free_bytes = total - used;
	return true;
}

/* The file has -1 where the machine has no nodes. */
int gpu_host_node(const struct gpu_device *device)
{
	char path[HIP_PATH_BYTES];
	uint64_t node;

	gm_hip_sysfs_path(path, "bus/pci/devices/%s/numa_node", device->pci);
	if (!*device->pci || !gm_hip_sysfs_number(path, &node) ||
	    node > INT_MAX)
		return -1;
	return (int)node;
}
