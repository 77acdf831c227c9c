/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * All devices of all platforms, found once, and what each index stands for.
 *
 * The order: devices that are not the host's own processor first, then by the
 * name of the platform, then as the loader and the platform list them. The
 * loader's own order of platforms is that of files in a folder.
 *
 * Units are written by init alone. Places are added by device_adopt: the list
 * of places is under its mutex.
 */
#include "opencl_plugin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLATFORMS 64

static struct opencl_unit *units;
static size_t unit_count;
static char names[256]; /* of the platforms, for a sentence */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct opencl_place *places;
static size_t place_count;

static gpumem_status no_host_memory(void)
{
	return gm_opencl_fail(GPUMEM_NO_HOST_MEMORY, CL_SUCCESS,
			      "no host memory for a list of devices");
}

static void platform_text(cl_platform_id platform, cl_platform_info what,
			  char *text_out, size_t bytes)
{
	char text[512] = "";

	if (gm_opencl.clGetPlatformInfo(platform, what, sizeof(text) - 1, text,
					NULL) != CL_SUCCESS)
		text[0] = '\0';
	snprintf(text_out, bytes, "%s", text);
}

/* "OpenCL 3.0 ...": 30. A device of 1.0 is left out. */
static int version_of(const struct opencl_unit *unit)
{
	char text[256] = "";
	int major = 0, minor = 0;

	(void)gm_opencl.clGetDeviceInfo(unit->id, CL_DEVICE_VERSION,
					sizeof(text) - 1, text, NULL);
	if (sscanf(text, "OpenCL %d.%d", &major, &minor) != 2)
		return 0;
	return 10 * major + minor;
}

static bool describe(struct opencl_unit *unit)
{
	cl_device_type type = 0;

	platform_text(unit->platform, CL_PLATFORM_NAME, unit->platform_name,
		      sizeof(unit->platform_name));
	platform_text(unit->platform, CL_PLATFORM_VERSION,
		      unit->platform_version, sizeof(unit->platform_version));
	unit->version = version_of(unit);
	if (!gm_opencl_ask(unit, CL_DEVICE_TYPE, &type, sizeof(type)) ||
	    unit->version < OPENCL_MIN)
		return false;
	unit->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
	return true;
}

/* Behind all that do not have to come after it. */
static void insert(const struct opencl_unit *unit)
{
	size_t at = unit_count++;

	for (; at > 0; at--) {
		const struct opencl_unit *before = &units[at - 1];
		int names_differ =
			strcmp(before->platform_name, unit->platform_name);

		if (before->cpu < unit->cpu ||
		    (before->cpu == unit->cpu && names_differ <= 0))
			break;
		memcpy(&units[at], before, sizeof(*before));
	}
	memcpy(&units[at], unit, sizeof(*unit));
}

static void add_name(cl_platform_id platform)
{
	size_t used = strlen(names);
	char name[64];

	platform_text(platform, CL_PLATFORM_NAME, name, sizeof(name));
	snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
		 name);
}

/* A platform without devices is nothing special, and one that is broken must
 * not take the others with it. */
static gpumem_status add_platform(cl_platform_id platform)
{
	cl_device_id *ids;
	cl_uint count = 0, i;
	cl_int result;
	void *grown;

	add_name(platform);
	result = gm_opencl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL,
					  &count);
	if (result != CL_SUCCESS || !count)
		return GPUMEM_OK;
	ids = calloc(count, sizeof(*ids));
	grown = realloc(units, (unit_count + count) * sizeof(*units));
	if (grown)
		units = grown;
	if (!ids || !grown) {
		free(ids);
		return no_host_memory();
	}
	result = gm_opencl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count,
					  ids, NULL);
	for (i = 0; result == CL_SUCCESS && i < count; i++) {
		struct opencl_unit unit = {.platform = platform, .id = ids[i]};

		if (describe(&unit))
			insert(&unit);
	}
	free(ids);
	return GPUMEM_OK;
}

static gpumem_status make_places(void)
{
	size_t i;

	if (!unit_count)
		return GPUMEM_OK;
	places = calloc(unit_count, sizeof(*places));
	if (!places)
		return no_host_memory();
	for (i = 0; i < unit_count; i++)
		places[i].unit = &units[i];
	place_count = unit_count;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_list_make(void)
{
	cl_platform_id platforms[MOST_PLATFORMS];
	gpumem_status status = GPUMEM_OK;
	cl_uint count = 0, i;
	cl_int result;

	result = gm_opencl.clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
	if (result == CL_PLATFORM_NOT_FOUND_KHR ||
	    (result == CL_SUCCESS && !count))
		return gm_opencl_fail(
			GPUMEM_NO_DRIVER, result,
			"no OpenCL implementation is installed, or none can be "
			"loaded: on Debian apt install intel-opencl-icd, "
			"mesa-opencl-icd or nvidia-opencl-icd; see clinfo, "
			"/etc/OpenCL/vendors and OCL_ICD_VENDORS");
	if (result != CL_SUCCESS)
		return gm_opencl_check(result, "clGetPlatformIDs");
	if (count > MOST_PLATFORMS)
		count = MOST_PLATFORMS;
	for (i = 0; i < count && status == GPUMEM_OK; i++)
		status = add_platform(platforms[i]);
	return status == GPUMEM_OK ? make_places() : status;
}

/* That of the platform which has the first device. */
const char *gm_opencl_driver_version(void)
{
	return unit_count ? units[0].platform_version : "";
}

gpumem_status gm_opencl_device_count(int *count_out)
{
	size_t count;

	pthread_mutex_lock(&mutex);
	count = place_count;
	pthread_mutex_unlock(&mutex);
	if (!count)
		return gm_opencl_fail(GPUMEM_NO_DEVICE, CL_SUCCESS,
				      "these OpenCL platforms have no device "
				      "of OpenCL 1.1 or later here: %s; see "
				      "clinfo",
				      names);
	*count_out = (int)count;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_place(int index, struct opencl_place *place_out)
{
	bool there;

	pthread_mutex_lock(&mutex);
	there = index >= 0 && (size_t)index < place_count;
	if (there)
		*place_out = places[index];
	pthread_mutex_unlock(&mutex);
	return there ? GPUMEM_OK
		     : gm_opencl_fail(GPUMEM_NO_DEVICE, CL_SUCCESS,
				      "there is no device %d", index);
}

static struct opencl_unit *unit_of(cl_device_id id)
{
	size_t i;

	for (i = 0; i < unit_count; i++)
		if (units[i].id == id)
			return &units[i];
	return NULL;
}

static gpumem_status check_member(cl_context context, cl_device_id id)
{
	cl_device_id ids[MOST_PLATFORMS];
	size_t bytes = 0, i;
	gpumem_status status;

	status = gm_opencl_check(
		gm_opencl.clGetContextInfo(context, CL_CONTEXT_DEVICES,
					   sizeof(ids), ids, &bytes),
		"clGetContextInfo");
	if (status != GPUMEM_OK)
		return status;
	for (i = 0; i < bytes / sizeof(ids[0]); i++)
		if (ids[i] == id)
			return GPUMEM_OK;
	return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
			      "the context is not one of that device");
}

/* Under the mutex. The context is kept for good, as its index is: another
 * context must not come to have its address, and so its index. */
static gpumem_status add_place(struct opencl_unit *unit, cl_context context,
			       int *index_out)
{
	struct opencl_place *grown;
	gpumem_status status;
	size_t i;

	for (i = 0; i < place_count; i++)
		if (places[i].unit == unit && places[i].context == context) {
			*index_out = (int)i;
			return GPUMEM_OK;
		}
	grown = realloc(places, (place_count + 1) * sizeof(*places));
	if (!grown)
		return no_host_memory();
	places = grown;
	status = gm_opencl_check(gm_opencl.clRetainContext(context),
				 "clRetainContext");
	if (status != GPUMEM_OK)
		return status;
	places[place_count].unit = unit;
	places[place_count].context = context;
	*index_out = (int)place_count++;
	return GPUMEM_OK;
}

gpumem_status gm_opencl_device_adopt(void *context, void *native_device,
				     int *index_out)
{
	struct opencl_unit *unit = unit_of(native_device);
	gpumem_status status;

	if (!unit)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "%p is no device of an OpenCL platform; "
				      "a part of a divided device is none",
				      native_device);
	status = check_member(context, native_device);
	if (status != GPUMEM_OK)
		return status;
	pthread_mutex_lock(&mutex);
	status = add_place(unit, context, index_out);
	pthread_mutex_unlock(&mutex);
	return status;
}
