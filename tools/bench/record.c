/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What an event of a recording costs: the hot pair without one and with one, by
 * turns in each round. The file is overwritten from its beginning before that
 * is timed, so that no page of it is new. See bench.h.
 */
#include "bench.h"

#include "common/human.h"
#include "common/tool.h"

#include <stdlib.h>
#include <unistd.h>

/* More events than the file has room for: each is 16 bytes. */
enum { FILE_BYTES = 4 << 20, FILL_PAIRS = FILE_BYTES / 16 / 2 + 65536 };

struct record {
	struct bench_target target;
	size_t bytes;
	double plain_ns, recorded_ns; /* of all pairs that were timed */
};

static void *begin(struct bench *bench, const struct bench_case *what,
		   const struct bench_target *target)
{
	struct record *record = malloc(sizeof(*record));

	(void)bench;
	if (record)
		*record = (struct record){.target = *target,
					  .bytes = (size_t)what->arg[0]};
	return record;
}

static bool pairs(const struct record *record, uint64_t count, double *ns_out)
{
	uint64_t start = clock_ns();

	for (uint64_t i = 0; i < count; i++) {
		void *ptr = bench_get(&record->target, record->bytes, NULL);

		if (!ptr || !bench_put(&record->target, ptr, NULL))
			return false;
	}
	*ns_out = (double)(clock_ns() - start) / (double)count;
	return true;
}

/* The file has no name any more when it returns. */
static bool start_recording(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int file;
	bool ok;

	snprintf(path, sizeof(path), "%s/gpumem-bench-XXXXXX",
		 folder && *folder ? folder : "/tmp");
	file = mkstemp(path);
	if (file < 0) {
		tool_error("%s: no file can be made", path);
		return false;
	}
	close(file);
	ok = gpumem_record_begin(path, FILE_BYTES) == GPUMEM_OK;
	unlink(path);
	return ok;
}

/* Of the pool only: others have nothing of the kind. */
static double run(void *state, uint64_t iterations)
{
	struct record *record = state;
	double plain, recorded, unused;
	bool ok;

	if (record->target.peer->malloc || !pairs(record, iterations, &plain) ||
	    !start_recording())
		return -1.0;
	ok = pairs(record, FILL_PAIRS, &unused) &&
	     pairs(record, iterations, &recorded);
	if (gpumem_record_end() != GPUMEM_OK || !ok)
		return -1.0;
	record->plain_ns += plain * (double)iterations;
	record->recorded_ns += recorded * (double)iterations;
	return recorded > plain ? (recorded - plain) / 2 : 0.0;
}

static void extras(void *state, const struct gpumem_stats *stats,
		   struct bench_row *row)
{
	const struct record *record = state;

	(void)stats;
	bench_add_extra(row, "times a pair",
			record->recorded_ns / record->plain_ns);
}

bool bench_record(struct bench *bench)
{
	static const uint64_t sizes[] = {256, 1 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char name[HUMAN_BYTES];
		struct bench_case what = {
			.bench = "record",
			.name = human_bytes(name, sizes[i]),
			.unit = "event",
			.arg = {sizes[i]},
			.begin = begin,
			.run = run,
			.end = free,
			.extras = extras,
		};

		if (!bench_measure(bench, &what))
			return false;
	}
	return true;
}
