/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The recorder: one file of a bounded size, mapped whole, into which each
 * thread writes events, in chunks of its own. Its contract:
 *
 *     no lock, no call that writes, no thread: an event is a store of 4 bytes
 *     where it repeats another, else two of 8. A chunk
 *     is claimed by an atomic addition; that may make a call (its storage, its
 *     pages), and never waits for another thread.
 *     the file is the kernel's: what was written is in it after a crash
 *     a full disk, a full file or a thread too many lose events, and count them
 *
 * What keeps the mapping alive under writers is not here but where events are
 * made: a thread writes only while it is
 *
 *     in its locked cache of a heap that is recorded (cache/local.h), or
 *     under the mutex of such a heap
 *
 * and a heap becomes recorded, or ceases to be, only while it is stopped
 * (gm_heap_stop()). gm_record_open() comes before the first, and
 * gm_record_close() after the last. Definitions are made under a mutex of this
 * module, under which no other lock is taken.
 *
 * Time: an event that ends a block is stamped before others can have its
 * memory, one that begins a block after that: sorted by time, no address is
 * live twice. The counter is read in the order of the program when the block
 * came from another thread (gm_record_now_after()).
 */
#ifndef GM_RECORD_RECORD_H
#define GM_RECORD_RECORD_H

#include <gpumem/gpumem.h>
#include <gpumem/record.h>
#include <stdatomic.h>

struct gm_stack;

struct gm_record_config {
	const char *path;   /* NULL: memory, which has no name */
	uint64_t max_bytes; /* of the file; at least GM_RECORD_BYTES_MIN */
};

enum {
	GM_RECORD_CHUNK_BYTES = 64 * 1024,
	/* Definitions have a 64th of the file, but at least so much. */
	GM_RECORD_DEFINITIONS_MIN = 64 * 1024,
	GM_RECORD_BYTES_MIN = 1024 * 1024,
	/* Its events take half of a chunk. */
	GM_RECORD_TEXT_MAX = 16 * 1024,
	/* So many chunks gm_record_read() looks at. */
	GM_RECORD_READ_CHUNKS = 64
};

/* Read on the way of each event, written while nobody writes events. */
struct gm_recorder {
	_Atomic uint32_t generation; /* of the open file; 0: none is open */
	bool ticks;		     /* the clock is the processor's counter */
};

extern struct gm_recorder gm_recorder;

/* A block that a short event may name: an event's value, tag and high. */
struct gm_record_place {
	uint64_t value;
	uint64_t more;
};

/* The calling thread's chunk, in words of 4 bytes.
 *
 *     generation == gm_recorder.generation  =>  at <= end, within a chunk that
 *     nobody else writes; base, last, pool and stream are what it said last;
 *     and place[] has the blocks that it said since its last TIME
 *     events of the chunk == its words up to at - filled */
struct gm_record_own {
	uint32_t *at, *end;
	uint64_t base, last;
	struct gm_record_place *place; /* GPUMEM_RECORD_PLACES; or NULL */
	gpumem_stream stream;
	uint32_t generation;
	uint32_t chunk;
	uint16_t filled;
	uint16_t pool;
};

extern __attribute__((tls_model(
	"initial-exec"))) _Thread_local struct gm_record_own gm_record_own;

/* Creates the file and begins. OK; INVALID: it cannot be used for that, as the
 * text says; BUSY: another process records to it; NO_HOST_MEMORY. */
gpumem_status gm_record_open(const struct gm_record_config *config);
/* Nobody writes. What is not used of the file goes. */
void gm_record_close(void);

/* A number for a pool, and its definition; 0: no more can be recorded. */
uint16_t gm_record_pool(const char *name, const char *device, const char *kind);

/* Defines the tags (base/tag.h) that have been made since it was called last,
 * or since the recording began. */
void gm_record_tags(void);

/* ---- reading ---- */

/* An event of a block, as it was recorded. */
struct gm_record_seen {
	uint64_t real_ns; /* since 1970 */
	uint64_t address, bytes, stream;
	uint64_t stack;	    /* a struct gm_stack; 0: not known */
	const char *device; /* of its pool; "": not known */
	uint16_t pool, tag;
	uint8_t kind;
};

/* Those of the newest chunks, in no order but that of each thread. Nobody opens
 * or closes the file meanwhile; threads may go on recording. False: fn stopped,
 * or there was no host memory. */
bool gm_record_read(bool (*fn)(const struct gm_record_seen *seen, void *user),
		    void *user);

/* ---- time ---- */

uint64_t gm_record_clock_ns(void);

static inline uint64_t gm_record_now(void)
{
#ifdef __x86_64__
	if (__builtin_expect(gm_recorder.ticks, true))
		return __builtin_ia32_rdtsc();
#endif
	return gm_record_clock_ns();
}

/* Not before what the thread has read so far. */
static inline uint64_t gm_record_now_after(void)
{
#ifdef __x86_64__
	__builtin_ia32_lfence();
#endif
	return gm_record_now();
}

/* ---- events ---- */

struct gm_record_block {
	uint64_t time;
	uintptr_t address;
	uint64_t bytes;
	gpumem_stream stream;
	uint16_t pool; /* a number of gm_record_pool() */
	uint16_t tag;  /* of the block; 0: none */
	uint8_t kind;  /* enum gpumem_record_kind */
};

/* Makes room for so many events of that time and context; false: lost. */
bool gm_record_prepare(uint64_t time, uint16_t pool, gpumem_stream stream,
		       unsigned events);
/* The event of a block for which there is no room, or no short one. */
void gm_record_other(const struct gm_record_block *block);
/* Before one that begins a block, at that time: what served it. There is room
 * for what that may be. */
void gm_record_served(uint64_t time, uint16_t pool, gpumem_stream stream,
		      enum gpumem_served served);
/* stacks.c: one that begins a block, and where in the program that was. Under
 * the mutex of the heap, not in a cache. */
void gm_record_block_with_stack(const struct gm_record_block *block,
				const struct gm_stack *stack);

enum {
	GM_RECORD_WORDS = sizeof(struct gpumem_record_event) / sizeof(uint32_t),
	GM_RECORD_WHAT_SHIFT = 29
};

static inline uint32_t gm_record_word(unsigned what, unsigned number,
				      uint32_t time)
{
	return GPUMEM_RECORD_SHORT | what << GM_RECORD_WHAT_SHIFT |
	       (uint32_t)number << GPUMEM_RECORD_SHORT_TIME_BITS | time;
}

/* The kind is written last: a reader finds whole events only. What fills up to
 * a multiple of 8 bytes is there by then. */
static inline void gm_record_put(uint64_t time, unsigned kind, unsigned tag,
				 unsigned high, uint64_t value)
{
	struct gm_record_own *own = &gm_record_own;
	union {
		struct gpumem_record_event event;
		uint64_t word[2];
	} put = {.event = {.time = (uint32_t)(time - own->base),
			   .tag = (uint16_t)tag,
			   .kind = (uint8_t)kind,
			   .high = (uint8_t)high}};
	struct gpumem_record_event *at;

	if ((uintptr_t)own->at % sizeof(uint64_t)) {
		*own->at++ = gm_record_word(GPUMEM_RECORD_SHORT_FILL, 0, 0);
		own->filled++;
	}
	at = (struct gpumem_record_event *)(void *)own->at;
	at->value = value;
	atomic_store_explicit((_Atomic uint64_t *)(void *)at, put.word[0],
			      memory_order_release);
	own->at += GM_RECORD_WORDS;
	own->filled = (uint16_t)(own->filled + GM_RECORD_WORDS - 1);
	own->last = time;
}

/* False: so much later than the event before, or earlier, that a short one has
 * no room for it. */
static inline bool gm_record_put_short(uint64_t time, unsigned what,
				       unsigned number)
{
	struct gm_record_own *own = &gm_record_own;
	uint64_t delta = time - own->last;

	if (__builtin_expect(delta >> GPUMEM_RECORD_SHORT_TIME_BITS, false))
		return false;
	atomic_store_explicit((_Atomic uint32_t *)(void *)own->at++,
			      gm_record_word(what, number, (uint32_t)delta),
			      memory_order_release);
	own->last = time;
	return true;
}

static inline bool gm_record_ready(uint64_t time, uint16_t pool,
				   gpumem_stream stream, unsigned events)
{
	const struct gm_record_own *own = &gm_record_own;

	return own->generation == atomic_load_explicit(&gm_recorder.generation,
						       memory_order_relaxed) &&
	       own->pool == pool && own->stream == stream &&
	       time - own->base <= INT32_MAX &&
	       own->end - own->at > (ptrdiff_t)(events * GM_RECORD_WORDS);
}

/* What an event and a place have of a block below 4 GiB; of a larger one no
 * place has the same. */
static inline uint64_t gm_record_value(uintptr_t address, uint64_t bytes)
{
	return address / GPUMEM_RECORD_UNIT << 24 | (bytes & 0xffffff);
}

static inline uint64_t gm_record_more(unsigned tag, uint64_t bytes)
{
	return bytes >> 24 << 16 | tag;
}

/* Writes the event short, if the thread has said its block not long ago. There
 * is room. */
static inline bool gm_record_again(const struct gm_record_block *block)
{
	unsigned what = block->kind - (unsigned)GPUMEM_RECORD_ALLOC;
	uint64_t value = gm_record_value(block->address, block->bytes);
	unsigned number = GPUMEM_RECORD_PLACE(value, block->tag);
	const struct gm_record_place *place = &gm_record_own.place[number];

	return what <= GPUMEM_RECORD_SHORT_FREE && place->value == value &&
	       place->more == gm_record_more(block->tag, block->bytes) &&
	       gm_record_put_short(block->time, what, number);
}

static inline void gm_record_block(const struct gm_record_block *block)
{
	if (!gm_record_ready(block->time, block->pool, block->stream, 1) ||
	    !gm_record_again(block))
		gm_record_other(block);
}

/* An event with up to four numbers, of the pool as a whole. */
void gm_record_pool_event(uint16_t pool, enum gpumem_record_kind kind,
			  unsigned count, const uint64_t *value);

/* The same with a text of at most GM_RECORD_TEXT_MAX bytes, whose length is the
 * first number. */
void gm_record_text(uint16_t pool, enum gpumem_record_kind kind,
		    const char *text, size_t bytes);

/* The same, nothing where the pool is not recorded. */
#define GM_RECORD(pool, kind, ...)                                             \
	do {                                                                   \
		const uint64_t gm_values[] = {__VA_ARGS__};                    \
		if (__builtin_expect((pool) != 0, false))                      \
			gm_record_pool_event((pool), (kind),                   \
					     sizeof(gm_values) /               \
						     sizeof(gm_values[0]),     \
					     gm_values);                       \
	} while (0)

#endif
