/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What gpumem_oom_set()'s function was told last. */
#ifndef LIB_OOM_H
#define LIB_OOM_H

#include "json.h"

/* Of the last call; `text` and `json` are copies. */
static struct {
	unsigned calls;
	struct gpumem_oom oom;
	char text[1024];
	char json[1 << 18];
} told;

LIB_USE void told_note(const struct gpumem_oom *oom, void *user)
{
	if (user != &told || oom->size != sizeof(*oom))
		bail("a call with %p", user);
	told.calls++;
	told.oom = *oom;
	snprintf(told.text, sizeof(told.text), "%s", oom->text);
	if (strlen(oom->json) >= sizeof(told.json))
		bail("JSON of %zu bytes", strlen(oom->json));
	strcpy(told.json, oom->json);
}

#endif
