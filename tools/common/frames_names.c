/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See frames.h: asks addr2line. Addresses and answers go through temporary
 * files, so that neither process waits for the other's pipe; an answer begins
 * with its address, so that none is taken for another's.
 */
#include "frames.h"

#include "process.h"
#include "tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 64 }; /* of a frame; more are left out */

/* ---- what it says ---- */

/* Without the end of the line; false: there is none. */
static bool read_line(FILE *file, char **line, size_t *room)
{
	ssize_t bytes = getline(line, room, file);

	if (bytes < 0)
		return false;
	if (bytes && (*line)[bytes - 1] == '\n')
		(*line)[bytes - 1] = '\0';
	return true;
}

/* NULL: it is not known, or memory ran out. */
static char *known(const char *text, bool *ok)
{
	char *copy = strcmp(text, "??") ? strdup(text) : NULL;

	*ok = *ok && (copy || !strcmp(text, "??"));
	return copy;
}

/* "FILE:LINE", "FILE:?", and " (discriminator 3)" behind it. */
static void split_place(char *text, uint32_t *line_out)
{
	char *colon = strrchr(text, ':');
	unsigned long line;

	*line_out = 0;
	if (!colon)
		return;
	*colon = '\0';
	line = strtoul(colon + 1, NULL, 10);
	if (line <= UINT32_MAX)
		*line_out = (uint32_t)line;
}

static bool add_place(struct frame *frame, const char *function, char *where)
{
	struct frame_place place = {0}, *larger;
	bool ok = true;

	split_place(where, &place.line);
	place.function = known(function, &ok);
	place.file = known(where, &ok);
	if (ok && frame->count < PLACES && (place.function || place.file)) {
		larger = realloc(frame->places,
				 (frame->count + 1) * sizeof(*larger));
		if (larger) {
			frame->places = larger;
			frame->places[frame->count++] = place;
			return true;
		}
		ok = false;
	}
	free(place.function);
	free(place.file);
	return ok;
}

/* An address in a line of its own, then two lines for each of its places. What
 * is none of this ends it. */
static bool read_answers(FILE *answers, struct frame **of, size_t count)
{
	char *line = NULL, *where = NULL;
	size_t room = 0, where_room = 0, next = 0;
	bool ok = true;

	while (ok && read_line(answers, &line, &room)) {
		if (!strncmp(line, "0x", 2)) {
			if (next == count ||
			    strtoull(line, NULL, 16) != of[next]->offset)
				break;
			next++;
			continue;
		}
		if (!next || !read_line(answers, &where, &where_room))
			break;
		ok = add_place(of[next - 1], line, where);
	}
	free(line);
	free(where);
	return ok;
}

/* ---- the process ---- */

static bool write_addresses(FILE *file, struct frame **of, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(file, "0x%" PRIx64 "\n", of[i]->offset);
	return !fflush(file) && !ferror(file) &&
	       !lseek(fileno(file), 0, SEEK_SET);
}

static bool ask(struct frames *frames, struct frame **of, size_t count,
		FILE *addresses, FILE *answers)
{
	char *argv[] = {"addr2line",
			"-a",
			"-f",
			"-C",
			"-i",
			"-e",
			(char *)(uintptr_t)of[0]->module,
			NULL};
	int error, code;

	if (!write_addresses(addresses, of, count))
		return true;
	/* What it finds wrong with the file's symbols changes nothing here. */
	error = process_run(argv, fileno(addresses), fileno(answers), true,
			    &code);
	if (error) {
		tool_error("functions are shown as addresses: addr2line: %s",
			   error == ENOENT ? "it is not installed (Debian's "
					     "binutils)"
					   : strerror(error));
		frames->missing = true;
		return true;
	}
	rewind(answers);
	return read_answers(answers, of, count);
}

bool frames_names(struct frames *frames, struct frame **of, size_t count)
{
	FILE *addresses = tmpfile(), *answers = tmpfile();
	bool ok = !addresses || !answers ||
		  ask(frames, of, count, addresses, answers);

	if (addresses)
		fclose(addresses);
	if (answers)
		fclose(answers);
	return ok;
}
