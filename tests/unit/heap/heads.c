/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Memory for the heads of slabs: what is taken is apart, what is given is taken
 * again, and what is in no use is the system's. */
#include "fixture.h"
#include "cache/heads.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if THREAD_SANITIZER
int main(void)
{
	skip_all("ThreadSanitizer has an mmap of its own");
	return EXIT_SUCCESS;
}
#else

static bool no_memory;

/* The system's, as the library sees it. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
	   off_t offset)
{
	if (no_memory) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd,
			       offset);
}

enum { COUNT = 20000, CHUNK = 2 << 20, SYSTEM_PAGE = 4096 };

static struct gm_heads heads;

struct head {
	unsigned char *at;
	size_t bytes;
};

static struct head head[COUNT];

static size_t size_at_random(void)
{
	return (1 + chance(8)) * GM_HEADS_UNIT;
}

static void take(struct head *one, size_t bytes, unsigned char with)
{
	one->bytes = bytes;
	one->at = gm_heads_take(&heads, bytes);
	if (!one->at)
		bail("no memory");
	memset(one->at, with, bytes);
}

static bool is_whole(const struct head *one, unsigned char with)
{
	for (size_t i = 0; i < one->bytes; i++)
		if (one->at[i] != with)
			return false;
	return true;
}

static void give(struct head *one)
{
	gm_heads_give(&heads, one->at, one->bytes);
	one->at = NULL;
}

static void sound_heads(const char *what)
{
	if (!is_status(gm_heads_check(&heads), GPUMEM_OK, "%s: sound", what))
		diag("%s", last_text());
}

/* At random; each is filled with its number. */
static void test_apart(void)
{
	unsigned skew = 0, lost = 0;

	for (unsigned i = 0; i < 10 * COUNT; i++) {
		unsigned k = (unsigned)chance(COUNT);

		if (head[k].at) {
			lost += !is_whole(&head[k], (unsigned char)k);
			give(&head[k]);
		} else {
			take(&head[k], size_at_random(), (unsigned char)k);
			skew += (uintptr_t)head[k].at % GM_HEADS_UNIT != 0;
		}
	}
	is_uint(lost, 0, "nobody's is written by another");
	is_uint(skew, 0, "all begin at lines");
	ok(heads.chunk_count > 1, "in several chunks");
	sound_heads("at random");
	for (unsigned k = 0; k < COUNT; k++)
		if (head[k].at)
			give(&head[k]);
	sound_heads("empty");
}

/* Pages of the system that are there, in the chunks. */
static unsigned present(uintptr_t first, size_t bytes)
{
	unsigned char there[CHUNK / SYSTEM_PAGE];
	unsigned count = 0;

	if (mincore((void *)first, bytes, there))
		bail("mincore");
	for (size_t i = 0; i < bytes / SYSTEM_PAGE; i++)
		count += there[i] & 1;
	return count;
}

/* What is free stays mapped, and says zero: a free of it is still refused. */
static void test_given_up(void)
{
	enum { BIG = 64 * GM_HEADS_UNIT };
	size_t chunks = heads.chunk_count;
	uintptr_t chunk;

	for (unsigned k = 0; k < 400; k++)
		take(&head[k], BIG, 1);
	is_uint(heads.chunk_count, chunks, "chunks that were empty are used");
	chunk = (uintptr_t)head[100].at & ~(uintptr_t)(CHUNK - 1);
	ok(present(chunk, CHUNK) > 100, "and are memory again");
	for (unsigned k = 0; k < 400; k++)
		give(&head[k]);
	is_uint(present(chunk, CHUNK), 1, "until they are empty");
	is_uint(*(unsigned char *)(chunk + CHUNK / 2), 0, "then they read 0");
	sound_heads("given up");
}

/* One that was given up is filled before a new one is made. */
static void test_first(void)
{
	size_t chunks = heads.chunk_count;
	unsigned char there;
	uintptr_t page;

	for (unsigned k = 0; k < chunks * (CHUNK / 4096 - 2); k++)
		take(&head[k], 4096, 2);
	is_uint(heads.chunk_count, chunks, "all chunks are filled");
	page = (uintptr_t)head[0].at & ~(uintptr_t)(SYSTEM_PAGE - 1);
	gm_heads_fini(&heads);
	ok(mincore((void *)page, SYSTEM_PAGE, &there) && errno == ENOMEM,
	   "what they were in is mapped no more");
	is_uint(heads.chunk_count, 0, "and gone at the end");
	sound_heads("gone");
}

static void test_check(void)
{
	take(&head[0], 128, 0);
	take(&head[1], 128, 0);
	give(&head[0]);
	heads.chunk_count++;
	is_status(gm_heads_check(&heads), GPUMEM_CORRUPT, "a chunk is missing");
	heads.chunk_count--;
	heads.live_bytes++;
	is_status(gm_heads_check(&heads), GPUMEM_CORRUPT, "a byte too many");
	heads.live_bytes--;
	heads.free[0] = heads.free[1];
	is_status(gm_heads_check(&heads), GPUMEM_CORRUPT,
		  "a head is misplaced");
	heads.free[0] = NULL;
	sound_heads("mended");
	gm_heads_fini(&heads);
}

/* What the system does not give is no slab, and its run stays free memory. */
static void test_none(void)
{
	struct gm_arena *arena;
	struct gm_extent *run;

	device_start();
	heap_start();
	arena = arena_of(NULL);
	run = block(arena, heap.classes.of[0].run_bytes);
	gm_books_free(&heap.books, run->requested, run->bytes, false);
	gm_map_set(run->address, 0);
	no_memory = true;
	is_status(gm_slab_create(arena, 0, run), GPUMEM_NO_HOST_MEMORY,
		  "no memory, no slab");
	no_memory = false;
	gm_arena_insert(arena, run);
	is_uint(gm_heads_host_bytes(&heap.caches->heads), 0,
		"nothing was taken");
	sound("without a slab");
	slab_new(arena, 0);
	is_uint(heap.caches->heads.live_bytes,
		gm_slab_host_bytes(&heap.classes.of[0]), "now there is one");
	ok(gm_heads_host_bytes(&heap.caches->heads) >
		   heap.caches->heads.live_bytes,
	   "which takes a little more than itself");
	gm_slabs_purge(arena);
	is_uint(heap.caches->heads.live_bytes, 0, "and goes");
	sound("purged");
	heap_end();
	device_end();
}

int main(void)
{
	alarm(60);
	test_none();
	test_apart();
	test_given_up();
	test_first();
	test_check();
	return done_testing();
}
#endif
