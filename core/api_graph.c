/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: memory of captured graphs. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "pool/pool.h"

gpumem_status gpumem_graph_create(gpumem_pool *pool, gpumem_graph **graph_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(pool, graph_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_graph_create(pool, graph_out);
}

gpumem_status gpumem_graph_begin(gpumem_graph *graph, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(graph);

	if (status != GPUMEM_OK)
		return status;
	return gm_graph_begin(graph, stream);
}

gpumem_status gpumem_graph_end(gpumem_graph *graph, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(graph);

	if (status != GPUMEM_OK)
		return status;
	return gm_graph_end(graph, stream);
}

gpumem_status gpumem_graph_destroy(gpumem_graph *graph, gpumem_stream stream)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(graph);

	if (status != GPUMEM_OK)
		return status;
	return gm_graph_destroy(graph, stream);
}
