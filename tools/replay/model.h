/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a real driver would have taken for the calls that were counted. Prices
 * are linear, so the sums of calls, pages and bytes are all it needs. Pure.
 */
#ifndef GPUMEM_TOOLS_REPLAY_MODEL_H
#define GPUMEM_TOOLS_REPLAY_MODEL_H

#include "count.h"

/* ns = call_ns * calls + page_ns * pages + mib_ns * bytes / 2^20. All 0: nobody
 * measured that call. */
struct model_price {
	double call_ns, page_ns, mib_ns;
};

struct model {
	const char *name;
	const char *text; /* what was measured, where and when */
	struct model_price price[GPUMEM_CALL_COUNT];
};

#define MODEL_COUNT 1
extern const struct model model_list[MODEL_COUNT];

/* NULL: there is none of that name. */
const struct model *model_find(const char *name);

/* Of all calls of one kind; NaN when nobody measured it. */
double model_call_ns(const struct model *model, enum gpumem_call call,
		     const struct counts *counts);

/* Of all calls that have a price. */
double model_ns(const struct model *model, const struct counts *counts);

#endif
