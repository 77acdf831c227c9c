/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A double of NVIDIA's NVML, libnvidia-ml.so.1, for the processes of the double
 * of libcuda. The environment is read at each call:
 *
 *	FAKENVML_INIT=9        what nvmlInit says; 0
 *	FAKENVML_FAIL=3        what the lists of processes say; 0
 *	FAKENVML_MIG=1         devices are parts of divided ones
 *	FAKENVML_COMPUTE=N     processes that compute: 1000, 1001, ... ; 1
 *	FAKENVML_GRAPHICS=N    that draw: 1000, 1001, ... ; 0
 *	FAKENVML_GROWS=N       20 more compute at each of the first N questions
 *
 * A process of number p holds p MiB, or nobody knows, if p is 1003; 1002 has
 * no name.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

/* As NVML's own header has them, under their names there. */
typedef struct nvmlDevice_st *nvmlDevice_t;

typedef struct nvmlProcessInfo_st {
	unsigned int pid;
	unsigned long long usedGpuMemory;
	unsigned int gpuInstanceId;
	unsigned int computeInstanceId;
} nvmlProcessInfo_t;

enum {
	NVML_SUCCESS = 0,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7
};

API int nvmlInit_v2(void);
API const char *nvmlErrorString(int result);
API int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device_out);
API int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
						unsigned int *count,
						nvmlProcessInfo_t *list);
API int nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device,
						 unsigned int *count,
						 nvmlProcessInfo_t *list);
API int nvmlSystemGetProcessName(unsigned int pid, char *name_out,
				 unsigned int length);

static int number(const char *name, int otherwise)
{
	const char *text = getenv(name);

	return text ? atoi(text) : otherwise;
}

int nvmlInit_v2(void)
{
	return number("FAKENVML_INIT", NVML_SUCCESS);
}

const char *nvmlErrorString(int result)
{
	return result == NVML_ERROR_NOT_SUPPORTED ? "Not Supported"
	       : result == NVML_ERROR_NOT_FOUND	  ? "Not Found"
						  : "Driver Not Loaded";
}

/* As the double of libcuda numbers its devices. */
int nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device_out)
{
	static const char digits[] = "66616b65-206c-6962-6375-646120cafe4";
	const char *prefix = number("FAKENVML_MIG", 0) ? "MIG-" : "GPU-";

	if (strncmp(uuid, prefix, 4) != 0 || strlen(uuid) != 40 ||
	    strncmp(uuid + 4, digits, strlen(digits)) != 0)
		return NVML_ERROR_NOT_FOUND;
	*device_out = (nvmlDevice_t)1;
	return NVML_SUCCESS;
}

static int list_of(nvmlDevice_t device, unsigned have, unsigned *count,
		   nvmlProcessInfo_t *list)
{
	unsigned room = *count;

	if (!device)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (number("FAKENVML_FAIL", NVML_SUCCESS))
		return number("FAKENVML_FAIL", NVML_SUCCESS);
	*count = have;
	if (room < have)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned i = 0; i < have; i++) {
		unsigned pid = 1000 + i;

		list[i] = (nvmlProcessInfo_t){
			.pid = pid,
			.usedGpuMemory =
				pid == 1003 ? UINT64_MAX : (uint64_t)pid << 20,
			.gpuInstanceId = UINT32_MAX,
			.computeInstanceId = UINT32_MAX,
		};
	}
	return NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
					    unsigned *count,
					    nvmlProcessInfo_t *list)
{
	static int grown;
	int have = number("FAKENVML_COMPUTE", 1);

	grown += grown < number("FAKENVML_GROWS", 0);
	have += 20 * grown;
	return list_of(device, (unsigned)have, count, list);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device,
					     unsigned *count,
					     nvmlProcessInfo_t *list)
{
	return list_of(device, (unsigned)number("FAKENVML_GRAPHICS", 0), count,
		       list);
}

int nvmlSystemGetProcessName(unsigned pid, char *name_out, unsigned length)
{
	if (pid == 1002)
		return NVML_ERROR_NOT_FOUND;
	snprintf(name_out, length, "program-%u", pid);
	return NVML_SUCCESS;
}
