/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Memory for the metadata of slabs: what is taken is apart, what is given is
 * taken again, and what is in no use is the system's. */
#include "fixture.h"
#include "cache/metadata.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if THREAD_SANITIZER
int main(void)
{
	skip_all("ThreadSanitizer has an mmap of its own");
	return EXIT_SUCCESS;
}
#else

static bool no_memory, locked;
static size_t page_bytes = 4096; /* of the system */

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

int madvise(void *address, size_t bytes, int advice)
{
	if (locked || (uintptr_t)address % page_bytes) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_madvise, address, bytes, advice);
}

long sysconf(int name)
{
	long (*own)(int);

	*(void **)&own = dlsym(RTLD_NEXT, "sysconf");
	return name == _SC_PAGESIZE ? (long)page_bytes : own(name);
}

enum { COUNT = 20000, CHUNK = GM_METADATA_CHUNK, SYSTEM_PAGE = 4096 };

static struct gm_metadata store = {.heap = &heap};

struct piece {
	unsigned char *at;
	size_t bytes;
};

static struct piece piece[COUNT];

static size_t size_at_random(void)
{
	return (1 + chance(8)) * GM_METADATA_UNIT;
}

static void take(struct piece *one, size_t bytes, unsigned char with)
{
	one->bytes = bytes;
	one->at = gm_metadata_take(&store, bytes);
	if (!one->at)
		bail("no memory");
	memset(one->at, with, bytes);
}

static bool is_whole(const struct piece *one, unsigned char with)
{
	for (size_t i = 0; i < one->bytes; i++)
		if (one->at[i] != with)
			return false;
	return true;
}

static void give(struct piece *one)
{
	gm_metadata_give(&store, one->at, one->bytes);
	one->at = NULL;
}

static void sound_store(const char *what)
{
	if (!is_status(gm_metadata_check(&store), GPUMEM_OK, "%s: sound", what))
		diag("%s", last_text());
}

/* At random; each is filled with its number. */
static void test_apart(void)
{
	unsigned skew = 0, lost = 0;

	for (unsigned i = 0; i < 10 * COUNT; i++) {
		unsigned k = (unsigned)chance(COUNT);

		if (piece[k].at) {
			lost += !is_whole(&piece[k], (unsigned char)k);
			give(&piece[k]);
		} else {
			take(&piece[k], size_at_random(), (unsigned char)k);
			skew += (uintptr_t)piece[k].at % GM_METADATA_UNIT != 0;
		}
	}
	is_uint(lost, 0, "nobody's is written by another");
	is_uint(skew, 0, "all begin at lines");
	ok(store.chunk_count > 1, "in several chunks");
	sound_store("at random");
	for (unsigned k = 0; k < COUNT; k++)
		if (piece[k].at)
			give(&piece[k]);
	sound_store("empty");
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

static bool is_zero(const unsigned char *at, size_t bytes)
{
	while (bytes && !*at)
		at++, bytes--;
	return !bytes;
}

/* What is free stays mapped, and says zero: a free of it is still refused. So
 * many pages of the chunk stay; 0: any number. */
static void test_given_up(const char *what, unsigned stay)
{
	enum { BIG = 64 * GM_METADATA_UNIT };
	size_t chunks = store.chunk_count;
	unsigned char *chunk;

	for (unsigned k = 0; k < 400; k++)
		take(&piece[k], BIG, 1);
	is_uint(store.chunk_count, chunks, "chunks that were empty are used");
	chunk = piece[100].at - (uintptr_t)piece[100].at % CHUNK;
	ok(present((uintptr_t)chunk, CHUNK) > 100, "and are memory again");
	for (unsigned k = 0; k < 400; k++)
		give(&piece[k]);
	if (stay)
		is_uint(present((uintptr_t)chunk, CHUNK), stay,
			"until they are empty, %s", what);
	ok(is_zero(chunk + SYSTEM_PAGE, CHUNK - SYSTEM_PAGE),
	   "then they read 0, %s", what);
	ok(gm_metadata_heap(chunk + CHUNK / 2) == &heap,
	   "and it is still known whose they were");
	sound_store("given up");
}

/* One that was given up is filled before a new one is made. */
static void test_first(void)
{
	size_t chunks = store.chunk_count;
	unsigned char there;
	uintptr_t page;

	for (unsigned k = 0; k < chunks * (CHUNK / 4096 - 2); k++)
		take(&piece[k], 4096, 2);
	is_uint(store.chunk_count, chunks, "all chunks are filled");
	page = (uintptr_t)piece[0].at & ~(uintptr_t)(SYSTEM_PAGE - 1);
	gm_metadata_fini(&store);
	ok(mincore((void *)page, SYSTEM_PAGE, &there) && errno == ENOMEM,
	   "what they were in is mapped no more");
	is_uint(store.chunk_count, 0, "and gone at the end");
	sound_store("gone");
}

static void test_check(void)
{
	take(&piece[0], 128, 0);
	take(&piece[1], 128, 0);
	give(&piece[0]);
	store.chunk_count++;
	is_status(gm_metadata_check(&store), GPUMEM_CORRUPT,
		  "a chunk is missing");
	store.chunk_count--;
	store.live_bytes++;
	is_status(gm_metadata_check(&store), GPUMEM_CORRUPT, "a byte too many");
	store.live_bytes--;
	store.free[0] = store.free[1];
	is_status(gm_metadata_check(&store), GPUMEM_CORRUPT,
		  "a piece is misplaced");
	store.free[0] = NULL;
	sound_store("mended");
	gm_metadata_fini(&store);
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
	gm_counters_free(&heap.counters, run->requested, run->bytes, false);
	gm_map_set(run->address, 0);
	gm_extent_set_seqno(run, 0);
	no_memory = true;
	is_status(gm_slab_create(arena, 0, run), GPUMEM_NO_HOST_MEMORY,
		  "no memory, no slab");
	no_memory = false;
	gm_arena_insert(arena, run);
	is_uint(gm_metadata_host_bytes(&heap.caches->metadata), 0,
		"nothing was taken");
	sound("without a slab");
	slab_new(arena, 0);
	is_uint(heap.caches->metadata.live_bytes,
		gm_slab_host_bytes(&heap.classes.of[0]), "now there is one");
	ok(gm_metadata_host_bytes(&heap.caches->metadata) >
		   heap.caches->metadata.live_bytes,
	   "which takes a little more than itself");
	gm_slabs_purge(arena);
	is_uint(heap.caches->metadata.live_bytes, 0, "and goes");
	sound("purged");
	heap_end();
	device_end();
}

int main(void)
{
	alarm(60);
	test_none();
	test_apart();
	test_given_up("where pages have 4 KiB", 1);
	page_bytes = 65536;
	test_given_up("where they have 64 KiB", 65536 / SYSTEM_PAGE);
	locked = true;
	test_given_up("where they are locked", 0);
	locked = false;
	page_bytes = SYSTEM_PAGE;
	test_first();
	test_check();
	return done_testing();
}
#endif
