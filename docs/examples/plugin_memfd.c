/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A backend whose pages are mapped and remapped: one device of 256 MiB, whose
 * pages are ranges of a memfd and whose addresses are the process's own. A pool
 * of it grows page by page, and moves pages to other addresses instead of
 * taking more. Built from the installed headers alone; the file has to be
 * called as the backend is:
 *
 *	cc -shared -fPIC -o memfd.so plugin_memfd.c
 *
 * It has the groups VM and COPY. It has no streams, so all that it does is over
 * when the slot returns. plugin_minimal.c is the place to begin.
 *
 * Any thread may call at any time: the two counters are atomic, and addresses
 * are the kernel's business, which has a lock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gpumem/backend.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#define CAPACITY ((uint64_t)256 << 20)
#define UNIT 65536 /* granularity; a multiple of every system's page */

static const struct gpumem_services *core;
static _Atomic uint64_t free_bytes = CAPACITY;
static _Atomic uint64_t end = UNIT; /* of the file */
static int file;

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* What the system has just refused. */
static gpumem_status refused(gpumem_status status, const char *call)
{
	core->error(errno, "errno", "the system refused %s", call);
	return status;
}

/* ---- the device --------------------------------------------------------- */

static gpumem_status init(const struct gpumem_services *services)
{
	core = services;
	return GPUMEM_OK;
}

static const char *driver_version(void)
{
	return "1.0";
}

static gpumem_status device_count(int *count_out)
{
	*count_out = 1;
	return GPUMEM_OK;
}

static gpumem_status device_info(int index, struct gpumem_device_info *info_out)
{
	(void)index;
	strcpy(info_out->product, "Pages of a memfd");
	info_out->total_bytes = info_out->max_alloc_bytes = CAPACITY;
	info_out->granularity_bytes = UNIT;
	info_out->alignment_bytes = 256; /* of each block of a pool */
	info_out->caps = GPUMEM_CAP_VM | GPUMEM_CAP_COPY |
			 GPUMEM_CAP_HOST_ACCESS | GPUMEM_CAP_MEMORY_INFO;
	return GPUMEM_OK;
}

static gpumem_status device_open(int index, void **device_out)
{
	(void)index;
	file = memfd_create("pages", MFD_CLOEXEC | MFD_NOEXEC_SEAL);
	if (file < 0 && errno == EINVAL) /* Linux before 6.3 */
		file = memfd_create("pages", MFD_CLOEXEC);
	if (file < 0)
		return refused(GPUMEM_DRIVER, "memfd_create");
	*device_out = &file; /* anything but NULL */
	return GPUMEM_OK;
}

static void device_close(void *device)
{
	(void)device;
	close(file);
}

static gpumem_status memory_info(void *device, struct gpumem_memory *memory_out)
{
	(void)device;
	memory_out->total_bytes = CAPACITY;
	memory_out->free_bytes = atomic_load(&free_bytes);
	return GPUMEM_OK;
}

static void give(uint64_t bytes)
{
	atomic_fetch_add(&free_bytes, bytes);
}

static gpumem_status take(uint64_t bytes)
{
	uint64_t left = atomic_load(&free_bytes);

	while (bytes <= left)
		if (atomic_compare_exchange_weak(&free_bytes, &left,
						 left - bytes))
			return GPUMEM_OK;
	core->error(0, "", "there are no %llu bytes left",
		    (unsigned long long)bytes);
	return GPUMEM_NO_MEMORY;
}

/* ---- memory that is not paged ------------------------------------------- */

static gpumem_status alloc_block(void *device, uint64_t bytes,
				 uint64_t *address_out)
{
	gpumem_status status = take(bytes);
	void *memory;

	(void)device;
	if (status != GPUMEM_OK)
		return status;
	memory = aligned_alloc(UNIT, bytes);
	if (!memory) {
		give(bytes);
		return refused(GPUMEM_NO_HOST_MEMORY, "aligned_alloc");
	}
	*address_out = (uint64_t)(uintptr_t)memory;
	return GPUMEM_OK;
}

static gpumem_status free_block(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	free(pointer(address));
	give(bytes);
	return GPUMEM_OK;
}

/* ---- addresses ---------------------------------------------------------- */

/* mmap() aligns to the system's pages only: so much more is taken, and what is
 * before and behind the aligned part goes back. */
static gpumem_status va_reserve(void *device, uint64_t bytes,
				uint64_t alignment, uint64_t *address_out)
{
	uint64_t span = bytes + alignment, from, address;
	void *room = mmap(NULL, span, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)device;
	if (room == MAP_FAILED)
		return refused(GPUMEM_NO_HOST_MEMORY, "mmap");
	from = (uint64_t)(uintptr_t)room;
	address = (from + alignment - 1) & ~(alignment - 1);
	if (address > from)
		munmap(room, address - from);
	munmap(pointer(address + bytes), from + span - (address + bytes));
	*address_out = address;
	return GPUMEM_OK;
}

static gpumem_status va_release(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	if (munmap(pointer(address), bytes))
		return refused(GPUMEM_DRIVER, "munmap");
	return GPUMEM_OK;
}

/* ---- pages -------------------------------------------------------------- */

/* A page is its offset in the file, which begins at UNIT, so that none is 0.
 * Offsets are not used again: what was destroyed is a hole without memory, and
 * there are 2^63. fallocate() takes the memory now: without it the first write
 * would, and crash where there is none. */
static gpumem_status page_create(void *device, uint64_t bytes,
				 gpumem_page *page_out)
{
	gpumem_status status = take(bytes);
	uint64_t offset;

	(void)device;
	if (status != GPUMEM_OK)
		return status;
	offset = atomic_fetch_add(&end, bytes);
	if (fallocate(file, 0, (off_t)offset, (off_t)bytes)) {
		give(bytes);
		return refused(GPUMEM_NO_MEMORY, "fallocate");
	}
	*page_out = offset;
	return GPUMEM_OK;
}

static gpumem_status page_destroy(void *device, gpumem_page page,
				  uint64_t bytes)
{
	(void)device;
	if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)page, (off_t)bytes))
		return refused(GPUMEM_DRIVER, "fallocate");
	give(bytes);
	return GPUMEM_OK;
}

/* The addresses stay taken, so that nobody else gets them. */
static gpumem_status unmap(void *device, uint64_t address, size_t count,
			   uint64_t page_bytes)
{
	(void)device;
	if (mmap(pointer(address), count * page_bytes, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return refused(GPUMEM_DRIVER, "mmap");
	return GPUMEM_OK;
}

/* All or none: where one fails, those before it go, and its own place, which a
 * MAP_FIXED that fails may have cleared. */
static gpumem_status map(void *device, uint64_t address,
			 const gpumem_page *pages, size_t count,
			 uint64_t page_bytes)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t at = address + i * page_bytes;

		if (mmap(pointer(at), page_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, file,
			 (off_t)pages[i]) != MAP_FAILED)
			continue;
		(void)unmap(device, address, i + 1, page_bytes);
		return refused(GPUMEM_NO_HOST_MEMORY, "mmap");
	}
	return GPUMEM_OK;
}

/* ---- copy: no streams, so at once --------------------------------------- */

static gpumem_status fill(void *device, uint64_t address, uint8_t value,
			  uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)stream;
	memset(pointer(address), value, bytes);
	return GPUMEM_OK;
}

static gpumem_status copy(void *device, uint64_t to, uint64_t from,
			  uint64_t bytes, gpumem_stream stream)
{
	(void)device;
	(void)stream;
	memmove(pointer(to), pointer(from), bytes);
	return GPUMEM_OK;
}

static const struct gpumem_backend backend = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(backend),
	.name = "memfd",
	.init = init,
	.driver_version = driver_version,
	.device_count = device_count,
	.device_info = device_info,
	.device_open = device_open,
	.device_close = device_close,
	.memory_info = memory_info,
	.alloc = alloc_block,
	.free = free_block,
	.va_reserve = va_reserve,
	.va_release = va_release,
	.page_create = page_create,
	.page_destroy = page_destroy,
	.map = map,
	.unmap = unmap,
	.fill = fill,
	.copy = copy,
};

/* The one symbol that is seen, also with -fvisibility=hidden. */
GPUMEM_API const struct gpumem_backend *gpumem_plugin(void);

const struct gpumem_backend *gpumem_plugin(void)
{
	return &backend;
}
