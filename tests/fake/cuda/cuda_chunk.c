/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Physical memory: pieces of memory files, which cost nothing until they are
 * touched, and what is free of each device. A device has one file for all that
 * nobody may see, so that a process does not run out of descriptors; what may
 * be exported has one each, since a descriptor gives away the whole file. A
 * piece of the device's file is never used twice: an old mapping that is kept
 * shows zeros, not another's data.
 */
#include "cuda_fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

uint64_t fake_free_bytes(int number)
{
	const struct fake_device *device = &fake.devices[number];
	uint64_t small =
		(device->small_bytes + FAKE_GRANULE - 1) & ~(FAKE_GRANULE - 1);

	return fake.capacity_bytes - device->used_bytes - small;
}

/* Seen: allocations up to 1 MiB share blocks of 2 MiB, larger ones take whole
 * ones. */
static uint64_t *account_of(struct fake_device *device, uint64_t *bytes)
{
	bool small = *bytes <= FAKE_GRANULE / 2;
	uint64_t unit = small ? 512 : FAKE_GRANULE;

	*bytes = (*bytes + unit - 1) & ~(unit - 1);
	return small ? &device->small_bytes : &device->used_bytes;
}

bool fake_charge(int number, uint64_t bytes)
{
	struct fake_device *device = &fake.devices[number];
	uint64_t *account;

	if (bytes > fake.capacity_bytes)
		return false;
	account = account_of(device, &bytes);
	*account += bytes;
	if (device->used_bytes + ((device->small_bytes + FAKE_GRANULE - 1) &
				  ~(FAKE_GRANULE - 1)) <=
	    fake.capacity_bytes)
		return true;
	*account -= bytes;
	return false;
}

void fake_discharge(int number, uint64_t bytes)
{
	uint64_t *account = account_of(&fake.devices[number], &bytes);

	*account -= bytes;
}

static int new_file(const char *name, uint64_t bytes)
{
	const unsigned no_exec = 8; /* MFD_NOEXEC_SEAL, since Linux 6.3 */
	int fd = memfd_create(name, MFD_CLOEXEC | no_exec);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, (off_t)bytes)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool place(struct fake_chunk *chunk)
{
	struct fake_device *device = &fake.devices[chunk->device];

	if (chunk->own_fd) {
		char name[32];

		snprintf(name, sizeof(name), "fakecuda-export-%d",
			 chunk->device);
		chunk->fd = new_file(name, chunk->bytes);
		return chunk->fd >= 0;
	}
	if (device->fd < 0)
		device->fd = new_file("fakecuda-device", 1ull << 60);
	chunk->fd = device->fd;
	chunk->offset = device->next_offset;
	device->next_offset += chunk->bytes;
	return chunk->fd >= 0;
}

struct fake_chunk *fake_chunk_new(int device, uint64_t bytes, bool own_fd,
				  CUresult *result_out)
{
	struct fake_chunk *chunk = calloc(1, sizeof(*chunk));

	*result_out = CUDA_ERROR_OUT_OF_MEMORY;
	if (!chunk)
		return NULL;
	chunk->own_fd = own_fd;
	chunk->device = device;
	chunk->bytes = bytes;
	chunk->refs = 1;
	if (!place(chunk)) {
		*result_out = CUDA_ERROR_OPERATING_SYSTEM;
		free(chunk);
		return NULL;
	}
	*result_out = CUDA_SUCCESS;
	return chunk;
}

void fake_chunk_put(struct fake_chunk *chunk)
{
	if (--chunk->refs)
		return;
	if (chunk->charged)
		fake_discharge(chunk->device, chunk->bytes);
	if (chunk->own_fd)
		close(chunk->fd);
	else if (fallocate(chunk->fd,
			   FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			   (off_t)chunk->offset, (off_t)chunk->bytes))
		abort(); /* the file would grow for ever */
	free(chunk);
}
