/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See sight.h. What counts, and what does not, is decision 23:
 *
 *     /dev/nvidia0 ..., /dev/nvidiactl     NVIDIA's driver
 *     /dev/dxg                             the GPU of a Windows host (WSL)
 *     /dev/kfd                             AMD's compute driver
 *     /dev/dri/renderD* of those vendors or of Intel, by its PCI vendor
 *
 * Render nodes of virtual and of management GPUs are no GPU for us.
 */
#include "sight.h"
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const backends[GM_SIGHTS] = {"cuda", "hip", "opencl"};

enum { CUDA, HIP, OPENCL, NONE };

/* nodes[BACKEND] is "" until one is seen. */
struct search {
	const char *root;
	char nodes[GM_SIGHTS][64];
};

typedef int (*judge_fn)(const struct search *search, const char *name);

static int judge_node(const struct search *search, const char *name)
{
	(void)search;
	if (strcmp(name, "kfd") == 0)
		return HIP;
	if (strcmp(name, "dxg") == 0 || strcmp(name, "nvidiactl") == 0)
		return CUDA;
	if (strncmp(name, "nvidia", 6) != 0 || !name[6] ||
	    name[6 + strspn(name + 6, "0123456789")])
		return NONE;
	return CUDA;
}

/* What the kernel says of a PCI device; what is on no PCI bus has none. */
static long read_vendor(const struct search *search, const char *name)
{
	char path[PATH_MAX], text[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/sys/class/drm/%.32s/device/vendor",
		 search->root, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strtol(text, NULL, 16);
}

static int judge_render(const struct search *search, const char *name)
{
	if (strncmp(name, "renderD", 7) != 0)
		return NONE;
	switch (read_vendor(search, name)) {
	case 0x10de:
		return CUDA;
	case 0x1002:
		return HIP;
	case 0x8086:
		return OPENCL;
	default:
		return NONE;
	}
}

/* Of several nodes of one backend the first in the order of the alphabet. */
static void search_folder(struct search *search, const char *path,
			  judge_fn judge)
{
	struct dirent *entry;
	char full[PATH_MAX];
	DIR *folder;

	snprintf(full, sizeof(full), "%s%s", search->root, path);
	folder = opendir(full);
	if (!folder)
		return;
	while ((entry = readdir(folder)) != NULL) {
		int seen = judge(search, entry->d_name);
		char node[64];

		if (seen == NONE)
			continue;
		snprintf(node, sizeof(node), "%s/%.32s", path, entry->d_name);
		if (!search->nodes[seen][0] ||
		    strcmp(node, search->nodes[seen]) < 0)
			memcpy(search->nodes[seen], node, sizeof(node));
	}
	closedir(folder);
}

/* ---- each GPU ---- */

struct gpus {
	struct gm_sight *list;
	size_t count, room;
	int backend;
};

static int judge_numbered(const struct search *search, const char *name)
{
	return strncmp(name, "nvidia", 6) == 0 && strcmp(name, "nvidiactl") != 0
		       ? judge_node(search, name)
		       : NONE;
}

/* Nodes by their numbers: "/dev/nvidia2" before "/dev/nvidia10". Of more than
 * there is room for, those with the smallest. */
static void add_gpu(struct gpus *gpus, const char *node)
{
	size_t at = gpus->count < gpus->room ? gpus->count : gpus->room;

	gpus->count++;
	if (at == gpus->room) {
		if (!at || strverscmp(node, gpus->list[at - 1].node) >= 0)
			return;
		at--;
	}
	for (; at > 0 && strverscmp(node, gpus->list[at - 1].node) < 0; at--)
		gpus->list[at] = gpus->list[at - 1];
	gpus->list[at].backend = backends[gpus->backend];
	snprintf(gpus->list[at].node, sizeof(gpus->list[at].node), "%s", node);
}

static void search_gpus(struct gpus *gpus, const char *root, const char *path,
			judge_fn judge)
{
	const struct search search = {.root = root};
	struct dirent *entry;
	char full[PATH_MAX];
	DIR *folder;

	snprintf(full, sizeof(full), "%s%s", root, path);
	folder = opendir(full);
	if (!folder)
		return;
	while ((entry = readdir(folder)) != NULL) {
		char node[64];

		if (judge(&search, entry->d_name) != gpus->backend)
			continue;
		snprintf(node, sizeof(node), "%s/%.32s", path, entry->d_name);
		add_gpu(gpus, node);
	}
	closedir(folder);
}

size_t gm_sight_gpus(const char *root, const char *backend,
		     struct gm_sight *gpus_out, size_t room)
{
	struct gpus gpus = {.list = gpus_out, .room = room};

	while (gpus.backend < NONE && strcmp(backend, backends[gpus.backend]))
		gpus.backend++;
	if (gpus.backend == NONE)
		return 0;
	search_gpus(&gpus, root, "/dev", judge_numbered);
	if (!gpus.count)
		search_gpus(&gpus, root, "/dev/dri", judge_render);
	return gpus.count;
}

/* ---- whether there are any ---- */

size_t gm_sight(const char *root, struct gm_sight sights_out[GM_SIGHTS])
{
	struct search search = {.root = root};
	size_t count = 0, i;

	search_folder(&search, "/dev", judge_node);
	search_folder(&search, "/dev/dri", judge_render);
	for (i = 0; i < GM_SIGHTS; i++) {
		if (!search.nodes[i][0])
			continue;
		sights_out[count].backend = backends[i];
		memcpy(sights_out[count].node, search.nodes[i],
		       sizeof(sights_out[count].node));
		count++;
	}
	return count;
}
