/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See rmm.h. Lines are in the order in which they were written; a time has no
 * date, and begins again at midnight.
 */
#include "rmm.h"

#include "tool.h"
#include "torch_device.h"

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
	struct torch_history *history;
	struct torch_device device;
	size_t place[COLUMN_COUNT]; /* COLUMNS: the log has none */
	size_t columns;
	uint64_t line, day_us, last_us;
	bool cut; /* the line has no end */
	char text[LINE_BYTES];
	char *field[COLUMNS];
};

static bool fail(struct rmm *rmm, const char *reason)
{
	snprintf(rmm->history->reason, sizeof(rmm->history->reason),
		 "line %llu: %s", (unsigned long long)rmm->line, reason);
	return false;
}

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

/* Of an address, or a stream: as C++ prints it. */
static bool read_pointer(const char *text, uint64_t *value_out)
{
	char *end;

	*value_out = 0;
	if (!strcmp(text, "(nil)") || !strcmp(text, "nullptr"))
		return true;
	if (!isxdigit((unsigned char)*text))
		return false;
	*value_out = strtoull(text, &end, 16);
	return !*end;
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
		else if (!torch_unknown(rmm->history, "column", rmm->field[i],
					strlen(rmm->field[i])))
			return false;
	}
	if (rmm->place[ACTION] == COLUMNS || rmm->place[POINTER] == COLUMNS ||
	    rmm->place[SIZE] == COLUMNS)
		return fail(rmm, "expected the columns Action, Pointer, Size");
	return true;
}

static bool act(struct rmm *rmm, struct torch_event event)
{
	const char *action = field_of(rmm, ACTION);

	if (!strcmp(action, "allocate failure")) {
		event.kind = GPUMEM_RECORD_OOM;
		return torch_events_add(rmm->device.events, event) ||
		       torch_no_memory(rmm->history);
	}
	if (!strcmp(action, "allocate"))
		return !event.address || !event.bytes ||
		       torch_alloc(&rmm->device, event);
	if (!strcmp(action, "free"))
		return !event.address || !event.bytes ||
		       torch_free(&rmm->device, event, true);
	return torch_unknown(rmm->history, "action", action, strlen(action));
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
		rmm->history->damaged++;
		return true;
	}
	if (fields != rmm->columns)
		return fail(rmm, "it has not as many fields as the first line");
	event.us = read_time(rmm);
	if (!rmm->history->begin_us)
		rmm->history->begin_us = event.us;
	if (!read_pointer(field_of(rmm, POINTER), &event.address))
		return fail(rmm, "expected an address as Pointer");
	if (!tool_parse_count(field_of(rmm, SIZE), UINT64_MAX, &event.bytes))
		return fail(rmm, "expected a number of bytes as Size");
	if (event.bytes > RECORDING_BYTES_MAX)
		return fail(rmm, "no block is as large as its Size");
	if (!read_pointer(field_of(rmm, STREAM), &event.stream))
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
	rmm->line++;
	if (bytes >= LINE_BYTES || memchr(*at, '\0', bytes)) {
		*ok = fail(rmm, "it is no line of RMM's");
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
			ok = rmm->line == 1 ? read_head(rmm) : read_line(rmm);
	return ok && torch_finish(&rmm->device);
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
	rmm->history = history;
	torch_device_init(&rmm->device, history, NULL, 0);
	ok = read_all(rmm, data, (const char *)data + bytes);
	torch_device_free(&rmm->device);
	free(rmm);
	return torch_history_finish(history, ok);
}
