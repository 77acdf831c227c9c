/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The group HOST_PIN: memory of this process that is pinned where it is, for
 * copies to the device and back. See conform.h.
 */
#include "conform.h"

#include <string.h>
#include <sys/mman.h>

static bool all_are(const uint8_t *at, uint8_t value, uint64_t bytes)
{
	while (bytes && *at == value) {
		at++;
		bytes--;
	}
	return !bytes;
}

static gpumem_status copy(struct conform *c, uint64_t to, uint64_t from,
			  uint64_t bytes)
{
	gpumem_status status = c->ops->copy(c->device, to, from, bytes, NULL);

	return status == GPUMEM_OK ? conform_sync(c, NULL) : status;
}

static void both_ways(struct conform *c, uint8_t *memory, uint64_t bytes)
{
	uint64_t address = 0, own = (uintptr_t)memory;

	if (!conform_is(c, c->ops->alloc(c->device, bytes, &address), GPUMEM_OK,
			"memory to copy to"))
		return;
	memset(memory, 0x5a, bytes);
	conform_is(c, copy(c, address, own, bytes), GPUMEM_OK,
		   "a copy to the device");
	conform_is(c, conform_verify(c, address, 0x5a, bytes), GPUMEM_OK,
		   "the device has what the host wrote");
	conform_is(c, conform_paint(c, address, 0xa5, bytes), GPUMEM_OK,
		   "it writes");
	conform_is(c, copy(c, own, address, bytes), GPUMEM_OK, "a copy back");
	conform_ok(c, memory[0] == 0xa5 && memory[bytes - 1] == 0xa5,
		   "the host has what the device wrote");
	conform_is(c, c->ops->free(c->device, address, bytes), GPUMEM_OK,
		   "free");
}

static void check(struct conform *c, uint8_t *memory, uint64_t bytes)
{
	gpumem_status status = c->ops->host_pin(c->device, memory, bytes);

	if (status == GPUMEM_UNSUPPORTED) {
		conform_skip(c, "the process's own memory, pinned",
			     "the device does not pin it");
		return;
	}
	if (!conform_is(c, status, GPUMEM_OK,
			"the process's own memory is pinned"))
		return;
	conform_ok(c, c->ops->host_pin(c->device, memory, bytes) != GPUMEM_OK,
		   "once");
	if (conform_has(c, GPUMEM_CAP_COPY))
		both_ways(c, memory, bytes);
	memset(memory, 0x3c, bytes);
	conform_is(c, c->ops->host_unpin(c->device, memory, bytes), GPUMEM_OK,
		   "it is pinned no more");
	conform_ok(c, all_are(memory, 0x3c, bytes), "and has its content");
	conform_ok(c, c->ops->host_unpin(c->device, memory, bytes) != GPUMEM_OK,
		   "which is told once");
	conform_is(c, c->ops->host_pin(c->device, memory, bytes), GPUMEM_OK,
		   "it can be pinned again");
	conform_is(c, c->ops->host_unpin(c->device, memory, bytes), GPUMEM_OK,
		   "and that ended");
}

void conform_pin(struct conform *c)
{
	uint64_t bytes = c->info.granularity_bytes;
	void *memory;

	if (!c->ops->host_pin) {
		conform_skip(c, "the process's own memory, pinned",
			     "the backend has no group HOST_PIN");
		return;
	}
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!conform_ok(c, memory != MAP_FAILED, "memory of the host"))
		return;
	check(c, memory, bytes);
	munmap(memory, bytes);
}
