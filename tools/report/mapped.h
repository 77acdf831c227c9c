/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which addresses of pools had memory, and which memory, from the events MAP
 * and UNMAP (gpumem/record.h). What a recording leaves out, or lies about, is
 * made good: what is mapped where something is mapped ends that. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_MAPPED_H
#define GPUMEM_TOOLS_REPORT_MAPPED_H

#include "common/recording.h"

#define MAPPED_LIVE UINT64_MAX /* event: it is mapped at the end */
#define MAPPED_NONE SIZE_MAX

/* One page at one address, or a segment.
 *
 *     mapped after event e: begin <= e < end
 *     address + bytes <= RECORDING_BYTES_MAX
 *     none of a pool overlaps another one at the same time */
struct mapped_place {
	uint64_t address, bytes;
	uint64_t from; /* where the page was before; 0: nowhere */
	uint64_t begin, end;
	/* A place of the same page that began before, while one of them was
	 * mapped; MAPPED_NONE: it was nowhere else. */
	size_t twin;
	uint16_t pool;
};

struct mapped_page;

/* bytes == sum of the places that are mapped now
 * twice_bytes == those of each page with several, less one of them
 * ever_bytes == of all addresses, after mapped_end(), that ever were mapped */
struct mapped {
	struct mapped_place *places; /* in the order in which they begin */
	size_t count, room;
	void *live;  /* those that are mapped now, by pool and address */
	void *pages; /* those that are mapped now, by pool and number */
	uint64_t bytes, twice_bytes, ever_bytes;
};

/* The event of that number, of any kind of pools. False: out of memory. */
bool mapped_add(struct mapped *mapped, const struct recording_event *event,
		uint64_t number);
/* There are no more. False: out of memory. */
bool mapped_end(struct mapped *mapped);
/* Of the addresses of the pools for which only[] is true, how many bytes ever
 * were mapped. False: out of memory. */
bool mapped_ever(const struct mapped *mapped, const bool *only,
		 uint64_t *bytes_out);
void mapped_free(struct mapped *mapped);

#endif
