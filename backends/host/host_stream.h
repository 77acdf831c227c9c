/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The simulated device's streams and events, and the handles that name them.
 * Every function here locks for itself.
 */
#ifndef GM_HOST_STREAM_H
#define GM_HOST_STREAM_H

#include <gpumem/backend.h>
#include <pthread.h>
#include <stdatomic.h>

struct host_device;

/* ---- Handles ----------------------------------------------------------- */

#define HOST_CHUNK_OBJECTS 256u
#define HOST_CHUNKS 4096u
#define HOST_SLOT_BITS 20 /* of a slot: 256 * 4096 */

enum host_kind { HOST_KIND_STREAM = 1, HOST_KIND_EVENT = 2 };

/* Begins every object that a handle names. */
struct host_object {
	_Atomic uint64_t handle; /* 0: nobody has it */
	uint32_t slot;
	uint32_t next_free; /* slot + 1; 0: none */
	uint32_t turn;	    /* how often it was taken */
};

/*
 * Objects live in chunks that go only with the table, so looking at one whose
 * handle is stale is safe, and needs no lock.
 *
 *     handle = turn % 256 << 40 | kind << 38 | device << 32 | slot << 8
 *     made == objects in use + objects in the free list
 */
struct host_table {
	size_t object_bytes;
	enum host_kind kind;
	int device;
	pthread_mutex_t mutex; /* guards made and free_list */
	uint32_t made;
	uint32_t free_list; /* slot + 1; 0: none */
	_Atomic(char *) chunks[HOST_CHUNKS];
};

void gm_host_table_init(struct host_table *table, size_t object_bytes,
			enum host_kind kind, int device);
void gm_host_table_free(struct host_table *table);
/* An object without a handle yet; turn 1: never used before, all zero. NULL:
 * no memory. */
void *gm_host_table_take(struct host_table *table);
/* From now on its handle is good; returns it. */
uint64_t gm_host_table_publish(struct host_table *table, void *object);
/* Its handle is bad from now on. False: it was bad already. */
bool gm_host_table_retract(void *object, uint64_t handle);
/* A retracted object may be taken again. */
void gm_host_table_give(struct host_table *table, void *object);
/* NULL when the handle is not one of this table's live objects. */
void *gm_host_table_find(struct host_table *table, uint64_t handle);
/* The object of a slot, live or not; NULL: never made. */
void *gm_host_table_at(struct host_table *table, uint32_t slot);

/* ---- Streams ----------------------------------------------------------- */

struct host_stream;

enum host_work_kind {
	HOST_WORK_LAUNCH,
	HOST_WORK_FILL,
	HOST_WORK_COPY,
	HOST_WORK_WAIT
};

struct host_work {
	struct host_work *next;
	enum host_work_kind kind;
	union {
		struct {
			void (*fn)(void *arg);
			void *arg;
		} launch;
		struct {
			uint64_t to, from, bytes; /* fill: no from */
			uint8_t value;		  /* fill only */
		} move;
		struct {
			struct host_stream *stream;
			uint64_t ticket;
		} wait;
	};
};

/*
 * A queue. Work number n is over when done >= n, so an event need only keep a
 * stream and a number, and recording one costs no thread and no lock.
 *
 *     queued - done == works in the list + (1 while one runs, `running`)
 *     done and queued only grow, also when the stream is used again
 */
struct host_stream {
	struct host_object object;
	struct host_device *device;
	pthread_mutex_t mutex; /* guards the list and the thread's state */
	pthread_cond_t more;   /* work was queued, or stop was set */
	pthread_cond_t less;   /* done has grown, or the device is lost */
	struct host_work *first, **last;
	pthread_t thread;
	bool started, open, stop;
	bool running; /* one work, in whatever thread */
	bool held;    /* the thread takes none: gpumem_host_hold() */
	_Atomic bool made; /* mutex and conditions are there */
	_Atomic uint64_t queued, done;
	_Atomic uint64_t capture; /* 0: not being captured */
};

/* The stream of a handle, NULL for the default stream's; NULL, having left a
 * sentence, when it is none of this device. */
struct host_stream *gm_host_stream_find(struct host_device *device,
					gpumem_stream handle);
gpumem_status gm_host_stream_open(struct host_device *device,
				  struct host_stream **stream_out);
/* Waits for what is queued and ends the thread. Not from that thread. */
void gm_host_stream_close(struct host_stream *stream);
/* Queues a copy of *work; dropped, and OK, while the stream is captured. */
gpumem_status gm_host_stream_queue(struct host_stream *stream,
				   const struct host_work *work);
/* While a stream is held, work is done by those who wait for it, and by
 * gm_host_stream_step(), up to work number `ticket`, on a lost device too. OK,
 * or why there is no thread. */
gpumem_status gm_host_stream_hold(struct host_stream *stream, bool on);
void gm_host_stream_step(struct host_stream *stream, uint64_t ticket);
/* Waits until work number `ticket` is over, no longer than until a time of the
 * monotonic clock (NULL: as long as it takes). OK, NOT_READY or LOST. */
gpumem_status gm_host_stream_await(struct host_stream *stream, uint64_t ticket,
				   const struct timespec *until);
/* The same with a sentence. */
gpumem_status gm_host_stream_wait_for(struct host_stream *stream,
				      uint64_t ticket,
				      const struct timespec *until);
/* CAPTURING with a sentence, and a violation counted, while the stream is being
 * captured: for calls that a capture would not survive. */
gpumem_status gm_host_stream_leave_alone(const struct host_stream *stream);
/* Begins or ends a capture. False: it is so already. */
bool gm_host_stream_capture(struct host_stream *stream, bool on);
/* Wakes whoever waits, to see that the device is lost. */
void gm_host_stream_wake(struct host_stream *stream);
/* Frees what gm_host_stream_open() made for all streams of a table; they are
 * closed. */
void gm_host_stream_free_all(struct host_table *table);
/* Does the work of one item, in the thread of its stream. BAD_POINTER: it was
 * to touch what is no memory, and nothing was done. */
gpumem_status gm_host_work_run(struct host_device *device,
			       const struct host_work *work);
/* The size of an event, whose inside only host_event.c knows. */
extern const size_t gm_host_event_bytes;
/* The core did what it must not while a stream is captured; or it did what it
 * must not while any is, unless the device says that it may. */
void gm_host_violation(void);
void gm_host_free_in_capture(struct host_device *device);

#endif
