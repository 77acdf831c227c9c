/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The file: created, mapped, given storage, and cut to what was used. It is
 * made afresh beside the name that it gets when its header is whole, and then
 * takes the place of what had that name, which whoever reads it still has; from
 * then on it is written in place, so that it is there after a crash. Writing
 * into a mapping kills the program where there is no storage for the page; so
 * each chunk gets its storage before it is used, and a disk that is full makes
 * the file smaller. A child process does not inherit the mapping. Nobody writes
 * events while it is opened and closed.
 */
#include "file.h"
#include "base/error.h"
#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Storage is asked for in pieces of so many chunks. */
enum { BACK_CHUNKS = 64 };

enum { HEADER_BYTES = 4096 };

struct gm_recorder gm_recorder;
struct gm_record_file gm_record_file = {
	.fd = -1, .left = -1, .mutex = PTHREAD_MUTEX_INITIALIZER};
static uint32_t generations; /* of all files; changed by who opens one */

static gpumem_status refuse(const char *path, const char *why)
{
	return gm_fail(GPUMEM_INVALID, "cannot record to \"%.200s\": %s", path,
		       why);
}

static gpumem_status busy(const char *path)
{
	return gm_fail(GPUMEM_BUSY,
		       "another process records to \"%.200s\"; a %%p in "
		       "the name becomes the number of the process",
		       path);
}

static gpumem_status refuse_errno(const char *path)
{
	return refuse(path, strerror(errno));
}

/* Allocates storage, where the file system can, or else writes zeroes. */
static bool allocate(int fd, uint64_t offset, uint64_t bytes)
{
	static const char zeroes[4096];

	if (!fallocate(fd, 0, (off_t)offset, (off_t)bytes))
		return true;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return false;
	for (uint64_t at = 0; at < bytes; at += sizeof(zeroes))
		if (pwrite(fd, zeroes, sizeof(zeroes), (off_t)(offset + at)) !=
		    (ssize_t)sizeof(zeroes))
			return false;
	return true;
}

static bool back_up_to(uint32_t backed, uint32_t end)
{
	struct gm_record_file *file = &gm_record_file;

	if (!allocate(file->fd,
		      file->header->chunks_at +
			      (uint64_t)backed * GM_RECORD_CHUNK_BYTES,
		      (uint64_t)(end - backed) * GM_RECORD_CHUNK_BYTES))
		return false;
	while (backed < end &&
	       !atomic_compare_exchange_weak(&file->backed, &backed, end))
		;
	return true;
}

/* Two threads may ask for the same storage, which is no harm. */
bool gm_record_back(uint32_t chunk)
{
	struct gm_record_file *file = &gm_record_file;
	uint32_t end = (chunk / BACK_CHUNKS + 1) * BACK_CHUNKS;
	uint32_t backed = atomic_load(&file->backed);

	if (chunk < backed)
		return true;
	if (end > file->chunk_count)
		end = file->chunk_count;
	return back_up_to(backed, end) || back_up_to(backed, chunk + 1);
}

/* Beside that name, until it is a recording. A file that another process
 * records to is neither cut nor replaced. */
static gpumem_status begin_file(struct gm_own *own, const char *path)
{
	if (!path) {
		own->fd = memfd_create("gpumem-record", MFD_CLOEXEC);
		return own->fd >= 0 ? GPUMEM_OK : refuse_errno("memory");
	}
	if (gm_own_begin(own, path, 0600))
		return GPUMEM_OK;
	return own->busy ? busy(path) : refuse(path, own->why);
}

/* No more than the process may write: the kernel's signal would end it. */
static uint64_t within_limit(uint64_t bytes)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_FSIZE, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
		bytes = limit.rlim_cur;
	return bytes;
}

static uint64_t definition_room(uint64_t bytes)
{
	uint64_t room =
		bytes / 64 / GM_RECORD_CHUNK_BYTES * GM_RECORD_CHUNK_BYTES;

	return room < GM_RECORD_DEFINITIONS_MIN ? GM_RECORD_DEFINITIONS_MIN
						: room;
}

static void name_program(char *name, size_t bytes)
{
	FILE *comm = fopen("/proc/self/comm", "re");

	if (!comm)
		return;
	if (fgets(name, (int)bytes, comm))
		name[strcspn(name, "\n")] = '\0';
	fclose(comm);
}

static void fill_header(uint64_t chunks_at, uint32_t chunk_count)
{
	struct gpumem_record_header *header = gm_record_file.header;
	struct timespec real;

	memcpy(header->magic, GPUMEM_RECORD_MAGIC, sizeof(header->magic));
	header->byte_order = GPUMEM_RECORD_BYTE_ORDER;
	header->header_bytes = HEADER_BYTES;
	header->chunk_bytes = GM_RECORD_CHUNK_BYTES;
	header->chunks_at = chunks_at;
	header->chunk_count = chunk_count;
	header->clock =
		gm_recorder.ticks ? GPUMEM_RECORD_TICKS : GPUMEM_RECORD_NS;
	header->pid = (uint32_t)getpid();
	clock_gettime(CLOCK_REALTIME, &real);
	header->begin_real_ns =
		(uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec;
	header->begin_ticks = gm_record_now();
	header->begin_ns = gm_record_clock_ns();
	snprintf(header->library, sizeof(header->library), "%s",
		 GPUMEM_VERSION_STRING);
	name_program(header->program, sizeof(header->program));
	/* Without it there is no recording. */
	header->version = GPUMEM_RECORD_VERSION;
}

/* The file has its size, and the part before the chunks its storage. */
static gpumem_status map_file(const char *path, int fd, uint64_t bytes)
{
	struct gm_record_file *file = &gm_record_file;
	uint64_t room = definition_room(bytes);
	uint64_t chunks_at = room + GM_RECORD_CHUNK_BYTES;
	uint32_t count;
	void *map;

	if (bytes < GM_RECORD_BYTES_MIN)
		return refuse(path, "the process may not write 1 MiB to a file "
				    "(RLIMIT_FSIZE)");
	count = (uint32_t)((bytes - chunks_at) / GM_RECORD_CHUNK_BYTES);
	bytes = chunks_at + (uint64_t)count * GM_RECORD_CHUNK_BYTES;
	if (ftruncate(fd, (off_t)bytes) || !allocate(fd, 0, chunks_at))
		return refuse_errno(path);
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return refuse_errno(path);
	(void)madvise(map, bytes, MADV_DONTFORK);
	file->state = calloc(count, sizeof(*file->state));
	file->used = calloc(count, sizeof(*file->used));
	file->filled = calloc(count, sizeof(*file->filled));
	if (!file->state || !file->used || !file->filled) {
		free((void *)file->state);
		free(file->used);
		free(file->filled);
		munmap(map, bytes);
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a recording");
	}
	file->map = map;
	file->map_bytes = bytes;
	file->header = map;
	file->chunk_count = count;
	file->definition_room = chunks_at - HEADER_BYTES;
	atomic_store(&file->limit, count);
	return GPUMEM_OK;
}

static void forget_file(void)
{
	struct gm_record_file *file = &gm_record_file;

	free((void *)file->state);
	free(file->used);
	free(file->filled);
	file->map = NULL;
	file->fd = -1;
}

/* It gets its name when it is a recording, of which nothing is in it yet. */
static gpumem_status name_file(const char *path, struct gm_own *own)
{
	gm_recorder.ticks = gm_record_ticks_usable();
	fill_header(gm_record_file.map_bytes -
			    (uint64_t)gm_record_file.chunk_count *
				    GM_RECORD_CHUNK_BYTES,
		    gm_record_file.chunk_count);
	if (!path || gm_own_keep(own))
		return GPUMEM_OK;
	munmap(gm_record_file.map, gm_record_file.map_bytes);
	forget_file();
	return own->busy ? busy(path) : refuse(path, own->why);
}

gpumem_status gm_record_open(const struct gm_record_config *config)
{
	struct gm_record_file *file = &gm_record_file;
	uint64_t most = (uint64_t)UINT32_MAX * GM_RECORD_CHUNK_BYTES;
	uint64_t bytes = config->max_bytes < most ? config->max_bytes : most;
	gpumem_status status;
	struct gm_own own;

	status = begin_file(&own, config->path);
	if (status != GPUMEM_OK)
		return status;
	file->fd = own.fd;
	atomic_store(&file->backed, 0);
	atomic_store(&file->claims, 0);
	atomic_store(&file->left, -1);
	file->pools = 0;
	atomic_store(&file->tags, 0);
	status = map_file(config->path ? config->path : "memory", file->fd,
			  within_limit(bytes));
	if (status != GPUMEM_OK) {
		if (config->path)
			gm_own_drop(&own);
		else
			close(file->fd);
		file->fd = -1;
		return status;
	}
	status = name_file(config->path, &own);
	if (status != GPUMEM_OK)
		return status;
	if (!++generations)
		++generations;
	atomic_store(&gm_recorder.generation, generations);
	gm_record_tags();
	return GPUMEM_OK;
}

/* How far the chunks go that were used. */
static uint64_t used_bytes(const struct gm_record_file *file)
{
	uint32_t count = file->chunk_count;

	while (count && atomic_load(&file->state[count - 1]) == GM_CHUNK_FREE)
		count--;
	return file->header->chunks_at +
	       (uint64_t)count * GM_RECORD_CHUNK_BYTES;
}

void gm_record_close(void)
{
	struct gm_record_file *file = &gm_record_file;
	uint64_t bytes;

	pthread_mutex_lock(&file->mutex);
	atomic_store(&gm_recorder.generation, 0);
	file->header->end_ns = gm_record_clock_ns();
	file->header->end_ticks = gm_record_now();
	bytes = used_bytes(file);
	munmap(file->map, file->map_bytes);
	/* A file that stays longer has chunks that were not used. */
	if (ftruncate(file->fd, (off_t)bytes))
		errno = 0;
	close(file->fd);
	forget_file();
	pthread_mutex_unlock(&file->mutex);
}
