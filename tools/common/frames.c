/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See frames.h: the set of addresses, and the modules that they lie in.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf */
#endif
#include "frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the set ---- */

bool frames_add(struct frames *frames, const struct recording_stack *stack)
{
	size_t room = frames->room ? frames->room : 64;
	struct frame *larger;

	while (room - frames->count < stack->count)
		room *= 2;
	larger = realloc(frames->frames, room * sizeof(*larger));
	if (!larger)
		return false;
	frames->frames = larger;
	frames->room = room;
	for (size_t i = 0; i < stack->count; i++)
		frames->frames[frames->count++] = (struct frame){
			.address = recording_stack_frame(stack, i)};
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct frame *one = a, *other = b;

	return (one->address > other->address) -
	       (one->address < other->address);
}

static void make_unique(struct frames *frames)
{
	size_t kept = 0;

	if (frames->count)
		qsort(frames->frames, frames->count, sizeof(*frames->frames),
		      compare);
	for (size_t i = 0; i < frames->count; i++)
		if (!kept ||
		    compare(&frames->frames[i], &frames->frames[kept - 1]))
			frames->frames[kept++] = frames->frames[i];
	frames->count = kept;
}

const struct frame *frames_find(const struct frames *frames, uint64_t address)
{
	const struct frame key = {.address = address};

	return bsearch(&key, frames->frames, frames->count, sizeof(key),
		       compare);
}

void frames_free(struct frames *frames)
{
	for (size_t i = 0; i < frames->count; i++) {
		struct frame *frame = &frames->frames[i];

		for (size_t j = 0; j < frame->count; j++) {
			free(frame->places[j].function);
			free(frame->places[j].file);
		}
		free(frame->places);
	}
	free(frames->frames);
	*frames = (struct frames){0};
}

/* ---- places that the file names ---- */

static char *copy(const char *text, bool *ok)
{
	char *to = text ? strdup(text) : NULL;

	*ok = *ok && (to || !text);
	return to;
}

static bool name(struct frame *frame, const struct recording_stacks *stacks)
{
	const struct recording_place *place = &stacks->place[frame->address];
	bool ok = true;

	frame->named = true;
	frame->places = calloc(1, sizeof(*frame->places));
	if (!frame->places)
		return false;
	frame->count = 1;
	*frame->places =
		(struct frame_place){.function = copy(place->function, &ok),
				     .file = copy(place->file, &ok),
				     .line = place->line};
	return ok;
}

static bool name_all(struct frames *frames,
		     const struct recording_stacks *stacks)
{
	bool ok = true;

	for (size_t i = 0; i < frames->count && ok; i++)
		ok = name(&frames->frames[i], stacks);
	return ok;
}

/* ---- modules ---- */

/* What stands behind a call that does not return may be the next function's:
 * the call is at the byte before. */
static void locate(struct frame *frame, const struct recording_stacks *stacks)
{
	uint64_t call = frame->address - (frame->address != 0);
	const struct recording_module *module =
		recording_stacks_module(stacks, call);

	frame->offset = call;
	if (!module || !module->path)
		return;
	frame->module = module->path;
	frame->offset = call - module->begin + module->offset;
}

static int compare_modules(const void *a, const void *b)
{
	const struct frame *const *one = a, *const *other = b;
	int order = strcmp((*one)->module, (*other)->module);

	return order ? order : compare(*one, *other);
}

/* Frames of one path. */
static bool resolve_module(struct frames *frames, struct frame **of,
			   size_t count)
{
	struct frames_elf elf;
	size_t known = 0;

	if (!frames_elf_read(&elf, of[0]->module))
		return true;
	for (size_t i = 0; i < count; i++) {
		of[i]->elf =
			frames_elf_address(&elf, of[i]->offset, &of[i]->offset);
		if (of[i]->elf)
			of[known++] = of[i];
	}
	return !known || frames->missing || frames_names(frames, of, known);
}

static bool resolve_modules(struct frames *frames, struct frame **of,
			    size_t count)
{
	bool ok = true;
	size_t next;

	if (count)
		qsort((void *)of, count, sizeof(*of), compare_modules);
	for (size_t i = 0; i < count && ok; i = next) {
		next = i + 1;
		while (next < count && !strcmp(of[next]->module, of[i]->module))
			next++;
		ok = resolve_module(frames, of + i, next - i);
	}
	return ok;
}

bool frames_resolve(struct frames *frames,
		    const struct recording_stacks *stacks)
{
	struct frame **of;
	size_t count = 0;
	bool ok;

	make_unique(frames);
	if (stacks->place)
		return name_all(frames, stacks);
	of = malloc((frames->count + 1) * sizeof(struct frame *));
	if (!of)
		return false;
	for (size_t i = 0; i < frames->count; i++) {
		locate(&frames->frames[i], stacks);
		if (frames->frames[i].module)
			of[count++] = &frames->frames[i];
	}
	ok = resolve_modules(frames, of, count);
	free((void *)of);
	return ok;
}

/* ---- as text ---- */

size_t frames_lines(const struct frame *frame)
{
	return frame->count ? frame->count : 1;
}

/* "libx.so+0x1a2b"; without a module the address, "??" if there is none. */
static char *address_text(const struct frame *frame)
{
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;
	const char *name = slash ? slash + 1 : frame->module;
	char *text;
	int bytes;

	if (frame->named)
		return strdup("??");
	bytes = asprintf(&text, "%s%s0x%" PRIx64, name ? name : "",
			 name ? "+" : "", frame->offset);
	return bytes < 0 ? NULL : text;
}

static const struct frame_place *place_of(const struct frame *frame,
					  size_t line)
{
	return line < frame->count ? &frame->places[line] : NULL;
}

char *frames_function(const struct frame *frame, size_t line)
{
	const struct frame_place *place = place_of(frame, line);

	return place && place->function ? strdup(place->function)
					: address_text(frame);
}

char *frames_line(const struct frame *frame, size_t line)
{
	const struct frame_place *place = place_of(frame, line);
	char *function = frames_function(frame, line), *text = NULL;
	char *address;
	int bytes;

	if (!function || !place || (frame->named && !place->file))
		return function;
	address = address_text(frame);
	if (!place->file)
		bytes = asprintf(&text, "%s at %s", function,
				 address ? address : "");
	else if (place->line)
		bytes = asprintf(&text, "%s at %s:%" PRIu32, function,
				 place->file, place->line);
	else
		bytes = asprintf(&text, "%s at %s", function, place->file);
	free(function);
	free(address);
	return bytes < 0 ? NULL : text;
}
