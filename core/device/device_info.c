/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See device_info.h; and the visit of devices, which opens none. */
#include "device_info.h"
#include "loader/describe.h"
#include "base/error.h"
#include "base/log.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define INDEX_DIGITS 6
#define UUID_LENGTH 36
#define PCI_LENGTH 12

static gpumem_status invalid_name(const char *name)
{
	return gm_fail(GPUMEM_INVALID,
		       "\"%.60s\" is no name of a device: it has to be like "
		       "\"cuda\", \"cuda:0\", \"cuda:UUID\" or "
		       "\"cuda:0000:3b:00.0\"",
		       name);
}

/* By its UUID or by its place on the PCI bus: no text is both. */
static gpumem_status find_text(const struct gm_backend *backend,
			       const char *text, int *index_out)
{
	struct gpumem_device_info info;
	gpumem_status status;
	int index;

	for (index = 0; index < backend->info.device_count; index++) {
		status = gm_device_describe(backend, index, &info, NULL);
		if (status != GPUMEM_OK || (strcasecmp(info.uuid, text) != 0 &&
					    strcasecmp(info.pci, text) != 0))
			continue;
		*index_out = index;
		return GPUMEM_OK;
	}
	return gm_fail(GPUMEM_NO_DEVICE, "%s has no device with the %s %s",
		       backend->info.name,
		       strchr(text, ':') ? "PCI place" : "UUID", text);
}

static gpumem_status find_index(const struct gm_backend *backend,
				const char *digits, int *index_out)
{
	int count = backend->info.device_count, index = 0;
	const char *name = backend->info.name, *at;

	for (at = digits; *at; at++)
		index = index * 10 + (*at - '0');
	if (index >= count && count == 1)
		return gm_fail(GPUMEM_NO_DEVICE,
			       "%s:%d: there is 1 device, %s:0", name, index,
			       name);
	if (index >= count)
		return gm_fail(GPUMEM_NO_DEVICE,
			       "%s:%d: there are %d devices, %s:0 to %s:%d",
			       name, index, count, name, name, count - 1);
	*index_out = index;
	return GPUMEM_OK;
}

static bool is_index(const char *text)
{
	size_t length = strspn(text, "0123456789");

	return length > 0 && length <= INDEX_DIGITS && !text[length];
}

static bool is_uuid(const char *text)
{
	return strlen(text) == UUID_LENGTH &&
	       strspn(text, "0123456789abcdefABCDEF-") == UUID_LENGTH;
}

/* 0000:3b:00.0 */
static bool is_pci(const char *text)
{
	return strlen(text) == PCI_LENGTH &&
	       strspn(text, "0123456789abcdefABCDEF") == 4 && text[4] == ':' &&
	       text[7] == ':' && text[10] == '.' &&
	       strspn(text + 5, "0123456789abcdefABCDEF") == 2 &&
	       strspn(text + 8, "0123456789abcdefABCDEF") == 2 &&
	       strspn(text + 11, "01234567") == 1;
}

gpumem_status gm_device_find(const char *name,
			     const struct gm_backend **backend_out,
			     int *index_out)
{
	char backend[sizeof(((struct gpumem_backend_info *)0)->name)];
	gpumem_status status;
	const char *which;
	size_t length;

	if (!name) {
		*index_out = 0;
		return gm_backend_default(backend_out);
	}
	length = strcspn(name, ":");
	which = name[length] ? name + length + 1 : "0";
	if (strncmp(which, "GPU-", 4) == 0) /* as NVIDIA's tools write it */
		which += 4;
	if (!length || length >= sizeof(backend) ||
	    (!is_index(which) && !is_uuid(which) && !is_pci(which)))
		return invalid_name(name);
	memcpy(backend, name, length);
	backend[length] = '\0';
	status = gm_backend_find(backend, backend_out);
	if (status != GPUMEM_OK)
		return status;
	return is_index(which) ? find_index(*backend_out, which, index_out)
			       : find_text(*backend_out, which, index_out);
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
