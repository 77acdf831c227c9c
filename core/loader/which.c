/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See which.h. */
#include "which.h"
#include "describe.h"
#include "base/error.h"
#include <string.h>
#include <strings.h>

#define INDEX_DIGITS 6
#define UUID_LENGTH 36
#define PCI_LENGTH 12

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

/* As NVIDIA's tools write it. */
static const char *without_prefix(const char *which)
{
	return strncmp(which, "GPU-", 4) == 0 ? which + 4 : which;
}

bool gm_which_fits(const char *which)
{
	which = without_prefix(which);
	return is_index(which) || is_uuid(which) || is_pci(which);
}

gpumem_status gm_which_refuse(const char *name)
{
	return gm_fail(GPUMEM_INVALID,
		       "\"%.60s\" is no name of a device: it has to be like "
		       "\"cuda\", \"cuda:0\", \"cuda:UUID\" or "
		       "\"cuda:0000:3b:00.0\"",
		       name);
}

gpumem_status gm_which_find(const struct gm_backend *backend, const char *which,
			    int *index_out)
{
	which = without_prefix(which);
	return is_index(which) ? find_index(backend, which, index_out)
			       : find_text(backend, which, index_out);
}
