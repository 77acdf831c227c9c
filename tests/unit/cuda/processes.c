/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Who uses a device, over the double of NVML: not there, not whole, not
 * willing, and then every process once, with its bytes and name.
 */
#include "fixture.h"

static char nvml_library[4096] = "/nonexistent/libnvidia-ml.so.1";

static bool nvml_option(const char *key, char *value_out, size_t bytes)
{
	if (strcmp(key, "cuda.nvml") != 0)
		return option(key, value_out, bytes);
	snprintf(value_out, bytes, "%s", nvml_library);
	return true;
}

struct seen {
	unsigned count, most, wrong;
};

static bool look(const struct gpumem_process *process, void *user)
{
	struct seen *seen = user;
	uint64_t pid = 1000 + seen->count++, bytes = pid << 20;
	char name[32] = "";

	if (pid == 1003)
		bytes = UINT64_MAX;
	if (pid != 1002)
		snprintf(name, sizeof(name), "program-%u", (unsigned)pid);
	seen->wrong += process->size != sizeof(*process) ||
		       process->pid != pid || process->bytes != bytes ||
		       strcmp(process->name, name) != 0;
	return seen->count < seen->most;
}

static void refuses(void *device, const char *part, const char *name)
{
	struct seen seen = {.most = 99};

	said.text[0] = '\0';
	is_status(gpu->device_processes(device, look, &seen),
		  GPUMEM_UNSUPPORTED, "%s", name);
	ok(strstr(said.text, part), "and says so: %s", said.text);
	is_uint(seen.count, 0, "without a process");
}

static void shows(void *device, unsigned most, unsigned count, const char *name)
{
	struct seen seen = {.most = most};

	is_status(gpu->device_processes(device, look, &seen), GPUMEM_OK, "%s",
		  name);
	is_uint(seen.count, count, "that many");
	is_uint(seen.wrong, 0, "each as it is");
}

static void absent(void *device)
{
	refuses(device, "is not there", "no library");
	snprintf(nvml_library, sizeof(nvml_library), "%s", cuda_library);
	refuses(device, "is no NVML", "another library");
	built(nvml_library, "tests/fake/cuda/.libs/libnvidia-ml.so.1");
	setenv("FAKENVML_INIT", "9", 1);
	refuses(device, "Driver Not Loaded", "no driver below it");
	unsetenv("FAKENVML_INIT");
}

int main(void)
{
	struct gpumem_services with_nvml = services;
	void *device;

	cuda_load();
	double_load();
	built(cuda_library, "tests/fake/cuda/.libs/libcuda.so.1");
	with_nvml.option = nvml_option;
	if (gpu->init(&with_nvml) != GPUMEM_OK)
		bail("init: %s", said.text);
	device = open_device(0);
	absent(device);
	shows(device, 99, 1, "it is there now");
	setenv("FAKENVML_FAIL", "3", 1);
	refuses(device, "Not Supported", "a device that does not tell");
	unsetenv("FAKENVML_FAIL");
	setenv("FAKENVML_COMPUTE", "0", 1);
	shows(device, 99, 0, "nobody");
	setenv("FAKENVML_GRAPHICS", "3", 1);
	shows(device, 99, 3, "those that draw");
	setenv("FAKENVML_COMPUTE", "5", 1);
	shows(device, 99, 5, "those that do both count once");
	shows(device, 2, 2, "as long as they are wanted");
	setenv("FAKENVML_MIG", "1", 1);
	shows(device, 99, 5, "of a part of a device");
	setenv("FAKENVML_GROWS", "3", 1);
	shows(device, 99, 65, "more at each question");
	unsetenv("FAKENVML_MIG");
	setenv("FAKENVML_COMPUTE", "-59", 1); /* it has grown by 60 */
	shows(device, 99, 3, "and fewer again");
	gpu->device_close(device);
	return done_testing();
}
