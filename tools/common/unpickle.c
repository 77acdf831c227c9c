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

/* ---- what was said before ---- */

/* No pickle has more of them than bytes. */
static bool remember(struct unpickle *unpickle, uint64_t index, size_t bytes)
{
	struct unpickled *memo;

	if (index > bytes || !unpickle->stack_count)
		return unpickle_fail(unpickle, "damaged: nothing to remember");
	memo = unpickle_grow(unpickle, unpickle->memo, &unpickle->memo_room,
			     (size_t)index + 1, sizeof(*memo));
	if (!memo)
		return false;
	unpickle->memo = memo;
	unpickle->memo[index] = unpickle->stack[unpickle->stack_count - 1];
	return true;
}

static bool recall(struct unpickle *unpickle, uint64_t index)
{
	if (index >= unpickle->memo_room)
		return unpickle_fail(unpickle,
				     "damaged: nothing was remembered");
	return unpickle_push(unpickle, unpickle->memo[index]);
}

/* ---- instructions ---- */

/* Those that have a number behind them; 0 bytes: it has none. */
static unsigned operand_bytes(unsigned char opcode)
{
	switch (opcode) {
	case 0x80: /* PROTO */
	case 0x8a: /* LONG1 */
	case 0x8c: /* SHORT_BINUNICODE */
	case 'C':  /* SHORT_BINBYTES */
	case 'K':  /* BININT1 */
	case 'U':  /* SHORT_BINSTRING */
	case 'h':  /* BINGET */
	case 'q':  /* BINPUT */
		return 1;
	case 'M': /* BININT2 */
		return 2;
	case 0x8b: /* LONG4 */
	case 'B':  /* BINBYTES */
	case 'J':  /* BININT */
	case 'T':  /* BINSTRING */
	case 'X':  /* BINUNICODE */
	case 'j':  /* LONG_BINGET */
	case 'r':  /* LONG_BINPUT */
		return 4;
	case 0x8d: /* BINUNICODE8 */
	case 0x8e: /* BINBYTES8 */
	case 0x95: /* FRAME */
		return 8;
	default:
		return 0;
	}
}

static bool run_operand(struct unpickle *unpickle, unsigned char opcode,
			uint64_t operand, size_t bytes)
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
		return recall(unpickle, operand);
	case 'q':
	case 'r':
		return remember(unpickle, operand, bytes);
	default: /* bytes */
		return unpickle_push_other(unpickle, (size_t)operand);
	}
}

static bool run_plain(struct unpickle *unpickle, unsigned char opcode,
		      size_t bytes)
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
		return remember(unpickle, unpickle->memo_next++, bytes);
	default:
		return unpickle_fail(
			unpickle,
			"it is not data only: instruction 0x%02x of "
			"pickles is refused",
			opcode);
	}
}

static bool run(struct unpickle *unpickle, size_t bytes)
{
	const unsigned char *opcode = NULL;
	uint64_t operand = 0;

	while (unpickle_take(unpickle, 1, &opcode)) {
		unsigned width = operand_bytes(*opcode);

		if (*opcode == '.')
			break;
		if (width && !unpickle_number(unpickle, width, &operand))
			return false;
		if (width ? !run_operand(unpickle, *opcode, operand, bytes)
			  : !run_plain(unpickle, *opcode, bytes))
			return false;
	}
	if (*unpickle->reason)
		return false;
	if (!unpickle->stack_count)
		return unpickle_fail(unpickle, "damaged: the stack is empty");
	unpickle->root = unpickle->stack[unpickle->stack_count - 1];
	return true;
}

bool unpickle_open(struct unpickle *unpickle, const void *data, size_t bytes)
{
	*unpickle = (struct unpickle){.at = data};
	unpickle->end = unpickle->at + bytes;
	if (run(unpickle, bytes))
		return true;
	unpickle_close(unpickle);
	return false;
}

void unpickle_close(struct unpickle *unpickle)
{
	for (size_t i = 0; i < unpickle->container_count; i++)
		free(unpickle->containers[i].items);
	free(unpickle->containers);
	free(unpickle->stack);
	free(unpickle->memo);
	free(unpickle->marks);
	unpickle->containers = NULL;
	unpickle->container_count = 0;
	unpickle->stack = unpickle->memo = NULL;
	unpickle->marks = NULL;
}
