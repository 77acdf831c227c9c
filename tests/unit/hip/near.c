/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The hip backend takes pinned memory of the node that the kernel says is the
 * closest to the device, where the program has not chosen one. */
#include "fixture.h"
#include "../gpu/near.h"
#include <sys/stat.h>

static char root[] = "/tmp/gpumem-near-XXXXXX";

/* The folders above the kernel's file for the device, and it. */
static const char *const parts[] = {"bus", "pci", "devices", "", "numa_node"};

enum { PARTS = sizeof(parts) / sizeof(parts[0]), DEVICE = 3 };

static char device_pci[32];

/* The first `count` parts below the root. */
static const char *path_of(int count)
{
	static char path[256];
	int end = snprintf(path, sizeof(path), "%s", root);

	for (int i = 0; i < count; i++)
		end += snprintf(path + end, sizeof(path) - (size_t)end, "/%s",
				i == DEVICE ? device_pci : parts[i]);
	return path;
}

static void write_node(const char *text)
{
	FILE *file;

	for (int i = 1; i < PARTS; i++)
		(void)mkdir(path_of(i), 0700);
	file = fopen(path_of(PARTS), "w");
	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
		bail("no file %s", path_of(PARTS));
}

static void remove_all(void)
{
	for (int i = PARTS; i > 0; i--)
		(void)remove(path_of(i));
}

static void checks(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = open_device(0);

	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("device_info: %s", said.text);
	snprintf(device_pci, sizeof(device_pci), "%s", info.pci);
	check_near(device, -1);
	hip_sysfs = root;
	write_node("0");
	check_near(device, 0);
	diag("a machine without nodes");
	write_node("-1");
	check_near(device, -1);
	remove_all();
	gpu->device_close(device);
}

int main(void)
{
	int result;

	if (!mkdtemp(root))
		bail("mkdtemp");
	result = on_all_releases(checks);
	(void)remove(root);
	return result;
}
