/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * From a checked table to a usable backend, or to a reason: its options, its
 * init, its driver's version, its number of devices. All of it runs under the
 * registry's mutex, so init runs once and alone.
 */
#include "loader_parts.h"
#include "answer.h"
#include "base/error.h"
#include "base/line.h"
#include "base/log.h"
#include "base/option.h"
#include <stdio.h>
#include <string.h>

/* Each is asked about when devices are listed. */
enum { DEVICES_MOST = 1 << 16 };

static const struct gpumem_services services = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(services),
	.log = gm_log,
	.error = gm_native_error,
	.option = gm_option_text,
	.fail = gm_fail_native,
};

gpumem_status gm_row_refuse(struct gm_backend *row)
{
	row->error.size = sizeof(row->error);
	gm_error_get(&row->error);
	snprintf(row->error.backend, sizeof(row->error.backend), "%s",
		 row->info.name);
	gm_error_set(&row->error);
	row->info.status = row->error.status;
	gm_line_copy(row->info.reason, sizeof(row->info.reason),
		     row->error.text);
	return row->info.status;
}

/* A backend's keys begin with its name and a dot: nobody can take another's,
 * and one can tell from a key whom it belongs to. */
static gpumem_status check_keys(const struct gpumem_backend *ops)
{
	const struct gpumem_option_row *row;
	size_t length = strlen(ops->name);

	for (row = ops->options; row->key; row++)
		if (strncmp(row->key, ops->name, length) != 0 ||
		    row->key[length] != '.')
			return gm_fail(GPUMEM_ABI,
				       "its option \"%.60s\" does not begin "
				       "with \"%s.\"",
				       row->key, ops->name);
	return GPUMEM_OK;
}

static gpumem_status add_options(const struct gpumem_backend *ops)
{
	gpumem_status status;

	if (!ops->options)
		return GPUMEM_OK;
	status = check_keys(ops);
	if (status != GPUMEM_OK)
		return status;
	status = gm_option_add(ops->options);
	if (status == GPUMEM_INVALID) {
		struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

		gm_error_get(&error);
		return gm_fail(GPUMEM_ABI, "%s", error.text);
	}
	return status;
}

gpumem_status gm_row_fill(struct gm_backend *row,
			  const struct gm_plugin *plugin)
{
	row->ops = plugin->ops;
	row->table = plugin->table;
	row->library = plugin->library;
	row->started = false;
	row->info = (struct gpumem_backend_info){.size = sizeof(row->info)};
	snprintf(row->info.name, sizeof(row->info.name), "%s",
		 plugin->ops.name);
	snprintf(row->info.path, sizeof(row->info.path), "%.255s",
		 plugin->path);
	if (add_options(&plugin->ops) == GPUMEM_OK)
		return GPUMEM_OK;
	gm_error_context("%s", *plugin->path ? plugin->path : row->info.name);
	return gm_row_refuse(row);
}

/* Whatever number a plugin returns becomes a status of the list. */
static gpumem_status refuse_native(struct gm_backend *row, gpumem_status status,
				   enum gpumem_slot slot)
{
	const char *name = row->info.name;

	gm_fail_native(gm_answer(slot, status), name, name);
	return gm_row_refuse(row);
}

static gpumem_status count_devices(struct gm_backend *row)
{
	gpumem_status status;
	int count = 0;

	gm_native_clear();
	status = row->ops.device_count(&count);
	if (status == GPUMEM_OK && count <= 0)
		status = GPUMEM_NO_DEVICE;
	if (status == GPUMEM_OK && count > DEVICES_MOST) {
		gm_native_error(0, "", "device_count gave %d devices", count);
		status = GPUMEM_DRIVER;
	}
	row->adopts = status == GPUMEM_NO_DEVICE && row->ops.device_adopt;
	if (status != GPUMEM_OK)
		return refuse_native(row, status, GPUMEM_SLOT_device_count);
	row->info.device_count = count;
	return GPUMEM_OK;
}

gpumem_status gm_row_start(struct gm_backend *row)
{
	gpumem_status status;
	const char *version;

	if (row->started || row->info.status != GPUMEM_OK)
		return row->info.status;
	row->started = true;
	gm_native_clear();
	status = row->ops.init(&services);
	if (status != GPUMEM_OK)
		return refuse_native(row, status, GPUMEM_SLOT_init);
	version = row->ops.driver_version();
	snprintf(row->info.driver_version, sizeof(row->info.driver_version),
		 "%s", version ? version : "");
	return count_devices(row);
}
