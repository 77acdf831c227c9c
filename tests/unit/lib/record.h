/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A recording of a test's own, in a folder of its own: begun, ended, read and
 * judged. Each test program includes this once. The main thread only.
 */
#ifndef LIB_RECORD_H
#define LIB_RECORD_H

#include "fixture.h"
#include "../../recording_judge.h"

#include <sys/stat.h>

static char folder[] = "/tmp/gpumem-record-XXXXXX";
static char path[128];

LIB_USE void begin(void)
{
	must(gpumem_record_begin(path, 0));
}

/* Ends it, and reads it. */
LIB_USE struct recording end(void)
{
	struct recording recording;

	must(gpumem_record_end());
	rec_read(path, &recording);
	rec_judge(&recording);
	return recording;
}

LIB_USE void whole(struct recording *recording, const char *what)
{
	ok(!recording->bad && !recording->twice && !recording->unknown &&
		   !recording->sizes && !recording->header.lost_events &&
		   !recording->header.overwritten_events &&
		   recording->header.end_ns > recording->header.begin_ns,
	   "%s: %zu bad, %zu twice, %zu unknown, %zu sizes", what,
	   recording->bad, recording->twice, recording->unknown,
	   recording->sizes);
}

LIB_USE void folder_make(void)
{
	if (!mkdtemp(folder))
		bail("no folder in /tmp");
	snprintf(path, sizeof(path), "%s/record", folder);
}

LIB_USE void folder_remove(void)
{
	unlink(path);
	ok(!rmdir(folder), "nothing is left behind");
}

#endif
