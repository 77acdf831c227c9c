/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Internals of gpumem-replay: a trace, a policy that replays it, and what it
 * measured. One thread.
 *
 * A replay fails by writing a sentence to replay->error and returning false;
 * the caller then gives everything back and exits with TOOL_FAILED.
 */
#ifndef GPUMEM_TOOLS_REPLAY_H
#define GPUMEM_TOOLS_REPLAY_H

#include "common/json.h"
#include "common/progress.h"
#include "common/raw.h"
#include "common/trace_file.h"
#include "model.h"

/* Events between two looks at the progress bar, or read at once. */
#define REPLAY_STRETCH 16384u

/* --lag=inf: work is over only when somebody waits for it. */
#define REPLAY_LAG_INF UINT64_MAX

/* --tags has at most so many. */
enum { REPLAY_TAGS = 64 };

struct replay_config {
	const char *trace;
	const char *device; /* NULL: the default */
	const struct replay_policy *policy;
	const struct model *model; /* NULL: none */
	uint64_t passes;
	uint64_t divisor;      /* of the size of every block */
	uint64_t check_every;  /* events between two checks; 0: never */
	uint64_t sample_every; /* the same of two samples */
	uint64_t lag;	       /* events that the device is behind; 0: idle */
	uint64_t tags;	       /* that blocks get, with a word of a sleep */
	bool load;	       /* the whole trace before the first event */
	bool json;
};

struct replay_pass {
	uint64_t ns;
	uint64_t driver_calls;
	double model_ns;
};

/* The memory after so many events of a pass. */
struct replay_sample {
	uint64_t pass, events; /* passes before this one */
	uint64_t requested_bytes, allocated_bytes, reserved_bytes;
};

/* What a policy knows of itself at one moment. */
struct replay_usage {
	uint64_t requested_bytes, peak_requested_bytes;
	uint64_t allocated_bytes, peak_allocated_bytes;
	uint64_t reserved_bytes, peak_reserved_bytes;
	uint64_t driver_calls, driver_ns;
	struct gpumem_stats stats; /* all zero when there is no pool */
	struct gpumem_call_stats calls[GPUMEM_CALL_COUNT]; /* likewise */
};

/* What the device has yet to do, oldest first. */
struct replay_lag {
	struct replay_work *ring; /* first <= i < last lies at i % room */
	uint64_t first, last;
	size_t room;
	uint64_t event; /* events so far, of all passes */
};

struct replay {
	const struct replay_config *config;
	struct trace trace; /* empty when it is not loaded */
	struct trace_totals totals;
	struct gpumem_device_info info;

	/* of both policies */
	gpumem_device *device;
	char device_name[COUNT_NAME]; /* without the counter */
	gpumem_pool *pool;	      /* cached */
	struct raw_device raw;	      /* direct */
	uint64_t *sizes;	      /* direct: by slot, rounded */
	uint64_t limit_bytes;	      /* direct: option `limit`; 0: none */
	struct replay_usage direct;

	void **ptrs; /* by slot; NULL: not live */
	uint64_t ptr_room;
	gpumem_stream streams[TRACE_STREAMS]; /* [0] is the default stream */
	uint32_t stream_count;
	struct replay_lag lag;
	uint32_t tag[REPLAY_TAGS];

	uint64_t run_ns;   /* of the pass that is running */
	uint64_t run_done; /* its events so far */
	uint64_t passes_done;
	struct progress progress;
	struct replay_pass *passes;
	struct replay_sample *samples;
	uint64_t sample_count, sample_room;
	struct replay_usage end;   /* after the last event */
	uint64_t trimmed_reserved; /* after the trim that follows it */

	/* with a model only */
	struct counts counts; /* until the last event */
	struct counts native; /* of a pass, had each event been a call */
	char error[1536];
};

struct replay_policy {
	const char *name;
	bool (*open)(struct replay *replay);
	/* Does the events in order; on failure, of the one at *done_out. */
	gpumem_status (*run)(struct replay *replay,
			     const struct trace_event *events, uint64_t count,
			     uint64_t *done_out);
	bool (*usage)(struct replay *replay, struct replay_usage *usage_out);
	bool (*check)(struct replay *replay);
	bool (*trim)(struct replay *replay);
	/* Frees what is still live. */
	bool (*clear)(struct replay *replay);
	/* Gives everything back, live blocks too, and says so if something
	 * that was given back is still there. */
	bool (*close)(struct replay *replay);
};

extern const struct replay_policy replay_cached, replay_direct;

/* Without a pool a resize is a free and an allocation. */
static inline bool replay_ends(const struct trace_event *event)
{
	return event->kind == TRACE_FREE || event->kind == TRACE_RESIZE;
}

static inline bool replay_begins(const struct trace_event *event)
{
	return event->kind == TRACE_ALLOC || event->kind == TRACE_RESIZE;
}

/* Writes the sentence unless there is one already; gives false. */
bool replay_fail(struct replay *replay, const char *format, ...)
	GPUMEM_PRINTF(2, 3);
/* The same with the library's last sentence after it. */
bool replay_fail_last(struct replay *replay, const char *what);

/* Room for the slots, and the streams, that the next events use. */
bool replay_reserve(struct replay *replay, uint64_t slots, uint32_t streams);

/* Replays the next events, which stood on those lines. */
bool replay_events(struct replay *replay, const struct trace_event *events,
		   const uint32_t *lines, uint64_t count);

/* What the policy `direct` asks the driver for; 0: that cannot be said in 64
 * bits. */
uint64_t replay_direct_bytes(const struct replay *replay, uint64_t bytes);

/* Replays the whole file while reading it; sets replay->totals. */
bool replay_file(struct replay *replay);

/* Everything from opening the pool to closing it. */
bool replay_run(struct replay *replay);

/* False when the output could not be written. */
bool replay_print_text(const struct replay *replay);
bool replay_print_json(const struct replay *replay);

/* What the pool and the driver did. */
bool replay_pool_text(const struct replay *replay);

/* --lag; all but the last do nothing without it. Each stream is told of once it
 * is made, and each event of the policy `cached` once it is done. */
bool replay_lag_open(struct replay *replay);
bool replay_lag_stream(struct replay *replay, gpumem_stream stream);
gpumem_status replay_lag_event(struct replay *replay,
			       const struct trace_event *event);
void replay_lag_close(struct replay *replay);

/* --tags: makes them; gives the thread that of an event. */
bool replay_tags_open(struct replay *replay);
gpumem_status replay_tags_event(const struct replay *replay,
				const struct trace_event *event);

/* Adds a sample of the memory in use; all of them. */
bool replay_sample(struct replay *replay);
json_t *replay_sample_json(const struct replay *replay, bool *ok);

/* The parts of it that the model has. */
bool replay_model_text(const struct replay *replay);
json_t *replay_model_json(const struct replay *replay, bool *ok);

#endif
