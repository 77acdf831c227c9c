/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How the cuda backend starts, or why not: each reason has its status and a
 * sentence. A library cannot be unloaded, so each start has a process.
 */
#include "fixture.h"
#include <sys/mman.h>
#include <sys/wait.h>

#define DOUBLE "tests/fake/cuda/.libs/libcuda.so.1"
#define OLD "tests/fake/cuda/old/.libs/libcuda.so.1"

/* What a start came to, in memory that the process shares with this one. */
static struct outcome {
	bool ended;
	gpumem_status status, info_status;
	int devices;
	long long code;
	char text[1024], version[64];
	struct gpumem_device_info info;
	struct fakecuda_held held;
	uint64_t inits;
} * outcome;

static void look_at_devices(void)
{
	int count = 0;

	snprintf(outcome->version, sizeof(outcome->version), "%s",
		 gpu->driver_version());
	outcome->info_status = gpu->device_count(&count);
	outcome->devices = count;
	if (count)
		outcome->info_status =
			gpu->device_info(count - 1, &outcome->info);
}

static void child(const char *library, const char *variable, const char *value)
{
	if (variable)
		setenv(variable, value, 1);
	if (strstr(library, "/.libs/"))
		built(cuda_library, library);
	else
		snprintf(cuda_library, sizeof(cuda_library), "%s", library);
	if (strcmp(library, DOUBLE) == 0)
		double_load();
	outcome->info.size = sizeof(outcome->info);
	outcome->status = gpu->init(&services);
	if (outcome->status == GPUMEM_OK)
		look_at_devices();
	if (driver.fakecuda_audit) {
		outcome->held = audit();
		outcome->inits = driver.fakecuda_calls("cuInit");
	}
	outcome->code = said.code;
	memcpy(outcome->text, said.text, sizeof(said.text));
	outcome->ended = true;
	_exit(0);
}

static gpumem_status start(const char *library, const char *variable,
			   const char *value)
{
	pid_t pid;

	memset(outcome, 0, sizeof(*outcome));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bail("fork");
	if (!pid)
		child(library, variable, value);
	waitpid(pid, NULL, 0);
	if (!outcome->ended)
		bail("the start with %s=%s crashed", variable ? variable : "",
		     value ? value : "");
	return outcome->status;
}

static void says(const char *part)
{
	size_t length = strlen(outcome->text);

	if (!ok(strstr(outcome->text, part) != NULL, "it says \"%s\"", part))
		diag("%s", outcome->text);
	ok(length && outcome->text[length - 1] != '.' &&
		   (outcome->text[0] < 'A' || outcome->text[0] > 'Z'),
	   "as a sentence of the house");
}

static void no_driver(void)
{
	is_status(start("/nonexistent/libcuda.so.1", NULL, NULL),
		  GPUMEM_NO_DRIVER, "no library");
	says("/nonexistent/libcuda.so.1");
	is_int(outcome->code, 0, "no driver call failed");
	is_status(start("libm.so.6", NULL, NULL), GPUMEM_NO_DRIVER,
		  "a library that is no driver");
	says("libm.so.6 has no function cu");
	is_status(start(OLD, NULL, NULL), GPUMEM_NO_DRIVER, "an old driver");
	says("CUDA 10.2, and 11.0");
	is_status(start(OLD, "FAKECUDA_VERSION", "11000"), GPUMEM_NO_DRIVER,
		  "one that only claims to be newer");
	says("has no function cu");
	is_status(start(DOUBLE, "FAKECUDA_INIT", "34"), GPUMEM_NO_DRIVER,
		  "the toolkit's stub");
	says("stub");
	is_int(outcome->code, 34, "with the driver's code");
	is_status(start(DOUBLE, "FAKECUDA_VERSION", "10020"), GPUMEM_NO_DRIVER,
		  "a driver that is too old");
	says("CUDA 10.2, and 11.0");
	is_uint(outcome->inits, 0, "and it was not even started");
}

static void no_start(void)
{
	is_status(start(DOUBLE, "FAKECUDA_INIT", "100"), GPUMEM_NO_DEVICE,
		  "no device");
	says("CUDA_VISIBLE_DEVICES");
	is_status(start(DOUBLE, "FAKECUDA_INIT", "802"), GPUMEM_DRIVER,
		  "services that are not there");
	says("nvidia-fabricmanager");
	is_status(start(DOUBLE, "FAKECUDA_INIT", "803"), GPUMEM_DRIVER,
		  "an update without a restart");
	says("restart the machine");
	is_status(start(DOUBLE, "FAKECUDA_INIT", "800"), GPUMEM_DRIVER,
		  "not permitted");
	says("cuInit");
	is_status(start(DOUBLE, "FAKECUDA_INIT", "719"), GPUMEM_LOST,
		  "a lost device");
	says("started again");
	is_status(start(DOUBLE, "FAKECUDA_INIT", "999"), GPUMEM_DRIVER,
		  "what nobody knows");
	says("cuInit");
	is_int(outcome->code, 999, "with the driver's code");
}

static void a_driver(void)
{
	const struct gpumem_device_info *info = &outcome->info;

	is_status(start(DOUBLE, "FAKECUDA_DEVICES", "3"), GPUMEM_OK, "start");
	is_str(outcome->version, "13.0", "the driver's version");
	is_int(outcome->devices, 3, "all devices");
	is_status(outcome->info_status, GPUMEM_OK,
		  "the last one's description");
	is_uint(outcome->held.contexts, 0, "no context was made for it");
	ok(info->product[0], "it has a name: %s", info->product);
	is_uint(strlen(info->uuid), 36, "a UUID: %s", info->uuid);
	is_uint(strlen(info->pci), 12, "a place: %s", info->pci);
	ok(strspn(info->pci, "0123456789abcdef:.") == strlen(info->pci),
	   "in lower case");
	is_uint(info->granularity_bytes, PAGE, "pages of 2 MiB");
	ok(info->total_bytes && info->max_alloc_bytes == info->total_bytes,
	   "all memory in one allocation");
	is_uint(info->caps,
		GPUMEM_CAP_STREAMS | GPUMEM_CAP_VM | GPUMEM_CAP_ALIAS |
			GPUMEM_CAP_COPY | GPUMEM_CAP_CAPTURE |
			GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_MEMORY_INFO |
			GPUMEM_CAP_PINNED | GPUMEM_CAP_MANAGED |
			GPUMEM_CAP_PEER | GPUMEM_CAP_SHARE_IPC |
			GPUMEM_CAP_SHARE_FD | GPUMEM_CAP_FREES_IN_CAPTURE,
		"all that it can do");
	is_status(start(DOUBLE, "FAKECUDA_VERSION", "11000"), GPUMEM_OK,
		  "the oldest driver");
	is_str(outcome->version, "11.0", "its version");
	is_status(start(DOUBLE, "FAKECUDA_NO_VMM", "1"), GPUMEM_OK,
		  "a device without virtual memory");
	is_status(outcome->info_status, GPUMEM_OK, "its description");
	ok(!(info->caps & (GPUMEM_CAP_VM | GPUMEM_CAP_SHARE_FD)),
	   "does not claim it");
	ok(info->granularity_bytes, "but has a granularity");
}

int main(void)
{
	cuda_load();
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED)
		bail("mmap");
	no_driver();
	no_start();
	a_driver();
	return done_testing();
}
