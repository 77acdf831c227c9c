/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that read pickles. Each false has written the reason.
 */
#ifndef GPUMEM_TOOLS_UNPICKLE_STACK_H
#define GPUMEM_TOOLS_UNPICKLE_STACK_H

#include "unpickle.h"

bool unpickle_fail(struct unpickle *unpickle, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The list with room for `count` items of that size, at least one; NULL: out of
 * memory, and the list is as it was. */
void *unpickle_grow(struct unpickle *unpickle, void *list, size_t *room,
		    size_t count, size_t bytes);

/* The next bytes of the input, where they are not all there. */
bool unpickle_take_more(struct unpickle *unpickle, size_t bytes,
			const unsigned char **at_out);

/* The next bytes of the input; those of a number, little-endian. */
static inline bool unpickle_take(struct unpickle *unpickle, size_t bytes,
				 const unsigned char **at_out)
{
	if ((size_t)(unpickle->end - unpickle->at) < bytes)
		return unpickle_take_more(unpickle, bytes, at_out);
	*at_out = unpickle->at;
	unpickle->at += bytes;
	return true;
}

static inline bool unpickle_number(struct unpickle *unpickle, unsigned bytes,
				   uint64_t *value_out)
{
	const unsigned char *at = NULL;

	if (!unpickle_take(unpickle, bytes, &at))
		return false;
	*value_out = 0;
	for (unsigned i = 0; i < bytes; i++)
		*value_out |= (uint64_t)at[i] << 8 * i;
	return true;
}

/* unpickle_window.c: so many bytes from `at` on are there; false: there are not
 * as many, or no host memory. Texts that somebody may still ask for stay. */
bool unpickle_window_fill(struct unpickle *unpickle, size_t bytes);
/* The first bytes come next. */
bool unpickle_window_rewind(struct unpickle *unpickle);
void unpickle_window_close(struct unpickle *unpickle);

/* onto the stack, which has no room */
bool unpickle_push_grown(struct unpickle *unpickle, struct unpickled value);
/* onto the stack; of the last three so many bytes of the input */
static inline bool unpickle_push(struct unpickle *unpickle,
				 struct unpickled value)
{
	if (unpickle->stack_count == unpickle->stack_room)
		return unpickle_push_grown(unpickle, value);
	unpickle->stack[unpickle->stack_count++] = value;
	return true;
}
bool unpickle_push_integer(struct unpickle *unpickle, int64_t integer);
bool unpickle_push_container(struct unpickle *unpickle,
			     enum unpickled_kind kind);
bool unpickle_push_other(struct unpickle *unpickle, size_t bytes);
bool unpickle_push_text(struct unpickle *unpickle, uint64_t bytes);
/* A number in two's complement. */
bool unpickle_push_long(struct unpickle *unpickle, uint64_t bytes);

/* The top `count` values move into the container below them. */
bool unpickle_fill(struct unpickle *unpickle, size_t count,
		   enum unpickled_kind kind);
/* A list, or dictionary, of the top `count` values, instead of them. */
bool unpickle_gather(struct unpickle *unpickle, size_t count,
		     enum unpickled_kind kind);
/* unpickle_stream.c: finds what is named again, without running anything */
bool unpickle_scan(struct unpickle *unpickle);
/* Offers the `count` values above the list at that place of the stack to the
 * watcher; those that it takes are gone. */
bool unpickle_stream(struct unpickle *unpickle, size_t place, size_t count,
		     bool *taken_out);

/* The same of a value that is nowhere any more: what nothing has is free. */
bool unpickle_drop(struct unpickle *unpickle, const struct unpickled *value);

/* unpickle_memo.c. While it is scanned: a number is named. Before it is run.
 * Then: the top of the stack gets the number, and is put onto it by that. */
bool unpickle_memo_scan(struct unpickle *unpickle, uint64_t number);
void unpickle_memo_begin(struct unpickle *unpickle);
bool unpickle_memo_put(struct unpickle *unpickle, uint64_t number);
bool unpickle_memo_get(struct unpickle *unpickle, uint64_t number);
void unpickle_memo_free(struct unpickle_memo *memo);

/* unpickle.c: how many bytes the number behind an instruction has; or'ed with
 * UNPICKLE_HAS_BYTES where it is that of bytes which follow */
enum { UNPICKLE_HAS_BYTES = 0x80 };
extern const uint8_t unpickle_instructions[UINT8_MAX + 1];

static inline unsigned unpickle_width(unsigned char instruction)
{
	return unpickle_instructions[instruction] &
	       ~(unsigned)UNPICKLE_HAS_BYTES;
}

static inline bool unpickled_is_container(const struct unpickled *value)
{
	return value->kind == UNPICKLED_LIST || value->kind == UNPICKLED_DICT;
}

bool unpickle_mark(struct unpickle *unpickle);
/* How many values lie above the last mark, which goes. */
bool unpickle_above_mark(struct unpickle *unpickle, size_t *count_out);

#endif
