/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A report's curves of each device, where there are several: on one scale, and
 * in the time and the colours of all together. The source is read twice more
 * for each. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_DEVICES_H
#define GPUMEM_TOOLS_REPORT_DEVICES_H

#include "draw.h"
#include "groups.h"

struct device_run {
	char *heading;	    /* as group_heading() */
	struct model model; /* of its pools alone */
	struct curves curves;
};

struct devices {
	struct device_run *runs;
	size_t count; /* 0, or 2 at least */
	struct curves_like like;
	char paths[CURVES_TAGS][MODEL_TAG];
};

/* `all` are the curves of the model. False, and told; devices_free() is right
 * all the same. */
bool devices_read(struct devices *devices, const struct model *model,
		  const struct curves *all, const struct groups *groups);
void devices_free(struct devices *devices);
/* As draw_svg() of all together, and below it each device. */
bool devices_svg(FILE *out, const struct devices *devices,
		 const struct model *model, const struct curves *all);

#endif
