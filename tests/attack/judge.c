/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What must hold after a call: its status is one that the header lets it return
 * and fits its arguments, a failure left its outputs alone and a sentence
 * behind, nothing was written beyond an output, and the counters of the pools
 * are those of the program.
 */
#include "attack.h"
#include "../law.h"

enum { OUTS = 3, ROOM = 4096, GUARD = 64, FILL = 0xa5 };

static struct {
	_Alignas(16) unsigned char bytes[ROOM + GUARD];
	unsigned char before[sizeof(size_t)]; /* the first of them */
	size_t size;			      /* that may be written */
} outs[OUTS];
static unsigned out_count;

static void *out_begin(size_t size)
{
	expect(out_count < OUTS && size <= ROOM, "too many outputs");
	memset(outs[out_count].bytes, FILL, sizeof(outs[out_count].bytes));
	outs[out_count].size = size;
	return outs[out_count++].bytes;
}

static void keep_head(void)
{
	memcpy(outs[out_count - 1].before, outs[out_count - 1].bytes,
	       sizeof(outs[0].before));
}

void *out_or_null(size_t bytes)
{
	void *out;

	if (one_in(8))
		return NULL;
	out = out_begin(bytes);
	keep_head();
	return out;
}

void *out_plain(size_t bytes)
{
	void *out = out_begin(bytes);

	keep_head();
	if (!rarely())
		return out;
	wrong(B(INVALID));
	out_count--;
	return NULL;
}

void *out_struct(size_t bytes)
{
	static const size_t none[] = {0, 1, 8, 4097, SIZE_MAX, SIZE_MAX / 2};
	size_t size = bytes;
	void *out;

	if (one_in(8))
		size = bytes + random_below(ROOM - bytes + 1);
	out = out_begin(size);
	if (rarely()) {
		/* No struct has become twice as large as it was. */
		size = one_in(3) ? bytes / 2 - random_below(bytes / 2)
				 : none[random_below(COUNT(none))];
		wrong(B(INVALID));
	}
	memcpy(out, &size, sizeof(size));
	keep_head();
	if (!rarely())
		return out;
	wrong(B(INVALID));
	out_count--;
	return NULL;
}

void judge_begin(const struct row *row)
{
	step = (struct step){.row = row};
	out_count = 0;
}

static bool untouched(const unsigned char *bytes, size_t from, size_t end)
{
	while (from < end && bytes[from] == FILL)
		from++;
	return from >= end;
}

static void judge_outputs(gpumem_status status)
{
	size_t head = sizeof(outs[0].before);

	for (unsigned i = 0; i < out_count; i++) {
		const unsigned char *bytes = outs[i].bytes;

		expect(untouched(bytes,
				 outs[i].size < head ? head : outs[i].size,
				 sizeof(outs[i].bytes)),
		       "%s wrote beyond its output", step.row->name);
		if (!status || step.writes_always)
			continue;
		expect(!memcmp(bytes, outs[i].before, head) &&
			       untouched(bytes, head, outs[i].size),
		       "%s gave %s and wrote its output", step.row->name,
		       gpumem_status_name(status));
	}
}

void judge_string(const char *text)
{
	const size_t most = sizeof(((struct gpumem_error *)NULL)->text) - 1;
	size_t length = strlen(text);

	expect(length > 8, "\"%s\" is no sentence", text);
	/* One that is too long is cut, be it behind the point of a number. */
	expect(text[length - 1] != '.' || length == most,
	       "\"%s\" has a full stop", text);
	for (size_t i = 0; i < length; i++)
		expect((unsigned char)text[i] >= ' ' && text[i] != 0x7f,
		       "byte %zu of the text is %#x", i,
		       (unsigned char)text[i]);
}

static void judge_sentence(gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	expect(error.status == status, "%s gave %s, and the last error is %s",
	       step.row->name, gpumem_status_name(status),
	       gpumem_status_name(error.status));
	judge_string(error.text);
	if ((status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT) &&
	    !strncmp(step.row->name, "gpumem_alloc", 12))
		expect(strstr(error.text, " out of memory"),
		       "%s does not say out of memory", step.row->name);
}

/* What may come, beside what is wrong with the arguments. Nothing fails in the
 * driver that is not told to, and the host has memory. */
static unsigned may_come(void)
{
	unsigned said = step.row->said;

	if (said & B(DRIVER))
		said |= B(NO_MEMORY) | B(NO_HOST_MEMORY) | B(UNSUPPORTED) |
			B(CAPTURING);
	if (!world.faulty)
		said &= ~(B(DRIVER) | B(LOST) | B(NO_HOST_MEMORY));
	return said & ~B(CORRUPT);
}

bool judge(gpumem_status status)
{
	const char *name = gpumem_status_name(status);
	unsigned may = may_come();

	expect(status <= 0 && status > -32 &&
		       strcmp(name, "GPUMEM_UNKNOWN") != 0,
	       "%s gave status %d", step.row->name, (int)status);
	if (step.wrong)
		may = step.wrong | (world.faulty ? may : 0);
	else
		may |= B(OK);
	expect((1u << -status) & (may | step.perhaps),
	       "%s gave %s, which does not fit %s arguments", step.row->name,
	       name, step.wrong ? "wrong" : "right");
	judge_outputs(status);
	if (status)
		tally->refused[step.row - rows]++;
	else
		tally->worked[step.row - rows]++;
	if (status)
		judge_sentence(status);
	return !status;
}

static uint64_t judge_counters(const struct pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	const char *broken;

	must(gpumem_pool_stats(pool->handle, &stats));
	broken = unlawful(&stats);
	expect(!broken, "after %s: %s", step.row->name, broken);
	expect(stats.requested.current == pool->requested &&
		       stats.allocated.current == pool->allocated &&
		       stats.blocks.current == pool->count,
	       "after %s: %llu blocks, %llu requested, %llu allocated; should "
	       "be %llu, %llu, %llu",
	       step.row->name, (ull)stats.blocks.current,
	       (ull)stats.requested.current, (ull)stats.allocated.current,
	       (ull)pool->count, (ull)pool->requested, (ull)pool->allocated);
	return stats.reserved.current;
}

void judge_pools(void)
{
	uint64_t reserved[DEVICES] = {0};

	for (unsigned i = 0; i < POOLS; i++) {
		const struct pool *pool = &world.pool[i];
		uint64_t bytes;

		if (!pool->handle)
			continue;
		expect(!gpumem_pool_check(pool->handle),
		       "after %s a pool is not sound", step.row->name);
		bytes = judge_counters(pool);
		if (pool->kind == GPUMEM_KIND_DEVICE)
			reserved[pool->device - world.device] += bytes;
	}
	for (int i = 0; i < DEVICES; i++)
		expect(!world.device[i].handle ||
			       reserved[i] == gpumem_host_used_bytes(i),
		       "after %s pools of host:%d have reserved %llu bytes, "
		       "and it gave %llu",
		       step.row->name, i, (ull)reserved[i],
		       (ull)gpumem_host_used_bytes(i));
}

void judge_content(void)
{
	for (int i = 0; i < 4 && world.blocks; i++)
		block_verify(&world.block[random_below(world.blocks)]);
}
