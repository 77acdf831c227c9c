/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Reads data out of Python's pickles, protocols 2 to 5: numbers, texts, lists,
 * tuples and dictionaries. Of a pickle that is larger than memory a part at a
 * time is there. What a pickle could do besides, call and import, is
 * refused: nothing is ever executed. Whatever the bytes, nothing beyond them is
 * read. No locks: one thread per pickle.
 */
#ifndef GPUMEM_TOOLS_UNPICKLE_H
#define GPUMEM_TOOLS_UNPICKLE_H

#include "trace_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Of a dictionary: key, value, key, value ...; count is even. holders: in how
 * many places of lists, dictionaries and the stack it is, and one if the pickle
 * names it again, which `named` says; 0: it is free, and note is the next one
 * that is. note: see unpickle_note(). */
struct unpickled_container {
	struct unpickled *items;
	uint32_t count, room;
	uint32_t holders : 31, named : 1;
	uint32_t note;
};

struct unpickle;

/* A value that the pickle names again, until it did so for the last time. */
struct unpickle_kept {
	struct unpickled value;
	uint32_t last; /* which naming is that */
};

/* What the pickle remembers under numbers. First it is scanned, and `of` and
 * `far` have for each number which of all namings is its last; then it is run,
 * and they have where in `kept` its value is, once that was said. */
struct unpickle_memo {
	uint32_t *of; /* by number, of those that Python gives: in turn */
	size_t of_count, of_room;
	struct trace_ids far; /* of others */
	struct unpickle_kept *kept;
	size_t kept_count, kept_room;
	uint32_t free;	/* a place in kept, and one; 0: none is */
	uint32_t named; /* namings so far */
	uint64_t puts;	/* numbers given so far */
	uint64_t next;	/* the number that is given next without one */
};

/* Bytes that are not all there at once, and are read twice. read: the next, at
 * most so many; 0: there are no more. rewind: the first come next; false: they
 * cannot. */
struct unpickle_input {
	size_t (*read)(void *to, size_t bytes, void *user);
	bool (*rewind)(void *user);
	void *user;
};

/* Items that come next in a list: that of a key of the outermost dictionary, or
 * the list of that index in it. `list` is the container of the key's list. */
struct unpickle_part {
	const struct unpickled *key;
	size_t list, index;
	const struct unpickled *items;
	size_t count;
};

/* Sees a part, all dictionaries or the first one at least. What it takes is not
 * in the list any more once it returns. False stops. */
typedef bool (*unpickle_watch_fn)(struct unpickle *unpickle,
				  const struct unpickle_part *part, void *user,
				  bool *taken_out);

/* begin to end: the bytes that are there, of which those from `at` on come
 * next. */
struct unpickle {
	const unsigned char *begin, *at, *end;
	const struct unpickle_input *input; /* NULL: all bytes are there */
	unsigned char *window;		    /* of an input: what is there */
	size_t window_room;
	uint64_t bytes; /* that there are, once they were scanned */
	char **texts;	/* copies of those that left the window */
	size_t text_count, text_room;
	struct unpickled *stack;
	size_t stack_count, stack_room;
	struct unpickle_memo memo;
	size_t *marks;
	size_t mark_count, mark_room;
	struct unpickled_container *containers;
	size_t container_count, container_room;
	uint32_t dropped; /* a container that is free, and one; 0: none is */
	unpickle_watch_fn watch;
	void *user;
	struct unpickled root;
	char reason[120];
};

/* The bytes stay where they are until unpickle_close(). False: reason says why.
 */
bool unpickle_open(struct unpickle *unpickle, const void *data, size_t bytes);
/* The same; `watch` may take items of lists while they are read. */
bool unpickle_open_watched(struct unpickle *unpickle, const void *data,
			   size_t bytes, unpickle_watch_fn watch, void *user);
/* The same of an input, in two steps, between which `bytes` is known. The first
 * is right for any bytes, and fails if there is no host memory. */
bool unpickle_scan_input(struct unpickle *unpickle,
			 const struct unpickle_input *input);
bool unpickle_run_input(struct unpickle *unpickle, unpickle_watch_fn watch,
			void *user);
void unpickle_close(struct unpickle *unpickle);

/* Nobody will ask for the items of the list again, which is kept. What is
 * nowhere else stays with it. */
void unpickle_forget(struct unpickle *unpickle, const struct unpickled *list);

/* Is the list or dictionary somewhere else, too, or does the pickle name it
 * again? Otherwise its container may become another's. */
bool unpickle_is_kept(const struct unpickle *unpickle,
		      const struct unpickled *value);
/* Does the pickle name it again? */
bool unpickle_is_named(const struct unpickle *unpickle,
		       const struct unpickled *value);
/* A number that the caller gave a list or dictionary, 0 until then. It goes
 * when nothing has it any more. */
uint32_t unpickle_note(const struct unpickle *unpickle,
		       const struct unpickled *value);
void unpickle_set_note(struct unpickle *unpickle, const struct unpickled *value,
		       uint32_t note);
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

/* Of a value itself; false: it is NULL or something else. */
bool unpickled_bits(const struct unpickled *value, uint64_t *value_out);
bool unpickled_u64(const struct unpickled *value, uint64_t *value_out);

static inline bool unpickled_is(const struct unpickled *value, const char *text)
{
	return value && value->kind == UNPICKLED_TEXT &&
	       value->bytes == strlen(text) &&
	       !memcmp(value->text, text, value->bytes);
}

#endif
