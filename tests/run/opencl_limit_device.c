/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of the program opencl_limit: what devices say of themselves, and that
 * each has a limit of its own. What a device says is free it says by the layer
 * of tests/fake/opencl, which stands first in OPENCL_LAYERS and so below that
 * of gpumem-run.
 */
#include "opencl_limit.h"
#include "../fake/opencl/fakecl.h"

#include <dlfcn.h>
#include <string.h>

enum { FREE_MEMORY_AMD = 0x4039 };

#define HUGE_KIB (SIZE_MAX / 4)

static cl_ulong size_of(cl_device_id device, cl_device_info what)
{
	cl_ulong bytes;
	size_t used = 0;

	TRUE(!clGetDeviceInfo(device, what, 0, NULL, &used) &&
	     used == sizeof(bytes));
	TRUE(clGetDeviceInfo(device, what, 1, &bytes, NULL) ==
	     CL_INVALID_VALUE);
	TRUE(!clGetDeviceInfo(device, what, sizeof(bytes), &bytes, NULL));
	return bytes;
}

void sizes(void)
{
	cl_platform_id other; /* a number that is large */

	TRUE(!clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof(other),
			      &other, NULL));
	TRUE(other == platform);
	TRUE(size_of(devices[0], CL_DEVICE_LOCAL_MEM_SIZE) > 0);
	printf("%llu %llu\n",
	       (unsigned long long)size_of(devices[0],
					   CL_DEVICE_GLOBAL_MEM_SIZE),
	       (unsigned long long)size_of(devices[0],
					   CL_DEVICE_MAX_MEM_ALLOC_SIZE));
}

/* A device has a limit of its own; what is for both counts with the first. */
void two(void)
{
	cl_context second, both;
	cl_mem memory;

	if (device_count < 2)
		exit(77);
	second = context_of(1, devices + 1);
	both = context_of(2, devices);
	TRUE(buffer(LIMIT - 1));
	memory = buffer_in(second, LIMIT);
	TRUE(memory && !buffer_in(second, 1));
	TRUE(!buffer_in(both, 2));
	TRUE(buffer_in(both, 1));
	release(memory);
	TRUE(!buffer(1) && !buffer_in(both, 1));
	TRUE(buffer_in(second, LIMIT));
}

/* ---- what is free, in KiB
 */

static void *fake_symbol(const char *name)
{
	char file[4096];
	void *fake, *symbol;

	snprintf(file, sizeof(file), "%s", getenv("OPENCL_LAYERS"));
	file[strcspn(file, ":")] = 0;
	fake = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
	TRUE(fake);
	symbol = dlsym(fake, name);
	TRUE(symbol);
	dlclose(fake);
	return symbol;
}

/* From now on devices say so many of these. 0: they do not know the question.
 */
static void say(size_t count, size_t all, size_t largest)
{
	const size_t values[2] = {all, largest};
	__typeof__(fakecl_be_honest) *be_honest;
	__typeof__(fakecl_lie) *lie;

	*(void **)&be_honest = fake_symbol("fakecl_be_honest");
	*(void **)&lie = fake_symbol("fakecl_lie");
	be_honest();
	TRUE(lie("clGetDeviceInfo", FREE_MEMORY_AMD, count ? values : NULL,
		 count * sizeof(values[0])));
}

/* A device answers just these. */
static void hears(cl_device_id device, size_t count, size_t all, size_t largest)
{
	size_t values[3] = {7, 7, 7}, used = 0;
	size_t bytes = count * sizeof(values[0]);

	TRUE(!clGetDeviceInfo(device, FREE_MEMORY_AMD, 0, NULL, &used));
	TRUE(used == bytes);
	used = 0;
	TRUE(!clGetDeviceInfo(device, FREE_MEMORY_AMD, sizeof(values), values,
			      &used));
	TRUE(used == bytes && values[0] == all);
	TRUE(values[1] == (count > 1 ? largest : 7) && values[2] == 7);
	memset(values, 0, sizeof(values));
	TRUE(!clGetDeviceInfo(device, FREE_MEMORY_AMD, bytes, values, NULL));
	TRUE(values[0] == all && values[1] == (count > 1 ? largest : 0));
}

static void refuses(void)
{
	size_t value = HUGE_KIB, used = sizeof(value);

	TRUE(clGetDeviceInfo(devices[0], FREE_MEMORY_AMD, sizeof(value), &value,
			     &used) == CL_INVALID_VALUE);
	TRUE(value == HUGE_KIB && used == sizeof(value));
}

/* At most what is left of the limit. */
void free_memory(void)
{
	static char mine[LIMIT];
	cl_int code;
	cl_mem memory;

	say(2, HUGE_KIB, HUGE_KIB - 1);
	hears(devices[0], 2, 4096, 4096); /* nothing has been counted */
	TRUE(buffer(MIB + 1));
	hears(devices[0], 2, 3071, 3071);
	say(2, 3072, 3070);
	hears(devices[0], 2, 3071, 3070);
	say(2, 5, 0);
	hears(devices[0], 2, 5, 0);
	say(1, HUGE_KIB, 0);
	hears(devices[0], 1, 3071, 0);
	memory = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(mine),
				mine, &code);
	TRUE(memory);
	hears(devices[0], 1, 3071, 0);
	memory = buffer(3 * MIB - 1);
	hears(devices[0], 1, 0, 0);
	if (device_count > 1)
		hears(devices[1], 1, 4096, 0);
	release(memory);
	hears(devices[0], 1, 3071, 0);
	say(2, 1, 1);
	refuses(); /* there is no room for both */
	say(0, 0, 0);
	refuses();
}

/* A part of a device has what is left of the device. */
void part(void)
{
	const cl_device_partition_property equally[] = {
		CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id parts[64];
	cl_uint count = 0;
	cl_device_id *whole = devices + device_count;

	while (!count && whole-- > devices)
		(void)clCreateSubDevices(*whole, equally, 64, parts, &count);
	if (!count)
		exit(77);
	say(2, HUGE_KIB, HUGE_KIB - 1);
	hears(parts[0], 2, 4096, 4096);
	TRUE(buffer_in(context_of(1, whole), MIB));
	hears(parts[0], 2, 3072, 3072);
	TRUE(buffer_in(context_of(1, parts), MIB));
	hears(parts[0], 2, 2048, 2048);
	hears(*whole, 2, 2048, 2048);
}

/* And without one what the device says. */
void told(void)
{
	say(2, HUGE_KIB, HUGE_KIB - 1);
	hears(devices[0], 2, HUGE_KIB, HUGE_KIB - 1);
}
