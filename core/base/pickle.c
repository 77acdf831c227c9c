/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See pickle.h. Numbers are little-endian in every pickle.
 */
#include "pickle.h"

#include <string.h>

enum opcode {
	OP_APPENDS = 'e',
	OP_BINGET = 'h',
	OP_BININT = 'J',
	OP_BININT1 = 'K',
	OP_BININT2 = 'M',
	OP_BINPUT = 'q',
	OP_BINUNICODE = 'X',
	OP_EMPTY_DICT = '}',
	OP_EMPTY_LIST = ']',
	OP_LONG1 = 0x8a,
	OP_LONG_BINGET = 'j',
	OP_LONG_BINPUT = 'r',
	OP_MARK = '(',
	OP_NEWFALSE = 0x89,
	OP_NEWTRUE = 0x88,
	OP_PROTO = 0x80,
	OP_SETITEMS = 'u',
	OP_STOP = '.',
	OP_TUPLE2 = 0x86
};

enum { PROTOCOL = 2, ITEMS = 1000 };

static void put(struct gm_pickle *pickle, enum opcode opcode, uint64_t value,
		unsigned bytes)
{
	uint8_t text[9] = {(uint8_t)opcode};

	for (unsigned i = 0; i < bytes; i++)
		text[1 + i] = value >> 8 * i & 0xff;
	pickle->write(text, 1 + bytes, pickle->user);
}

void gm_pickle_begin(struct gm_pickle *pickle,
		     void (*write)(const void *bytes, size_t count, void *user),
		     void *user)
{
	*pickle = (struct gm_pickle){.write = write, .user = user};
	put(pickle, OP_PROTO, PROTOCOL, 1);
}

void gm_pickle_end(struct gm_pickle *pickle)
{
	put(pickle, OP_STOP, 0, 0);
}

void gm_pickle_u64(struct gm_pickle *pickle, uint64_t value)
{
	uint8_t text[9] = {0};
	unsigned bytes = 8;

	if (value <= UINT8_MAX) {
		put(pickle, OP_BININT1, value, 1);
	} else if (value <= UINT16_MAX) {
		put(pickle, OP_BININT2, value, 2);
	} else if (value <= INT32_MAX) {
		put(pickle, OP_BININT, value, 4);
	} else {
		/* In two's complement: the top bit is that of the sign. */
		while (bytes > 1 && !(value >> (8 * bytes - 9)))
			bytes--;
		bytes += value >> 63 != 0;
		put(pickle, OP_LONG1, bytes, 1);
		for (unsigned i = 0; i < 8; i++)
			text[i] = value >> 8 * i & 0xff;
		pickle->write(text, bytes, pickle->user);
	}
}

void gm_pickle_bool(struct gm_pickle *pickle, bool value)
{
	put(pickle, value ? OP_NEWTRUE : OP_NEWFALSE, 0, 0);
}

void gm_pickle_text(struct gm_pickle *pickle, const char *text)
{
	size_t bytes = strlen(text);

	put(pickle, OP_BINUNICODE, bytes, 4);
	pickle->write(text, bytes, pickle->user);
}

void gm_pickle_word(struct gm_pickle *pickle, uint8_t number, const char *text)
{
	if (pickle->known[number]) {
		put(pickle, OP_BINGET, number, 1);
		return;
	}
	gm_pickle_text(pickle, text);
	put(pickle, OP_BINPUT, number, 1);
	pickle->known[number] = true;
}

void gm_pickle_two(struct gm_pickle *pickle, uint64_t first, uint64_t second)
{
	gm_pickle_u64(pickle, first);
	gm_pickle_u64(pickle, second);
	put(pickle, OP_TUPLE2, 0, 0);
}

void gm_pickle_name(struct gm_pickle *pickle, uint32_t number)
{
	put(pickle, OP_LONG_BINPUT, number, 4);
}

void gm_pickle_again(struct gm_pickle *pickle, uint32_t number)
{
	put(pickle, OP_LONG_BINGET, number, 4);
}

void gm_pickle_dict(struct gm_pickle *pickle)
{
	put(pickle, OP_EMPTY_DICT, 0, 0);
	put(pickle, OP_MARK, 0, 0);
}

void gm_pickle_dict_end(struct gm_pickle *pickle)
{
	put(pickle, OP_SETITEMS, 0, 0);
}

void gm_pickle_list(struct gm_pickle *pickle, struct gm_pickle_list *list)
{
	list->waiting = 0;
	put(pickle, OP_EMPTY_LIST, 0, 0);
}

static void hand_over(struct gm_pickle *pickle, struct gm_pickle_list *list)
{
	if (list->waiting)
		put(pickle, OP_APPENDS, 0, 0);
	list->waiting = 0;
}

void gm_pickle_item(struct gm_pickle *pickle, struct gm_pickle_list *list)
{
	if (list->waiting == ITEMS)
		hand_over(pickle, list);
	if (!list->waiting++)
		put(pickle, OP_MARK, 0, 0);
}

void gm_pickle_list_end(struct gm_pickle *pickle, struct gm_pickle_list *list)
{
	hand_over(pickle, list);
}
