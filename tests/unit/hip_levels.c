/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The hip backend on a runtime that has faults: what opening finds, that its
 * description says so, that at each level a call is all or nothing, and that
 * memory comes back where the level promises it. Over the double of ROCm 6.
 */
#include "../tap.h"
#include <dlfcn.h>
#include <gpumem/backend.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE (UINT64_C(2) << 20)
#define PAGES 4

static bool (*quirk)(const char *name, bool on);
static bool (*fault)(const char *name, unsigned nth, bool onwards, int code);
static void (*heal)(void);
static const struct gpumem_backend *hip;
static const char *level = "auto";
static char said[1024], runtime[4096];

__attribute__((format(printf, 2, 3))) static void
say_nothing(gpumem_log_level severity, const char *format, ...)
{
	(void)severity;
	(void)format;
}

__attribute__((format(printf, 3, 4))) static void
say(int64_t code, const char *name, const char *format, ...)
{
	va_list args;

	(void)code;
	(void)name;
	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

static bool option(const char *key, char *value_out, size_t bytes)
{
	const char *value = !strcmp(key, "hip.vm")	  ? level
			    : !strcmp(key, "hip.library") ? runtime
							  : "/nowhere";

	snprintf(value_out, bytes, "%s", value);
	return true;
}

static const struct gpumem_services services = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_services),
	.log = say_nothing,
	.error = say,
	.option = option,
};

static void *load(char *path, const char *file)
{
	const char *folder = getenv("top_builddir");
	void *library;

	snprintf(path, sizeof(runtime), "%s/%s", folder ? folder : ".", file);
	if (access(path, F_OK))
		skip_all("configured without the headers of HIP and CUDA");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		bail("%s", dlerror());
	return library;
}

static void find(void *library, const char *name, void *slot)
{
	void *address = dlsym(library, name);

	if (!address)
		bail("no %s", name);
	memcpy(slot, &address, sizeof(address));
}

static void start(void)
{
	static char path[4096];
	gpumem_plugin_fn plugin;
	void *library;

	alarm(300);
	find(load(path, "backends/.libs/hip.so"), GPUMEM_PLUGIN_SYMBOL,
	     &plugin);
	(void)load(path, "tests/fake/.libs/libcuda.so.1");
	library = load(runtime, "tests/fake/hip/6/.libs/libamdhip64.so.6");
	find(library, "fakehip_quirk", &quirk);
	find(library, "fakehip_fault", &fault);
	find(library, "fakehip_heal", &heal);
	hip = plugin();
	if (hip->init(&services) != GPUMEM_OK)
		bail("init: %s", said);
}

static void *open_at(const char *wanted)
{
	void *device = NULL;

	level = wanted;
	if (hip->device_open(0, &device) != GPUMEM_OK)
		bail("device_open: %s", said);
	return device;
}

static uint64_t free_bytes(void *device)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	if (hip->memory_info(device, &memory) != GPUMEM_OK)
		bail("%s", said);
	return memory.free_bytes;
}

/* What opening finds when the runtime has this fault. */
static void finds(const char *name, bool vm, const char *note)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	uint64_t address = 0;
	void *device;

	diag("%s", name);
	quirk(name, true);
	device = open_at("auto");
	if (hip->device_info(0, &info) != GPUMEM_OK)
		bail("%s", said);
	is_int(!!(info.caps & GPUMEM_CAP_VM), vm, "virtual memory or not");
	if (!ok(*note ? strstr(info.note, note) != NULL : !*info.note,
		"and why"))
		diag("%s", info.note);
	is_status(hip->va_reserve(device, PAGE, PAGE, &address),
		  vm ? GPUMEM_OK : GPUMEM_UNSUPPORTED, "reserve");
	if (address)
		is_status(hip->va_release(device, address, PAGE), GPUMEM_OK,
			  "release");
	hip->device_close(device);
	quirk(name, false);
}

struct mapped {
	uint64_t address;
	gpumem_page pages[PAGES];
};

static struct mapped map_all(void *device)
{
	struct mapped mapped;

	if (hip->va_reserve(device, PAGES * PAGE, PAGE, &mapped.address))
		bail("%s", said);
	for (int i = 0; i < PAGES; i++)
		if (hip->page_create(device, PAGE, &mapped.pages[i]))
			bail("%s", said);
	is_status(hip->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_OK, "map");
	return mapped;
}

static void destroy_all(void *device, const struct mapped *mapped)
{
	int bad = 0;

	for (int i = 0; i < PAGES; i++)
		bad += hip->page_destroy(device, mapped->pages[i], PAGE) !=
		       GPUMEM_OK;
	is_int(bad, 0, "destroy the pages");
}

/* All or none: what fails half way leaves what was there. */
static void undoes(const char *wanted)
{
	void *device = open_at(wanted);
	struct mapped mapped = map_all(device);

	diag("%s", wanted);
	fault("hipMemUnmap", strcmp(wanted, "full") ? 3 : 1, false, 1);
	is_status(hip->unmap(device, mapped.address, PAGES, PAGE),
		  GPUMEM_INVALID, "an unmap fails");
	is_status(hip->fill(device, mapped.address, 1, PAGES * PAGE, NULL),
		  GPUMEM_OK, "all is mapped as it was");
	is_status(hip->stream_sync(device, NULL), GPUMEM_OK, "and written");
	is_status(hip->unmap(device, mapped.address, PAGES, PAGE), GPUMEM_OK,
		  "unmap");
	fault("hipMemMap", 3, false, 2);
	is_status(hip->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_NO_MEMORY, "a map fails");
	fault("hipMemSetAccess", 1, false, 1);
	is_status(hip->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_INVALID, "access fails");
	heal();
	is_status(hip->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_OK, "nothing was left mapped");
	is_status(hip->unmap(device, mapped.address, PAGES, PAGE), GPUMEM_OK,
		  "unmap");
	destroy_all(device, &mapped);
	is_status(hip->va_release(device, mapped.address, PAGES * PAGE),
		  GPUMEM_OK, "release");
	hip->device_close(device);
}

/* With ROCm/hip#3781 an empty range gives its memory back at one level. */
static void comes_back(const char *wanted, bool back)
{
	void *device = open_at(wanted);
	uint64_t before;
	struct mapped mapped;

	diag("%s, with the fault", wanted);
	quirk("stuck", true);
	before = free_bytes(device);
	mapped = map_all(device);
	is_status(hip->unmap(device, mapped.address, PAGES, PAGE), GPUMEM_OK,
		  "unmap");
	destroy_all(device, &mapped);
	is_int(free_bytes(device) == before, back, "its memory comes back");
	is_status(hip->va_release(device, mapped.address, PAGES * PAGE),
		  GPUMEM_OK, "release");
	is_uint(free_bytes(device), before, "and then in any case");
	quirk("stuck", false);
	hip->device_close(device);
}

int main(void)
{
	start();
	finds("stuck", false, "stays taken");
	finds("never", false, "stays taken");
	finds("joint_unmap", true, "single");
	finds("joint_access", true, "single");
	finds("no_access", false, "access not given");
	quirk("never", false);
	finds("optimistic", true, "");
	undoes("full");
	undoes("single");
	undoes("reserve");
	comes_back("single", false);
	comes_back("reserve", true);
	return done_testing();
}
