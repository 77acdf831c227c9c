/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the hip backend is given and cannot take: devices that are not there,
 * addresses that are nobody's, sizes that no device has. Each is a status and a
 * sentence, and what was there before can be used as ever.
 */
#include "fixture.h"

#define REFUSED(call, want, part)                                              \
	do {                                                                   \
		said.count = 0;                                                \
		is_status((call), (want), #call);                              \
		is_uint(said.count, 1, "with one sentence");                   \
		if (!ok(strstr(said.text, part), "that says \"%s\"", part))    \
			diag("%s", said.text);                                 \
	} while (0)

static void no_device(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL;
	int count = 0;

	is_status(gpu->device_count(&count), GPUMEM_OK, "count");
	is_int(count, 2, "two devices");
	REFUSED(gpu->device_info(2, &info), GPUMEM_NO_DEVICE, "of device 2");
	REFUSED(gpu->device_info(-1, &info), GPUMEM_NO_DEVICE, "of device -1");
	REFUSED(gpu->device_open(2, &device), GPUMEM_NO_DEVICE, "of device 2");
	REFUSED(gpu->device_open(1 << 30, &device), GPUMEM_NO_DEVICE,
		"HIP_VISIBLE_DEVICES");
	is_ptr(device, NULL, "and nothing is opened");
}

static void no_address(void *device, void *second)
{
	uint64_t here = 0, there = 0, pinned = 0;
	char *host = malloc(PAGE);

	if (!host || gpu->alloc(device, PAGE, &here) != GPUMEM_OK ||
	    gpu->alloc(second, PAGE, &there) != GPUMEM_OK ||
	    gpu->kind_alloc(device, GPUMEM_KIND_PINNED, MIB, &pinned))
		bail("%s", said.text);
	REFUSED(gpu->free(device, here + 4096, PAGE - 4096), GPUMEM_INVALID,
		"hipFree");
	REFUSED(gpu->free(device, (uintptr_t)host, PAGE), GPUMEM_INVALID,
		"hipFree of 2097152 bytes");
	REFUSED(gpu->free(device, UINT64_C(1) << 63, PAGE), GPUMEM_INVALID,
		"0x8000000000000000");
	REFUSED(gpu->kind_free(device, GPUMEM_KIND_PINNED, (uintptr_t)host,
			       MIB),
		GPUMEM_INVALID, "hipHostFree");
	REFUSED(gpu->kind_free(device, GPUMEM_KIND_MANAGED, (uintptr_t)host,
			       MIB),
		GPUMEM_INVALID, "managed");
	is_status(gpu->free(device, here, PAGE), GPUMEM_OK, "the block");
	REFUSED(gpu->free(device, here, PAGE), GPUMEM_INVALID, "hipFree");
	REFUSED(gpu->fill(device, here, 0, PAGE, NULL), GPUMEM_INVALID,
		"hipMemsetAsync");
	is_status(gpu->kind_free(device, GPUMEM_KIND_PINNED, pinned, MIB),
		  GPUMEM_OK, "the pinned one");
	is_status(gpu->free(second, there, PAGE), GPUMEM_OK,
		  "another device's");
	free(host);
}

static void no_size(void *device)
{
	static const uint64_t sizes[] = {UINT64_C(1) << 63,
					 UINT64_MAX - PAGE + 1};
	uint64_t out = UNTOUCHED;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		REFUSED(gpu->alloc(device, sizes[i], &out), GPUMEM_NO_MEMORY,
			"hipMalloc of");
		REFUSED(gpu->kind_alloc(device, GPUMEM_KIND_PINNED, sizes[i],
					&out),
			GPUMEM_NO_MEMORY, "hipHostMalloc of");
		REFUSED(gpu->kind_alloc(device, GPUMEM_KIND_MANAGED, sizes[i],
					&out),
			GPUMEM_NO_MEMORY, "hipMallocManaged of");
	}
	if (release >= 6) {
		REFUSED(gpu->page_create(device, UINT64_C(1) << 63, &out),
			GPUMEM_NO_MEMORY, "hipMemCreate of");
		REFUSED(gpu->va_reserve(device, UINT64_C(1) << 63, PAGE, &out),
			GPUMEM_NO_MEMORY, "hipMemAddressReserve of");
	}
	is_uint(out, UNTOUCHED, "and nothing is given");
}

static void no_mapping(void *device)
{
	gpumem_page page = 0, pages[2] = {0};
	uint64_t address = 0;

	if (gpu->va_reserve(device, 2 * PAGE, PAGE, &address) != GPUMEM_OK ||
	    gpu->page_create(device, PAGE, &page) != GPUMEM_OK)
		bail("%s", said.text);
	pages[0] = page;
	pages[1] = UINT64_C(0x7fff0000);
	REFUSED(gpu->map(device, address, pages, 2, PAGE), GPUMEM_INVALID,
		"hipMemMap");
	REFUSED(gpu->unmap(device, address, 1, PAGE), GPUMEM_INVALID,
		"hipMemUnmap");
	REFUSED(gpu->fill(device, address, 0, PAGE, NULL), GPUMEM_INVALID,
		"hipMemsetAsync");
	REFUSED(gpu->page_destroy(device, pages[1], PAGE), GPUMEM_INVALID,
		"hipMemRelease");
	REFUSED(gpu->va_release(device, address + PAGE, PAGE), GPUMEM_INVALID,
		"hipMemAddressFree");
	is_status(gpu->map(device, address, &page, 1, PAGE), GPUMEM_OK,
		  "nothing was left mapped");
	is_status(gpu->unmap(device, address, 1, PAGE), GPUMEM_OK, "unmap");
	is_status(gpu->page_destroy(device, page, PAGE), GPUMEM_OK, "page");
	REFUSED(gpu->page_destroy(device, page, PAGE), GPUMEM_INVALID,
		"hipMemRelease");
	is_status(gpu->va_release(device, address, 2 * PAGE), GPUMEM_OK,
		  "range");
	REFUSED(gpu->va_release(device, address, 2 * PAGE), GPUMEM_INVALID,
		hip_vm[0] == 'f' ? "hipMemAddressFree" : "no range");
	REFUSED(gpu->map(device, address, &page, 1, PAGE), GPUMEM_INVALID,
		hip_vm[0] == 'f' ? "hipMemMap" : "no range");
}

/* A descriptor that stands for no page; one that is none at all. */
static void no_page(void *device)
{
	gpumem_page page = UNTOUCHED;
	int ends[2];

	if (pipe(ends))
		bail("pipe");
	REFUSED(gpu->page_import(device, ends[0], PAGE, &page), GPUMEM_INVALID,
		"hipMemImportFromShareableHandle");
	REFUSED(gpu->page_import(device, -1, PAGE, &page), GPUMEM_INVALID,
		"descriptor -1");
	is_uint(page, UNTOUCHED, "and no page");
	close(ends[0]);
	close(ends[1]);
}

static void no_virtual(void *device)
{
	gpumem_page page = 1;
	uint64_t out = UNTOUCHED;
	int fd = -1;

	REFUSED(gpu->va_reserve(device, PAGE, PAGE, &out), GPUMEM_UNSUPPORTED,
		"no virtual memory");
	REFUSED(gpu->page_create(device, PAGE, &out), GPUMEM_UNSUPPORTED,
		"no virtual memory");
	REFUSED(gpu->page_create_shared(device, PAGE, &out), GPUMEM_UNSUPPORTED,
		"no pages");
	REFUSED(gpu->page_export(device, page, PAGE, &fd), GPUMEM_UNSUPPORTED,
		"no pages");
	REFUSED(gpu->page_import(device, 0, PAGE, &out), GPUMEM_UNSUPPORTED,
		"no pages");
	is_uint(out, UNTOUCHED, "and nothing is given");
}

/* What another process's runtime says of a handle: each is about the handle,
 * and none about the device. */
static void no_handle(void *device)
{
	static const struct {
		int code;
		gpumem_status status;
		const char *part;
	} answers[] = {
		{1, GPUMEM_INVALID, "hipIpcOpenMemHandle"},
		{2, GPUMEM_NO_MEMORY, "hipIpcOpenMemHandle"},
		{201, GPUMEM_INVALID, "of this process"},
		{205, GPUMEM_INVALID, "has ended"},
	};
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES] = {0};
	uint64_t out = UNTOUCHED;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		runtime.fakehip_fault("hipIpcOpenMemHandle", 1, false,
				      answers[i].code);
		REFUSED(gpu->ipc_open(device, handle, PAGE, &out),
			answers[i].status, answers[i].part);
		runtime.fakehip_heal();
	}
	REFUSED(gpu->ipc_close(device, PAGE), GPUMEM_INVALID,
		"hipIpcCloseMemHandle");
	is_uint(out, UNTOUCHED, "and no address");
}

static void checks(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	struct fakecuda_held before, after;
	void *device, *second;

	hip_vm = "full";
	no_device();
	device = open_device(0);
	second = open_device(1);
	gpu->device_close(second);
	hip_vm = "single";
	second = open_device(1);
	is_status(gpu->memory_info(second, &memory), GPUMEM_OK, "in use");
	before = audit();
	no_address(device, second);
	no_size(device);
	no_handle(device);
	if (release >= 6) {
		no_page(device);
		no_mapping(second);
		hip_vm = "full";
		no_mapping(device);
	} else {
		no_virtual(device);
	}
	after = audit();
	ok(!memcmp(&before, &after, sizeof(after)), "nothing is left");
	gpu->device_close(device);
	gpu->device_close(second);
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	return on_all_releases(checks);
}
