/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See model.h. Where the prices come from:
 *
 * Medians of 10 to 2000 calls on an idle NVIDIA H200, driver 580, CUDA 13.0, on
 * 2026-11-20, in microseconds. A slot of backend.h is one driver call, but for
 * map, which is one cuMemMap for each page and one cuMemSetAccess for all.
 *
 *     alloc (cuMemAlloc)    512 B: 29    256 MiB: 54    1 GiB: 95
 *     free (cuMemFree)      512 B: 26    256 MiB: 101   1 GiB: 300
 *     one page              2 MiB        1 GiB          8 GiB
 *       page_create         7.3          17             367
 *       map                 0.7 + 19     0.7 + 66       1.3 + 251
 *       unmap               13           30             94
 *       page_destroy        9            271            2680
 *     512 pages of 2 MiB    page_create 4943, map 567 + 13428, unmap 10041,
 *                           page_destroy 9888
 *     va_reserve            8 GiB: 4     16 TiB: 24
 *     event_record 0.19, event_query 0.13, capture_id 0.02, memory_info 4.2
 *
 * The prices are those >= 0 whose largest error, relative to the figure, is the
 * smallest over the figures up to 1 GiB; where that leaves a choice, 1 GiB is
 * exact. So far are they off:
 *
 *     alloc +9 -9 +9 %      free +4 -3 +3 %
 *                           1 of 2 MiB   512 of 2 MiB   1 GiB   8 GiB
 *       page_create         +14          -14            0       -79 %
 *       map                 +16          -16            -16     +14 %
 *       unmap               +20          -20            -20     -13 %
 *       page_destroy        +37          -36            0       -22 %
 *
 * One page at a time costs less in each call than many, which no price >= 0 can
 * say. Pages of several GiB are beyond the model. A pool reserves addresses by
 * the GiB: that price goes through both its figures. Nobody measured
 * va_release, stream_query, event_create and event_destroy; event_sync waits,
 * and so has no price. Neither has what a call costs beyond itself: cuMemFree
 * waits for all work on the device, on an idle one for none.
 */
#include "model.h"

#include <math.h>
#include <string.h>

const struct model model_list[MODEL_COUNT] = {
	{
		.name = "h200",
		.text = "NVIDIA H200, driver 580, CUDA 13.0, 2026-11-20",
		.price =
			{
				[GPUMEM_CALL_ALLOC] = {31500, 0, 70},
				[GPUMEM_CALL_FREE] = {26900, 0, 277},
				[GPUMEM_CALL_VA_RESERVE] = {3990, 0, 0.001193},
				[GPUMEM_CALL_PAGE_CREATE] = {8300, 0, 8.5},
				[GPUMEM_CALL_PAGE_DESTROY] = {11800, 0, 253},
				[GPUMEM_CALL_MAP] = {0, 22800, 32.3},
				[GPUMEM_CALL_UNMAP] = {0, 15600, 8.1},
				[GPUMEM_CALL_EVENT_RECORD] = {190, 0, 0},
				[GPUMEM_CALL_EVENT_QUERY] = {130, 0, 0},
				[GPUMEM_CALL_CAPTURE_ID] = {20, 0, 0},
				[GPUMEM_CALL_MEMORY_INFO] = {4200, 0, 0},
			},
	},
};

const struct model *model_find(const char *name)
{
	for (int i = 0; i < MODEL_COUNT; i++)
		if (!strcmp(model_list[i].name, name))
			return &model_list[i];
	return NULL;
}

double model_call_ns(const struct model *model, enum gpumem_call call,
		     const struct counts *counts)
{
	const struct model_price *price = &model->price[call];
	const struct count *count = &counts->call[call];

	if (!(price->call_ns + price->page_ns + price->mib_ns > 0.0))
		return (double)NAN;
	return price->call_ns * (double)count->calls +
	       price->page_ns * (double)count->pages +
	       price->mib_ns * (double)count->bytes / 0x1p20;
}

double model_ns(const struct model *model, const struct counts *counts)
{
	double sum = 0.0;

	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		double ns = model_call_ns(model, (enum gpumem_call)i, counts);

		sum += isnan(ns) ? 0.0 : ns;
	}
	return sum;
}
