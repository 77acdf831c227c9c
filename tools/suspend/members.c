/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See members.h. What ends meanwhile is not there. */
#include "suspend/members.h"
#include "common/tool.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 512 };

/* How /proc/PID/`file` begins; a name in it may have several lines. False:
 * there is none. */
static bool read_text(pid_t pid, const char *file, char text_out[TEXT])
{
	char path[64];
	FILE *stream;
	size_t bytes = 0;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	stream = fopen(path, "re");
	if (stream) {
		bytes = fread(text_out, 1, TEXT - 1, stream);
		(void)fclose(stream);
	}
	text_out[bytes] = '\0';
	return bytes;
}

void members_name(pid_t pid, char *name_out, size_t bytes)
{
	char text[TEXT];

	(void)read_text(pid, "comm", text);
	text[strcspn(text, "\n")] = '\0';
	snprintf(name_out, bytes, "%s", text);
}

uint64_t members_resident(pid_t pid)
{
	long page = sysconf(_SC_PAGESIZE);
	char text[TEXT];
	uint64_t pages;

	if (page <= 0 || !read_text(pid, "statm", text) ||
	    sscanf(text, "%*s %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)page;
}

/* Behind the name, which may have anything in it. 0: it is gone. */
static pid_t parent_of(pid_t pid)
{
	char text[TEXT];
	const char *end;
	long parent;

	if (!read_text(pid, "stat", text))
		return 0;
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %ld", &parent) == 1 ? (pid_t)parent
								: 0;
}

static bool append(struct members_link **links, size_t *count, pid_t pid)
{
	size_t room = *count & (*count - 1) ? 0 : *count ? *count * 2 : 1;
	struct members_link *more =
		room ? realloc(*links, room * sizeof(**links)) : *links;

	if (!more)
		return false;
	more[*count] = (struct members_link){pid, parent_of(pid)};
	*links = more;
	(*count)++;
	return true;
}

struct members_link *members_all(size_t *count_out)
{
	struct members_link *links = NULL;
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	bool ok = folder;
	size_t count = 0;

	while (ok && (entry = readdir(folder))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (pid > 0 && !*end)
			ok = append(&links, &count, (pid_t)pid);
	}
	if (!ok || !links) {
		tool_error("/proc: %s", strerror(folder ? ENOMEM : errno));
		free(links);
		links = NULL;
	}
	if (folder)
		closedir(folder);
	*count_out = count;
	return links;
}
