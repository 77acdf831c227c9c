/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: blocks of other processes. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"
#include "share/shared.h"

gpumem_status gpumem_export(const void *ptr, struct gpumem_shared *shared_out,
			    int *fds_out, size_t fd_room)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(ptr, shared_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_struct(gpumem_shared, shared_out);
	return status != GPUMEM_OK
		       ? status
		       : gm_pool_export(ptr, shared_out, fds_out, fd_room);
}

gpumem_status gpumem_import(gpumem_device *device,
			    const struct gpumem_shared *shared, const int *fds,
			    size_t fd_count, void **ptr_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device, shared);

	if (status != GPUMEM_OK)
		return status;
	if (!fds && fd_count)
		return gm_null_argument("fds");
	return ptr_out ? gm_import(device, shared, fds, fd_count, ptr_out)
		       : gm_null_argument("ptr_out");
}

gpumem_status gpumem_import_close(void *ptr)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(ptr);

	if (status != GPUMEM_OK)
		return status;
	return gm_import_close(ptr);
}
