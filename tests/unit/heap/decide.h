/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the policy decides, a line each: in this heap, a request is served by
 * this, and takes so much. A row has, beside its name, four texts:
 *
 *	given	options and circumstances, as "waste=0 limit=8 capture=b":
 *		limit, soft limit and peak in units, "full" for what is
 *		reserved; peak is the most that was ever allocated, "now" what
 *		is; outside=full: other programs have all else; places: how many
 *		more may be lent; idle: no stream was busy for long; freed: so
 *		many units were since a trim; graph=b: stream b allocates for a
 *		graph; faults as in host.h; any other is an option
 *	picture	the heap, by address. "a4": four units that stream a uses;
 *		"a-4": it freed them, and they are over; "a~4": it is at work on
 *		them; "ab4": it freed them, and stream b is at work on them;
 *		".4": nothing is mapped; "a0": the stream alone. "[ a-2 a1 ]" is
 *		one growth, or one segment; "2(a-1,a1)" the same twice
 *	steps	"a4" is a request of stream a; behind it "%16" aligns to so many
 *		units, "^" so far that nothing is mapped there, "!w" is NO_WAIT,
 *		"!g" NO_GROW; "-3" frees what the third step got, "-@3" the
 *		third piece, "~3" with work of its stream behind it; "trim";
 *		"over": all work is done; and "capture=", "limit=", "faults=",
 *		"places=" as above
 *	want	of the last steps, parted by ";": words that the answer has, or
 *		with a "!" has not. "own" is what served it, "@2" that it begins
 *		with the second piece, "@2+1" a unit behind that, "@new" that it
 *		lies in none; "+1": a unit more is reserved; "moved=2" and
 *		"lent=2" units; "follows=1": so many streams more come after
 *		another's work; "pending=-2": blocks that wait for one; "map=1"
 *and other calls of the driver; a status: why it failed
 *
 * A unit is a page of 2 MiB, and without virtual memory 1 MiB. Work of streams
 * is not over until somebody waits for it. Each row begins anew, and ends with
 * a heap that is in order, live blocks as they were, and no capture disturbed.
 * Only what a program sees is compared, so rows outlive the rules.
 */
#ifndef HEAP_DECIDE_H
#define HEAP_DECIDE_H

#include "scene.h"
#include "base/status.h"

struct row {
	const char *name, *given, *picture, *steps, *want;
};

/* ---- steps ---- */

enum { STEPS = 32 };

/* What the requests got. */
static struct {
	void *ptr;
	unsigned stream;
} got[STEPS];

static char answers[STEPS][256], *answer;
static unsigned step;

__attribute__((format(printf, 1, 2))) HEAP_USE void say(const char *format, ...)
{
	size_t at = strlen(answer);
	va_list args;

	va_start(args, format);
	vsnprintf(answer + at, sizeof(answers[0]) - at, format, args);
	va_end(args);
}

HEAP_USE double in_units(uint64_t bytes)
{
	return (double)(int64_t)bytes / (double)scene.unit;
}

HEAP_USE void say_place(uintptr_t address)
{
	unsigned number = 0;

	for (unsigned i = 0; i < scene.pieces; i++) {
		const struct piece *piece = &scene.piece[i];

		number += piece->bytes > 0;
		if (address - piece->address >= piece->bytes)
			continue;
		say(" @%u", number);
		if (address != piece->address)
			say("+%g", in_units(address - piece->address));
		return;
	}
	say(" @new");
}

/* What served since then. */
HEAP_USE void say_served(const struct gm_counters *before)
{
#define SAY(name, number, statistic, text)                                     \
	if (heap.counters.served_##statistic != before->served_##statistic)    \
		say(" " #statistic);
	GPUMEM_SERVED_LIST(SAY)
#undef SAY
}

HEAP_USE struct gm_request request_of(char *word)
{
	struct gm_request request = {.alignment = 1,
				     .stream = scene.stream[index_of(*word)]};
	char *at;

	request.bytes = units_of(word + 1, &at);
	while (*at) {
		if (*at == '^') {
			request.alignment = 64 * scene.unit;
			at++;
		} else if (*at == '%') {
			request.alignment = strtoul(at + 1, &at, 10);
			request.alignment *= scene.unit;
		} else if (!strncmp(at, "!w", 2) || !strncmp(at, "!g", 2)) {
			request.flags |= at[1] == 'w' ? GPUMEM_ALLOC_NO_WAIT
						      : GPUMEM_ALLOC_NO_GROW;
			at += 2;
		} else {
			bail("what is %s?", word);
		}
	}
	return request;
}

HEAP_USE void ask(char *word)
{
	const struct gm_request request = request_of(word);
	struct gm_counters before;
	gpumem_status status;
	char *ptr;

	gm_locals_flush_own(&heap);
	before = heap.counters;
	status = gm_heap_alloc(&heap, &request, &got[step].ptr);
	got[step].stream = index_of(*word);
	if (status) {
		say(" %s", gm_status_name(status));
		return;
	}
	ptr = got[step].ptr;
	*(volatile char *)ptr = *(volatile char *)(ptr + request.bytes - 1) = 1;
	say_served(&before);
	say_place((uintptr_t)ptr);
}

/* The piece of that number. */
HEAP_USE struct piece *piece_of(unsigned number)
{
	struct piece *piece = scene.piece - 1;

	while (number)
		number -= (++piece)->bytes > 0;
	return piece;
}

HEAP_USE void give(const char *word)
{
	bool of_picture = word[1] == '@';
	unsigned number = (unsigned)atoi(word + 1 + of_picture);
	void *ptr = got[number - 1].ptr;
	char owner = (char)('a' + got[number - 1].stream);

	if (of_picture) {
		struct piece *piece = piece_of(number);

		ptr = (void *)piece->address;
		owner = piece->owner;
		piece->state = *word;
	}
	if (*word == '~')
		at_work(owner);
	must(gm_heap_free(ptr, scene.stream[index_of(owner)]));
	gm_locals_flush_own(&heap);
}

HEAP_USE void be_over(const char *streams)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if ((!*streams || index_of(*streams) == i) &&
		    scene.captured != (char)('a' + i))
			must(gm_stream_sync(device, scene.stream[i]));
	look();
}

static const struct {
	const char *name;
	enum gpumem_call call;
} told[] = {{"create", GPUMEM_CALL_PAGE_CREATE},
	    {"destroy", GPUMEM_CALL_PAGE_DESTROY},
	    {"map", GPUMEM_CALL_MAP},
	    {"unmap", GPUMEM_CALL_UNMAP},
	    {"alloc", GPUMEM_CALL_ALLOC},
	    {"free", GPUMEM_CALL_FREE},
	    {"sync", GPUMEM_CALL_EVENT_SYNC},
	    {"query", GPUMEM_CALL_STREAM_QUERY},
	    {"asks", GPUMEM_CALL_CAPTURE_ID}};

enum { TOLD = sizeof(told) / sizeof(told[0]) };

struct state {
	uint64_t reserved, moved, lent, follows, pending, calls[TOLD];
};

/* How many streams come after the work of another. */
HEAP_USE unsigned follows(void)
{
	const struct gm_arena *arena, *of;
	unsigned count = 0;

	for (arena = gm_arena_first(&heap); arena;
	     arena = gm_arena_after(&heap, arena))
		for (of = gm_arena_first(&heap); of;
		     of = gm_arena_after(&heap, of))
			count += arena != of && gm_arena_follows(arena, of, 1);
	return count;
}

HEAP_USE struct state state_of(void)
{
	struct state state = {.reserved = heap_reserved(),
			      .moved = heap.counters.moved_bytes,
			      .lent = heap.space->stale.bytes,
			      .follows = follows(),
			      .pending = heap.order->pending.count};

	for (unsigned i = 0; i < TOLD; i++)
		state.calls[i] = calls(told[i].call);
	return state;
}

HEAP_USE void say_changes(const struct state *before)
{
	struct state after = state_of();

	say(" %+g", in_units(after.reserved - before->reserved));
	if (after.moved != before->moved)
		say(" moved=%g", in_units(after.moved - before->moved));
	if (after.lent != before->lent)
		say(" lent=%g", in_units(after.lent - before->lent));
	if (after.follows != before->follows)
		say(" follows=%g", (double)(after.follows - before->follows));
	if (after.pending != before->pending)
		say(" pending=%g",
		    (double)after.pending - (double)before->pending);
	for (unsigned i = 0; i < TOLD; i++)
		if (after.calls[i] != before->calls[i])
			say(" %s=%g", told[i].name,
			    (double)(after.calls[i] - before->calls[i]));
}

HEAP_USE void do_step(char *word)
{
	struct state before = state_of();
	char *value = strchr(word, '=');

	if (step == STEPS)
		bail("too many steps");
	answer = answers[step];
	answer[0] = '\0';
	if (value)
		*value++ = '\0';
	if (*word == '-' || *word == '~')
		give(word);
	else if (!strcmp(word, "trim"))
		must(heap_trim(0));
	else if (!strcmp(word, "over"))
		be_over(value ? value : "");
	else if (!value || !set(word, value))
		ask(word);
	say_changes(&before);
	say(" ");
	step++;
}

/* ---- rows ---- */

static const char *missed;
static char missed_word[64];

/* Of the last steps, as many as there are parts. */
HEAP_USE void look_from(const char *want)
{
	unsigned parts = 1;

	for (; (want = strchr(want, ';')) != NULL; want++)
		parts++;
	if (parts > step)
		bail("a row has %u steps, not %u", step, parts);
	answer = answers[step - parts];
}

HEAP_USE void look_for(char *word)
{
	char padded[64];
	bool wants = *word != '!';

	if (*word == ';') {
		answer += sizeof(answers[0]);
		return;
	}
	snprintf(padded, sizeof(padded), " %s%s", word + !wants,
		 wants || strchr(word, '=') ? " " : "");
	if ((strstr(answer, padded) != NULL) == wants)
		return;
	snprintf(missed_word, sizeof(missed_word), "%s", word);
	missed = missed_word;
}

HEAP_USE void row_begin(const struct row *row)
{
	bool vm = !strstr(row->given, "vm=off");

	scene.option_count = 0;
	scene.captured = '\0';
	scene.unit = vm ? 2 * MIB : MIB;
	step = 0;
	option("host.capacity", vm ? "256MiB" : "1GiB");
	each_word(row->given, set_option);
	must(gm_device_open("host:0", &device));
	heap_start();
	for (unsigned i = 0; i < STREAMS; i++) {
		scene.stream[i] = stream_new();
		must(gpumem_host_hold(0, scene.stream[i], true));
	}
	each_word(row->given, set_early);
}

HEAP_USE void row_end(void)
{
	must(gpumem_host_faults(NULL));
	capture('\0');
	if (!are_marked(false))
		missed = "a live block has other content";
	if (heap_check())
		missed = last_text();
	for (unsigned i = 0; i < STREAMS; i++)
		must(gpumem_host_hold(0, scene.stream[i], false));
	for (unsigned i = 0; i < STREAMS; i++)
		must(gm_stream_sync(device, scene.stream[i]));
	heap_end();
	must(gpumem_host_outside(0, 0));
	for (unsigned i = 0; i < scene.option_count; i++)
		option(scene.options[i], NULL);
	gm_device_release(device);
}

HEAP_USE void decides(const struct row *row)
{
	uint64_t violations = gpumem_host_capture_violations();

	row_begin(row);
	draw(row->picture);
	each_word(row->given, set_late);
	each_word(row->steps, do_step);
	missed = NULL;
	look_from(row->want);
	each_word(row->want, look_for);
	row_end();
	if (gpumem_host_capture_violations() != violations)
		missed = "a capture was disturbed";
	if (ok(!missed, "%s", row->name))
		return;
	diag("%s | %s | %s | %s: %s", row->given, row->picture, row->steps,
	     row->want, missed);
	for (unsigned i = 0; i < step; i++)
		diag("  step %u:%s", i + 1, answers[i]);
}

/* For main(). */
HEAP_USE int decide_all(const struct row *row, size_t count)
{
	alarm(120);
	for (size_t i = 0; i < count; i++)
		decides(&row[i]);
	return done_testing();
}

#define DECIDE(rows) decide_all(rows, sizeof(rows) / sizeof((rows)[0]))

#endif
