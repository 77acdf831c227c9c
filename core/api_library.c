/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * API layer: what needs no device. Names and texts, log, options,
 * backends. See api.c.
 */
#include <gpumem/backend.h>

#include "api_check.h"
#include "base/log.h"
#include "base/option.h"
#include "base/status.h"
#include "loader/loader.h"
#include "report/oom.h"

/* ---- names and texts ---- */

const char *gpumem_status_name(gpumem_status status)
{
	return gm_status_name(status);
}

const char *gpumem_status_text(gpumem_status status)
{
	return gm_status_text(status);
}

const char *gpumem_version(void)
{
	return GPUMEM_VERSION_STRING;
}

unsigned gpumem_version_number(void)
{
	return GPUMEM_VERSION_NUMBER;
}

const char *gpumem_call_name(unsigned call)
{
	static const char *const name[] = {
#define CALL_NAME(upper, lower) #lower,
		GPUMEM_CALL_LIST(CALL_NAME)
#undef CALL_NAME
	};

	return call < GPUMEM_CALL_COUNT ? name[call] : NULL;
}

void gpumem_last_error(struct gpumem_error *error_out)
{
	struct gpumem_error error = {.size = sizeof(error)};

	if (!error_out ||
	    !gm_struct_fits(&gm_structs[GM_STRUCT_gpumem_error], error_out))
		return;
	gm_error_get(&error);
	gm_struct_copy(error_out, &error);
}

const char *gpumem_error_text(void)
{
	return gm_error_text();
}

void gpumem_log_set(gpumem_log_level level, gpumem_log_fn fn, void *user)
{
	GM_SCOPE;

	if (!gm_forked())
		gm_log_set(level, fn, user);
}

void gpumem_oom_set(gpumem_oom_fn fn, void *user)
{
	GM_SCOPE;

	if (!gm_forked())
		gm_oom_set(fn, user);
}

/* ---- options ---- */

gpumem_status gpumem_option_set(const char *key, const char *value)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(key);

	if (status != GPUMEM_OK)
		return status;
	gm_backend_options(key);
	return gm_option_set(key, value);
}

gpumem_status gpumem_option_get(const char *key,
				struct gpumem_option *option_out)
{
	struct gpumem_option option = {.size = sizeof(option)};
	GM_SCOPE;
	gpumem_status status = GM_ENTER(key, option_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_struct(gpumem_option, option_out);
	if (status != GPUMEM_OK)
		return status;
	gm_backend_options(key);
	status = gm_option_get(key, &option);
	if (status == GPUMEM_OK)
		gm_struct_copy(option_out, &option);
	return status;
}

void gpumem_option_visit(bool (*fn)(const struct gpumem_option *option,
				    void *user),
			 void *user)
{
	GM_SCOPE;

	if (!fn || gm_enter() != GPUMEM_OK)
		return;
	gm_backend_options("host.");
	gm_option_visit(fn, user);
}

gpumem_status gpumem_option_check(void)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	return status != GPUMEM_OK ? status : gm_backend_conf(true, false);
}

/* ---- backends ---- */

gpumem_status gpumem_backend_visit(
	bool (*fn)(const struct gpumem_backend_info *info, void *user),
	void *user)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	return fn ? gm_backend_visit(fn, user) : gm_null_argument("fn");
}

gpumem_status gpumem_backend_load(const char *path, char *name_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(path);

	if (status != GPUMEM_OK)
		return status;
	return gm_backend_load(path, name_out);
}

gpumem_status gpumem_backend_register(const struct gpumem_backend *backend)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(backend);

	if (status != GPUMEM_OK)
		return status;
	return gm_backend_register(backend);
}

gpumem_status gpumem_backend_table(const char *name,
				   const struct gpumem_backend **table_out)
{
	const struct gm_backend *backend;
	GM_SCOPE;
	gpumem_status status = gm_enter();
	int index;

	if (status != GPUMEM_OK)
		return status;
	if (!table_out)
		return gm_null_argument("table_out");
	status = name ? gm_backend_find(name, &backend)
		      : gm_backend_default(&backend, &index);
	if (status == GPUMEM_OK)
		*table_out = &backend->ops;
	return status;
}
