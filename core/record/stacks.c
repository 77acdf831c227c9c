/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stacks of a recording: each is defined once, with the modules that its
 * addresses lie in, so that a reader finds their names in the modules' files.
 * The kernel's list of mappings tells these without a lock of the dynamic
 * linker's, which is not to be taken here (base/stack.h). A module is the one
 * that was there when its first stack was defined: of two that were loaded to
 * the same addresses one after the other, the first.
 *
 * The mutex of the file guards it.
 */
#include "file.h"
#include "base/stack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAPS "/proc/self/maps"

enum {
	MODULES_MAX = 1024,
	/* A line has at most a path, and some 80 bytes before it. */
	LINES_BYTES = 8192
};

/* Of this recording. A stack's own mark is its generation. */
static struct {
	uint32_t generation;
	unsigned count;
	struct gm_record_range {
		uintptr_t begin, end;
	} of[MODULES_MAX];
} modules;

/* ---- lines of a file ---- */

/*
 *     text[at .. used - 1] was read and not given out; a line that does not fit
 *     is left out
 */
struct lines {
	int fd;
	size_t at, used;
	char text[LINES_BYTES];
};

/* Keeps what is not given out; false: the file is over. */
static bool read_more(struct lines *lines)
{
	ssize_t bytes;

	if (lines->at == 0 && lines->used == sizeof(lines->text))
		lines->used = 0;
	memmove(lines->text, lines->text + lines->at, lines->used - lines->at);
	lines->used -= lines->at;
	lines->at = 0;
	bytes = read(lines->fd, lines->text + lines->used,
		     sizeof(lines->text) - lines->used);
	if (bytes > 0)
		lines->used += (size_t)bytes;
	return bytes > 0;
}

/* The next line, ended by a NUL; NULL: there is none. */
static const char *next_line(struct lines *lines)
{
	for (;;) {
		char *begin = lines->text + lines->at;
		char *end = memchr(begin, '\n', lines->used - lines->at);

		if (end) {
			*end = '\0';
			lines->at = (size_t)(end - lines->text) + 1;
			return begin;
		}
		if (!read_more(lines))
			return NULL;
	}
}

/* ---- modules ---- */

/* Behind a call that does not return another module may begin: the call is at
 * the byte before. */
static uintptr_t call_of(const struct gm_stack *stack, uint32_t frame)
{
	return (uintptr_t)stack->frame[frame] - 1;
}

static bool is_known(uintptr_t address)
{
	for (unsigned i = 0; i < modules.count; i++)
		if (address >= modules.of[i].begin &&
		    address < modules.of[i].end)
			return true;
	return false;
}

static bool all_known(const struct gm_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (!is_known(call_of(stack, i)))
			return false;
	return true;
}

static bool holds_any(const struct gm_record_range *range,
		      const struct gm_stack *stack)
{
	for (uint32_t i = 0; i < stack->count; i++)
		if (call_of(stack, i) >= range->begin &&
		    call_of(stack, i) < range->end)
			return true;
	return false;
}

/* "begin-end rwxp ..."; false: it is none, or not of code. */
static bool read_range(const char *line, struct gm_record_range *range_out)
{
	char *at;

	range_out->begin = (uintptr_t)strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	range_out->end = (uintptr_t)strtoull(at + 1, &at, 16);
	return strnlen(at, 4) == 4 && at[3] == 'x';
}

static void define_module(const char *line, const struct gm_record_range *range)
{
	size_t bytes = strlen(line) + 1;
	char *text = gm_record_define(GPUMEM_RECORD_DEFINITION_MODULE,
				      modules.count + 1, bytes);

	/* It is known even if there was no place: it was counted, once. */
	modules.of[modules.count++] = *range;
	if (!text)
		return;
	memcpy(text, line, bytes);
	gm_record_publish(text);
}

static void look_through(struct lines *lines, const struct gm_stack *stack)
{
	struct gm_record_range range;
	const char *line;

	while (modules.count < MODULES_MAX && (line = next_line(lines)))
		if (read_range(line, &range) && !is_known(range.begin) &&
		    holds_any(&range, stack))
			define_module(line, &range);
}

static void define_modules(const struct gm_stack *stack)
{
	static struct lines lines;

	if (modules.count == MODULES_MAX || all_known(stack))
		return;
	lines.at = lines.used = 0;
	lines.fd = open(MAPS, O_RDONLY | O_CLOEXEC);
	if (lines.fd < 0)
		return;
	look_through(&lines, stack);
	close(lines.fd);
}

/* ---- stacks ---- */

static uint64_t number_of(const struct gm_stack *stack)
{
	return (uintptr_t)stack;
}

/* Stacks are constant to all others. */
static _Atomic uint32_t *mark_of(const struct gm_stack *stack)
{
	return &((struct gm_stack *)(uintptr_t)stack)->recorded;
}

static void define_stack(const struct gm_stack *stack)
{
	size_t bytes = stack->count * sizeof(uint64_t);
	char *text = gm_record_define(GPUMEM_RECORD_DEFINITION_STACK,
				      number_of(stack), bytes);

	_Static_assert(sizeof(stack->frame[0]) == sizeof(uint64_t),
		       "an address has 8 bytes");
	if (!text)
		return;
	memcpy(text, stack->frame, bytes);
	gm_record_publish(text);
}

static void define(const struct gm_stack *stack, uint32_t generation)
{
	struct gm_record_file *file = &gm_record_file;

	pthread_mutex_lock(&file->mutex);
	if (modules.generation != generation) {
		modules.generation = generation;
		modules.count = 0;
	}
	if (atomic_load(mark_of(stack)) != generation) {
		define_modules(stack);
		define_stack(stack);
		atomic_store(mark_of(stack), generation);
	}
	pthread_mutex_unlock(&file->mutex);
}

void gm_record_block_with_stack(const struct gm_record_block *block,
				const struct gm_stack *stack)
{
	uint32_t generation = atomic_load_explicit(&gm_recorder.generation,
						   memory_order_relaxed);
	/* A STACK, a BYTES, and its own. */
	const unsigned events = 3;

	if (atomic_load_explicit(mark_of(stack), memory_order_acquire) !=
	    generation)
		define(stack, generation);
	if (!gm_record_ready(block->time, block->pool, block->stream, events) &&
	    !gm_record_prepare(block->time, block->pool, block->stream, events))
		return;
	gm_record_put(block->time, GPUMEM_RECORD_STACK, 0, 0, number_of(stack));
	gm_record_block(block);
}
