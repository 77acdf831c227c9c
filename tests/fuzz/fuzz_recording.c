/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the reader of recordings. Whatever the input: nothing beyond it is
 * read, events are as recording.h promises, time never goes back, there are no
 * more events than there is room for, and reading it again gives the same. Its
 * history is of blocks that begin once, end once, and never share an address.
 */
#include "events.h"
#include "image.h"

#include "common/history.h"

#include <string.h>

const struct fuzz_seed fuzz_seeds[] = {IMAGE_SEEDS, {NULL, 0}};

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

/* Whatever a number or an address is, what is found is within the file, and is
 * found again. */
static uint64_t check_stacks(const struct recording *recording)
{
	const struct recording_stacks *stacks = &recording->stacks;
	const char *end = recording->data + recording->bytes;
	uint64_t sum = 0;

	for (size_t i = 0; i < stacks->count; i++) {
		const struct recording_stack *stack = &stacks->stack[i];
		const char *frames = (const char *)stack->frames;

		check(stack->number && stack->count);
		check(recording_stacks_find(stacks, stack->number) == stack);
		check(frames >= recording->data &&
		      stack->count <= (size_t)(end - frames) / 8);
		for (size_t j = 0; j < stack->count; j++) {
			const struct recording_module *module =
				recording_stacks_module(stacks,
							stack->frames[j]);

			check(!module || (module->begin <= stack->frames[j] &&
					  stack->frames[j] < module->end));
			sum += stack->frames[j] + (module ? module->offset : 7);
		}
	}
	for (size_t i = 0; i < stacks->module_count; i++)
		sum += check_text(recording, stacks->module[i].path) +
		       check_text(recording, stacks->module[i].line);
	return sum;
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

/* A text is whole, or there is none. */
static uint64_t check_report(const struct recording_event *event)
{
	char *text = recording_text(event);
	uint64_t sum = text ? (uint64_t)strlen(text) + 1 : 0;

	check(!text || (event->kind == GPUMEM_RECORD_REPORT &&
			sum <= event->value[0] + 1));
	free(text);
	return sum;
}

/* ---- both ---- */

static uint64_t read_all(const uint8_t *data, size_t size)
{
	struct recording recording;
	struct recording_event event;
	struct events events = {0};

	if (!recording_open(&recording, data, size)) {
		check(*recording.reason);
		return (uint64_t)strlen(recording.reason);
	}
	for (unsigned i = 0; i <= recording.pool_count; i++) {
		struct recording_pool pool =
			recording_pool(&recording, (uint16_t)i);

		events.sum += check_text(&recording, pool.name) +
			      check_text(&recording, pool.device) +
			      check_text(&recording, pool.kind);
	}
	for (unsigned i = 0; i <= recording.tag_count; i++)
		events.sum += check_text(
			&recording, recording_tag(&recording, (uint16_t)i));
	events.sum += check_stacks(&recording);
	while (recording_next(&recording, &event)) {
		events_add(&events, &event);
		check(recording_is_block(&event) || !event.stack);
		if (!recording_is_block(&event))
			events.sum += check_report(&event);
		check(!recording_is_block(&event) ||
		      event.address % GPUMEM_RECORD_UNIT == 0);
	}
	check(!recording_next(&recording, &event));
	check(events.count + recording.damaged <= size / sizeof(uint32_t));
	recording_close(&recording);
	return events.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > BLOCKS * sizeof(uint32_t))
		return 0;
	check(read_all(data, size) == read_all(data, size));
	check_history(data, size);
	return 0;
}
