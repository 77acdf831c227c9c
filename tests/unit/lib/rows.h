/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The rows of gpumem_device_report(), read from its JSON: for the tests of what
 * they say. Only the main thread calls it.
 */
#ifndef LIB_ROWS_H
#define LIB_ROWS_H

#include "json.h"

struct row {
	char what[32], pool[64], tag[256], stream[24];
	ull blocks, bytes, limit_bytes, held_bytes;
	bool beside;
};

static struct {
	char text[1 << 18];
	size_t used;
	ull total_bytes;
	struct row row[512];
	unsigned count;
} rows;

LIB_USE void rows_write(const char *text, void *user)
{
	size_t length = strlen(text);

	if (user != &rows || rows.used + length >= sizeof(rows.text))
		bail("a report of %zu bytes", rows.used + length);
	memcpy(rows.text + rows.used, text, length + 1);
	rows.used += length;
}

LIB_USE void rows_read(gpumem_device *from)
{
	const char *at, *beside;

	rows.used = rows.count = 0;
	must(gpumem_device_report(from, GPUMEM_PRINT_JSON, rows_write, &rows));
	beside = strstr(rows.text, "\"beside\": [");
	rows.total_bytes = json_number(rows.text, "total_bytes");
	for (at = rows.text; (at = strstr(at, "{\"what\": ")); at++) {
		struct row *row = &rows.row[rows.count++];
		const char *end = strchr(at, '}');

		if (rows.count == sizeof(rows.row) / sizeof(*row))
			bail("too many rows");
		json_member_before(at, end, "what", row->what,
				   sizeof(row->what));
		json_member_before(at, end, "pool", row->pool,
				   sizeof(row->pool));
		json_member_before(at, end, "tag", row->tag, sizeof(row->tag));
		json_member_before(at, end, "stream", row->stream,
				   sizeof(row->stream));
		row->blocks = json_number_before(at, end, "blocks");
		row->bytes = json_number_before(at, end, "bytes");
		row->limit_bytes = json_number_before(at, end, "limit_bytes");
		row->held_bytes = json_number_before(at, end, "held_bytes");
		row->beside = at > beside;
	}
}

/* Of the rows of a pool ("": of none), or with NULL of all, that are (NULL: of
 * any kind but those beside). */
LIB_USE ull rows_sum(const char *pool, const char *what)
{
	ull bytes = 0;

	for (unsigned i = 0; i < rows.count; i++) {
		const struct row *row = &rows.row[i];

		if ((!pool || !strcmp(row->pool, pool)) &&
		    (what ? !strcmp(row->what, what) : !row->beside))
			bytes += row->bytes;
	}
	return bytes;
}

#endif
