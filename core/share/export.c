/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block described for other processes; see shared.h. The heap is locked
 * meanwhile, so that the block stays what it is.
 */
#include "shared.h"
#include "base/error.h"
#include "base/name.h"
#include "base/option.h"
#include "base/struct.h"
#include "device/share.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static unsigned char process[16];
static _Atomic uint64_t exports; /* numbers of exports by descriptor */

/* Without the system's random numbers, what hardly two processes share. */
static void name_process(void)
{
	struct timespec now;
	pid_t pid = getpid();
	uint64_t ns;

	if (getrandom(process, sizeof(process), 0) == sizeof(process))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	memcpy(process, &ns, sizeof(ns));
	memcpy(process + sizeof(ns), &pid, sizeof(pid));
}

const unsigned char *gm_share_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, name_process);
	return process;
}

/* FNV-1a: finds what was cut short or overwritten, not what was forged. */
static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t count)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < count; i++)
		sum = (sum ^ byte[i]) * UINT64_C(0x100000001b3);
	return sum;
}

#define NO_BYTES UINT64_C(0xcbf29ce484222325)

uint64_t gm_share_check(const struct gpumem_shared *shared)
{
	size_t first = offsetof(struct gpumem_shared, method);

	return add_bytes(NO_BYTES, (const char *)shared + first,
			 sizeof(*shared) - first);
}

bool gm_share_files(const int *fds, size_t count, uint64_t *sum_out)
{
	uint64_t sum = NO_BYTES;
	struct stat file;

	for (size_t i = 0; i < count; i++) {
		if (fstat(fds[i], &file) < 0)
			return false;
		sum = add_bytes(sum, &file.st_dev, sizeof(file.st_dev));
		sum = add_bytes(sum, &file.st_ino, sizeof(file.st_ino));
	}
	*sum_out = sum;
	return true;
}

gpumem_status gm_share_by_option(struct gpumem_pool_config *config)
{
	char text[32];

	if (config->shareable || config->kind != GPUMEM_KIND_DEVICE ||
	    !gm_option_given(GM_TEXT_share, text, sizeof(text)))
		return GPUMEM_OK;
	for (uint32_t i = GPUMEM_SHARE_NONE; i <= GPUMEM_SHARE_IPC; i++)
		if (!strcmp(text, gm_share_name((gpumem_share)i))) {
			config->shareable = i;
			return GPUMEM_OK;
		}
	return gm_fail(
		GPUMEM_INVALID,
		"option `share` is \"%s\": it can be none, any, fd or ipc",
		text);
}

static gpumem_status export_segment(const struct gm_heap *heap,
				    uintptr_t address,
				    struct gpumem_shared *shared)
{
	const struct gm_span *span = heap->spans.first;

	while (address - span->address >= span->bytes)
		span = span->next;
	shared->total_bytes = span->bytes;
	shared->offset_bytes = address - span->address;
	return gm_ipc_export(heap->driver.device, span->address, span->bytes,
			     shared->handle);
}

/* All descriptors or none. */
static gpumem_status export_fds(const struct gm_heap *heap,
				const struct gm_page *page, size_t count,
				int *fds, uint64_t *files_out)
{
	gpumem_status status = GPUMEM_OK;
	size_t done = 0;

	while (done < count) {
		status = gm_page_export(heap->driver.device, page[done].handle,
					heap->page_bytes, &fds[done]);
		if (status != GPUMEM_OK)
			goto close_fds;
		done++;
	}
	if (gm_share_files(fds, count, files_out))
		return GPUMEM_OK;
	status = gm_fail(GPUMEM_DRIVER,
			 "a descriptor that the driver of %s has exported is "
			 "not open",
			 heap->driver.device->info.name);

close_fds:
	while (done)
		close(fds[--done]);
	return status;
}

static gpumem_status export_pages(const struct gm_heap *heap, uintptr_t address,
				  struct gpumem_shared *shared, int *fds,
				  size_t fd_room)
{
	size_t page = heap->page_bytes, count;
	struct gm_share_fds id = {0};
	gpumem_status status;

	shared->offset_bytes = address & (page - 1);
	count = (size_t)((shared->offset_bytes + shared->bytes + page - 1) /
			 page);
	shared->fd_count = (uint32_t)count;
	shared->fd_bytes = page;
	shared->total_bytes = count * page;
	if (!fds)
		return GPUMEM_OK;
	if (fd_room < count)
		return gm_fail(
			GPUMEM_INVALID,
			"the block lies in %zu pages and there is room "
			"for %zu descriptors: make more, or larger pages "
			"(page_bytes)",
			count, fd_room);
	id.number = atomic_fetch_add(&exports, 1) + 1;
	status = export_fds(heap, gm_page_at(&heap->spans, address), count, fds,
			    &id.files);
	memcpy(shared->handle, &id, sizeof(id));
	return status;
}

static gpumem_status export_memory(const struct gm_block *block,
				   const char *pool,
				   struct gpumem_shared *shared, int *fds,
				   size_t fd_room)
{
	const struct gm_heap *heap = block->heap;

	switch (heap->share) {
	case GPUMEM_SHARE_IPC:
		return export_segment(heap, gm_block_address(block), shared);
	case GPUMEM_SHARE_FD:
		return export_pages(heap, gm_block_address(block), shared, fds,
				    fd_room);
	default:
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "pool \"%s\" on %s was created without "
			       "`shareable`, and option `share` is not set",
			       pool, heap->driver.device->info.name);
	}
}

gpumem_status gm_share_export(const struct gm_block *block, const char *pool,
			      struct gpumem_shared *shared_out, int *fds_out,
			      size_t fd_room)
{
	const struct gpumem_device *device = block->heap->driver.device;
	struct gpumem_shared shared = {
		.size = sizeof(shared),
		.method = block->heap->share,
		.bytes = block->extent ? block->extent->bytes
				       : block->slab->class.bytes,
	};
	gpumem_status status;

	snprintf(shared.backend, sizeof(shared.backend), "%s",
		 device->ops->name);
	memcpy(shared.uuid, device->info.uuid, sizeof(shared.uuid));
	memcpy(shared.process, gm_share_process(), sizeof(shared.process));
	status = export_memory(block, pool, &shared, fds_out, fd_room);
	if (status != GPUMEM_OK)
		return status;
	shared.check = gm_share_check(&shared);
	gm_struct_copy(shared_out, &shared);
	shared_out->size = sizeof(shared);
	return GPUMEM_OK;
}
