/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the host backend's memory share: whether an address faults,
 * what the system holds, and calls that must not fail. For the main thread.
 */
#ifndef HOST_PROBE_H
#define HOST_PROBE_H

#include "fake.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether reading the byte at the address is a fault: for the system it is an
 * error, so that no signal is needed. */
FAKE_USE bool faults(uint64_t address)
{
	int ends[2];
	ssize_t n;

	if (pipe(ends))
		bail("pipe: %s", strerror(errno));
	n = write(ends[1], (const void *)(uintptr_t)address, 1);
	if (n < 0 && errno != EFAULT)
		bail("write: %s", strerror(errno));
	close(ends[0]);
	close(ends[1]);
	return n < 0;
}

FAKE_USE uint64_t reserve(void *device, uint64_t bytes)
{
	uint64_t address = 0;

	if (host->va_reserve(device, bytes, PAGE, &address) != GPUMEM_OK)
		bail("va_reserve: %s", fake_error.text);
	return address;
}

FAKE_USE gpumem_page create(void *device, uint64_t bytes)
{
	gpumem_page page = 0;

	if (host->page_create(device, bytes, &page) != GPUMEM_OK)
		bail("page_create: %s", fake_error.text);
	return page;
}

FAKE_USE uint32_t *word(uint64_t address)
{
	return (uint32_t *)(uintptr_t)address;
}

/* Bytes that the system holds for the one device that is open. */
FAKE_USE uint64_t file_bytes(void)
{
	char path[64], target[64];
	struct stat st;
	ssize_t n;

	for (int fd = 3; fd < 1024; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (strstr(target, "memfd:gpumem-host") && !fstat(fd, &st))
			return (uint64_t)st.st_blocks * 512;
	}
	return UINT64_MAX;
}

#endif
