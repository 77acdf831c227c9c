/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a version of the runtime means to the hip backend: the last one before a
 * change, and the first one after it. What the kernel is asked instead is in
 * tests/hip.sh.
 */
#include "fixture.h"

static const struct row {
	const char *version, *shown;
	int major;
	bool vm;
} rows[] = {
	{"50000000", "5.0.0", 5, false},
	{"60099999", "6.0.99999", 6, false},
	{"60100000", "6.1.0", 6, true},
	{"70099999", "7.0.99999", 7, true}, /* imports by address */
	{"70100000", "7.1.0", 7, true},	    /* and by value */
};

static const struct row *row;

/* One memory, by two pages. */
static void share(void *device)
{
	gpumem_page page = 0, again = 0;
	uint64_t address = 0;
	int fd = -1;

	is_status(gpu->page_create_shared(device, PAGE, &page), GPUMEM_OK,
		  "a page to share");
	is_status(gpu->page_export(device, page, PAGE, &fd), GPUMEM_OK,
		  "a descriptor");
	is_status(gpu->page_import(device, fd, PAGE, &again), GPUMEM_OK,
		  "is a page again");
	close(fd);
	is_status(gpu->page_destroy(device, page, PAGE), GPUMEM_OK,
		  "without the first");
	is_status(gpu->va_reserve(device, PAGE, PAGE, &address), GPUMEM_OK,
		  "addresses");
	is_status(gpu->map(device, address, &again, 1, PAGE), GPUMEM_OK,
		  "it can be mapped");
	is_status(gpu->unmap(device, address, 1, PAGE), GPUMEM_OK, "unmapped");
	is_status(gpu->page_destroy(device, again, PAGE), GPUMEM_OK,
		  "and given back");
	is_status(gpu->va_release(device, address, PAGE), GPUMEM_OK,
		  "with the addresses");
	is_uint(audit().handles, 0, "nothing is left");
}

static void checks(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device;

	is_str(gpu->driver_version(), row->shown, "the version");
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "a device");
	is_int(!!(info.caps & GPUMEM_CAP_VM), row->vm, "virtual memory or not");
	is_int(!!(info.caps & GPUMEM_CAP_SHARE_FD), row->vm,
	       "and pages to share");
	if (!ok(!strstr(info.note, "ROCm 6.1 and later") == row->vm,
		"with a note if not"))
		diag("%s", info.note);
	device = open_device(0);
	if (row->vm)
		share(device);
	gpu->device_close(device);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		row = &rows[i];
		setenv("FAKEHIP_VERSION", row->version, 1);
		on_release(row->major, checks);
	}
	return done_testing();
}
