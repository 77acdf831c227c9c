/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stacks in recordings of pools that are tracked: every block that begins has
 * the frames that the library has for it, each stack is defined once, and each
 * frame lies in a module that is defined, with the line that the kernel has.
 */
#include "definitions.h"
#include "record.h"

#if !defined(__GLIBC__)
int main(void)
{
	skip_all("the C library has no unwinder");
	return EXIT_SUCCESS;
}
#else

#define NOINLINE __attribute__((noinline))
#define HUGE_BYTES ((size_t)5 << 30)

enum { DEPTH = 14, WAYS = 9000 };

static gpumem_pool *pool;

static NOINLINE void *plant(size_t bytes)
{
	void *ptr = NULL;

	must(gpumem_alloc(pool, bytes, NULL, &ptr));
	return ptr;
}

static NOINLINE void *plant_elsewhere(size_t bytes)
{
	void *ptr = NULL;

	must(gpumem_alloc(pool, bytes, NULL, &ptr));
	return ptr;
}

/* The event by which the block begins; bails if it does not. */
static const struct rec *begins(const struct recording *recording,
				const void *ptr)
{
	for (size_t i = 0; i < recording->count; i++) {
		const struct rec *event = &recording->event[i];

		if (event->address == (uintptr_t)ptr &&
		    (event->kind == GPUMEM_RECORD_ALLOC ||
		     event->kind == GPUMEM_RECORD_LIVE))
			return event;
	}
	bail("a block does not begin");
	return NULL;
}

/* The event has the frames that the library has of the live block. */
static void has_frames(struct recording *recording, const struct rec *event,
		       void *const *frames, uint32_t frame_count,
		       const char *what)
{
	const struct gpumem_record_definition *one = rec_definition(
		recording, GPUMEM_RECORD_DEFINITION_STACK, event->stack);
	size_t wrong = 0;

	if (!ok(one && frame_count &&
			one->bytes ==
				sizeof(*one) + frame_count * sizeof(*frames) &&
			!memcmp(one + 1, frames, frame_count * sizeof(*frames)),
		"%s has its stack", what))
		return;
	is_uint(count(recording, GPUMEM_RECORD_DEFINITION_STACK, event->stack),
		1, "which is defined once");
	for (uint32_t i = 0; i < frame_count; i++)
		wrong += !module_of(recording, (uintptr_t)frames[i]);
	is_uint(wrong, 0, "and all of its frames lie in modules");
}

static void has_stack(struct recording *recording, void *ptr, const char *what)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);

	must(gpumem_query(ptr, &block));
	has_frames(recording, begins(recording, ptr), block.frames,
		   block.frame_count, what);
}

static void test_blocks(void)
{
	void *live, *small[2], *large, *huge, *other;
	struct recording recording;

	live = plant(100);
	begin();
	for (volatile unsigned i = 0; i < 2; i++)
		small[i] = plant(200);
	large = plant(3 * MIB);
	huge = plant(HUGE_BYTES);
	other = plant_elsewhere(300);
	recording = end();
	whole(&recording, "with stacks");
	has_stack(&recording, live, "one that was live");
	has_stack(&recording, small[0], "a small one");
	has_stack(&recording, large, "a large one");
	has_stack(&recording, huge, "a huge one");
	has_stack(&recording, other, "one from elsewhere");
	ok(begins(&recording, small[0])->stack ==
			   begins(&recording, small[1])->stack &&
		   begins(&recording, small[0])->stack !=
			   begins(&recording, other)->stack,
	   "one stack for one place, two for two");
	is_uint(begins(&recording, huge)->bytes, HUGE_BYTES,
		"the huge one has its size");
	rec_free(&recording);
	must(gpumem_free(live, NULL));
	must(gpumem_free(small[0], NULL));
	must(gpumem_free(small[1], NULL));
	must(gpumem_free(large, NULL));
	must(gpumem_free(huge, NULL));
	must(gpumem_free(other, NULL));
}

/* A second recording defines anew what it needs. */
static void test_again(void)
{
	struct recording recording;
	void *ptr;

	begin();
	ptr = plant(100);
	recording = end();
	has_stack(&recording, ptr, "one of a second recording");
	ok(count(&recording, GPUMEM_RECORD_DEFINITION_MODULE, 0) >= 2,
	   "the program and the C library are modules");
	is_uint(modules_again(&recording), 0, "each of them once");
	rec_free(&recording);
	must(gpumem_free(ptr, NULL));
}

/* A stack of which a part lies in a module that is known. */
static void test_part(void)
{
	struct recording recording;
	void *first, *second;

	must(gpumem_pool_track_begin(pool, 1));
	begin();
	first = plant(100);
	must(gpumem_pool_track_begin(pool, 16));
	second = plant(100);
	recording = end();
	has_stack(&recording, first, "one of one frame");
	has_stack(&recording, second, "one of more");
	is_uint(modules_again(&recording), 0, "no module twice");
	rec_free(&recording);
	must(gpumem_free(first, NULL));
	must(gpumem_free(second, NULL));
}

/* The line that the kernel has of the module that holds main(). */
static void test_line(void)
{
	char line[4200];
	struct recording recording;
	const char *got;
	FILE *maps;
	void *ptr;

	begin();
	ptr = plant(100);
	recording = end();
	got = module_of(&recording, (uintptr_t)test_line);
	maps = fopen("/proc/self/maps", "re");
	if (!maps || !got)
		bail("no list of mappings, or no module");
	while (fgets(line, sizeof(line), maps))
		if (!strncmp(line, got, strcspn(got, " ")))
			break;
	fclose(maps);
	line[strcspn(line, "\n")] = '\0';
	is_str(got, line, "a module has the kernel's line");
	rec_free(&recording);
	must(gpumem_free(ptr, NULL));
}

/* A pool that is not tracked, or without frames, has none. */
static void test_none(void)
{
	struct recording recording;
	void *ptr;

	must(gpumem_pool_track_begin(pool, 0));
	begin();
	ptr = plant(100);
	recording = end();
	ok(!begins(&recording, ptr)->stack &&
		   !count(&recording, GPUMEM_RECORD_DEFINITION_STACK, 0) &&
		   !count(&recording, GPUMEM_RECORD_DEFINITION_MODULE, 0),
	   "no stack without frames");
	rec_free(&recording);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_track_end(pool));
	begin();
	ptr = plant(100);
	recording = end();
	ok(!begins(&recording, ptr)->stack, "nor without tracking");
	rec_free(&recording);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_track_begin(pool, 16));
}

/* More stacks than there is place for: the blocks are recorded all the same. */
static NOINLINE void *deep(unsigned depth, uint64_t way)
{
	void *ptr;

	if (!depth)
		return plant(100);
	/* Two calls, which the compiler cannot make one. */
	if (way & 1) {
		__asm__ volatile("" : "+r"(depth) : "i"(1));
		ptr = deep(depth - 1, way >> 1);
		__asm__ volatile("" : "+r"(ptr) : "i"(1));
	} else {
		__asm__ volatile("" : "+r"(depth) : "i"(2));
		ptr = deep(depth - 1, way >> 1);
		__asm__ volatile("" : "+r"(ptr) : "i"(2));
	}
	return ptr;
}

static void test_full(void)
{
	struct recording recording;
	size_t nameless = 0, blocks = 0;

	must(gpumem_record_begin(path, 2 << 20));
	for (volatile uint64_t way = 0; way < WAYS; way++) {
		void *ptr = deep(DEPTH, way);

		/* So that chunks end in each of the three. */
		if (way * 0x9e3779b97f4a7c15u >> 63)
			must(gpumem_use_on(ptr, NULL));
		must(gpumem_free(ptr, NULL));
		/* Its size is an event as well. */
		if (way % 2 == 0)
			must(gpumem_free(plant(HUGE_BYTES), NULL));
	}
	recording = end();
	for (size_t i = 0; i < recording.count; i++) {
		const struct rec *event = &recording.event[i];

		if (event->kind != GPUMEM_RECORD_ALLOC)
			continue;
		blocks++;
		nameless += !rec_definition(&recording,
					    GPUMEM_RECORD_DEFINITION_STACK,
					    event->stack);
	}
	is_uint(blocks, WAYS + WAYS / 2, "all blocks are there");
	ok(nameless && nameless == recording.header.lost_definitions,
	   "what there was no place for was counted: %zu, %llu", nameless,
	   (unsigned long long)recording.header.lost_definitions);
	ok(!recording.bad, "and all that is there is in order");
	rec_free(&recording);
}

int main(void)
{
	alarm(60);
	folder_make();
	device_start("64GiB", true);
	pool = new_pool(0);
	must(gpumem_pool_track_begin(pool, 16));
	test_blocks();
	test_again();
	test_part();
	test_line();
	test_none();
	test_full();
	must(gpumem_pool_destroy(pool, 0));
	device_end();
	folder_remove();
	return done_testing();
}
#endif
