/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See owner.h. */
#include "keep/owner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Behind the name, which may have anything in it: the state, and 18 numbers
 * before the one that is meant. */
uint64_t owner_started(pid_t pid)
{
	char path[64], text[1024];
	uint64_t started = 0;
	const char *end;
	size_t bytes;
	FILE *file;
	char state;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	bytes = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[bytes] = '\0';
	end = strrchr(text, ')');
	if (!end ||
	    sscanf(end + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %*s %" SCNu64,
		   &state, &started) != 2 ||
	    state == 'Z' || state == 'X')
		return 0;
	return started;
}
