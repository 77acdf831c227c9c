/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What came from another process to be imported, looked at in every respect
 * before anything is done; see shared.h. Keeps nothing; no locks.
 */
#include "shared.h"
#include "base/error.h"
#include "base/struct.h"
#include "device/device.h"

#include <fcntl.h>
#include <string.h>

/* Its parts belong together, and fit into an address space. */
static bool sizes_good(const struct gpumem_device *device,
		       const struct gpumem_shared *shared)
{
	uint64_t granule = device->info.granularity_bytes, total;

	if (shared->total_bytes >> 48 ||
	    shared->offset_bytes > shared->total_bytes || !shared->bytes ||
	    shared->bytes > shared->total_bytes - shared->offset_bytes)
		return false;
	if (shared->method == GPUMEM_SHARE_IPC)
		return !shared->fd_count;
	return shared->method == GPUMEM_SHARE_FD && shared->fd_count &&
	       shared->fd_bytes && shared->fd_bytes % granule == 0 &&
	       !__builtin_mul_overflow(shared->fd_bytes, shared->fd_count,
				       &total) &&
	       total == shared->total_bytes;
}

static gpumem_status check_origin(const struct gpumem_device *device,
				  const struct gpumem_shared *shared)
{
	bool fd = shared->method == GPUMEM_SHARE_FD;

	if (!memcmp(shared->process, gm_share_process(),
		    sizeof(shared->process)))
		return gm_fail(GPUMEM_INVALID,
			       "it was exported by this process: use the block "
			       "itself");
	if (strncmp(shared->backend, device->ops->name,
		    sizeof(shared->backend)) ||
	    strncmp(shared->uuid, device->info.uuid, sizeof(shared->uuid)))
		return gm_fail(GPUMEM_INVALID,
			       "it is memory of the %.15s device %.39s, not of "
			       "%s (%s): open that one",
			       shared->backend, shared->uuid, device->info.name,
			       device->info.uuid);
	if (!gm_device_has(device,
			   fd ? GPUMEM_CAP_SHARE_FD : GPUMEM_CAP_SHARE_IPC))
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s cannot import %s: have it exported from a "
			       "pool that is shareable by another method",
			       device->info.name,
			       fd ? "descriptors" : "names of segments");
	return GPUMEM_OK;
}

static gpumem_status check_shared(const struct gpumem_device *device,
				  const struct gpumem_shared *shared)
{
	const struct gm_struct *of = &gm_structs[GM_STRUCT_gpumem_shared];

	if (!gm_struct_fits(of, shared))
		return gm_fail(GPUMEM_INVALID,
			       "the description is cut short or damaged: it "
			       "says that it has %zu bytes, and the shortest "
			       "has %zu",
			       shared->size, of->first);
	/* The size is the sender's word: how many bytes the caller has received
	 * is not known, so none beyond ours is looked at. */
	if (shared->size > of->now)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "the description is of a later version of "
			       "gpumem: it has %zu bytes, %s knows %zu",
			       shared->size, GPUMEM_VERSION_STRING, of->now);
	if (shared->check != gm_share_check(shared))
		return gm_fail(GPUMEM_INVALID,
			       "the description is damaged: its bytes are not "
			       "those that gpumem_export() gave");
	if (!sizes_good(device, shared))
		return gm_fail(GPUMEM_INVALID,
			       "the description makes no sense for %s",
			       device->info.name);
	return check_origin(device, shared);
}

static gpumem_status check_fds(const struct gpumem_shared *shared,
			       const int *fds, size_t fd_count)
{
	struct gm_share_fds id;
	uint64_t files;

	if (fd_count != shared->fd_count)
		return gm_fail(GPUMEM_INVALID,
			       "%zu descriptors came with a description of %u",
			       fd_count, (unsigned)shared->fd_count);
	for (size_t i = 0; i < fd_count; i++)
		if (fcntl(fds[i], F_GETFD) < 0)
			return gm_fail(GPUMEM_INVALID,
				       "descriptor %zu of %zu, %d, is not open",
				       i + 1, fd_count, fds[i]);
	memcpy(&id, shared->handle, sizeof(id));
	if (fd_count &&
	    (!gm_share_files(fds, fd_count, &files) || files != id.files))
		return gm_fail(GPUMEM_INVALID,
			       "the descriptors are not those that were "
			       "exported with the description, or are in "
			       "another order");
	return GPUMEM_OK;
}

gpumem_status gm_import_check(const struct gpumem_device *device,
			      const struct gpumem_shared *shared,
			      const int *fds, size_t fd_count)
{
	gpumem_status status = check_shared(device, shared);

	return status != GPUMEM_OK ? status : check_fds(shared, fds, fd_count);
}
