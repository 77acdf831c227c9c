/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Reads a recording into memory. It is not mapped: its program may be running,
 * and cut the file when it ends.
 */
#include "trace.h"

#include "common/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PIECE (1u << 20)

static bool grow(struct trace_source *source, size_t *room)
{
	size_t more = *room ? *room * 2 : 4 * (size_t)PIECE;
	void *data = realloc(source->data, more);

	if (!data)
		return false;
	source->data = data;
	*room = more;
	return true;
}

/* NULL, or why it could not be read. */
static const char *read_all(struct trace_source *source, gzFile file)
{
	size_t room = 0;
	int got, number;

	do {
		if (room - source->bytes < PIECE && !grow(source, &room))
			return "out of host memory";
		got = gzread(file, (char *)source->data + source->bytes, PIECE);
		source->bytes += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	/* At a cut gzip file gzread() says 0 and gzerror() knows. */
	(void)gzerror(file, &number);
	if (number == Z_BUF_ERROR)
		return "the file is cut off: gzip data ends too early";
	if (number == Z_ERRNO)
		return strerror(errno);
	if (number != Z_OK && number != Z_STREAM_END)
		return "damaged gzip data";
	return NULL;
}

static const char *load(struct trace_source *source, const char *path)
{
	const char *reason;
	gzFile file;

	errno = 0;
	file = strcmp(path, "-") ? gzopen(path, "rb") : gzdopen(dup(0), "rb");
	if (!file)
		return errno ? strerror(errno) : "out of host memory";
	gzbuffer(file, PIECE);
	reason = read_all(source, file);
	gzclose_r(file);
	return reason;
}

void trace_close(struct trace_source *source)
{
	recording_close(&source->recording);
	torch_close(&source->torch);
	lines_close(&source->lines);
	free(source->data);
	source->data = NULL;
}

static void anonymise(struct gpumem_record_header *header)
{
	snprintf(header->program, sizeof(header->program), "program");
	header->pid = 0;
	header->begin_real_ns = 0;
}

/* NULL, or why it cannot be opened. */
static const char *open_torch(struct trace_source *source, bool ok)
{
	struct gpumem_record_header *header = &source->recording.header;

	source->is_torch = true;
	if (!ok)
		return source->torch.reason;
	snprintf(header->program, sizeof(header->program), "%s",
		 source->torch.program);
	if (source->torch.dated)
		header->begin_real_ns = source->torch.begin_us * 1000;
	source->recording.damaged = source->torch.damaged;
	return NULL;
}

static const char *open_text(struct trace_source *source)
{
	source->is_text = true;
	return lines_open(&source->lines, source->data, source->bytes)
		       ? NULL
		       : source->lines.reason;
}

/* What it is instead, or what it might have been. */
static const char *is_nothing(const struct trace_source *source)
{
	if (lines_are(source->data, source->bytes))
		return "it is no recording but a trace, which gpumem-replay "
		       "and gpumem-report read";
	if (source->config->or_text)
		return "it is no recording, trace, snapshot or profile of "
		       "PyTorch's, or log of RMM's or Umpire's";
	return "it is no recording, snapshot or profile of PyTorch's, or log "
	       "of RMM's or Umpire's";
}

static const char *open_either(struct trace_source *source)
{
	if (torch_is(source->data, source->bytes))
		return open_torch(source,
				  torch_open(&source->torch, source->data,
					     source->bytes));
	if (source->config->or_text && lines_are(source->data, source->bytes))
		return open_text(source);
	if (!recording_is(source->data, source->bytes))
		return is_nothing(source);
	return recording_open(&source->recording, source->data, source->bytes)
		       ? NULL
		       : source->recording.reason;
}

/* NULL: there is such a pool, or all are meant. */
static const char *check_pool(const struct trace_source *source)
{
	const char *wanted = source->config->pool;
	uint64_t number;

	if (!wanted || tool_parse_count(wanted, UINT16_MAX, &number))
		return NULL;
	for (unsigned i = 0; i <= UINT16_MAX; i++) {
		const char *name =
			recording_pool(&source->recording, (uint16_t)i).name;

		if (name && !strcmp(name, wanted))
			return NULL;
	}
	return "it has no pool of that name";
}

struct recording_pool trace_pool(const struct trace_source *source,
				 uint16_t number)
{
	struct recording_pool pool = recording_pool(&source->recording, number);

	if (source->is_torch && number > TORCH_DEVICES)
		pool.kind = "pinned";
	if (source->config->anonymise)
		pool.name = NULL;
	return pool;
}

unsigned trace_device(const struct trace_source *source, uint16_t pool)
{
	const char *device = recording_pool(&source->recording, pool).device;
	const char *colon = device ? strchr(device, ':') : NULL;
	uint64_t number;

	if (source->is_torch)
		return pool - 1u;
	return colon && tool_parse_count(colon + 1, TORCH_DEVICES - 1, &number)
		       ? (unsigned)number
		       : 0;
}

const char *trace_tag(const struct trace_source *source, uint16_t number)
{
	if (source->config->anonymise)
		return NULL;
	if (source->is_torch)
		return torch_tag(&source->torch, number);
	return source->is_text ? lines_tag(&source->lines, number)
			       : recording_tag(&source->recording, number);
}

const struct recording_stacks *trace_stacks(const struct trace_source *source)
{
	return source->is_torch ? &source->torch.stacks.table
				: &source->recording.stacks;
}

const struct recording_stack *trace_stack(const struct trace_source *source,
					  uint64_t number)
{
	return source->config->anonymise
		       ? NULL
		       : recording_stacks_find(trace_stacks(source), number);
}

/* NULL, or why it is not right; `reason` says why it could not be read. */
static const char *check(struct trace_source *source, const char *reason)
{
	if (!reason)
		reason = check_pool(source);
	if (!reason && source->config->anonymise)
		anonymise(&source->recording.header);
	return reason;
}

const char *trace_open_memory(struct trace_source *source,
			      const struct trace_config *config, void *data,
			      size_t bytes)
{
	*source = (struct trace_source){
		.config = config, .data = data, .bytes = bytes};
	return check(source, open_either(source));
}

/* Of a snapshot nothing is loaded if it can be read twice. */
static const char *open_file(struct trace_source *source, const char *path)
{
	enum torch_file file = torch_open_file(&source->torch, path);
	const char *reason;

	if (file != TORCH_FILE_NONE)
		return open_torch(source, file == TORCH_FILE_OPEN);
	reason = load(source, path);
	return reason ? reason : open_either(source);
}

bool trace_open(struct trace_source *source, const struct trace_config *config)
{
	const char *reason;

	*source = (struct trace_source){.config = config};
	reason = check(source, open_file(source, config->file));
	if (!reason)
		return true;
	tool_error("%s: %s", config->file, reason);
	trace_close(source);
	return false;
}
