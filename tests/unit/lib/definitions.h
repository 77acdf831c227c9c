/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The definitions of a recording that was read, and the modules among them. */
#ifndef LIB_DEFINITIONS_H
#define LIB_DEFINITIONS_H

#include "fixture.h"
#include "../../recording.h"

typedef const struct gpumem_record_definition *definition;

/* The next of the kind behind that one, or with NULL the first; NULL: none. */
REC_USE definition next_of(const struct recording *recording, uint32_t kind,
			   definition one)
{
	const char *at = recording->text + recording->header.header_bytes;
	const char *end = at + recording->header.definition_bytes;

	if (one)
		at = (const char *)one + one->bytes;
	for (; at < end; at += ((definition)(const void *)at)->bytes)
		if (((definition)(const void *)at)->kind == kind)
			return (const void *)at;
	return NULL;
}

REC_USE size_t count(const struct recording *recording, uint32_t kind,
		     uint64_t number)
{
	definition one = NULL;
	size_t found = 0;

	while ((one = next_of(recording, kind, one)))
		found += !number || one->number == number;
	return found;
}

/* The line of the module that the address lies in; NULL: there is none. */
REC_USE const char *module_of(const struct recording *recording,
			      uint64_t address)
{
	definition one = NULL;
	uint64_t first, behind;
	char *at;

	while ((one = next_of(recording, GPUMEM_RECORD_DEFINITION_MODULE,
			      one))) {
		first = strtoull((const char *)(one + 1), &at, 16);
		behind = strtoull(at + 1, NULL, 16);
		if (address >= first && address < behind)
			return (const char *)(one + 1);
	}
	return NULL;
}

/* Modules that have been defined before. */
REC_USE size_t modules_again(const struct recording *recording)
{
	definition one = NULL;
	size_t again = 0;

	while ((one = next_of(recording, GPUMEM_RECORD_DEFINITION_MODULE,
			      one))) {
		const char *line = (const char *)(one + 1);

		again += module_of(recording, strtoull(line, NULL, 16)) != line;
	}
	return again;
}

#endif
