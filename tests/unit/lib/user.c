/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The caller's word of each block: of every kind of block, whatever else is
 * known of it, until it ends, and of no block after it at the same address.
 * Threads are user_threads.c's, imports share.c's.
 */
#include "fixture.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static gpumem_pool *pool;
static gpumem_stream stream, other;
static int words[4];

static const size_t sizes[] = {1, 256, 1000, 16384, 16385, 3 * MIB, 40 * MIB};

#define each_size(i) (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)

static void *get(const void *ptr)
{
	void *user = &user;

	must(gpumem_block_get_user(ptr, &user));
	return user;
}

static void set(void *ptr, void *user)
{
	must(gpumem_block_set_user(ptr, user));
}

/* The next block at the address is another one. */
static void is_new(void *ptr, size_t bytes, const char *after)
{
	void *again = new_block(pool, bytes, stream);

	is_ptr(again, ptr, "%zu bytes: the memory is used again %s", bytes,
	       after);
	is_ptr(get(again), NULL, "and has no word");
	must(gpumem_free(again, stream));
}

static void test_kept(size_t bytes)
{
	void *ptr = new_block(pool, bytes, stream);
	void *beside = new_block(pool, bytes, stream);

	is_ptr(get(ptr), NULL, "%zu bytes: a new block has none", bytes);
	set(ptr, NULL);
	is_ptr(get(ptr), NULL, "nor after NULL was set");
	set(ptr, &words[0]);
	set(beside, &words[1]);
	is_ptr(get(ptr), &words[0], "it has what was set");
	is_ptr(get(beside), &words[1], "and the next one its own");
	set(ptr, &words[2]);
	is_ptr(get(ptr), &words[2], "until something else is");
	is_ptr(get(beside), &words[1], "of that block alone");
	sound(pool, "sound with words");
	must(gpumem_free(beside, stream));
	must(gpumem_free(ptr, stream));
	is_new(ptr, bytes, "after a free");
	ptr = new_block(pool, bytes, stream);
	set(ptr, &words[0]);
	set(ptr, NULL);
	is_ptr(get(ptr), NULL, "NULL again");
	must(gpumem_free_own(ptr));
	is_new(ptr, bytes, "after a free on its own stream");
}

/* Beside all else that a block can have. */
static void test_beside(size_t bytes)
{
	uint32_t tag;
	void *ptr;

	must(gpumem_tag_intern("words", &tag));
	must(gpumem_tag_set(tag));
	ptr = new_block(pool, bytes, stream);
	is_ptr(get(ptr), NULL, "%zu bytes: a tag is no word", bytes);
	set(ptr, &words[0]);
	must(gpumem_use_on(ptr, other));
	is_ptr(get(ptr), &words[0], "used on another stream it keeps it");
	set(ptr, &words[1]);
	is_ptr(get(ptr), &words[1], "and can have another");
	sound(pool, "sound beside a tag and a use");
	must(gpumem_free(ptr, stream));
	must(gpumem_stream_sync(device, other));
	(void)trim(pool);
	for (int i = 0; i < 3; i++) {
		ptr = new_block(pool, bytes, stream);
		is_ptr(get(ptr), NULL, "no word of before");
		set(ptr, &words[i]);
		must(gpumem_free(ptr, stream));
	}
	must(gpumem_tag_set(0));
	is_new(ptr, bytes, "after blocks with a tag");
	is_uint(stats_of(pool).blocks.current, 0, "all are counted");
}

/* It comes back to its own stream when the other is done. */
static void test_foreign(size_t bytes)
{
	void *ptr = new_block(pool, bytes, stream), *again;

	set(ptr, &words[3]);
	must(gpumem_free(ptr, other));
	must(gpumem_stream_sync(device, other));
	(void)trim(pool);
	sound(pool, "sound when it was pending");
	again = new_block(pool, bytes, stream);
	is_ptr(get(again), NULL, "%zu bytes: freed elsewhere, it is gone",
	       bytes);
	must(gpumem_free(again, stream));
}

static void test_resized(size_t bytes)
{
	void *ptr = new_block(pool, bytes, stream);
	uint64_t usable;

	must(gpumem_usable_bytes(ptr, &usable));
	set(ptr, &words[0]);
	must(gpumem_resize(ptr, usable, stream, NULL));
	is_ptr(get(ptr), &words[0], "%zu bytes: larger, the same", bytes);
	must(gpumem_resize(ptr, bytes / 2 + 1, stream, NULL));
	is_ptr(get(ptr), &words[0], "smaller, the same");
	sound(pool, "sound after two sizes");
	must(gpumem_free(ptr, stream));
}

/* Of many blocks each has its own, also when slabs come and go. */
static void test_many(void)
{
	enum { MANY = 20000 };
	static char *ptr[MANY];
	static char word[MANY];
	unsigned wrong = 0, old = 0;
	uint64_t before = stats_of(pool).host_bytes;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < MANY; i++) {
			ptr[i] =
				new_block(pool, i % 50 ? 100 + i % 3000 : 20000,
					  i % 2 ? stream : other);
			old += get(ptr[i]) != NULL;
			if (i % 3)
				set(ptr[i], &word[i]);
		}
		for (int i = 0; i < MANY; i++)
			wrong += get(ptr[i]) != (i % 3 ? &word[i] : NULL);
		ok(stats_of(pool).host_bytes >
			   before + MANY / 2 * sizeof(void *),
		   "words are counted among what the host gives");
		for (int i = 0; i < MANY; i++)
			must(gpumem_free_own(ptr[i]));
		(void)trim(pool);
	}
	is_uint(old, 0, "no block begins with one");
	is_uint(wrong, 0, "each has its own");
	sound(pool, "sound");
}

static void test_wrong(size_t bytes)
{
	char *ptr = new_block(pool, bytes, stream);
	void *user = &words[0];

	is_status(gpumem_block_set_user(ptr + 1, user), GPUMEM_BAD_POINTER,
		  "%zu bytes: an inner pointer has none", bytes);
	is_status(gpumem_block_get_user(ptr + 1, &user), GPUMEM_BAD_POINTER,
		  "nor is one found by it");
	is_status(gpumem_block_get_user(ptr, NULL), GPUMEM_INVALID,
		  "nowhere to put it");
	must(gpumem_free(ptr, stream));
	is_status(gpumem_block_set_user(ptr, user), GPUMEM_BAD_POINTER,
		  "freed");
	is_status(gpumem_block_get_user(ptr, &user), GPUMEM_BAD_POINTER,
		  "freed");
	is_status(gpumem_block_set_user(&words, user), GPUMEM_BAD_POINTER,
		  "no block");
	is_status(gpumem_block_set_user(NULL, user), GPUMEM_INVALID, "NULL");
	is_ptr(user, &words[0], "no output is touched");
	is_new(ptr, bytes, "after what was refused");
}

/* ---- no host memory ---- */

#if !THREAD_SANITIZER
static _Atomic bool no_memory;

/* The system's, as the library sees it. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
	   off_t offset)
{
	if (atomic_load(&no_memory)) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd,
			       offset);
}
#endif

static void test_no_memory(void)
{
#if THREAD_SANITIZER
	skip("ThreadSanitizer has an mmap of its own", 6);
#else
	gpumem_pool *fresh = new_pool(0);
	void *small = new_block(fresh, 1000, stream);
	void *large = new_block(fresh, MIB, stream);

	atomic_store(&no_memory, true);
	is_status(gpumem_block_set_user(small, &words[0]),
		  GPUMEM_NO_HOST_MEMORY, "no host memory, no word");
	is_ptr(get(small), NULL, "it has none");
	set(small, NULL);
	set(large, &words[1]);
	is_ptr(get(large), &words[1], "a large block needs no memory for it");
	atomic_store(&no_memory, false);
	sound(fresh, "sound without");
	set(small, &words[0]);
	is_ptr(get(small), &words[0], "later there is some");
	must(gpumem_free(small, stream));
	must(gpumem_free(large, stream));
	sound(fresh, "sound");
	must(gpumem_pool_destroy(fresh, 0));
#endif
}

int main(void)
{
	alarm(60);
	device_start("4GiB", true);
	pool = new_pool(0);
	stream = new_stream();
	other = new_stream();
	for
		each_size(i)
		{
			test_kept(sizes[i]);
			test_beside(sizes[i]);
			test_foreign(sizes[i]);
			test_wrong(sizes[i]);
			test_resized(sizes[i]);
		}
	test_many();
	test_no_memory();
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_stream_destroy(device, other));
	ok(device_end(), "nothing is left behind");
	return done_testing();
}
