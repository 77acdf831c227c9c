/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the plugins of vendors share: the plugin as it was built,
 * without the library above it, and what it says. Each fixture says which
 * options its plugin has. The tests know no vendor's header, so each compiles
 * everywhere and skips where its plugin was not built. For the main thread, but
 * for what the plugin says.
 */
#ifndef GPU_PLUGIN_H
#define GPU_PLUGIN_H

#include "../../tap.h"
#include <dlfcn.h>
#include <gpumem/backend.h>
#include <stdlib.h>
#include <unistd.h>

#define GPU_USE __attribute__((unused)) static
#define MIB (UINT64_C(1) << 20)
#define PAGE (2 * MIB)
#define UNTOUCHED UINT64_C(0x5555555555555555)

/* The plugin. */
static const struct gpumem_backend *gpu;

/* What it said last in this thread, and how often anything. */
static __thread struct {
	int64_t code;
	char name[64];
	char text[1024];
	unsigned count;
} said;

__attribute__((format(printf, 2, 3))) static void
say_nothing(gpumem_log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

__attribute__((format(printf, 3, 4))) static void
say(int64_t code, const char *name, const char *format, ...)
{
	va_list args;

	said.code = code;
	said.count++;
	snprintf(said.name, sizeof(said.name), "%s", name);
	va_start(args, format);
	vsnprintf(said.text, sizeof(said.text), format, args);
	va_end(args);
}

/* The fixture's: as a plugin's services have it. */
static bool option(const char *key, char *value_out, size_t bytes);

static const struct gpumem_services services = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_services),
	.log = say_nothing,
	.error = say,
	.option = option,
};

/* The path has room for 4096. */
GPU_USE char *built(char *path, const char *file)
{
	const char *folder = getenv("top_builddir");

	snprintf(path, 4096, "%s/%s", folder ? folder : ".", file);
	return path;
}

/* Leaves the path in `path`. A test ends here where there is no such file. */
GPU_USE void *load(char *path, const char *file, const char *why)
{
	void *library;

	if (access(built(path, file), F_OK))
		skip_all(why);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		bail("%s", dlerror());
	return library;
}

GPU_USE void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		bail("no %s", name);
	memcpy(slot, &address, sizeof(address));
}

/* Opens the plugin without starting it. */
GPU_USE void plugin_load(const char *file, const char *why)
{
	gpumem_plugin_fn plugin;
	char path[4096];

	alarm(300);
	find(load(path, file, why), GPUMEM_PLUGIN_SYMBOL, &plugin);
	gpu = plugin();
}

GPU_USE void plugin_start(void)
{
	if (gpu->init(&services) != GPUMEM_OK)
		bail("init: %s", said.text);
}

GPU_USE void *open_device(int index)
{
	void *device = NULL;

	if (gpu->device_open(index, &device) != GPUMEM_OK)
		bail("device_open: %s", said.text);
	return device;
}

#endif
