/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What happened, and to which addresses: the last lines of each. */
#include "model.h"

enum { LINES = 8192, TEXT = 112, SHOWN = 40, LAST = 12 };

struct line {
	uintptr_t address;
	uint64_t bytes, step;
	char text[TEXT];
};

static struct line line[LINES]; /* a ring */
static uint64_t lines;
bool say_aloud;

void say(uintptr_t address, uint64_t bytes, const char *format, ...)
{
	struct line *new = &line[lines++ % LINES];
	va_list args;

	va_start(args, format);
	vsnprintf(new->text, sizeof(new->text), format, args);
	va_end(args);
	new->address = address;
	new->bytes = bytes;
	new->step = world.step;
	if (!say_aloud)
		return;
	if (bytes)
		diag("%4llu %#zx-%#zx %s", (ull) new->step, (size_t)address,
		     (size_t)(address + bytes), new->text);
	else
		diag("%4llu %s", (ull) new->step, new->text);
}

static bool concerns(const struct line *l, uintptr_t address)
{
	return address - l->address < l->bytes;
}

static void add(char *text, size_t room, const struct line *l)
{
	size_t used = strlen(text);

	snprintf(text + used, room - used, "  %4llu %s\n", (ull)l->step,
		 l->text);
}

void history(uintptr_t address, char *text, size_t room)
{
	uint64_t first = lines > LINES ? lines - LINES : 0, shown = 0;

	for (uint64_t i = first; i < lines; i++)
		shown += concerns(&line[i % LINES], address);
	text[0] = '\0';
	for (uint64_t i = first; i < lines; i++) {
		const struct line *l = &line[i % LINES];
		bool last = i + LAST >= lines;

		if (concerns(l, address) && shown-- <= SHOWN)
			add(text, room, l);
		else if (last)
			add(text, room, l);
	}
}
