/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem: the file that gpumem_record_begin() writes, for programs that read
 * one. gpumem_record(5) says what its events mean.
 *
 *     0                   struct gpumem_record_header
 *     header_bytes        definitions, one after the other: what events name by
 *                         a number. They are never overwritten.
 *     chunks_at           chunk_count chunks of chunk_bytes each
 *
 * A thread writes into a chunk of its own. A chunk begins with its struct
 * gpumem_record_chunk; then come events, up to the first whose kind is 0, or to
 * the chunk's end. When the file is full the oldest chunk that no thread is
 * writing is cleared and used again. So a chunk says all that its events need
 * but for the definitions: it begins with a TIME and a CONTEXT.
 *
 * The file is what its writer has in memory, at every instant, also after the
 * process was killed: numbers are in the byte order and the alignment of the
 * machine. A reader must not believe a word of it:
 *
 *     header_bytes + definition_bytes <= chunks_at <= the file's size
 *     header_bytes, chunks_at and every chunk begin at a multiple of 64 bytes
 *     every definition has bytes >= 16, a multiple of 8, and ends within
 *     definition_bytes
 *     chunk_bytes <= GPUMEM_RECORD_CHUNK_MAX, from version 2 on
 *     a chunk that the file does not hold whole is one that was never used
 *
 * The first version is 1; 2 has short events. A later one may have more kinds
 * of events and definitions under the same number, which readers skip; a number
 * that they do not know they refuse.
 */
#ifndef GPUMEM_RECORD_H
#define GPUMEM_RECORD_H

#include <stdint.h>

#define GPUMEM_RECORD_MAGIC "gpumem recording" /* 16 bytes, no NUL */
#define GPUMEM_RECORD_VERSION 2u
#define GPUMEM_RECORD_BYTE_ORDER 0x01020304u
/* In every kind of event an address is a multiple of this. */
#define GPUMEM_RECORD_UNIT 256u

/* What the unit of time is. */
enum gpumem_record_clock {
	GPUMEM_RECORD_NS = 0,  /* nanoseconds of CLOCK_MONOTONIC */
	GPUMEM_RECORD_TICKS = 1 /* the processor's counter: two pairs of ticks
				   and nanoseconds give its rate */
};

struct gpumem_record_header {
	char magic[16];
	uint32_t version;
	uint32_t byte_order;
	uint32_t header_bytes, chunk_bytes;
	uint64_t chunks_at, chunk_count;
	uint64_t definition_bytes; /* that are written */
	uint32_t clock;		   /* enum gpumem_record_clock */
	uint32_t pid;
	uint64_t begin_ticks, begin_ns; /* the same moment */
	uint64_t begin_real_ns;		/* since 1970 */
	uint64_t end_ticks, end_ns;	/* 0: it was not ended */
	uint64_t lost_events;	     /* there was no place for: all chunks were
					being written, or the disk was full */
	uint64_t overwritten_events; /* with the chunks that were used again */
	uint64_t lost_definitions;
	char program[64]; /* its name, as /proc/PID/comm has it */
	char library[32]; /* gpumem_version() */
};

struct gpumem_record_chunk {
	uint64_t sequence;  /* of all chunks, from 1 on, in the order in which
			       they were begun; 0: nothing is in it */
	uint64_t ticks, ns; /* the same moment, when it was begun */
	uint32_t thread;    /* of the kernel, that began it */
	uint32_t pad;
	uint64_t reserved[4];
};

/*
 * The events of one chunk are in the order in which its thread made them. Those
 * before BLOCK say something of the one that follows, or of all that follow in
 * the chunk; a VALUE belongs to the one before. name, number,
 * word, text:
 */
#define GPUMEM_RECORD_LIST(X)                                                 \
	X(TIME, 1, "time", "value: the base of the times that follow")        \
	X(CONTEXT, 2, "context",                                              \
	  "tag: the pool, value: the stream, of what follows")                \
	X(THREAD, 3, "thread", "value: whose what follows is")                \
	X(BYTES, 4, "bytes",                                                  \
	  "value: the bytes of the block in the next event")                  \
	X(STACK, 5, "stack", "value: the stack of the next event")            \
	X(VALUE, 6, "value", "value: another number of the event before")     \
	X(SERVED, 7, "served", "value: what the next event's block came from") \
	X(LIVE, 16, "live", "block: it was live when the recording began")    \
	X(ALLOC, 17, "alloc", "block: it was allocated")                      \
	X(FREE, 18, "free", "block: it was freed")                            \
	X(USE, 19, "use", "block: the stream uses it too")                    \
	X(RESIZE, 20, "resize", "block: it has so many bytes now")            \
	X(POOL, 32, "pool", "value: bytes that the pool has reserved")        \
	X(POOL_END, 33, "pool_end", "value: of the pool, which ends")         \
	X(GROW, 34, "grow", "value: bytes from the driver; reserved now")     \
	X(SHRINK, 35, "shrink",                                               \
	  "value: bytes back to the driver; reserved now")                    \
	X(MOVE, 36, "move", "value: bytes of pages moved from free blocks")   \
	X(LEND, 37, "lend",                                                   \
	  "value: bytes of pages that a stream lent to itself")               \
	X(TRANSFER, 38, "transfer",                                           \
	  "value: bytes from another stream; which")                          \
	X(WAIT, 39, "wait", "value: nanoseconds that an allocation waited")   \
	X(TRIM, 40, "trim", "value: bytes given back; that were to be kept")  \
	X(OOM, 41, "oom", "value: bytes not had; status; reserved; advice")   \
	X(DROP, 42, "drop", "value: the stream, which the pool forgets")      \
	X(REPORT, 43, "report",                                               \
	  "value: bytes of JSON of the OOM before; the JSON")                 \
	X(MAP, 44, "map",                                                     \
	  "value: address that has memory now; bytes; page; from")            \
	X(UNMAP, 45, "unmap", "value: address that has none any more; bytes") \
	X(SLEEP, 46, "sleep",                                                 \
	  "value: bytes whose memory a sleep gave back; that are kept")        \
	X(WAKE, 47, "wake",                                                   \
	  "value: bytes that a wake took; that were copied back")

enum gpumem_record_kind {
#define GPUMEM_RECORD_ENUM(name, number, word, text)                          \
	GPUMEM_RECORD_##name = (number),
	GPUMEM_RECORD_LIST(GPUMEM_RECORD_ENUM)
#undef GPUMEM_RECORD_ENUM
};

/* kinds from this one to the one before POOL have a block */
#define GPUMEM_RECORD_BLOCK GPUMEM_RECORD_LIVE

/*
 * time: after the base, in units of the clock. Of a block:
 *
 *     value == address / 256 << 24 | bytes % 2^24
 *     high  == bytes / 2^24 % 256
 *
 * and bytes, those that were requested, are below 2^32; else a BYTES is before
 * it. Those of a FREE are what the block had.
 */
struct gpumem_record_event {
	uint32_t time;
	uint16_t tag; /* number of its definition; 0: none */
	uint8_t kind; /* 0: none, and no further ones */
	uint8_t high;
	uint64_t value;
};

/*
 * From version 2 on an event may be short: one number of 32 bits, the highest
 * of which is set. That of a longer one's time is not: it begins at a multiple
 * of 8 bytes, before which a FILL may lie. A short one has, from the top:
 *
 *     1 bit     1
 *     2 bits    what: enum gpumem_record_short
 *     8 bits    number: of a SERVED its value, else a place
 *     21 bits   time after that of the event before it in the chunk
 *
 * At a place is a block: a longer ALLOC or FREE with no BYTES before it puts
 * its value, high and tag at GPUMEM_RECORD_PLACE(value, tag). A short one has
 * those of its place. A TIME empties all places of its chunk.
 */
enum gpumem_record_short {
	GPUMEM_RECORD_SHORT_ALLOC = 0,
	GPUMEM_RECORD_SHORT_FREE = 1,
	GPUMEM_RECORD_SHORT_SERVED = 2,
	GPUMEM_RECORD_SHORT_FILL = 3 /* nothing happened */
};

#define GPUMEM_RECORD_SHORT 0x80000000u
#define GPUMEM_RECORD_SHORT_TIME_BITS 21
#define GPUMEM_RECORD_SHORT_WHAT(word) ((uint32_t)(word) >> 29 & 3u)
#define GPUMEM_RECORD_SHORT_NUMBER(word)                                      \
	((uint32_t)(word) >> GPUMEM_RECORD_SHORT_TIME_BITS & 0xffu)
#define GPUMEM_RECORD_SHORT_TIME(word)                                        \
	((uint32_t)(word) & ((1u << GPUMEM_RECORD_SHORT_TIME_BITS) - 1))
#define GPUMEM_RECORD_PLACES 256u
#define GPUMEM_RECORD_CHUNK_MAX 524288u /* bytes, of those with short ones */
#define GPUMEM_RECORD_PLACE(value, tag)                                       \
	((unsigned)(((uint64_t)(value) + ((uint64_t)(tag) << 48)) *           \
			    0x9e3779b97f4a7c15u >>                            \
		    56))

/*
 * Which addresses of a pool have memory follows from MAP and UNMAP. A MAP is of
 * one page, a physical handle of the driver, which moves as a whole; an UNMAP
 * of one or more side by side:
 *
 *     page    number of the handle. Places that are mapped at one time and have
 *             the same are the same memory; in use is the one that was mapped
 *             last, the others until work there is over. 0: it has none, and
 *             is never at two places
 *     from    address at which the page was mapped last, by which it still may
 *             be; 0: it has just come from the driver, and is another one than
 *             any before of that number; its own address: it was mapped
 *             when the recording began
 *
 * Those that are mapped when a pool begins to be recorded come before the LIVE.
 */

/* number, name, text. What is behind the struct: */
#define GPUMEM_RECORD_DEFINITION_LIST(X)                                      \
	X(POOL, 1, "its name, its device, its kind: each ends with a NUL")    \
	X(TAG, 2, "its path, which ends with a NUL")                          \
	X(STACK, 3, "the addresses of a stack, innermost first")              \
	X(MODULE, 4, "a line of /proc/PID/maps, which ends with a NUL")

enum gpumem_record_definition_kind {
#define GPUMEM_RECORD_DEFINITION_ENUM(name, number, text)                     \
	GPUMEM_RECORD_DEFINITION_##name = (number),
	GPUMEM_RECORD_DEFINITION_LIST(GPUMEM_RECORD_DEFINITION_ENUM)
#undef GPUMEM_RECORD_DEFINITION_ENUM
};

struct gpumem_record_definition {
	uint32_t bytes; /* with this struct and what fills up to a multiple of
			   8 */
	uint32_t kind;
	uint64_t number; /* by which events name it */
};

#endif
