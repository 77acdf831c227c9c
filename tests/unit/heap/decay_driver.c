/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Decay when the driver refuses, and in a capture: what does not go is tried
 * again later, keeps nothing else here, and costs the thread no error of its
 * own. What goes when is in decay.c.
 */
#include "decay.h"

static void test_capture(const char *vm)
{
	uint64_t violations = gpumem_host_capture_violations();
	gpumem_stream stream = stream_new();

	restart(vm);
	(void)arena_of(stream);
	block_give(arena, block(arena, 2 * PAGE));
	must(gpumem_host_capture(0, stream, true));
	pass(now_ms + 3 * PERIOD_MS);
	is_uint(heap_reserved(), 2 * PAGE, "nothing goes in a capture");
	is_uint(gpumem_host_capture_violations(), violations,
		"which nothing disturbs");
	must(gpumem_host_capture(0, stream, false));
	pass(now_ms + 2 * TICK_MS);
	is_uint(heap_reserved(), 0, "afterwards it does");
	must(gm_stream_destroy(device, stream));
}

static bool error_is_mine(void)
{
	struct gpumem_error error = {.size = sizeof(error)};

	gm_error_get(&error);
	return error.status == GPUMEM_BUSY &&
	       !strcmp(error.text, "the thread's own");
}

/* One call is refused; later all goes, and is counted. False: no such call. */
static bool refuse(uint64_t n, unsigned *wrong)
{
	struct gm_extent *extent[6];
	char faults[32];
	uint64_t calls, returned;

	for (int i = 0; i < 6; i++)
		extent[i] = block(arena, 3 * PAGE);
	for (int i = 0; i < 6; i += 2)
		block_give(arena, extent[i]);
	returned =
		heap.space->budget.returned_bytes + heap.counters.decayed_bytes;
	snprintf(faults, sizeof(faults), "*@%" PRIu64, n);
	must(gpumem_host_faults(faults));
	(void)gm_fail(GPUMEM_BUSY, "the thread's own");
	pass_unseen(now_ms + PERIOD_MS + 4 * TICK_MS);
	*wrong += !error_is_mine();
	calls = gpumem_host_calls();
	must(gpumem_host_faults(NULL));
	*wrong += heap_reserved() != 9 * PAGE;
	for (int i = 1; i < 6; i += 2)
		block_give(arena, extent[i]);
	pass(now_ms + PERIOD_MS + 4 * TICK_MS);
	*wrong += heap_reserved() != 0 ||
		  heap.space->budget.returned_bytes +
				  heap.counters.decayed_bytes - returned !=
			  36 * PAGE;
	return calls >= n;
}

static void test_refused(const char *vm)
{
	unsigned wrong = 0;
	uint64_t n = 1;

	restart(vm);
	while (refuse(n, &wrong))
		n++;
	ok(n > 5, "%" PRIu64 " calls, each refused", n - 1);
	is_uint(wrong, 0, "all goes a little later, and is counted");
	is_uint(unsound, 0, "all in order after each step");
}

/* What the driver will not take back keeps nothing else here. */
static void test_stuck(const char *vm, const char *slot)
{
	struct gm_extent *extent[9];
	char faults[32];

	restart(vm);
	for (int i = 0; i < 9; i++)
		extent[i] = block(arena, i == 4 ? 3 * PAGE : PAGE);
	for (int i = 0; i < 9; i += 2)
		block_give(arena, extent[i]);
	snprintf(faults, sizeof(faults), "%s@1", slot);
	for (uint64_t until = now_ms + 2 * PERIOD_MS; now_ms < until;) {
		/* The first that is tried in each tick is refused. */
		if (now_ms % TICK_MS == 0)
			must(gpumem_host_faults(faults));
		step();
		now_ms++;
	}
	must(gpumem_host_faults(NULL));
	ok(heap_reserved() <= 7 * PAGE, "%s: nothing else is kept", faults);
	is_uint(unsound, 0, "all in order after each step");
}

int main(void)
{
	static const char *const mode[] = {"on", "off"};

	/* What a capture may forbid: decide_streams.c has the rest. */
	option("host.capture_frees", "off");
	alarm(120);
	device_start();
	option("decay_ms", "800");
	for (int i = 0; i < 2; i++) {
		test_capture(mode[i]);
		test_refused(mode[i]);
	}
	test_stuck("on", "unmap");
	test_stuck("on", "page_destroy");
	test_stuck("off", "free");
	heap_end();
	device_end();
	return done_testing();
}
