/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a report is made of: which blocks were live at which moment. Everything
 * that is said of a moment follows from the spans, so that sums by tag, by size
 * and by address agree to the byte. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_MODEL_H
#define GPUMEM_TOOLS_REPORT_MODEL_H

#include "mapped.h"
#include "pages.h"
#include "trace/summary.h"
#include "trace/trace.h"

#define MODEL_LIVE UINT64_MAX

/* A block as long as its size is the same; a resize begins another one.
 *
 *     live after event e: begin <= e < end, where events count from 1
 *     begin_ns is of the block, and older than the span after a resize */
struct model_span {
	uint64_t address, bytes, begin_ns;
	uint64_t begin, end; /* end: MODEL_LIVE, if it is live at the end */
	uint64_t stack;	     /* of the block; 0: not known */
	uint32_t stream;
	uint16_t pool, tag;
};

/* After an event. requested is the sum of the spans that are live then;
 * page_bytes the pages of 2 MiB that have one of them, 0 where addresses are
 * not known; mapped and twice as in struct mapped. */
struct model_moment {
	uint64_t event, ns;
	uint64_t requested, reserved, page_bytes, blocks;
	uint64_t mapped, twice;
};

struct model_oom {
	struct model_moment moment;
	uint64_t bytes, status, reserved; /* as the event says; of its pool */
	uint64_t requested;		  /* of its pool */
	uint64_t advice;		  /* a gpumem_advice; 0: not told */
	uint32_t thread;
	uint16_t pool;
	char *report; /* the JSON of gpumem_oom(3); NULL: it is not there */
};

struct model {
	struct trace_source *source;
	struct summary summary;
	struct model_span *spans; /* in the order in which they begin */
	size_t count, room;
	size_t *open; /* by ID of a block: its last span */
	size_t open_room;
	struct model_oom *ooms;
	size_t oom_count, oom_room;
	struct pages pages;
	struct mapped mapped;
	struct model_moment peak, end; /* peak: the first of its height */
	struct model_moment worst;     /* most pages without use, see below */
	bool has_times, has_addresses;
	bool has_pages; /* addresses, and a pool whose pages they are in */
};

/* Reads all. False, and told. model_free() is right all the same. */
bool model_read(struct model *model, struct trace_source *source);
void model_free(struct model *model);

static inline bool model_is_live(const struct model_span *span, uint64_t event)
{
	return span->begin <= event && event < span->end;
}

/* What lies in pages that have a block, but was not requested. */
static inline uint64_t model_stranded(const struct model_moment *moment)
{
	return moment->page_bytes > moment->requested
		       ? moment->page_bytes - moment->requested
		       : 0;
}

/* Does the file say which addresses have memory? */
static inline bool model_has_places(const struct model *model)
{
	return model->mapped.count > 0;
}

/* Addresses that have memory at other moments. */
static inline uint64_t model_holes(const struct model *model,
				   const struct model_moment *moment)
{
	return model->mapped.ever_bytes - moment->mapped;
}

/* Does the out of memory say what its pool had reserved? */
static inline bool model_oom_reserved(const struct model *model,
				      const struct model_oom *oom)
{
	return oom->reserved || oom->advice || model->has_pages;
}

/* What was taken from the driver, but was not requested. */
static inline uint64_t model_unused(const struct model_moment *moment)
{
	return moment->reserved > moment->requested
		       ? moment->reserved - moment->requested
		       : 0;
}

/* ---- of a moment (moment.c) ---- */

/* The run in parts of equal length: of time, or of events where times are not
 * known. */
enum { MODEL_QUARTERS = 4 };

/* bytes == sum of quarter_bytes[], those that were allocated in that part. */
struct model_tag {
	uint64_t bytes, blocks, largest_bytes, oldest_ns;
	uint64_t quarter_bytes[MODEL_QUARTERS];
	uint16_t number;
};

/* Blocks of each quarter but the first, in which programs set up, are live: it
 * looks like a leak. */
static inline bool model_grows(const struct model_tag *tag)
{
	for (unsigned i = 1; i < MODEL_QUARTERS; i++)
		if (!tag->quarter_bytes[i])
			return false;
	return true;
}

/* What tags have live after that event, most bytes first; for free(). NULL: out
 * of memory. */
struct model_tag *model_tags(const struct model *model, uint64_t event,
			     size_t *count_out);
/* The same of the pools for which only[] is true. */
struct model_tag *model_tags_of(const struct model *model, uint64_t event,
				const bool *only, size_t *count_out);
/* The spans that are live then, largest first and then by age; for free(). */
const struct model_span **model_blocks(const struct model *model,
				       uint64_t event, size_t *count_out);
/* The tag's path; without one "", of one that is missing in the file "#7". */
#define MODEL_TAG 16
const char *model_tag_path(const struct model *model, uint16_t number,
			   char buffer[MODEL_TAG]);

#endif
