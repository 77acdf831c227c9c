/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* One rung of the ladder in words, for the log; see rungs.h. */
#include "rungs.h"
#include "base/log.h"

static void tell_left_out(const char *device, const char *flag,
			  const char *name, bool is)
{
	if (is)
		gm_log(GPUMEM_LOG_DEBUG, "%s: %s leaves out: %s", device, flag,
		       name);
}

void gm_rung_tell(const struct gm_heap *heap, const char *table,
		  unsigned number, const char *name, uint32_t left_out)
{
	const char *device = heap->driver.device->info.name;

	gm_log(GPUMEM_LOG_DEBUG, "%s: %s %u: %s", device, table, number, name);
	tell_left_out(device, "NO_WAIT", name, left_out & NO_WAIT);
	tell_left_out(device, "NO_GROW", name, left_out & NO_GROW);
}

static const char *text_of(enum gpumem_served served)
{
#define TEXT(name, number, statistic, text)                                    \
	case GPUMEM_SERVED_##name:                                             \
		return text;
	switch ((unsigned)served) {
		GPUMEM_SERVED_LIST(TEXT)
	}
#undef TEXT
	return "";
}

void gm_rung_tell_served(const struct gm_heap *heap, enum gpumem_served served,
			 size_t bytes)
{
	if (gm_log_debugs())
		gm_log(GPUMEM_LOG_DEBUG, "%s: %zu bytes served by: %s",
		       heap->driver.device->info.name, bytes, text_of(served));
}
