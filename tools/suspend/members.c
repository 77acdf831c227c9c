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

enum { LINE = 512 };

/* The first line of /proc/PID/`file`; false: there is none. */
static bool read_line(pid_t pid, const char *file, char line_out[LINE])
{
	char path[64];
	FILE *stream;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	stream = fopen(path, "re");
	ok = stream && fgets(line_out, LINE, stream);
	if (stream)
		(void)fclose(stream);
	return ok;
}

void members_name(pid_t pid, char *name_out, size_t bytes)
{
	char line[LINE] = "";

	if (!read_line(pid, "comm", line))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	snprintf(name_out, bytes, "%s", line);
}

uint64_t members_resident(pid_t pid)
{
	long page = sysconf(_SC_PAGESIZE);
	char line[LINE];
	uint64_t pages;

	if (page <= 0 || !read_line(pid, "statm", line) ||
	    sscanf(line, "%*s %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)page;
}

/* Behind the name, which may have anything in it. 0: it is gone. */
static pid_t parent_of(pid_t pid)
{
	char line[LINE];
	const char *end;
	long parent;

	if (!read_line(pid, "stat", line))
		return 0;
	end = strrchr(line, ')');
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
