/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See status.h. Numbers come from callers and plugins, so they are compared as
 * int: a value outside the enum is an answer here, not undefined behaviour.
 */
#include "status.h"

const char *gm_status_name(gpumem_status status)
{
	switch ((int)status) {
#define NAME_CASE(name, number, text)                                          \
	case number:                                                           \
		return "GPUMEM_" #name;
		GPUMEM_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
	default:
		return "GPUMEM_UNKNOWN";
	}
}

const char *gm_status_text(gpumem_status status)
{
	switch ((int)status) {
#define TEXT_CASE(name, number, text)                                          \
	case number:                                                           \
		return text;
		GPUMEM_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
	default:
		return "unknown status";
	}
}

bool gm_status_known(gpumem_status status)
{
	switch ((int)status) {
#define KNOWN_CASE(name, number, text) case number:
		GPUMEM_STATUS_LIST(KNOWN_CASE)
#undef KNOWN_CASE
		return true;
	default:
		return false;
	}
}
