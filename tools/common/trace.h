/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Traces: what a program allocated and freed, as text, perhaps gzip'ed.
 *
 *     # gpumem-trace 2 ...     a comment; the first one may name the format
 *     a ID BYTES STREAM        allocate: numbers of 64 bits, in decimal
 *     f ID [STREAM]            free, on the block's own stream or on another
 *     u ID STREAM              the stream uses the block too
 *     r ID BYTES [STREAM]      resize
 *     t NS                     when what follows happened
 *     g [PATH]                 the tag of the blocks that follow
 *
 * Version 1 has #, a, and f with an ID only. One space between fields, each
 * line ended by a newline. An ID may not be used twice at one time. STREAM 0 is
 * the default stream.
 *
 * The parser is pure: bytes go in, events come out through a function; it
 * reads no file, prints nothing, and survives any input. IDs become *slots*,
 * numbers below the peak count of live blocks, and streams become numbers in
 * order of appearance, so that a replay is array indexing only. No locks:
 * one thread per parser.
 */
#ifndef GPUMEM_TOOLS_TRACE_H
#define GPUMEM_TOOLS_TRACE_H

#include "trace_ids.h"

#define TRACE_STREAMS 1024 /* different ones in a trace, 0 included */
#define TRACE_LINE 4096	   /* bytes, without the newline */

enum trace_kind {
	TRACE_ALLOC = 0,
	TRACE_FREE = 1,
	TRACE_USE = 2,
	TRACE_RESIZE = 3
};

struct trace_event {
	uint64_t bytes;	 /* of the block, from now on; FREE: until now */
	uint64_t before; /* of the block, until now; ALLOC: 0 */
	uint32_t slot;
	uint16_t stream; /* on which it happens; 0: default */
	uint16_t kind;
};

/* Over all events so far. */
struct trace_totals {
	uint64_t events, allocs, lines;
	uint64_t live_bytes, peak_live_bytes;
	uint64_t live_blocks, peak_live_blocks; /* the peak: slots used */
	uint64_t ns;	  /* when the last one happened; 0: not known */
	uint32_t streams; /* different ones, the default always counted */
};

/* Called for each event with the number of its line. False stops the parser
 * as a failure of the trace does, with parser->stopped set. */
typedef bool (*trace_event_fn)(const struct trace_event *event, uint32_t line,
			       void *user);

struct trace_block {
	uint64_t bytes;
	uint32_t next_free; /* of a slot that is free: the next one */
	uint16_t stream;
};

struct trace_parser {
	trace_event_fn fn;
	void *user;
	uint64_t divisor;
	struct trace_totals totals;
	struct trace_ids ids;
	struct trace_block *blocks; /* by slot */
	uint64_t block_room;
	uint32_t free_slot;		 /* UINT32_MAX: none */
	uint64_t streams[TRACE_STREAMS]; /* the trace's own numbers */
	unsigned version;
	char line[TRACE_LINE];
	size_t line_bytes;    /* of a line that has not ended yet */
	char reason[160];     /* "" until it failed */
	bool stopped;	      /* by the function, which knows why */
	uint64_t tags;	      /* lines that named one so far */
	char tag[TRACE_LINE]; /* what the last of them said; "": none */
};

/* Every block has a `divisor`th of its bytes, rounded up: 1 leaves them. */
void trace_parser_init(struct trace_parser *parser, uint64_t divisor,
		       trace_event_fn fn, void *user);

/* The next bytes, cut anywhere. False: failed, now or before; the reason is in
 * parser->reason and the line in totals.lines. */
bool trace_parser_feed(struct trace_parser *parser, const char *data,
		       size_t bytes);

/* The input is over. False: it ended within a line or held no event. */
bool trace_parser_finish(struct trace_parser *parser);

void trace_parser_free(struct trace_parser *parser);

/* ---- between trace.c and trace_line.c ---- */

struct trace_cursor {
	const char *at, *end;
};

/* Writes the reason; gives false. */
bool trace_fail(struct trace_parser *parser, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A line that is no comment, and not empty. */
bool trace_parse_line(struct trace_parser *parser, struct trace_cursor *in);

#endif
