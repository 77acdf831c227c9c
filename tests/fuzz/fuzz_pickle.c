/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the readers of PyTorch's snapshots, with that of pickles, and
 * profiles, and of RMM's and Umpire's logs. Whatever the input: nothing beyond
 * it is read, events are as torch.h promises, time never goes back, a block
 * begins before it ends and no two of a pool are at one address, stacks are of
 * places that have a name, and reading it again gives the same.
 */
#include "events.h"
#include "pickles.h"

#include "common/history.h"
#include "common/torch.h"

#include <string.h>

#define KINETO(name, device, bytes, total)                                     \
	"{\"ph\":\"i\",\"name\":\"" name                                       \
	"\",\"pid\":1,\"tid\":2,\"ts\":3.5,\"args\":"                          \
	"{\"Device Type\":1,\"Device Id\":" device                             \
	",\"Addr\":4096,\"Bytes\":" bytes ",\"Total Allocated\":" total "}}"

#define UMPIRE(event, payload, result)                                         \
	"{ \"kind\":\"replay\", \"uid\":7, \"timestamp\":1000, \"event\": "    \
	"\"" event "\", \"payload\": {" payload "}, \"result\": " result       \
	" }\n"

const struct fuzz_seed fuzz_seeds[] = {
	PICKLE_SEEDS,
	FUZZ_SEED("Thread,Time,Action,Pointer,Size,Stream\n"
		  "1,12:00:00:000001,allocate,0x7f00,100,0x1\n"
		  "2,23:59:59.999,allocate,0x8f00,200,(nil)\n"
		  "1,00:00:00.1,free,0x7f00,100,0x2\n"
		  "1,00:00:00.2,free,0x9f00,300,0x2\n"
		  "1,00:00:00.3,allocate failure,(nil),99999999999,0x1\n"
		  "1,00:00:00.4,allocate,0x8f10,5,0x1"),
	FUZZ_SEED("Size,Pointer,More,Action\r\n8,f00,x,allocate\r\n"
		  "8,(nil),,defragment\r\n"),
	FUZZ_SEED("{\"traceEvents\":[{\"name\":\"a\"},\n" KINETO("[memory]", "0", "5", "9") "," KINETO(
		"[memory]", "1", "5",
		"5") ",\n" KINETO("[memory]", "0", "-5",
				  "4") "," KINETO("[memory]", "0", "-2",
						  "2") "," KINETO("[OutOfMemory"
								  "]",
								  "0", "99",
								  "2") "]}\n"),
	FUZZ_SEED(UMPIRE("makeMemoryResource", "\"name\":\"HOST\"",
			 "\"0x1\"") UMPIRE("makeAllocator",
					   "\"allocator_name\":\"p\",\"args\":"
					   "[\"DEVICE::1\"]",
					   "{\"allocator_ref\":\"0x2\"}")
			  UMPIRE("allocate",
				 "\"allocator_ref\":\"0x2\",\"size\":9",
				 "{\"memory_ptr\":\"0x7f\"}")
				  UMPIRE("allocate",
					 "\"allocator_ref\":\"0x2\",\"size\":0",
					 "{\"memory_ptr\":\"0x8f\"}")
					  UMPIRE("deallocate",
						 "\"allocator_ref\":\"0x2\","
						 "\"memory_ptr\":"
						 "\"0x7f\"",
						 "null")),
	FUZZ_SEED("{\"category\":\"operation\",\"name\":\"make_allocator\","
		  "\"string_args\":{\"allocator_ref\":\"0x1\",\"arg0\":\"UM\"},"
		  "\"tags\":{\"allocator_name\":\"p\"},\"timestamp\":1000}\n"
		  "{\"category\":\"operation\",\"name\":\"allocate\","
		  "\"numeric_args\":{\"size\":8},\"string_args\":"
		  "{\"allocator_ref\":\"0x1\",\"pointer\":\"0x2\"},"
		  "\"timestamp\":2000}\n"),
	{NULL, 0}};

static bool take(const struct recording_event *event,
		 const struct history_block *block, void *user)
{
	(void)event;
	(void)block;
	(void)user;
	return true;
}

static void check_stacks(const struct recording_stacks *stacks)
{
	for (size_t i = 0; i < stacks->count; i++) {
		const struct recording_stack *stack = &stacks->stack[i];

		check(stack->number == i + 1 && stack->count);
		for (size_t j = 0; j < stack->count; j++)
			check(recording_stack_frame(stack, j) <
			      stacks->place_count);
	}
	for (size_t i = 0; i < stacks->place_count; i++)
		check((stacks->place[i].function &&
		       *stacks->place[i].function) ||
		      (stacks->place[i].file && *stacks->place[i].file));
}

static uint64_t read_all(const uint8_t *data, size_t size)
{
	struct torch_history history;
	struct recording_event event;
	struct events events = {0};
	struct history blocks;

	if (!torch_open(&history, data, size)) {
		check(*history.reason);
		return (uint64_t)strlen(history.reason);
	}
	check_stacks(&history.stacks.table);
	check(history_init(&blocks, take, NULL));
	blocks.by_pool = true;
	while (torch_next(&history, &event)) {
		events_add(&events, &event);
		check(event.stack <= history.stacks.table.count);
		check(event.pool <= TORCH_POOLS);
		check(history_feed(&blocks, &event));
	}
	check(!torch_next(&history, &event));
	check(!blocks.unknown && !blocks.unended);
	history_free(&blocks);
	torch_close(&history);
	return events.sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(read_all(data, size) == read_all(data, size));
	return 0;
}
