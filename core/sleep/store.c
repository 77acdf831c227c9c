/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the content of one sleep is: chunks of pinned memory, which are taken
 * when they are filled (move.c); ordinary memory; or a file without a name, so
 * that nothing of it is left behind, past the page cache where the file system
 * can. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A chunk has so many pages, of no more bytes than these however large the
 * pool's are: the unit in which threads copy. Small where they copy it once
 * more, so that it is still in their caches. */
enum { PINNED_PAGES = 32, BUFFER_PAGES = 2, PAGE_MOST = 2 << 20 };

/* Linux 5.14 has it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Past the limit the kernel's signal would end the program. */
static bool may_write(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) ||
	       limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

static int allocate(int fd, uint64_t bytes)
{
	return may_write(bytes) ? posix_fallocate(fd, 0, (off_t)bytes) : EFBIG;
}

static gpumem_status make_file(struct gm_store *store, const char *folder)
{
	const int flags = O_TMPFILE | O_RDWR | O_CLOEXEC;
	int error;

	store->fd = open(folder, flags | O_DIRECT, 0600);
	if (store->fd < 0 && errno == EINVAL)
		store->fd = open(folder, flags, 0600);
	if (store->fd < 0)
		return gm_fail(GPUMEM_INVALID,
			       "what is to sleep cannot go to a file without a "
			       "name in %s: %s",
			       folder, strerror(errno));
	error = allocate(store->fd, gm_store_round(store->kept.bytes));
	if (error && error != EOPNOTSUPP && error != EINVAL)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no room for %llu bytes of what is to sleep in "
			       "%s: %s",
			       (unsigned long long)store->kept.bytes, folder,
			       strerror(error));
	return GPUMEM_OK;
}

/* A signal would interrupt it, on some file systems as often as it comes. */
static gpumem_status open_file(struct gm_store *store, const char *folder)
{
	sigset_t all, before;
	gpumem_status status;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	status = make_file(store, folder);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return status;
}

size_t gm_store_workers(const struct gm_store *store)
{
	size_t most = store->kind != GM_STORE_PINNED ? GM_STORE_WORKERS
		      : store->pins		     ? GM_STORE_PINNING_WORKERS
						     : GM_STORE_PINNED_WORKERS;

	return store->chunk_count < most ? store->chunk_count : most;
}

gpumem_status gm_store_open(struct gm_heap *heap, struct gm_store *store,
			    const struct gpumem_sleep_options *options)
{
	uint64_t bytes = store->kept.bytes;
	gpumem_status status;

	store->retain = options->flags & GPUMEM_SLEEP_RETAIN;
	store->kind = options->folder ? GM_STORE_FILE
		      : options->flags & GPUMEM_SLEEP_PAGEABLE
			      ? GM_STORE_PAGEABLE
			      : GM_STORE_PINNED;
	store->chunk_bytes =
		(heap->page_bytes < PAGE_MOST ? heap->page_bytes : PAGE_MOST) *
		(store->kind == GM_STORE_PINNED ? PINNED_PAGES : BUFFER_PAGES);
	store->chunk_count =
		(size_t)((bytes + store->chunk_bytes - 1) / store->chunk_bytes);
	if (!bytes)
		return GPUMEM_OK;
	status = gm_store_fit(heap, store, options->host_limit_bytes);
	if (status != GPUMEM_OK)
		return status;
	switch (store->kind) {
	case GM_STORE_FILE:
		return open_file(store, options->folder);
	case GM_STORE_PAGEABLE:
		return gm_chunk_take(heap, GM_CHUNK_ORDINARY,
				     (size_t)gm_store_round(bytes),
				     &store->ordinary);
	case GM_STORE_PINNED:
		break;
	}
	store->pins = gm_store_needs(heap, store) > 0;
	store->chunk = calloc(store->chunk_count, sizeof(*store->chunk));
	return store->chunk ? GPUMEM_OK
			    : gm_fail(GPUMEM_NO_HOST_MEMORY,
				      "no host memory for what is to sleep");
}

void gm_store_close(struct gm_heap *heap, struct gm_store *store)
{
	for (size_t i = 0; store->chunk && i < store->chunk_count; i++)
		if (store->chunk[i])
			gm_chunk_give(heap, store->chunk[i], store->retain);
	free(store->chunk);
	if (store->ordinary)
		gm_chunk_give(heap, store->ordinary, store->retain);
	if (store->fd >= 0)
		close(store->fd);
	gm_pieces_free(&store->kept);
	gm_pieces_free(&store->zeros);
	free(store);
}

void gm_stores_end(struct gm_heap *heap)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct gm_store *ended = NULL, **link, *store;

	pthread_mutex_lock(&heap->mutex);
	link = heap->sleep ? &heap->sleep->stores : &ended;
	while ((store = *link)) {
		if (gm_away_has(heap, store->number)) {
			link = &store->next;
			continue;
		}
		*link = store->next;
		store->next = ended;
		ended = store;
	}
	pthread_mutex_unlock(&heap->mutex);
	gm_error_get(&error);
	while ((store = ended)) {
		ended = store->next;
		gm_store_close(heap, store);
	}
	gm_error_set(&error);
}

size_t gm_store_chunk(const struct gm_store *store, size_t number)
{
	uint64_t left =
		store->kept.bytes - (uint64_t)number * store->chunk_bytes;

	return left < store->chunk_bytes ? (size_t)left : store->chunk_bytes;
}

void gm_store_expect(const struct gm_store *store, size_t number)
{
	uint64_t at = (uint64_t)number * store->chunk_bytes;
	size_t bytes = (size_t)gm_store_round(gm_store_chunk(store, number));

	if (store->kind == GM_STORE_PAGEABLE)
		(void)madvise(store->ordinary->memory + at, bytes,
			      MADV_POPULATE_WRITE);
}

/* Until all is done. False: errno says why not, or 0: the file has ended. What
 * O_DIRECT does not take goes without it. */
static bool transfer(int fd, unsigned char *buffer, size_t bytes, off_t at,
		     bool writes)
{
	while (bytes) {
		ssize_t done = writes ? pwrite(fd, buffer, bytes, at)
				      : pread(fd, buffer, bytes, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EINVAL &&
		    fcntl(fd, F_GETFL) & O_DIRECT) {
			(void)fcntl(fd, F_SETFL,
				    fcntl(fd, F_GETFL) & ~O_DIRECT);
			continue;
		}
		if (!done)
			errno = 0;
		if (done <= 0)
			return false;
		buffer += done;
		bytes -= (size_t)done;
		at += done;
	}
	return true;
}

gpumem_status gm_store_write(const struct gm_store *store, size_t number,
			     const unsigned char *buffer)
{
	uint64_t at = (uint64_t)number * store->chunk_bytes;
	size_t bytes = gm_store_chunk(store, number);

	if (store->kind == GM_STORE_PAGEABLE) {
		memcpy(store->ordinary->memory + at, buffer, bytes);
		return GPUMEM_OK;
	}
	if (transfer(store->fd, (unsigned char *)buffer,
		     (size_t)gm_store_round(bytes), (off_t)at, true))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_NO_HOST_MEMORY,
		       "what is to sleep could not be written to its file: %s",
		       strerror(errno));
}

gpumem_status gm_store_read(const struct gm_store *store, size_t number,
			    unsigned char *buffer)
{
	uint64_t at = (uint64_t)number * store->chunk_bytes;
	size_t bytes = gm_store_chunk(store, number);

	if (store->kind == GM_STORE_PAGEABLE) {
		memcpy(buffer, store->ordinary->memory + at, bytes);
		return GPUMEM_OK;
	}
	if (transfer(store->fd, buffer, (size_t)gm_store_round(bytes),
		     (off_t)at, false))
		return GPUMEM_OK;
	return gm_fail(GPUMEM_DRIVER,
		       "what sleeps could not be read back from its file: %s",
		       errno ? strerror(errno) : "it is too short");
}
