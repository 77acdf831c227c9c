/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Reads data out of Python's pickles, protocols 2 to 5: numbers, texts, lists,
 * tuples and dictionaries. What a pickle could do besides, call and import, is
 * refused: nothing is ever executed. Whatever the bytes, nothing beyond them is
 * read. No locks: one thread per pickle.
 */
#ifndef GPUMEM_TOOLS_UNPICKLE_H
#define GPUMEM_TOOLS_UNPICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unpickled_kind {
	UNPICKLED_NONE,
	UNPICKLED_OTHER,   /* that nobody here wants: a real, bytes, a long */
	UNPICKLED_INTEGER, /* also True and False: 1 and 0 */
	UNPICKLED_LARGE,   /* an integer from 2^63 to below 2^64 */
	UNPICKLED_TEXT,
	UNPICKLED_LIST, /* also a tuple */
	UNPICKLED_DICT
};

struct unpickled {
	uint32_t kind;
	uint32_t bytes; /* of a text, which has no NUL at its end */
	union {
		int64_t integer; /* of a large one less 2^64 */
		const char *text;
		size_t container; /* index of a list or dictionary */
	};
};

/* Of a dictionary: key, value, key, value ...; count is even. */
struct unpickled_container {
	struct unpickled *items;
	size_t count, room;
};

struct unpickle {
	const unsigned char *at, *end;
	struct unpickled *stack, *memo;
	size_t stack_count, stack_room, memo_room, memo_next;
	size_t *marks;
	size_t mark_count, mark_room;
	struct unpickled_container *containers;
	size_t container_count, container_room;
	struct unpickled root;
	char reason[120];
};

/* The bytes stay where they are until unpickle_close(). False: reason says why.
 */
bool unpickle_open(struct unpickle *unpickle, const void *data, size_t bytes);
void unpickle_close(struct unpickle *unpickle);

/* Of what is no list or dictionary: none. */
size_t unpickle_count(const struct unpickle *unpickle,
		      const struct unpickled *list);
const struct unpickled *unpickle_item(const struct unpickle *unpickle,
				      const struct unpickled *list,
				      size_t index);
/* The key of that index; NULL: there is none, or it is no dictionary. */
const struct unpickled *unpickle_key(const struct unpickle *unpickle,
				     const struct unpickled *dict,
				     size_t index);
/* The value of that key; NULL: there is none, or it is no dictionary. */
const struct unpickled *unpickle_get(const struct unpickle *unpickle,
				     const struct unpickled *dict,
				     const char *key);
/* The same, if it is an integer from 0 on. */
bool unpickle_get_u64(const struct unpickle *unpickle,
		      const struct unpickled *dict, const char *key,
		      uint64_t *value_out);
/* The same of an address, which is written as an integer of 64 bits, with or
 * without a sign. */
bool unpickle_get_bits(const struct unpickle *unpickle,
		       const struct unpickled *dict, const char *key,
		       uint64_t *value_out);
bool unpickled_is(const struct unpickled *value, const char *text);

#endif
