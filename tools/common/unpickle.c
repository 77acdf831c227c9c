/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See unpickle.h. A pickle is a program for a machine with a stack, of which
 * this one knows the instructions that make data.
 */
#include "unpickle_stack.h"

#include <stdlib.h>

static bool fill_above(struct unpickle *unpickle, enum unpickled_kind kind)
{
	size_t count = 0;

	return unpickle_above_mark(unpickle, &count) &&
	       unpickle_fill(unpickle, count, kind);
}

static bool gather_above(struct unpickle *unpickle, enum unpickled_kind kind)
{
	size_t count = 0;

	return unpickle_above_mark(unpickle, &count) &&
	       unpickle_gather(unpickle, count, kind);
}

/* ---- instructions ---- */

const uint8_t unpickle_instructions[UINT8_MAX + 1] = {
	[0x80] = 1,			 /* PROTO */
	['K'] = 1,			 /* BININT1 */
	['h'] = 1,			 /* BINGET */
	['q'] = 1,			 /* BINPUT */
	['M'] = 2,			 /* BININT2 */
	['J'] = 4,			 /* BININT */
	['j'] = 4,			 /* LONG_BINGET */
	['r'] = 4,			 /* LONG_BINPUT */
	[0x95] = 8,			 /* FRAME */
	[0x8a] = 1 | UNPICKLE_HAS_BYTES, /* LONG1 */
	[0x8c] = 1 | UNPICKLE_HAS_BYTES, /* SHORT_BINUNICODE */
	['C'] = 1 | UNPICKLE_HAS_BYTES,	 /* SHORT_BINBYTES */
	['U'] = 1 | UNPICKLE_HAS_BYTES,	 /* SHORT_BINSTRING */
	[0x8b] = 4 | UNPICKLE_HAS_BYTES, /* LONG4 */
	['B'] = 4 | UNPICKLE_HAS_BYTES,	 /* BINBYTES */
	['T'] = 4 | UNPICKLE_HAS_BYTES,	 /* BINSTRING */
	['X'] = 4 | UNPICKLE_HAS_BYTES,	 /* BINUNICODE */
	[0x8d] = 8 | UNPICKLE_HAS_BYTES, /* BINUNICODE8 */
	[0x8e] = 8 | UNPICKLE_HAS_BYTES, /* BINBYTES8 */
};

static bool run_operand(struct unpickle *unpickle, unsigned char opcode,
			uint64_t operand)
{
	switch (opcode) {
	case 0x80:
		return (operand >= 2 && operand <= 5) ||
		       unpickle_fail(unpickle,
				     "protocol %u of pickles is not known",
				     (unsigned)operand);
	case 0x95:
		return true;
	case 'K':
	case 'M':
		return unpickle_push_integer(unpickle, (int64_t)operand);
	case 'J':
		return unpickle_push_integer(unpickle, (int32_t)operand);
	case 0x8a:
	case 0x8b:
		return unpickle_push_long(unpickle, operand);
	case 0x8c:
	case 0x8d:
	case 'X':
	case 'T':
	case 'U':
		return unpickle_push_text(unpickle, operand);
	case 'h':
	case 'j':
		return unpickle_memo_get(unpickle, operand);
	case 'q':
	case 'r':
		return unpickle_memo_put(unpickle, operand);
	default: /* bytes */
		return unpickle_push_other(unpickle, (size_t)operand);
	}
}

static bool run_plain(struct unpickle *unpickle, unsigned char opcode)
{
	switch (opcode) {
	case '(':
		return unpickle_mark(unpickle);
	case 'N':
		return unpickle_push(unpickle, (struct unpickled){0});
	case 0x88:
	case 0x89:
		return unpickle_push_integer(unpickle, opcode == 0x88);
	case 'G':
		return unpickle_push_other(unpickle, 8);
	case ']':
	case ')':
		return unpickle_push_container(unpickle, UNPICKLED_LIST);
	case '}':
		return unpickle_push_container(unpickle, UNPICKLED_DICT);
	case 'a':
		return unpickle_fill(unpickle, 1, UNPICKLED_LIST);
	case 's':
		return unpickle_fill(unpickle, 2, UNPICKLED_DICT);
	case 'e':
		return fill_above(unpickle, UNPICKLED_LIST);
	case 'u':
		return fill_above(unpickle, UNPICKLED_DICT);
	case 'l':
	case 't':
		return gather_above(unpickle, UNPICKLED_LIST);
	case 'd':
		return gather_above(unpickle, UNPICKLED_DICT);
	case 0x85:
	case 0x86:
	case 0x87:
		return unpickle_gather(unpickle, opcode - 0x84u,
				       UNPICKLED_LIST);
	case 0x94:
		return unpickle_memo_put(unpickle, unpickle->memo.next++);
	default:
		return unpickle_fail(
			unpickle,
			"it is not data only: instruction 0x%02x of "
			"pickles is refused",
			opcode);
	}
}

static bool run(struct unpickle *unpickle)
{
	uint64_t opcode = 0, operand = 0;

	while (unpickle_number(unpickle, 1, &opcode) && opcode != '.') {
		unsigned char code = (unsigned char)opcode;
		unsigned width = unpickle_width(code);

		if (width && !unpickle_number(unpickle, width, &operand))
			return false;
		if (width ? !run_operand(unpickle, code, operand)
			  : !run_plain(unpickle, code))
			return false;
	}
	if (*unpickle->reason)
		return false;
	if (!unpickle->stack_count)
		return unpickle_fail(unpickle, "damaged: the stack is empty");
	unpickle->root = unpickle->stack[unpickle->stack_count - 1];
	return true;
}

bool unpickle_open_watched(struct unpickle *unpickle, const void *data,
			   size_t bytes, unpickle_watch_fn watch, void *user)
{
	*unpickle = (struct unpickle){
		.begin = data, .at = data, .watch = watch, .user = user};
	unpickle->end = unpickle->at + bytes;
	trace_ids_init(&unpickle->memo.far);
	if (unpickle_scan(unpickle) && run(unpickle))
		return true;
	unpickle_close(unpickle);
	return false;
}

bool unpickle_scan_input(struct unpickle *unpickle,
			 const struct unpickle_input *input)
{
	*unpickle = (struct unpickle){.input = input};
	trace_ids_init(&unpickle->memo.far);
	if (unpickle_scan(unpickle))
		return true;
	unpickle_close(unpickle);
	return false;
}

bool unpickle_run_input(struct unpickle *unpickle, unpickle_watch_fn watch,
			void *user)
{
	unpickle->watch = watch;
	unpickle->user = user;
	if (run(unpickle))
		return true;
	unpickle_close(unpickle);
	return false;
}

bool unpickle_open(struct unpickle *unpickle, const void *data, size_t bytes)
{
	return unpickle_open_watched(unpickle, data, bytes, NULL, NULL);
}

void unpickle_close(struct unpickle *unpickle)
{
	for (size_t i = 0; i < unpickle->container_count; i++)
		free(unpickle->containers[i].items);
	free(unpickle->containers);
	free(unpickle->stack);
	free(unpickle->marks);
	unpickle_memo_free(&unpickle->memo);
	unpickle_window_close(unpickle);
	unpickle->containers = NULL;
	unpickle->container_count = 0;
	unpickle->stack = NULL;
	unpickle->marks = NULL;
}
