/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See rmm.h. Lines are in the order in which they were written; a time has no
 * date, and begins again at midnight.
 */
#include "rmm.h"

#include "foreign.h"
#include "tool.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 16, LINE_BYTES = 1024 };

enum column { THREAD, TIME, ACTION, POINTER, SIZE, STREAM, COLUMN_COUNT };

static const char *const names[COLUMN_COUNT] = {"Thread",  "Time", "Action",
						"Pointer", "Size", "Stream"};

#define DAY_US (UINT64_C(86400) * 1000000)

struct rmm {
	struct foreign foreign;
	size_t place[COLUMN_COUNT]; /* COLUMNS: the log has none */
	size_t columns;
	uint64_t day_us, last_us;
	bool cut; /* the line has no end */
	char text[LINE_BYTES];
	char *field[COLUMNS];
};

/* ---- fields ---- */

static size_t split(struct rmm *rmm)
{
	size_t count = 0;
	char *at = rmm->text;

	while (count < COLUMNS) {
		rmm->field[count++] = at;
		at = strchr(at, ',');
		if (!at)
			break;
		*at++ = '\0';
	}
	return count;
}

static const char *field_of(const struct rmm *rmm, enum column column)
{
	size_t place = rmm->place[column];

	return place < rmm->columns ? rmm->field[place] : "";
}

/* HH:MM:SS and a fraction behind a point or colon; a date in front of it counts
 * for nothing. */
static uint64_t read_time(struct rmm *rmm)
{
	const char *text = field_of(rmm, TIME);
	const char *space = strrchr(text, ' ');
	unsigned hours, minutes, seconds;
	uint64_t us, unit = 1000000;
	int used = 0;

	if (sscanf(space ? space + 1 : text, "%2u:%2u:%2u%n", &hours, &minutes,
		   &seconds, &used) != 3)
		return rmm->last_us;
	us = ((uint64_t)hours * 60 + minutes) * 60 + seconds;
	us *= unit;
	text = (space ? space + 1 : text) + used;
	for (text += *text != '\0'; isdigit((unsigned char)*text); text++) {
		unit /= 10;
		us += unit * (uint64_t)(*text - '0');
	}
	us += rmm->day_us;
	if (us + DAY_US / 2 < rmm->last_us) {
		rmm->day_us += DAY_US;
		us += DAY_US;
	}
	if (us > rmm->last_us)
		rmm->last_us = us;
	return us;
}

/* ---- lines ---- */

static bool read_head(struct rmm *rmm)
{
	rmm->columns = split(rmm);
	for (size_t i = 0; i < COLUMN_COUNT; i++)
		rmm->place[i] = COLUMNS;
	for (size_t i = 0; i < rmm->columns; i++) {
		size_t j = 0;

		while (j < COLUMN_COUNT && strcmp(rmm->field[i], names[j]))
			j++;
		if (j < COLUMN_COUNT)
			rmm->place[j] = i;
		else if (!torch_unknown(rmm->foreign.history, "column",
					rmm->field[i], strlen(rmm->field[i])))
			return false;
	}
	if (rmm->place[ACTION] == COLUMNS || rmm->place[POINTER] == COLUMNS ||
	    rmm->place[SIZE] == COLUMNS)
		return foreign_fail(
			&rmm->foreign,
			"expected the columns Action, Pointer, Size");
	return true;
}

static bool act(struct rmm *rmm, struct torch_event event)
{
	struct torch_device *device = foreign_pool(&rmm->foreign, 0);
	const char *action = field_of(rmm, ACTION);

	if (!strcmp(action, "allocate failure")) {
		event.kind = GPUMEM_RECORD_OOM;
		return torch_events_add(device->events, event) ||
		       torch_no_memory(rmm->foreign.history);
	}
	if (!strcmp(action, "allocate"))
		return !event.address || !event.bytes ||
		       torch_alloc(device, event);
	if (!strcmp(action, "free"))
		return !event.address || !event.bytes ||
		       torch_free(device, event, true);
	return torch_unknown(rmm->foreign.history, "action", action,
			     strlen(action));
}

static bool read_line(struct rmm *rmm)
{
	struct torch_event event = {0};
	uint64_t thread = 0;

	size_t fields = split(rmm);

	/* Its program was killed while it wrote: a number may lack digits,
	 * unless that of the stream was begun. */
	if (rmm->cut &&
	    (fields < rmm->columns || rmm->place[STREAM] + 1 != rmm->columns)) {
		rmm->foreign.history->damaged++;
		return true;
	}
	if (fields != rmm->columns)
		return foreign_fail(
			&rmm->foreign,
			"it has not as many fields as the first line");
	event.us = read_time(rmm);
	if (!rmm->foreign.history->begin_us)
		rmm->foreign.history->begin_us = event.us;
	if (!foreign_pointer(field_of(rmm, POINTER), &event.address))
		return foreign_fail(&rmm->foreign,
				    "expected an address as Pointer");
	if (!tool_parse_count(field_of(rmm, SIZE), UINT64_MAX, &event.bytes))
		return foreign_fail(&rmm->foreign,
				    "expected a number of bytes as Size");
	if (event.bytes > RECORDING_BYTES_MAX)
		return foreign_fail(&rmm->foreign,
				    "no block is as large as its Size");
	if (!foreign_pointer(field_of(rmm, STREAM), &event.stream))
		event.stream = 0;
	(void)tool_parse_count(field_of(rmm, THREAD), UINT32_MAX, &thread);
	event.thread = (uint32_t)thread;
	return act(rmm, event);
}

/* The next line, without its end, into text; false: there is none. */
static bool next_line(struct rmm *rmm, const char **at, const char *end,
		      bool *ok)
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));
	size_t bytes = (size_t)((newline ? newline : end) - *at);

	if (*at == end)
		return false;
	rmm->foreign.line++;
	if (bytes >= LINE_BYTES || memchr(*at, '\0', bytes)) {
		*ok = foreign_fail(&rmm->foreign, "it is no line of RMM's");
		return false;
	}
	memcpy(rmm->text, *at, bytes);
	if (bytes && rmm->text[bytes - 1] == '\r')
		bytes--;
	rmm->text[bytes] = '\0';
	*at = newline ? newline + 1 : end;
	rmm->cut = !newline;
	return true;
}

static bool read_all(struct rmm *rmm, const char *at, const char *end)
{
	bool ok = true;

	while (ok && next_line(rmm, &at, end, &ok))
		if (*rmm->text)
			ok = rmm->foreign.line == 1 ? read_head(rmm)
						    : read_line(rmm);
	return ok;
}

/* ---- the whole ---- */

bool rmm_is(const void *data, size_t bytes)
{
	const char *text = data;
	const char *newline = memchr(text, '\n', bytes);
	size_t length = newline ? (size_t)(newline - text) : bytes;

	return length < LINE_BYTES && memmem(text, length, "Action", 6) &&
	       memmem(text, length, "Pointer", 7) &&
	       memmem(text, length, "Size", 4) && memchr(text, ',', length);
}

bool rmm_open(struct torch_history *history, const void *data, size_t bytes)
{
	struct rmm *rmm = calloc(1, sizeof(*rmm));
	bool ok = rmm != NULL;

	torch_history_init(history, "RMM", "log of RMM");
	if (!ok)
		return torch_no_memory(history);
	ok = foreign_begin(&rmm->foreign, history) &&
	     read_all(rmm, data, (const char *)data + bytes);
	ok = foreign_end(&rmm->foreign, ok);
	free(rmm);
	return torch_history_finish(history, ok);
}
