/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What fills and copies may touch: so that a wrong address is an error as on a
 * real device, and no fault in a thread of ours. What a simulated device has
 * given out is known from its tables; for all other memory the system is
 * queried. Memory that the program unmaps while it is filled or copied is not
 * protected. The tables are under each device's `memory`.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "host_device.h"
#include "../common/descriptor.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

/* Linux 5.14. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum answer { NOT_KNOWN, THERE, MISSING };

static bool is_inside(const struct host_range *range,
		      const struct host_touch *touch)
{
	uint64_t offset = touch->address - range->address;

	return touch->bytes <= range->bytes - offset;
}

/* All of it has pages. */
static bool is_mapped(const struct host_device *owner,
		      const struct host_range *range,
		      const struct host_touch *touch)
{
	uint64_t granularity = owner->config.granularity;
	uint64_t offset = touch->address - range->address;
	uint64_t last = (offset + touch->bytes - 1) / granularity;

	for (uint64_t i = offset / granularity; i <= last; i++)
		if (!range->granules[i])
			return false;
	return true;
}

static enum answer ask_books(struct host_device *owner,
			     const struct host_touch *touch)
{
	const struct host_ranges *const lists[] = {&owner->raws, &owner->kinds,
						   &owner->opened};
	enum answer answer = NOT_KNOWN;
	const struct host_range *range;

	pthread_mutex_lock(&owner->memory);
	range = gm_host_range_find(&owner->spaces, touch->address);
	if (range)
		answer = is_inside(range, touch) &&
					 is_mapped(owner, range, touch)
				 ? THERE
				 : MISSING;
	for (int i = 0; i < 3 && answer == NOT_KNOWN; i++) {
		range = gm_host_range_find(lists[i], touch->address);
		if (range)
			answer = is_inside(range, touch) ? THERE : MISSING;
	}
	pthread_mutex_unlock(&owner->memory);
	return answer;
}

static enum answer ask_devices(const struct host_touch *touch)
{
	enum answer answer = NOT_KNOWN;

	gm_host_devices_lock();
	for (int i = 0; i < HOST_DEVICES_MAX && answer == NOT_KNOWN; i++)
		if (gm_host_device_at(i))
			answer = ask_books(gm_host_device_at(i), touch);
	gm_host_device_leave();
	return answer;
}

/* The list of mappings, for memory or systems that populating is not for. True
 * also where the list cannot be had. */
static bool is_listed(const struct host_touch *touch)
{
	int fd = gm_descriptor_move(
		open("/proc/self/maps", O_RDONLY | O_CLOEXEC),
		GM_DESCRIPTOR_LEAST);
	uint64_t next = touch->address, end = next + touch->bytes;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned long long from, to;
	char mode[8];

	if (fd >= 0 && !file)
		close(fd);
	if (!file)
		return true;
	while (next < end &&
	       fscanf(file, "%llx-%llx %7s%*[^\n]", &from, &to, mode) == 3)
		if (next >= from && next < to &&
		    mode[touch->write] == (touch->write ? 'w' : 'r'))
			next = to;
	(void)fclose(file);
	return next >= end;
}

/* The system maps all that the touch is going to need, or says that it would be
 * a fault. */
static bool populate(const struct host_touch *touch)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t begin = touch->address & ~(page - 1);
	uint64_t end = touch->address + touch->bytes;

	while (madvise((void *)(uintptr_t)begin, end - begin,
		       touch->write ? MADV_POPULATE_WRITE
				    : MADV_POPULATE_READ) < 0) {
		if (errno == EINVAL)
			return is_listed(touch);
		if (errno == ENOMEM || errno == EFAULT)
			return false;
		if (errno != EINTR && errno != EAGAIN)
			break;
	}
	return true;
}

static gpumem_status refuse(const struct host_touch *touch)
{
	return gm_host_fail(GPUMEM_BAD_POINTER,
			    "there is no memory to be %s at 0x%llx, %llu "
			    "bytes: it was not allocated, or given back",
			    touch->write ? "written" : "read",
			    (unsigned long long)touch->address,
			    (unsigned long long)touch->bytes);
}

/* Of a long one what costs little: that addresses are in use, and both ends. */
gpumem_status gm_host_touch_look(const struct host_touch *touch)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end;
	struct host_touch first = *touch, last = *touch;
	enum answer answer;

	if (__builtin_add_overflow(touch->address, touch->bytes, &end) ||
	    end + page < end)
		return refuse(touch);
	answer = ask_devices(touch);
	if (answer == THERE)
		return GPUMEM_OK;
	first.bytes = last.bytes = 1;
	last.address = end - 1;
	if (answer == MISSING || !populate(&first) || !populate(&last))
		return refuse(touch);
	first.address &= ~(page - 1);
	if (msync((void *)(uintptr_t)first.address, end - first.address,
		  MS_ASYNC) < 0 &&
	    errno == ENOMEM)
		return refuse(touch);
	return GPUMEM_OK;
}

gpumem_status gm_host_touch_now(const struct host_touch *touch)
{
	return populate(touch) ? GPUMEM_OK : refuse(touch);
}
