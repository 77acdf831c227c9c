/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A recording to begin with, as small as one can be.
 */
#ifndef GPUMEM_TESTS_FUZZ_IMAGE_H
#define GPUMEM_TESTS_FUZZ_IMAGE_H

#include "fuzz.h"

#include <gpumem/record.h>

#define CHUNK_EVENTS 16
#define CHUNK_BYTES                                                            \
	(sizeof(struct gpumem_record_chunk) +                                  \
	 CHUNK_EVENTS * sizeof(struct gpumem_record_event))
#define HEADER_BYTES 256
#define DEFINITIONS 256

struct chunk {
	struct gpumem_record_chunk head;
	struct gpumem_record_event event[CHUNK_EVENTS];
};

/* A recording of three chunks, as small as one can be. */
struct image {
	struct gpumem_record_header header;
	char fill[HEADER_BYTES - sizeof(struct gpumem_record_header)];
	struct gpumem_record_definition pool;
	char names[64 - sizeof(struct gpumem_record_definition)];
	struct gpumem_record_definition tag;
	char path[64 - sizeof(struct gpumem_record_definition)];
	struct gpumem_record_definition stack;
	uint64_t frames[4];
	struct gpumem_record_definition module;
	char line[80 - sizeof(struct gpumem_record_definition)];
	struct chunk chunk[3];
};

/* Or no reader looks further than its header. */
_Static_assert(CHUNK_BYTES % 64 == 0 && DEFINITIONS % 64 == 0, "aligned");
_Static_assert(offsetof(struct image, chunk) == HEADER_BYTES + DEFINITIONS,
	       "as large as it says");

#define BLOCK(at, what, address, size)                                         \
	{                                                                      \
		.time = (at), .kind = GPUMEM_RECORD_##what,                    \
		.value = (uint64_t)(address) << 24 | (size)                    \
	}
/* Four short events instead of a longer one, where the least byte comes first.
 */
#define SHORT(what, number, at)                                                \
	(GPUMEM_RECORD_SHORT | (uint64_t)GPUMEM_RECORD_SHORT_##what << 29 |    \
	 (uint64_t)(number) << GPUMEM_RECORD_SHORT_TIME_BITS | (at))
#define SHORTS(one, two, three, four)                                          \
	{                                                                      \
		.time = (uint32_t)(one), .tag = (uint16_t)(two),               \
		.kind = (uint8_t)((two) >> 16),                                \
		.high = (uint8_t)((two) >> 24),                                \
		.value = (three) | (four) << 32                                \
	}
#define SLOT(address, size)                                                    \
	GPUMEM_RECORD_PLACE((uint64_t)(address) << 24 | (size), 0)
#define OTHER(at, what, number)                                                \
	{                                                                      \
		.time = (at), .kind = GPUMEM_RECORD_##what, .value = (number)  \
	}
#define CONTEXT(pool, stream)                                                  \
	{                                                                      \
		.tag = (pool), .kind = GPUMEM_RECORD_CONTEXT,                  \
		.value = (stream)                                              \
	}

/* {"text": "<&>"} where the least byte comes first. */
#define REPORT_FIRST UINT64_C(0x3a2274786574227b)
#define REPORT_SECOND UINT64_C(0x7d223e263c2220)

static const struct image image = {
	/* GPUMEM_RECORD_MAGIC has a NUL, for which there is no room. */
	.header = {.magic = {'g', 'p', 'u', 'm', 'e', 'm', ' ', 'r', 'e', 'c',
			     'o', 'r', 'd', 'i', 'n', 'g'},
		   .version = GPUMEM_RECORD_VERSION,
		   .byte_order = GPUMEM_RECORD_BYTE_ORDER,
		   .header_bytes = HEADER_BYTES,
		   .chunk_bytes = CHUNK_BYTES,
		   .chunks_at = HEADER_BYTES + DEFINITIONS,
		   .chunk_count = 3,
		   .definition_bytes = DEFINITIONS,
		   .clock = GPUMEM_RECORD_TICKS,
		   .begin_ticks = 1000,
		   .begin_ns = 500,
		   .end_ticks = 9000,
		   .end_ns = 4500,
		   .program = "program"},
	.tag = {.bytes = 64, .kind = GPUMEM_RECORD_DEFINITION_TAG, .number = 3},
	.path = "model/layer",
	.stack = {.bytes = sizeof(struct gpumem_record_definition) +
			   sizeof(((struct image *)0)->frames),
		  .kind = GPUMEM_RECORD_DEFINITION_STACK,
		  .number = UINT64_C(1) << 47},
	.frames = {0x5001, 0x5fff, 0x6001, 0},
	.module = {.bytes = 80,
		   .kind = GPUMEM_RECORD_DEFINITION_MODULE,
		   .number = 1},
	.line = "5000-6000 r-xp 00001000 fe:00 7     /nowhere/a b<.so",
	.pool = {.bytes = 64,
		 .kind = GPUMEM_RECORD_DEFINITION_POOL,
		 .number = 1},
	.names = "pool\0host:0\0device",
	.chunk = {
		{{.sequence = 1, .ticks = 1000, .ns = 500, .thread = 7},
		 {OTHER(0, TIME, 1000), CONTEXT(1, 0), OTHER(0, THREAD, 7),
		  OTHER(0, POOL, 0), OTHER(1, GROW, 65536),
		  OTHER(1, VALUE, 65536), OTHER(2, STACK, UINT64_C(1) << 47),
		  BLOCK(2, ALLOC, 16, 100), OTHER(9, STACK, UINT64_C(1) << 47),
		  OTHER(9, BYTES, UINT64_C(1) << 33), BLOCK(9, ALLOC, 99, 0),
		  BLOCK(80, FREE, 16, 100), BLOCK(81, ALLOC, 17, 5),
		  BLOCK(82, USE, 17, 5)}},
		{{.sequence = 3, .ticks = 1500, .ns = 600, .thread = 7},
		 {OTHER(0, TIME, 1500), CONTEXT(1, 9), OTHER(0, THREAD, 7),
		  BLOCK(0, FREE, 17, 5), OTHER(1, STACK, UINT64_C(1) << 47),
		  OTHER(1, OOM, 77), OTHER(1, VALUE, 11), OTHER(1, VALUE, 12),
		  OTHER(2, REPORT, 15), OTHER(2, VALUE, REPORT_FIRST),
		  OTHER(2, VALUE, REPORT_SECOND),
		  OTHER(3, STACK, UINT64_C(1) << 47), BLOCK(3, LIVE, 3, 3),
		  OTHER(4, POOL_END, 1), OTHER(5, STACK, UINT64_C(1) << 47),
		  BLOCK(5, ALLOC, 4, 9)}},
		{{.sequence = 2, .ticks = 1040, .ns = 520, .thread = 8},
		 {OTHER(0, TIME, 1040), CONTEXT(1, 9), OTHER(0, THREAD, 8),
		  BLOCK(40, ALLOC, 16, 7), BLOCK(40, FREE, 16, 7),
		  BLOCK(20, ALLOC, 16, 8), BLOCK(22, RESIZE, 16, 9),
		  OTHER(23, MAP, 0x1000), OTHER(23, VALUE, 0x2000),
		  OTHER(23, VALUE, 5), OTHER(23, VALUE, 0x4000),
		  OTHER(24, UNMAP, 0x1000), OTHER(24, VALUE, 0x1000),
		  SHORTS(SHORT(FREE, SLOT(16, 8), 1), SHORT(SERVED, 2, 1),
			 SHORT(ALLOC, SLOT(16, 7), 0), SHORT(FILL, 0, 0))}}}};

/* Then one of which the last chunk is cut, or the definitions. */
#define IMAGE_SEEDS                                                            \
	{(const char *)&image, sizeof(image)},                                 \
		{(const char *)&image, sizeof(image) - 1},                     \
	{                                                                      \
		(const char *)&image, HEADER_BYTES + DEFINITIONS - 1           \
	}

#endif
