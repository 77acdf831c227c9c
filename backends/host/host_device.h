/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The inside of the `host` backend, a simulated GPU in ordinary memory. Its
 * files, from the bottom up:
 *
 *     host_error.c    sentences and native codes
 *     host_parse.c    numbers, sizes and lists of slots out of option texts
 *     host_config.c   the option rows, read into struct host_config
 *     host_fault.c    faults that were asked for, and the count of calls
 *     host_gate.c     what every slot does first; losing the device
 *     host_table.c    handles of streams and events, checked without a lock
 *     host_file.c     the files that memory is in
 *     host_range.c    address ranges, found by any address inside
 *     host_phys.c     physical memory: ranges of one memfd
 *     host_space.c    group VM: addresses and pages
 *     host_granule.c  what is mapped where
 *     host_map.c      group VM: pages behind addresses
 *     host_raw.c      alloc, free and memory_info
 *     host_kind.c     group KINDS: memory that is not the device's
 *     host_pin.c      group HOST_PIN: the process's own memory
 *     host_peer.c     groups PEERS and PROCESSES
 *     host_share.c    group SHARE_FD: pages in other processes
 *     host_ipc.c      group SHARE_IPC: raw allocations in other processes
 *     host_name.c     what is behind the name of one,
 *     host_tag.c      and who has made the name
 *     host_object.c   group OBJECTS: memory named by objects
 *     host_adopt.c    group ADOPT: devices of the program's contexts
 *     host_stream.c   streams and their handles
 *     host_queue.c    what is queued on them, and their threads
 *     host_event.c    events, and streams that wait for them
 *     host_touch.c    what fills and copies may touch
 *     host_work.c     what queues do; groups COPY and CAPTURE
 *     host_open.c     devices opened, found and closed
 *     host_backend.c  devices counted and described; the table
 *     host_control.c  the public functions of <gpumem/host.h>
 *
 * Nothing of the core is used, only what init is given. Locks, outermost
 * first: the registry's mutex (open devices), a device's `memory`, a table's,
 * a stream's. No thread waits for work to end with any of them but a
 * stream's own held, and no slot calls the core with one held except to leave
 * a sentence.
 */
#ifndef GM_HOST_DEVICE_H
#define GM_HOST_DEVICE_H

#include <gpumem/backend.h>
#include <gpumem/host.h>
#include "host_memory.h"
#include "host_stream.h"

#define HOST_DEVICES_MAX 64 /* as a mask of them has bits */

enum {
	HOST_KINDS = 0
#define HOST_KIND(name, number, word, text) +1
	GPUMEM_KIND_LIST(HOST_KIND)
#undef HOST_KIND
};

extern const struct gpumem_backend gm_host_backend;

/* ---- Slots, errors ----------------------------------------------------- */

/* It has every slot. NULL handles are default streams. */
#define HOST_DECLARE(slot, ...) GPUMEM_SLOT_DECLARE(gm_host_, slot)
GPUMEM_SLOT_LIST(HOST_DECLARE)

/* What option texts name beside the slots. */
enum { HOST_SLOT_ANY = GPUMEM_SLOT_COUNT /* '*' */, HOST_SLOT_NONE };

void gm_host_services_set(const struct gpumem_services *services);
/* NULL before init. */
const struct gpumem_services *gm_host_services(void);

/* What a public function of <gpumem/host.h> returns: a failure becomes the
 * thread's last error. */
gpumem_status gm_host_return(gpumem_status status, const char *where);
/* In a child of the process that the backend was started in. */
bool gm_host_forked(void);
/* Leaves the sentence for the core, with the native code that belongs to
 * status, and returns status. Before init the sentence is lost. */
gpumem_status gm_host_fail(gpumem_status status, const char *format, ...)
	GPUMEM_PRINTF(2, 3);
/* The system refused `what` with errno `error`. */
gpumem_status gm_host_fail_system(int error, const char *what);

/* ---- Option texts ------------------------------------------------------ */

/* Each takes the whole of text or nothing. */
bool gm_host_parse_count(const char *text, uint64_t *count_out);
bool gm_host_parse_bytes(const char *text, uint64_t *bytes_out);
bool gm_host_parse_bool(const char *text, bool *value_out);
/* The slot of that name that can fail, HOST_SLOT_ANY for "*", else
 * HOST_SLOT_NONE. */
unsigned gm_host_parse_slot(const char *name);
/* Splits text at ';' and calls fn for each item, a copy that fn may change,
 * until it returns false. An empty text has no items; an empty item or one of
 * more than 127 characters is bad. True when all items were taken. */
bool gm_host_parse_list(const char *text, bool (*fn)(char *item, void *user),
			void *user);

/* ---- Configuration ----------------------------------------------------- */

struct host_config {
	int devices;
	uint32_t caps;	      /* GPUMEM_CAP_ */
	uint64_t capacity;    /* bytes */
	uint64_t granularity; /* of pages, or without VM of alloc */
	uint64_t alignment;   /* of addresses from alloc */
	uint64_t max_alloc;
	uint64_t kind_bytes[HOST_KINDS]; /* of DEVICE: 0, see capacity */
	uint64_t copy_rate;		 /* bytes a second; 0: at once */
	uint64_t fail_above; /* bytes; 0: nothing fails for its size */
	uint64_t lose;	     /* calls until the device is lost; 0: never */
	char fail[512];	     /* host.fail as it stands */
	uint64_t latency_ns[GPUMEM_SLOT_COUNT];
};

extern const struct gpumem_option_row gm_host_options[];

/* INVALID, with its sentence, when an option's value makes no sense. */
gpumem_status gm_host_config_read(struct host_config *config_out);
/* NO_DEVICE: they give no device of that number, and none was adopted. */
gpumem_status gm_host_config_of(int index, struct host_config *config_out);

/* ---- Faults ------------------------------------------------------------ */

/* Counts one call of the slot. The status it must fail with, or OK. */
gpumem_status gm_host_fault_next(enum gpumem_slot slot);
/* Applies option host.fail, unless this same text was applied last. */
gpumem_status gm_host_fault_option(const char *text);

/* ---- A device ---------------------------------------------------------- */

struct host_device {
	int index;
	int opens;		      /* under the registry's mutex */
	struct host_config config;    /* as it was when opened */
	_Atomic bool lost;	      /* never undone */
	_Atomic uint64_t bad_address; /* why it was lost; 0: another reason */
	_Atomic uint64_t calls;	      /* only counted for config.lose */
	_Atomic uint64_t used_bytes;  /* sum of bytes of all pages */
	_Atomic uint32_t capturing;   /* streams being captured */
	pthread_mutex_t memory;	      /* guards all up to tilt */
	struct host_phys phys;
	struct host_ranges raws, spaces, kinds, opened, pins;
	struct host_buffer *views;
	uint64_t kind_bytes[HOST_KINDS]; /* given out; of DEVICE: 0 */
	uint64_t raw_peers; /* mask of devices that use what alloc gives */
	bool tilt;	    /* whether the last alloc had the least
			       alignment that is allowed */
	struct host_table streams, events;
	struct host_stream *default_stream;
};

/* What is pinned stays where it is, and is so no more. */
void gm_host_pins_clear(struct host_device *device);
/* What every slot does first: counts the call, and says whether it must fail,
 * having slept as long as option host.latency asks. device NULL: the slots
 * that have none. */
gpumem_status gm_host_enter(struct host_device *device, enum gpumem_slot slot);
void gm_host_sleep(uint64_t ns);
/* LOST, and the sentence why. */
gpumem_status gm_host_fail_lost(const struct host_device *device);
/* Every slot of the device gives LOST from now on, and its queues are dropped.
 * No stream's mutex may be held. */
void gm_host_lose(struct host_device *device);

/* Is it the number of a device that was adopted? */
bool gm_host_is_adopted(int index);
/* `memory` is held: the views of a range that is freed lose what they show; or
 * all views go with the device. */
void gm_host_views_orphan(struct host_device *device,
			  const struct host_range *range);
void gm_host_views_clear(struct host_device *device);
/* Where the bytes of an address are for this process, which the device can
 * reach. No lock may be held. */
uint64_t gm_host_memory_at(const struct host_device *device, uint64_t address);
/* INVALID: the address is another open device's memory, which was not opened to
 * this one. No lock may be held. */
gpumem_status gm_host_may_touch(const struct host_device *device,
				uint64_t address, uint64_t bytes);

/* What one end of a fill or copy uses. */
struct host_touch {
	uint64_t address, bytes;
	bool write;
};

/* BAD_POINTER, as far as can be known when it is queued; the address is what
 * the caller has. No lock may be held. */
gpumem_status gm_host_touch_look(const struct host_touch *touch);
/* The same right before it is done, where the bytes are for this process. */
gpumem_status gm_host_touch_now(const struct host_touch *touch);

/* ---- Devices by number ------------------------------------------------- */

/* The open device of that number with the registry's mutex held, which
 * gm_host_device_leave() gives back; NULL, and nothing held: it is not open. */
struct host_device *gm_host_device_find(int index);
void gm_host_device_leave(void);
/* The same mutex, when no device is meant. NULL: that number is not open. */
void gm_host_devices_lock(void);
struct host_device *gm_host_device_at(int index);
/* What others use of it: option-like, lasts over close and open. */
uint64_t gm_host_outside_bytes(int index);
void gm_host_outside_set(int index, uint64_t bytes);

#endif
