/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A HIP runtime that is not AMD's and says of some calls that it does not
 * support them: each is a capability less, or a text that is empty, with a note
 * where a program would miss it; the device opens and works, and no error is
 * left for the program.
 */
#include "fixture.h"

enum { NOT_SUPPORTED = 801 };

static const char *const lacking[] = {
	"hipDeviceGetUuid",
	"hipDeviceGetPCIBusId",
	"hipThreadExchangeStreamCaptureMode",
	"hipIpcGetMemHandle",
	"hipMemGetAllocationGranularity",
};

static void forbid(void)
{
	for (size_t i = 0; i < sizeof(lacking) / sizeof(*lacking); i++)
		if (!runtime.fakehip_fault(lacking[i], 1, true, NOT_SUPPORTED))
			bail("no %s", lacking[i]);
}

static void use(void *device)
{
	unsigned char byte = 0;
	gpumem_stream stream = NULL;
	uint64_t address = 0;

	is_status(gpu->stream_create(device, &stream), GPUMEM_OK, "a stream");
	is_status(gpu->alloc(device, PAGE, &address), GPUMEM_OK, "memory");
	is_status(gpu->fill(device, address, 7, PAGE, stream), GPUMEM_OK,
		  "a fill");
	is_status(gpu->copy(device, (uintptr_t)&byte, address, 1, stream),
		  GPUMEM_OK, "a copy");
	is_status(gpu->stream_sync(device, stream), GPUMEM_OK, "both done");
	is_int(byte, 7, "right");
	is_status(gpu->free(device, address, PAGE), GPUMEM_OK, "given back");
	is_status(gpu->stream_destroy(device, stream), GPUMEM_OK, "over");
}

static void checks(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL;

	forbid();
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "it is described");
	is_str(info.uuid, "", "without a UUID");
	is_str(info.pci, "", "and a place");
	is_status(gpu->device_open(0, &device), GPUMEM_OK, "it opens");
	if (!device)
		return;
	is_int(runtime.hipPeekAtLastError(), 0, "no error is left");
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "described again");
	is_uint(info.caps & (GPUMEM_CAP_SHARE_IPC | GPUMEM_CAP_VM), 0,
		"what there is not is not claimed");
	ok(strstr(info.note, "sharing by name: off"), "says %s", info.note);
	ok(!strstr(info.note, "ROCm 6.1 and later") == (release > 5),
	   "and 6.1 or later is not told to become that");
	use(device);
	is_int(runtime.hipPeekAtLastError(), 0, "no error is left");
	gpu->device_close(device);
	runtime.fakehip_heal();
	gpu->device_close(open_device(0));
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "AMD's again");
	is_uint(info.caps & GPUMEM_CAP_SHARE_IPC, GPUMEM_CAP_SHARE_IPC,
		"it has names");
	ok(!strstr(info.note, "sharing by name"), "no note of them");
}

int main(void)
{
	return on_all_releases(checks);
}
