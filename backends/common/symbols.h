/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A vendor's library as a table of functions, looked up by name when the plugin
 * is started: what every plugin does that links none. Knows no vendor; no lock.
 */
#ifndef GM_COMMON_SYMBOLS_H
#define GM_COMMON_SYMBOLS_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct symbol {
	const char *name;
	int since;     /* the version that brought it */
	size_t offset; /* of its pointer in the table */
};

/* Fills the table, NULL where the library has it not. The name of the first
 * function that is missing though version `required` has it; NULL: none. */
static inline const char *symbols_find(void *library, void *table,
				       const struct symbol *symbols,
				       size_t count, int required)
{
	const char *missing = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		void *address = dlsym(library, symbols[i].name);

		memcpy((char *)table + symbols[i].offset, &address,
		       sizeof(address));
		if (!address && !missing && symbols[i].since <= required)
			missing = symbols[i].name;
	}
	return missing;
}

#endif
