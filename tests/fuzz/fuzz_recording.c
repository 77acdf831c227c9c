/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the reader of recordings. Whatever the input: nothing beyond it is
 * read, events are as recording.h promises, time never goes back, there are no
 * more events than there is room for, and reading it again gives the same. Its
 * history is of blocks that begin once, end once, and never share an address.
 */
#include "fuzz.h"

#include "common/history.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_EVENTS 12
#define CHUNK_BYTES                                                            \
	(sizeof(struct gpumem_record_chunk) +                                  \
	 CHUNK_EVENTS * sizeof(struct gpumem_record_event))
#define HEADER_BYTES 256
#define DEFINITIONS 128

struct chunk {
	struct gpumem_record_chunk head;
	struct gpumem_record_event event[CHUNK_EVENTS];
};

/* A recording of three chunks, as small as one can be. */
struct image {
	struct gpumem_record_header header;
	char fill[HEADER_BYTES - sizeof(struct gpumem_record_header)];
	struct gpumem_record_definition pool;
	char names[64 - sizeof(struct gpumem_record_definition)];
	struct gpumem_record_definition tag;
	char path[64 - sizeof(struct gpumem_record_definition)];
	struct chunk chunk[3];
};

#define BLOCK(at, what, address, size)                                         \
	{                                                                      \
		.time = (at), .kind = GPUMEM_RECORD_##what,                    \
		.value = (uint64_t)(address) << 24 | (size)                    \
	}
#define OTHER(at, what, number)                                                \
	{                                                                      \
		.time = (at), .kind = GPUMEM_RECORD_##what, .value = (number)  \
	}
#define CONTEXT(pool, stream)                                                  \
	{                                                                      \
		.tag = (pool), .kind = GPUMEM_RECORD_CONTEXT,                  \
		.value = (stream)                                              \
	}

static const struct image image = {
	.header = {.magic = GPUMEM_RECORD_MAGIC,
		   .version = GPUMEM_RECORD_VERSION,
		   .byte_order = GPUMEM_RECORD_BYTE_ORDER,
		   .header_bytes = HEADER_BYTES,
		   .chunk_bytes = CHUNK_BYTES,
		   .chunks_at = HEADER_BYTES + DEFINITIONS,
		   .chunk_count = 3,
		   .definition_bytes = DEFINITIONS,
		   .clock = GPUMEM_RECORD_TICKS,
		   .begin_ticks = 1000,
		   .begin_ns = 500,
		   .end_ticks = 9000,
		   .end_ns = 4500,
		   .program = "program"},
	.tag = {.bytes = 64, .kind = GPUMEM_RECORD_DEFINITION_TAG, .number = 3},
	.path = "model/layer",
	.pool = {.bytes = 64,
		 .kind = GPUMEM_RECORD_DEFINITION_POOL,
		 .number = 1},
	.names = "pool\0host:0\0device",
	.chunk = {{{.sequence = 1, .ticks = 1000, .ns = 500, .thread = 7},
		   {OTHER(0, TIME, 1000), CONTEXT(1, 0), OTHER(0, THREAD, 7),
		    OTHER(0, POOL, 0), OTHER(1, GROW, 65536),
		    OTHER(1, VALUE, 65536), BLOCK(2, ALLOC, 16, 100),
		    OTHER(9, BYTES, UINT64_C(1) << 33), BLOCK(9, ALLOC, 99, 0),
		    BLOCK(80, FREE, 16, 100), BLOCK(81, ALLOC, 17, 5),
		    BLOCK(82, USE, 17, 5)}},
		  {{.sequence = 3, .ticks = 1500, .ns = 600, .thread = 7},
		   {OTHER(0, TIME, 1500), CONTEXT(1, 9), OTHER(0, THREAD, 7),
		    BLOCK(0, FREE, 17, 5), OTHER(1, OOM, 77),
		    OTHER(1, VALUE, 11), OTHER(1, VALUE, 12),
		    BLOCK(3, LIVE, 3, 3), OTHER(4, POOL_END, 1)}},
		  {{.sequence = 2, .ticks = 1040, .ns = 520, .thread = 8},
		   {OTHER(0, TIME, 1040), CONTEXT(1, 9), OTHER(0, THREAD, 8),
		    BLOCK(40, ALLOC, 16, 7), BLOCK(40, FREE, 16, 7),
		    BLOCK(20, ALLOC, 16, 8), BLOCK(22, RESIZE, 16, 9)}}}};

const struct fuzz_seed fuzz_seeds[] = {
	{(const char *)&image, sizeof(image)},
	/* of which the last chunk is cut, or the definitions */
	{(const char *)&image, sizeof(image) - 1},
	{(const char *)&image, HEADER_BYTES + DEFINITIONS - 1},
	{NULL, 0},
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void check_event(const struct recording_event *event, uint64_t last_ns)
{
	check(event->time_ns >= last_ns && event->pool);
	check(event->kind >= GPUMEM_RECORD_BLOCK &&
	      event->kind <= GPUMEM_RECORD_DROP);
	if (recording_is_block(event)) {
		check(event->bytes && event->bytes <= RECORDING_BYTES_MAX);
		check(event->address % GPUMEM_RECORD_UNIT == 0);
		return;
	}
	check(event->values >= 1 && event->values <= RECORDING_VALUES);
	for (unsigned i = event->values; i < RECORDING_VALUES; i++)
		check(!event->value[i]);
}

/* The bytes of a text, which end within the file. */
static uint64_t check_text(const struct recording *recording, const char *text)
{
	if (!text)
		return 0;
	check(text >= recording->data &&
	      text < recording->data + recording->bytes);
	check(memchr(text, '\0',
		     recording->bytes - (size_t)(text - recording->data)));
	return strlen(text);
}

/* ---- the history ---- */

#define BLOCKS 4096 /* no input has as many events */

struct model {
	uint64_t count, live_bytes, last_ns;
	uint64_t bytes[BLOCKS], address[BLOCKS]; /* by ID; bytes 0: over */
	uint16_t pool[BLOCKS];
};

static void check_begin(struct model *model, const struct history_block *block)
{
	check(block->id == ++model->count && block->id < BLOCKS);
	for (uint64_t i = 1; i < block->id; i++)
		check(!model->bytes[i] || model->address[i] != block->address);
	model->address[block->id] = block->address;
	model->bytes[block->id] = block->bytes;
	model->pool[block->id] = block->pool;
	model->live_bytes += block->bytes;
}

static void check_pool_end(const struct model *model, uint16_t pool)
{
	for (uint64_t i = 1; i <= model->count; i++)
		check(!model->bytes[i] || model->pool[i] != pool);
}

static bool step(const struct recording_event *event,
		 const struct history_block *block, void *user)
{
	struct model *model = user;

	check(event->time_ns >= model->last_ns);
	model->last_ns = event->time_ns;
	check(!block == !recording_is_block(event));
	if (event->kind == GPUMEM_RECORD_POOL_END)
		check_pool_end(model, event->pool);
	if (!block)
		return true;
	check(block->address == event->address);
	if (event->kind <= GPUMEM_RECORD_ALLOC) {
		check_begin(model, block);
		return true;
	}
	check(model->bytes[block->id] == block->bytes);
	if (event->kind == GPUMEM_RECORD_FREE) {
		check(event->bytes == block->bytes &&
		      event->pool == block->pool);
		model->live_bytes -= block->bytes;
		model->bytes[block->id] = 0;
	} else if (event->kind == GPUMEM_RECORD_RESIZE) {
		model->live_bytes += event->bytes - block->bytes;
		model->bytes[block->id] = event->bytes;
	}
	return true;
}

static void check_history(const uint8_t *data, size_t size)
{
	static struct model model;
	struct recording recording;
	struct recording_event event;
	struct history history;

	if (!recording_open(&recording, data, size))
		return;
	model = (struct model){0};
	check(history_init(&history, step, &model));
	while (recording_next(&recording, &event))
		check(history_feed(&history, &event));
	check(history.live_bytes == model.live_bytes);
	check(history.begun == model.count);
	history_free(&history);
	recording_close(&recording);
}

/* ---- both ---- */

static uint64_t read_all(const uint8_t *data, size_t size)
{
	struct recording recording;
	struct recording_event event;
	uint64_t last_ns = 0, count = 0, sum = 0;

	if (!recording_open(&recording, data, size)) {
		check(*recording.reason);
		return (uint64_t)strlen(recording.reason);
	}
	for (unsigned i = 0; i <= recording.pool_count; i++) {
		struct recording_pool pool =
			recording_pool(&recording, (uint16_t)i);

		sum += check_text(&recording, pool.name) +
		       check_text(&recording, pool.device) +
		       check_text(&recording, pool.kind);
	}
	for (unsigned i = 0; i <= recording.tag_count; i++)
		sum += check_text(&recording,
				  recording_tag(&recording, (uint16_t)i));
	while (recording_next(&recording, &event)) {
		check_event(&event, last_ns);
		last_ns = event.time_ns;
		sum = sum * 31 + event.time_ns + event.kind * 7u + event.stream;
		count++;
	}
	check(!recording_next(&recording, &event));
	check(count + recording.damaged <=
	      size / sizeof(struct gpumem_record_event));
	recording_close(&recording);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > BLOCKS * sizeof(struct gpumem_record_event))
		return 0;
	check(read_all(data, size) == read_all(data, size));
	check_history(data, size);
	return 0;
}
