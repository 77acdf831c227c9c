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

static void keep(struct unpickle *unpickle, const struct unpickled *value)
{
	if (value->kind == UNPICKLED_LIST || value->kind == UNPICKLED_DICT)
		unpickle->containers[value->container].kept = true;
}

/* Only what is named again. Place 0 is of what was not said yet. */
static bool remember(struct unpickle *unpickle, uint64_t index)
{
	uint32_t place = trace_ids_find(&unpickle->again, index);
	struct unpickled *memo;

	if (!unpickle->stack_count)
		return unpickle_fail(unpickle, "damaged: nothing to remember");
	if (place == TRACE_NO_SLOT)
		return true;
	if (!place) {
		place = (uint32_t)++unpickle->memo_count;
		memo = unpickle_grow(unpickle, unpickle->memo,
				     &unpickle->memo_room, place + (size_t)1,
				     sizeof(*memo));
		if (!memo)
			return false;
		unpickle->memo = memo;
		(void)trace_ids_take(&unpickle->again, index);
		if (!trace_ids_add(&unpickle->again, index, place))
			return unpickle_fail(unpickle, "out of host memory");
	}
	unpickle->memo[place] = unpickle->stack[unpickle->stack_count - 1];
	keep(unpickle, &unpickle->memo[place]);
	return true;
}

static bool recall(struct unpickle *unpickle, uint64_t index)
{
	uint32_t place = trace_ids_find(&unpickle->again, index);

	if (!place || place == TRACE_NO_SLOT)
		return unpickle_fail(unpickle,
				     "damaged: nothing was remembered");
	return unpickle_push(unpickle, unpickle->memo[place]);
}

/* ---- instructions ---- */

/* Those that have a number behind them; 0 bytes: it has none. */
unsigned unpickle_operand_bytes(unsigned char opcode)
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

bool unpickle_has_bytes(unsigned char opcode)
{
	switch (opcode) {
	case 0x8a: /* LONG1 */
	case 0x8b: /* LONG4 */
	case 0x8c: /* SHORT_BINUNICODE */
	case 0x8d: /* BINUNICODE8 */
	case 0x8e: /* BINBYTES8 */
	case 'B':  /* BINBYTES */
	case 'C':  /* SHORT_BINBYTES */
	case 'T':  /* BINSTRING */
	case 'U':  /* SHORT_BINSTRING */
	case 'X':  /* BINUNICODE */
		return true;
	default:
		return false;
	}
}

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
		return recall(unpickle, operand);
	case 'q':
	case 'r':
		return remember(unpickle, operand);
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
		return remember(unpickle, unpickle->memo_next++);
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
		unsigned width = unpickle_operand_bytes(code);

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
	trace_ids_init(&unpickle->again);
	if (unpickle_scan(unpickle) && run(unpickle))
		return true;
	unpickle_close(unpickle);
	return false;
}

bool unpickle_scan_input(struct unpickle *unpickle,
			 const struct unpickle_input *input)
{
	*unpickle = (struct unpickle){.input = input};
	trace_ids_init(&unpickle->again);
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
	free(unpickle->memo);
	free(unpickle->marks);
	trace_ids_free(&unpickle->again);
	unpickle_window_close(unpickle);
	unpickle->containers = NULL;
	unpickle->container_count = 0;
	unpickle->stack = unpickle->memo = NULL;
	unpickle->marks = NULL;
}
