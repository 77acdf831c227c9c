/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes the reader of PyTorch's snapshots, and with it that of pickles.
 * Whatever the input: nothing beyond it is read, events are as torch.h
 * promises, time never goes back, there are no more of them than the input
 * could say, and reading it again gives the same.
 */
#include "fuzz.h"

#include "common/torch.h"

#include <stdlib.h>
#include <string.h>

/* Of Python: a snapshot with two blocks, some of what is allocated and freed,
 * and things that nobody asks for, in protocols 2 and 4. Then what calls. */
const struct fuzz_seed fuzz_seeds[] = {
	FUZZ_SEED(
		"\200\002}(X\010\000\000\000segments]}(X\006\000\000\000device"
		"K\000X\007\000\000\000addressq\000M\000\020X\012\000\000\000t"
		"otal_sizeM\000 X\006\000\000\000streamq\001K\007X\017\000\000"
		"\000segment_pool_idK\000K\000\206X\015\000\000\000is_expandab"
		"le\211X\006\000\000\000blocks](}(h\000M\000\020X\004\000\000"
		"\000sizeq\002M\000\002X\016\000\000\000requested_sizeM,\001X"
		"\005\000\000\000stateq\003X\020\000\000\000active_allocatedX"
		"\006\000\000\000framesq\004]}(X\010\000\000\000filenameX\004"
		"\000\000\000a.pyX\004\000\000\000lineK\003X\004\000\000\000na"
		"meX\001\000\000\000fuau}(h\002M\000\036h\003X\010\000\000\000"
		"inactiveh\004]ueuaX\015\000\000\000device_traces](](}(X\006"
		"\000\000\000actionq\005X\015\000\000\000segment_allocX\004"
		"\000\000\000addrq\006M\000\020h\002M\000 h\001K\000X\007\000"
		"\000\000time_usq\007K\012h\004]u}(h\005X\005\000\000\000alloc"
		"q\010h\006M\000 h\002Kdh\001K\000h\007K\013h\004]u}(h\005X"
		"\016\000\000\000free_requestedh\006M\000 h\002Kdh\001K\000h"
		"\007K\014h\004]u}(h\005X\016\000\000\000free_completedh\006M"
		"\000 h\002Kdh\001K\000h\007K\014h\004]u}(h\005X\004\000\000"
		"\000freeh\006M(#h\002KFh\001K\000h\007K\015h\004]u}(h\005X"
		"\003\000\000\000oomX\013\000\000\000device_freeK\005h\002\212"
		"\006\000\000\000\000\000\001h\001K\000h\007K\016h\004]u}(h"
		"\005h\010h\006\212\006\000\000\000\000\000\001h\002\212\005"
		"\000\000\000\000\002h\001K\000h\007K\017h\004]X\015\000\000"
		"\000user_metadataNu}(h\005X\014\000\000\000segment_freeh\006"
		"\212\006\000\000\000\000\000\001h\002M\000\002h\001K\000h\007"
		"\212\007\000\000\000\000\000\000\004h\004]ue]eX\022\000\000"
		"\000allocator_settings}(X\001\000\000\000xG\077\340\000\000"
		"\000\000\000\000X\001\000\000\000y\210X\001\000\000\000nJ\375"
		"\377\377\377X\003\000\000\000big\212\011\000\000\000\000\000"
		"\000\000\000@uu."),
	FUZZ_SEED(
		"\200\004\225\357\002\000\000\000\000\000\000}\224(\214\010seg"
		"ments\224]\224}\224(\214\006device\224K\000\214\007address"
		"\224M\000\020\214\012total_size\224M\000 \214\006stream\224K"
		"\007\214\017segment_pool_id\224K\000K\000\206\224\214\015is_e"
		"xpandable\224\211\214\006blocks\224]\224(}\224(h\005M\000\020"
		"\214\004size\224M\000\002\214\016requested_size\224M,\001\214"
		"\005state\224\214\020active_allocated\224\214\006frames\224]"
		"\224}\224(\214\010filename\224\214\004a.py\224\214\004line"
		"\224K\003\214\004name\224\214\001f\224uau}\224(h\016M\000\036"
		"h\020\214\010inactive\224h\022]\224ueua\214\015device_traces"
		"\224]\224(]\224(}\224(\214\006action\224\214\015segment_alloc"
		"\224\214\004addr\224M\000\020h\016M\000 h\007K\000\214\007tim"
		"e_us\224K\012h\022]\224u}\224(h!\214\005alloc\224h#M\000 h"
		"\016Kdh\007K\000h$K\013h\022]\224u}\224(h!\214\016free_reques"
		"ted\224h#M\000 h\016Kdh\007K\000h$K\014h\022]\224u}\224(h!"
		"\214\016free_completed\224h#M\000 h\016Kdh\007K\000h$K\014h"
		"\022]\224u}\224(h!\214\004free\224h#M(#h\016KFh\007K\000h$K"
		"\015h\022]\224u}\224(h!\214\003oom\224\214\013device_free\224"
		"K\005h\016\212\006\000\000\000\000\000\001h\007K\000h$K\016h"
		"\022]\224u}\224(h!h'h#\212\006\000\000\000\000\000\001h\016"
		"\212\005\000\000\000\000\002h\007K\000h$K\017h\022]\224\214"
		"\015user_metadata\224Nu}\224(h!\214\014segment_free\224h#\212"
		"\006\000\000\000\000\000\001h\016M\000\002h\007K\000h$\212"
		"\007\000\000\000\000\000\000\004h\022]\224ue]\224e\214\022all"
		"ocator_settings\224}\224(\214\001x\224G\077\340\000\000\000"
		"\000\000\000\214\001y\224\210\214\001n\224J\375\377\377\377"
		"\214\003big\224\212\011\000\000\000\000\000\000\000\000@uu."),
	FUZZ_SEED("\200\002cos\nsystem\nX\004\000\000\000true\205R."),
	FUZZ_SEED(
		"\200\004]\224(h\000h\000e}\224(\214\001ah\001\214\001bh\000us"
		"."),
	{NULL, 0},
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void check_event(const struct recording_event *event, uint64_t last_ns)
{
	check(event->time_ns >= last_ns);
	check(event->pool && event->pool <= TORCH_DEVICES);
	if (recording_is_block(event)) {
		check(event->kind >= GPUMEM_RECORD_BLOCK);
		check(event->bytes && event->bytes <= RECORDING_BYTES_MAX);
		return;
	}
	check(event->kind <= GPUMEM_RECORD_DROP);
	check(event->values >= 1 && event->values <= RECORDING_VALUES);
	for (unsigned i = event->values; i < RECORDING_VALUES; i++)
		check(!event->value[i]);
}

static uint64_t read_all(const uint8_t *data, size_t size)
{
	struct torch_history history;
	struct recording_event event;
	uint64_t last_ns = 0, count = 0, sum = 0;

	if (!torch_open(&history, data, size)) {
		check(*history.reason);
		return (uint64_t)strlen(history.reason);
	}
	while (torch_next(&history, &event)) {
		check_event(&event, last_ns);
		last_ns = event.time_ns;
		sum = sum * 31 + event.time_ns + event.kind * 7u +
		      event.address + event.stream;
		count++;
	}
	check(!torch_next(&history, &event));
	check(count <= history.room);
	torch_close(&history);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(read_all(data, size) == read_all(data, size));
	return 0;
}
