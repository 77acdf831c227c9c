/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pickle remembers, and names again by a number. All numbers were seen
 * before it is run, so that a value is kept only if it is named again, and
 * until the last time: of most it is the next thing that the pickle says. No
 * locks.
 */
#include "unpickle_stack.h"

#include <stdlib.h>

/* An entry with this bit is a place in `kept`; one without it the last naming
 * of a number whose value was not said; 0: it is not named any more. */
#define SAID UINT32_C(0x80000000)
#define NEVER (SAID - 1) /* one that is too late to be counted */

/* ---- entries ---- */

static uint32_t entry(const struct unpickle_memo *memo, uint64_t number)
{
	uint32_t slot;

	if (number < memo->of_count && memo->of[number])
		return memo->of[number];
	slot = trace_ids_find(&memo->far, number);
	return slot == TRACE_NO_SLOT ? 0 : slot;
}

/* False: out of memory, which an entry that is there never needs. */
static bool set_far(struct unpickle_memo *memo, uint64_t number, uint32_t value)
{
	(void)trace_ids_take(&memo->far, number);
	return !value || trace_ids_add(&memo->far, number, value);
}

static bool set_entry(struct unpickle_memo *memo, uint64_t number,
		      uint32_t value)
{
	if (number >= memo->of_count || !memo->of[number])
		return set_far(memo, number, value);
	memo->of[number] = value;
	return true;
}

/* ---- while it is scanned ---- */

static bool make_entry(struct unpickle *unpickle, uint64_t number)
{
	struct unpickle_memo *memo = &unpickle->memo;
	uint32_t *of;

	if (number < memo->of_count)
		return true;
	of = unpickle_grow(unpickle, memo->of, &memo->of_room,
			   (size_t)number + 1, sizeof(*of));
	if (!of)
		return false;
	memset(of + memo->of_count, 0,
	       ((size_t)number + 1 - memo->of_count) * sizeof(*of));
	memo->of = of;
	memo->of_count = (size_t)number + 1;
	return true;
}

/* A number that was not given so far is not Python's. */
bool unpickle_memo_scan(struct unpickle *unpickle, uint64_t number)
{
	struct unpickle_memo *memo = &unpickle->memo;

	if (memo->named < NEVER)
		memo->named++;
	if (number >= memo->puts)
		return set_far(memo, number, memo->named) ||
		       unpickle_fail(unpickle, "out of host memory");
	if (!make_entry(unpickle, number))
		return false;
	memo->of[number] = memo->named;
	return true;
}

void unpickle_memo_begin(struct unpickle *unpickle)
{
	unpickle->memo.named = 0;
	unpickle->memo.next = 0;
}

/* ---- while it is run ---- */

static void hold(struct unpickle *unpickle, const struct unpickled *value)
{
	if (!unpickled_is_container(value))
		return;
	unpickle->containers[value->container].holders++;
	unpickle->containers[value->container].named = 1;
}

static void named_last(struct unpickle *unpickle, const struct unpickled *value)
{
	if (unpickled_is_container(value))
		unpickle->containers[value->container].named = 0;
}

/* Where the next value is kept; NULL: out of memory. */
static struct unpickle_kept *take_place(struct unpickle *unpickle)
{
	struct unpickle_memo *memo = &unpickle->memo;
	struct unpickle_kept *kept = memo->kept;

	if (memo->free) {
		kept += memo->free - 1;
		memo->free = kept->last;
		return kept;
	}
	kept = unpickle_grow(unpickle, kept, &memo->kept_room,
			     memo->kept_count + 1, sizeof(*kept));
	if (!kept)
		return NULL;
	memo->kept = kept;
	return &kept[memo->kept_count++];
}

bool unpickle_memo_put(struct unpickle *unpickle, uint64_t number)
{
	struct unpickle_memo *memo = &unpickle->memo;
	uint32_t known = entry(memo, number);
	struct unpickled value;
	struct unpickle_kept *kept;

	if (!unpickle->stack_count)
		return unpickle_fail(unpickle, "damaged: nothing to remember");
	if (!known)
		return true;
	value = unpickle->stack[unpickle->stack_count - 1];
	hold(unpickle, &value);
	if (known & SAID) {
		kept = &memo->kept[known & ~SAID];
		if (!unpickle_drop(unpickle, &kept->value))
			return false;
		kept->value = value;
		return true;
	}
	kept = take_place(unpickle);
	if (!kept)
		return false;
	*kept = (struct unpickle_kept){.value = value, .last = known};
	return set_entry(memo, number, SAID | (uint32_t)(kept - memo->kept)) ||
	       unpickle_fail(unpickle, "out of host memory");
}

bool unpickle_memo_get(struct unpickle *unpickle, uint64_t number)
{
	struct unpickle_memo *memo = &unpickle->memo;
	uint32_t known = entry(memo, number);
	struct unpickle_kept *kept;

	if (!(known & SAID))
		return unpickle_fail(unpickle,
				     "damaged: nothing was remembered");
	if (memo->named < NEVER)
		memo->named++;
	kept = &memo->kept[known & ~SAID];
	if (!unpickle_push(unpickle, kept->value))
		return false;
	if (kept->last != memo->named || kept->last == NEVER) {
		hold(unpickle, &kept->value);
		return true;
	}
	named_last(unpickle, &kept->value);
	*kept = (struct unpickle_kept){.last = memo->free};
	memo->free = (known & ~SAID) + 1;
	return set_entry(memo, number, 0);
}

void unpickle_memo_free(struct unpickle_memo *memo)
{
	free(memo->of);
	free(memo->kept);
	trace_ids_free(&memo->far);
	*memo = (struct unpickle_memo){0};
}
