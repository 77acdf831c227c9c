/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Whose option a key of GPUMEM_CONF is: that of a backend which is not loaded
 * is judged once it is, since its options are unknown before. What is loaded,
 * and what the core has, is judged at once. Takes the registry's mutex.
 */
#include "loader_parts.h"
#include "base/option.h"
#include <string.h>

/* "cuda" of "cuda.library"; false: it is of no backend. */
static bool owner_of(const char *key, char name_out[GM_NAME_BYTES])
{
	size_t length = strcspn(key, ".");

	if (!key[length] || !length || length >= GM_NAME_BYTES)
		return false;
	memcpy(name_out, key, length);
	name_out[length] = '\0';
	return true;
}

static bool waits(const char *key, char meant_out[16])
{
	char name[GM_NAME_BYTES];
	bool waiting;

	if (!owner_of(key, name))
		return false;
	gm_loader_lock();
	waiting = !gm_row_has_options(name) && gm_name_known(name, meant_out);
	gm_loader_unlock();
	return waiting;
}

gpumem_status gm_backend_conf(bool load, bool tell)
{
	gm_backend_options("host.");
	if (load)
		gm_conf_keys(gm_backend_options);
	return gm_conf_check(waits, tell);
}
