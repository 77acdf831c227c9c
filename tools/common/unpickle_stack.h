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

/* The next bytes of the input; those of a number, little-endian. */
bool unpickle_take(struct unpickle *unpickle, size_t bytes,
		   const unsigned char **at_out);
bool unpickle_number(struct unpickle *unpickle, unsigned bytes,
		     uint64_t *value_out);

/* unpickle_window.c: so many bytes from `at` on are there; false: there are not
 * as many, or no host memory. Texts that somebody may still ask for stay. */
bool unpickle_window_fill(struct unpickle *unpickle, size_t bytes);
/* The first bytes come next. */
bool unpickle_window_rewind(struct unpickle *unpickle);
void unpickle_window_close(struct unpickle *unpickle);

/* onto the stack; of the last three so many bytes of the input */
bool unpickle_push(struct unpickle *unpickle, struct unpickled value);
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

/* unpickle.c: how many bytes an instruction's number has; whether the number is
 * that of bytes which follow */
unsigned unpickle_operand_bytes(unsigned char opcode);
bool unpickle_has_bytes(unsigned char opcode);

bool unpickle_mark(struct unpickle *unpickle);
/* How many values lie above the last mark, which goes. */
bool unpickle_above_mark(struct unpickle *unpickle, size_t *count_out);

#endif
