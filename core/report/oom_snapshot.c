/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* When a snapshot is written, and to which files; see oom_snapshot.h. A mutex
 * of its own guards the name. */
#include "oom_snapshot.h"
#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "base/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NAME_BYTES = 512 };

/* What the option said when something was written last. */
static char written[NAME_BYTES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* True: the caller is to write it, and no other. */
static bool is_new(char name[NAME_BYTES], bool claim)
{
	bool is;

	if (!gm_option_given(GM_TEXT_oom_snapshot, name, NAME_BYTES) || !*name)
		return false;
	pthread_mutex_lock(&mutex);
	is = strcmp(name, written) != 0;
	if (is && claim)
		memcpy(written, name, NAME_BYTES);
	pthread_mutex_unlock(&mutex);
	return is;
}

bool gm_snapshot_wanted(void)
{
	char name[NAME_BYTES];

	return is_new(name, false);
}

/* ---- a file ---- */

static void flush(struct gm_sink *sink)
{
	const char *at = sink->buffer;

	sink->failed |= sink->used > sink->room_bytes;
	while (sink->used && !sink->failed) {
		ssize_t done = write(sink->fd, at, sink->used);

		if (done < 0 && errno == EINTR)
			continue;
		sink->failed = done <= 0;
		if (sink->failed)
			break;
		at += done;
		sink->used -= (size_t)done;
		sink->room_bytes -= (uint64_t)done;
	}
	sink->used = 0;
}

void gm_sink_write(const void *bytes, size_t count, void *user)
{
	struct gm_sink *sink = user;
	const char *from = bytes;

	while (count && !sink->failed) {
		size_t part = sizeof(sink->buffer) - sink->used;

		if (part > count)
			part = count;
		memcpy(sink->buffer + sink->used, from, part);
		sink->used += part;
		from += part;
		count -= part;
		if (sink->used == sizeof(sink->buffer))
			flush(sink);
	}
}

static uint64_t room_bytes(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) ||
			       limit.rlim_cur == RLIM_INFINITY
		       ? UINT64_MAX
		       : limit.rlim_cur;
}

struct snapshot {
	struct gm_found found;
	const struct gm_oom *oom;
	const char *text;
	struct gm_sink sink;
	char name[GM_PATH_BYTES];
};

static void complain(const char *name, const char *why)
{
	gm_log(GPUMEM_LOG_ERROR, "option \"oom_snapshot\": \"%.400s\": %s",
	       name, why);
}

static void write_file(struct snapshot *snapshot, bool as_text)
{
	struct gm_sink *sink = &snapshot->sink;
	struct gm_own own;

	if (!gm_own_begin(&own, snapshot->name, 0600)) {
		complain(snapshot->name, own.why);
		return;
	}
	sink->fd = own.fd;
	sink->room_bytes = room_bytes();
	sink->used = 0;
	sink->failed = false;
	if (as_text)
		gm_snapshot_text(&snapshot->found, snapshot->oom,
				 snapshot->text, sink);
	else
		gm_snapshot_write(&snapshot->found, snapshot->oom, sink);
	flush(sink);
	if (sink->failed) {
		complain(snapshot->name, "not all of it could be written");
		gm_own_drop(&own);
	} else if (!gm_own_keep(&own)) {
		complain(snapshot->name, own.why);
	} else {
		close(own.fd);
	}
}

/* ---- both ---- */

static void write_both(struct snapshot *snapshot, const char *name)
{
	enum { SUFFIX = sizeof(".txt") };

	if (!gm_path_expand(name, snapshot->name, GM_PATH_BYTES - SUFFIX)) {
		complain(name, "the name is too long");
		return;
	}
	if (!gm_found_collect(&snapshot->found)) {
		complain(name, "no host memory for a snapshot");
		return;
	}
	write_file(snapshot, false);
	strcat(snapshot->name, ".txt");
	write_file(snapshot, true);
}

void gm_snapshot_tell(const struct gm_oom *oom, const char *text)
{
	struct snapshot *snapshot;
	char name[NAME_BYTES];

	if (!is_new(name, true))
		return;
	snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot) {
		complain(name, "no host memory for a snapshot");
		return;
	}
	snapshot->oom = oom;
	snapshot->text = text;
	write_both(snapshot, name);
	gm_found_end(&snapshot->found);
	free(snapshot);
}
