/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A heap out of a line of text, for decide.h, which says what the words mean.
 * Here alone is known how a state is made: by the blocks of fixture.h, by what
 * a program calls, and where that would take too long by a counter or a limit
 * that is set. Each test program includes this once; one thread, so no lock.
 */
#ifndef HEAP_SCENE_H
#define HEAP_SCENE_H

#include "fixture.h"

enum { STREAMS = 4, PIECES = 96, OPTIONS = 16, LONG_ROW = 64 };

/* A piece of the picture. */
struct piece {
	char owner, user, state; /* state: ' ', '-', '~' or '.' */
	size_t bytes;
	struct gm_extent *extent;
	uintptr_t address;
};

static struct {
	gpumem_stream stream[STREAMS];
	struct piece piece[PIECES];
	unsigned pieces;
	size_t unit;
	char options[OPTIONS][32];
	unsigned option_count;
	char captured;
} scene;

/* ---- words ---- */

/* Each blank-separated word of the text. */
HEAP_USE void each_word(const char *text, void (*fn)(char *word))
{
	char copy[512], *rest, *word;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		bail("a text is too long: %s", text);
	for (word = strtok_r(copy, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest))
		fn(word);
}

HEAP_USE size_t units_of(const char *text, char **end_out)
{
	char *end;
	double number = strtod(text, &end);
	size_t unit = *end == 'K' ? KIB : scene.unit;

	*end_out = end + (*end == 'K');
	if (end == text)
		bail("no size: %s", text);
	return (size_t)(number * (double)unit);
}

HEAP_USE uint64_t amount_of(const char *text)
{
	char *end;

	return strcmp(text, "full") ? units_of(text, &end)
				    : heap.counters.reserved.current;
}

HEAP_USE unsigned index_of(char letter)
{
	if (letter < 'a' || letter >= 'a' + STREAMS)
		bail("no stream: %c", letter);
	return (unsigned)(letter - 'a');
}

HEAP_USE struct gm_arena *arena_named(char letter)
{
	return arena_of(scene.stream[index_of(letter)]);
}

/* ---- circumstances ---- */

HEAP_USE void no_work(void *arg)
{
	(void)arg;
}

HEAP_USE void at_work(char letter)
{
	must(gpumem_host_launch(0, scene.stream[index_of(letter)], no_work,
				NULL));
}

HEAP_USE void capture(char letter)
{
	if (scene.captured)
		must(gpumem_host_capture(
			0, scene.stream[index_of(scene.captured)], false));
	scene.captured = letter;
	if (letter)
		must(gpumem_host_capture(0, scene.stream[index_of(letter)],
					 true));
}

/* What is over is known to be. */
HEAP_USE void look(void)
{
	(void)gm_pending_poll(&heap);
	for (char letter = 'a'; letter < 'a' + STREAMS; letter++)
		if (gm_arena_find(&heap, scene.stream[index_of(letter)]))
			gm_arena_poll(arena_named(letter), NULL, true);
}

/* False: the word is none of these. */
HEAP_USE bool set(const char *key, const char *value)
{
	struct gm_budget *budget = &heap.space->budget;

	if (!strcmp(key, "limit"))
		set_limit(*value ? amount_of(value) : 0);
	else if (!strcmp(key, "soft"))
		budget->soft_limit_bytes = amount_of(value);
	else if (!strcmp(key, "peak"))
		heap.counters.highest_allocated =
			strcmp(value, "now") ? amount_of(value)
					     : heap.counters.allocated.current;
	else if (!strcmp(key, "freed"))
		heap.counters.freed_at_trim =
			gm_counters_freed(&heap.counters) - amount_of(value);
	else if (!strcmp(key, "outside"))
		must(gpumem_host_outside(0, heap.capacity_bytes -
						    amount_of(value)));
	else if (!strcmp(key, "places"))
		heap.space->stale.most =
			heap.space->stale.handles + (size_t)atoi(value);
	else if (!strcmp(key, "capture"))
		capture(*value);
	else if (!strcmp(key, "faults"))
		must(gpumem_host_faults(value));
	else
		return false;
	return true;
}

/* Options first: the heap begins with them. */
HEAP_USE void set_option(char *word)
{
	static const char *const later[] = {
		"limit",   "soft",   "peak", "graph",  "outside",
		"capture", "faults", "idle", "places", "freed"};
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (!strcmp(word, later[i]))
			return;
	if (!value || scene.option_count == OPTIONS)
		bail("what is %s?", word);
	snprintf(scene.options[scene.option_count++], 32, "%s", word);
	option(word, value);
}

/* No stream was busy for as long as it takes. */
HEAP_USE void be_idle(void)
{
	for (int i = 0; i < LONG_ROW; i++) {
		block_give(arena_named('a'),
			   block(arena_named('a'), scene.unit));
		gm_arena_poll(arena_named('a'), NULL, true);
	}
	must(heap_trim(0));
}

/* Its address is all that counts here. */
HEAP_USE void allocate_for_graph(char letter)
{
	static char graph;
	struct gm_arena *arena;

	must(gm_arena_create(&heap, scene.stream[index_of(letter)],
			     (void *)&graph, &arena));
	arena->routed = true;
}

HEAP_USE void set_early(char *word)
{
	if (!strcmp(word, "idle"))
		be_idle();
	else if (!strncmp(word, "graph=", 6))
		allocate_for_graph(word[6]);
	else if (!strncmp(word, "freed=", 6))
		(void)set("freed", word + 6);
}

HEAP_USE void set_late(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (value && strcmp(word, "graph"))
		(void)set(word, value);
}

/* ---- the picture ---- */

HEAP_USE void add_piece(char *word);

/* "16(a-1,a1)": so many times. */
HEAP_USE void add_pieces(char *word)
{
	char *list = strchr(word, '('), *rest, *each, copy[128];

	if (!list) {
		add_piece(word);
		return;
	}
	for (int i = 0; i < atoi(word); i++) {
		snprintf(copy, sizeof(copy), "%s", list + 1);
		for (each = strtok_r(copy, ",)", &rest); each;
		     each = strtok_r(NULL, ",)", &rest))
			add_piece(each);
	}
}

HEAP_USE void add_piece(char *word)
{
	struct piece *piece = &scene.piece[scene.pieces++];
	char *at = word, *end;

	if (scene.pieces > PIECES)
		bail("too many pieces");
	*piece = (struct piece){.owner = 'a', .state = ' '};
	if (*at == '[' || *at == ']') {
		piece->state = *at;
		return;
	}
	if (*at == '.') {
		piece->state = *at++;
	} else {
		piece->owner = *at++;
		if (*at >= 'a' && *at <= 'z')
			piece->user = *at++;
		else if (*at == '-' || *at == '~')
			piece->state = *at++;
	}
	piece->bytes = units_of(at, &end);
	if (*end)
		bail("what is %s?", word);
}

HEAP_USE struct gm_extent *make(size_t bytes)
{
	struct gm_extent *extent = block_take(arena_named('a'), bytes);

	if (!extent)
		bail("no room for the picture: %s", last_text());
	return extent;
}

/* The pieces from here to the bracket's end are one segment. */
HEAP_USE void make_segment(unsigned first)
{
	size_t bytes = 0;

	for (unsigned i = first; scene.piece[i].state != ']'; i++)
		bytes += scene.piece[i].bytes;
	block_give(arena_named('a'), make(bytes));
}

HEAP_USE void make_pieces(void)
{
	for (unsigned i = 0; i < scene.pieces; i++) {
		struct piece *piece = &scene.piece[i];

		if (piece->state == '[')
			make_segment(i + 1);
		if (piece->state != ']' && piece->state != '[')
			(void)arena_named(piece->owner);
		if (!piece->bytes)
			continue;
		piece->extent = make(piece->bytes);
		piece->extent->arena = arena_named(piece->owner);
		piece->address = piece->extent->address;
	}
}

HEAP_USE void give_pieces(char state)
{
	for (unsigned i = 0; i < scene.pieces; i++) {
		struct piece *piece = &scene.piece[i];

		if (piece->state != state || !piece->extent)
			continue;
		block_give(arena_named(piece->owner), piece->extent);
		piece->extent = NULL;
	}
}

HEAP_USE void make_pending(struct piece *piece)
{
	at_work(piece->user);
	must(gm_heap_use_on((void *)piece->address,
			    scene.stream[index_of(piece->user)]));
	must(gm_heap_free((void *)piece->address,
			  scene.stream[index_of(piece->owner)]));
}

/* The first and last words of what stays live. */
HEAP_USE bool are_marked(bool write)
{
	bool right = true;

	for (unsigned i = 0; i < scene.pieces; i++) {
		const struct piece *piece = &scene.piece[i];
		volatile uintptr_t *word = (uintptr_t *)piece->address;
		size_t last = piece->bytes / sizeof(*word);

		if (piece->state != ' ' || piece->user || !last)
			continue;
		if (write)
			word[0] = word[last - 1] = piece->address;
		right &= word[0] == piece->address &&
			 word[last - 1] == piece->address;
	}
	return right;
}

HEAP_USE void draw(const char *picture)
{
	scene.pieces = 0;
	each_word(picture, add_pieces);
	make_pieces();
	(void)are_marked(true);
	give_pieces('.');
	must(heap_trim(0));
	give_pieces('-');
	look();
	for (char letter = 'a'; letter < 'a' + STREAMS; letter++)
		for (unsigned i = 0; i < scene.pieces; i++)
			if (scene.piece[i].state == '~' &&
			    scene.piece[i].owner == letter) {
				at_work(letter);
				break;
			}
	give_pieces('~');
	look();
	for (unsigned i = 0; i < scene.pieces; i++)
		if (scene.piece[i].user)
			make_pending(&scene.piece[i]);
}

#endif
