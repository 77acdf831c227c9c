/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See device_info.h; and the visit of devices, which opens none. */
#include "device_info.h"
#include "loader/describe.h"
#include "loader/which.h"
#include "base/error.h"
#include "base/log.h"
#include <string.h>

gpumem_status gm_device_find(const char *name,
			     const struct gm_backend **backend_out,
			     int *index_out)
{
	char backend[sizeof(((struct gpumem_backend_info *)0)->name)];
	gpumem_status status;
	const char *which;
	size_t length;

	if (!name)
		return gm_backend_default(backend_out, index_out);
	length = strcspn(name, ":");
	which = name[length] ? name + length + 1 : "0";
	if (!length || length >= sizeof(backend) || !gm_which_fits(which))
		return gm_which_refuse(name);
	memcpy(backend, name, length);
	backend[length] = '\0';
	status = gm_backend_find(backend, backend_out);
	return status == GPUMEM_OK
		       ? gm_which_find(*backend_out, which, index_out)
		       : status;
}

struct visit {
	bool (*fn)(const struct gpumem_device_info *info, void *user);
	void *user;
	bool stopped;
};

/* The first failure ends the visit; `skip` passes over it with a warning. */
static gpumem_status visit_backend(const struct gm_backend *backend,
				   struct visit *visit, bool skip)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct gpumem_device_info info;
	gpumem_status status;
	int index;

	for (index = 0; index < backend->info.device_count; index++) {
		status = gm_device_describe(backend, index, &info, NULL);
		if (status != GPUMEM_OK && !skip)
			return status;
		if (status != GPUMEM_OK) {
			gm_error_get(&error);
			gm_log(GPUMEM_LOG_WARN, "%s; not listed", error.text);
			continue;
		}
		if (!visit->fn(&info, visit->user)) {
			visit->stopped = true;
			break;
		}
	}
	return GPUMEM_OK;
}

static bool visit_usable(const struct gpumem_backend_info *info, void *user)
{
	const struct gm_backend *backend;
	struct visit *visit = user;

	if (info->status != GPUMEM_OK ||
	    gm_backend_find(info->name, &backend) != GPUMEM_OK)
		return true;
	(void)visit_backend(backend, visit, true);
	return !visit->stopped;
}

gpumem_status gm_device_visit(const char *backend,
			      bool (*fn)(const struct gpumem_device_info *info,
					 void *user),
			      void *user)
{
	struct gpumem_error before = GPUMEM_INIT(struct gpumem_error);
	struct visit visit = {.fn = fn, .user = user};
	const struct gm_backend *found;
	gpumem_status status;

	if (backend) {
		status = gm_backend_find(backend, &found);
		return status == GPUMEM_OK ? visit_backend(found, &visit, false)
					   : status;
	}
	gm_error_get(&before);
	status = gm_backend_visit(visit_usable, &visit);
	if (status == GPUMEM_OK) /* what was passed over is no failure */
		gm_error_set(&before);
	return status;
}
