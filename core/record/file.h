/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Between the files of this module: the open file. */
#ifndef GM_RECORD_FILE_H
#define GM_RECORD_FILE_H

#include "record.h"

#include <pthread.h>

/* FREE -> HELD by a thread -> FULL -> HELD ... The chunk of a thread that has
 * ended stays HELD, and is the next that is claimed (`left`). */
enum gm_chunk_state { GM_CHUNK_FREE = 0, GM_CHUNK_HELD = 1, GM_CHUNK_FULL = 2 };

/* What is constant while the file is open, and what claims change.
 *
 *     limit <= chunk_count: chunks that are used, less than there are once the
 *     disk is full
 *     a chunk below backed has its storage, so that writing into it cannot
 *     fail */
struct gm_record_file {
	int fd;
	char *map; /* NULL: none is open */
	size_t map_bytes;
	struct gpumem_record_header *header;
	_Atomic uint8_t *state; /* enum gm_chunk_state, of each chunk */
	/* Of each, when it was left: its words, and those that are no event. */
	uint16_t *used, *filled;
	uint32_t chunk_count;
	_Atomic uint32_t limit, backed;
	_Atomic uint64_t claims;
	_Atomic int64_t left;  /* a chunk, or -1 */
	pthread_mutex_t mutex; /* definitions, and the ends of threads */
	uint64_t definition_room;
	uint16_t pools;
	_Atomic uint32_t tags; /* that are defined, or lost: 1 to this */
};

extern struct gm_record_file gm_record_file;

enum {
	GM_CHUNK_WORDS =
		(GM_RECORD_CHUNK_BYTES - sizeof(struct gpumem_record_chunk)) /
		sizeof(uint32_t)
};

static inline struct gpumem_record_chunk *gm_record_chunk(uint32_t index)
{
	return (struct gpumem_record_chunk
			*)(void *)(gm_record_file.map +
				   gm_record_file.header->chunks_at +
				   (uint64_t)index * GM_RECORD_CHUNK_BYTES);
}

static inline _Atomic uint64_t *gm_record_count(uint64_t *field)
{
	return (_Atomic uint64_t *)(void *)field;
}

/* Storage for the chunk; false: the disk is full. */
bool gm_record_back(uint32_t chunk);

/* define.c, under the mutex: room for a definition of so many bytes, which are
 * then written and published; NULL: there is none, and that is counted. */
char *gm_record_define(enum gpumem_record_definition_kind kind, uint64_t number,
		       size_t bytes);
void gm_record_publish(const char *text);

/* clock.c: whether the processor's counter is one clock for all its cores. */
bool gm_record_ticks_usable(void);

#endif
