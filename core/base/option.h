/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The one table of options: the core's rows, then the rows that each backend
 * brings. A value comes from its default, then GPUMEM_CONF, then the program.
 * Keys in GPUMEM_CONF that no row has yet are kept until a backend brings the
 * row. What is not understood there changes nothing, and gm_conf_check() fails.
 * A mutex of its own guards the table.
 */
#ifndef GM_BASE_OPTION_H
#define GM_BASE_OPTION_H

#include <gpumem/backend.h>

/* The core's own options: key, default, kind, text. */
#define GM_OPTION_LIST(X)                                                      \
	X(log, "none", TEXT,                                                   \
	  "messages on standard error: none, error, warn, info or debug")      \
	X(limit, "0", MEMORY,                                                  \
	  "hard limit of each pool that sets none of its own; 0: none")        \
	X(device_limit, "0", MEMORY,                                           \
	  "hard limit of a device for all pools of the process together; 0: "  \
	  "none")                                                              \
	X(soft_limit, "0", MEMORY,                                             \
	  "above it a pool trims and runs pressure callbacks before it "       \
	  "grows; 0: none")                                                    \
	X(vm, "on", BOOL, "use virtual memory where the device has it")        \
	X(page, "0", BYTES,                                                    \
	  "unit of physical memory; 0: the device's granularity, but at "      \
	  "least 256 KiB")                                                     \
	X(handle_max, "64MiB", BYTES,                                          \
	  "largest handle of physical memory, a power of two of pages; 0: "    \
	  "one page for each")                                                 \
	X(space, "0", BYTES,                                                   \
	  "most addresses that a pool reserves; 0: 32 times the device's "     \
	  "memory, and more when needed")                                      \
	X(alias, "on", BOOL,                                                   \
	  "where a device can map pages at several addresses, move those of "  \
	  "free blocks on which their own stream is still at work")            \
	X(share, "none", TEXT,                                                 \
	  "how blocks of pools that do not say reach other processes: "        \
	  "none, any, fd or ipc")                                              \
	X(waste, "1.5%", PERCENT,                                              \
	  "free memory that a pool may leave unused, in percent of its peak, " \
	  "before it moves pages from free blocks instead of allocating "      \
	  "from the driver")                                                   \
	X(waste_max, "4%", PERCENT,                                            \
	  "what `waste` may grow to in a program that makes a pool move "      \
	  "pages repeatedly")                                                  \
	X(segment_waste, "5%", PERCENT,                                        \
	  "the same without virtual memory: above it, unused segments are "    \
	  "given back before a new one is allocated")                          \
	X(segment_wait_ms, "1000", COUNT,                                      \
	  "without virtual memory: milliseconds that an allocation waits at "  \
	  "most for the work on unused segments before the pool reserves "     \
	  "more than ever; 0: never")                                          \
	X(stream_waste, "4.5%", PERCENT,                                       \
	  "free memory that a pool may leave unused, in percent of its peak, " \
	  "before a stream waits for the work of another to use what that "    \
	  "has freed; in a pool with a limit 10%, unless it is set")           \
	X(cache, "256KiB", BYTES,                                              \
	  "largest amount of one size class that a thread caches for one "     \
	  "stream")                                                            \
	X(decay_ms, "10000", COUNT,                                            \
	  "memory that has been idle for so many milliseconds is given back "  \
	  "to the driver; 0: never")                                           \
	X(decay_thread, "off", BOOL,                                           \
	  "give idle memory back from a background thread of each pool, not "  \
	  "only from slow-path calls")                                         \
	X(wait, "on", BOOL,                                                    \
	  "before an allocation fails, wait for blocks that streams still "    \
	  "use")                                                               \
	X(record, "", TEXT,                                                    \
	  "file into which all that happens to blocks is recorded, from the "  \
	  "first pool on; a %p becomes the number of the process")             \
	X(record_max, "256MiB", BYTES,                                         \
	  "largest size of a recording; beyond it the oldest part is "         \
	  "overwritten")                                                       \
	X(oom, "", TEXT,                                                       \
	  "file to which each allocation that runs out of memory appends a "   \
	  "line of JSON that says why; a %p becomes the number of the "        \
	  "process")                                                           \
	X(oom_snapshot, "", TEXT,                                              \
	  "file that the first allocation that runs out of memory writes, "    \
	  "as PyTorch's memory snapshot, with a text beside it; a %p becomes " \
	  "the number of the process")                                         \
	X(track, "off", BOOL,                                                  \
	  "know the age and thread of every live block of new pools, and "     \
	  "where it was allocated")                                            \
	X(track_frames, "16", COUNT,                                           \
	  "frames of the stack that `track` keeps of each allocation, at "     \
	  "most 64; 0: none")                                                  \
	X(leaks, "", TEXT,                                                     \
	  "file to which the live blocks of all pools are reported when the "  \
	  "process ends; a %p becomes its number; sets `track`")

/* A reading names its kind, so that neither a misspelt key nor the wrong reader
 * goes unseen: GM_BOOL_vm, GM_BYTES_page. */
enum gm_core_option {
#define GM_OPTION_ENUM(key, value, kind, text) GM_##kind##_##key,
	GM_OPTION_LIST(GM_OPTION_ENUM)
#undef GM_OPTION_ENUM
		GM_CORE_OPTION_COUNT
};

/* Adds a backend's rows; later calls with the same rows do nothing. INVALID: a
 * key is taken or a default is not of its kind; NO_HOST_MEMORY. */
gpumem_status gm_option_add(const struct gpumem_option_row *rows);

gpumem_status gm_option_set(const char *key, const char *value);
gpumem_status gm_option_get(const char *key, struct gpumem_option *option_out);
void gm_option_visit(bool (*fn)(const struct gpumem_option *option, void *user),
		     void *user);

/* Whether a key that the table does not have is of a backend whose options are
 * not there yet. If not, the name of the backend that may have been meant goes
 * into meant_out (""). Called without a lock. */
typedef bool (*gm_conf_waits_fn)(const char *key, char meant_out[16]);

/* Judges what GPUMEM_CONF was when the library was first used, without the
 * values of options that the program has set. OK; INVALID: the first thing in
 * it that was not understood; NO_HOST_MEMORY: it could not be kept. With `tell`
 * each such thing is told once, by gm_log_unasked(). */
gpumem_status gm_conf_check(gm_conf_waits_fn waits, bool tell);
/* Calls fn for the key of every pair; without a lock. */
void gm_conf_keys(void (*fn)(const char *key));

/* How many letters have to change to make one of the other: at most 64 of
 * `right` are looked at. */
unsigned gm_option_distance(const char *left, const char *right);

/* Present values of the core's own options, parsed. */
bool gm_option_bool(enum gm_core_option option);
uint64_t gm_option_bytes(enum gm_core_option option);
uint64_t gm_option_count(enum gm_core_option option);
/* A percentage is one of total_bytes, the device's memory. */
uint64_t gm_option_memory(enum gm_core_option option, uint64_t total_bytes);
/* "1%" gives 0.01. */
double gm_option_fraction(enum gm_core_option option);
/* The text; false, and nothing is written, if nobody has given it a value. */
bool gm_option_given(enum gm_core_option option, char *value_out, size_t bytes);
/* What option `log` says, an enum gpumem_log_level, for who may not lock. */
extern _Atomic int gm_option_log_level;
/* For plugins; see struct gpumem_services. */
bool gm_option_text(const char *key, char *value_out, size_t bytes);

/* The environment, or NULL in a set-user-id program. */
const char *gm_environment(const char *name);

/* "4096", "64KiB", "1.5 GiB", "1GB", "1g", all in powers of 1024: false if it
 * is none, or beyond 64 bits. */
bool gm_parse_bytes(const char *text, uint64_t *bytes_out);

#endif
