/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a backend gives gpumem: one const table.
 *
 * A plugin is a shared object that exports one function,
 *
 *     const struct gpumem_backend *gpumem_plugin(void);
 *
 * and needs no symbol of the library: the core passes its services in as
 * struct gpumem_services. It is found as NAME.so in gpumem/abi-N beside the
 * library (N is GPUMEM_BACKEND_ABI) or, if that is set, in the directories of
 * GPUMEM_PLUGIN_PATH, opened with RTLD_NOW | RTLD_LOCAL and never closed. It
 * holds no policy: no caching, no accounting, no retries.
 *
 * What the core guarantees, so that no slot need check it:
 *
 * - init is called once, before any other slot, by one thread. When it fails
 *   no other slot is called. Every other slot may be called by any thread at
 *   any time, several at once, device_close only when nothing else of that
 *   device is running.
 * - Outputs are never NULL. Struct outputs arrive zeroed but for their `size`,
 *   and a plugin writes no more than that.
 * - Sizes are > 0 and multiples of the granularity that device_info gave, but
 *   for those of fill, copy and view_create; alignments are powers of two.
 * - Peers are open, none of them is the device itself, and none comes twice.
 * - Nothing is given back twice, or while a capability says it is not there,
 *   nor what alloc gave while it has a view, unless the driver has refused to
 *   take that view back.
 *
 * What a slot guarantees:
 *
 * - It leaves an output alone unless it returns GPUMEM_OK, and sets it then. An
 *   output that was not set, an address that is 0, not aligned or beyond 48
 *   bits, and memory or a page that is live already, make the call fail with
 *   DRIVER in the core; nothing is given back.
 * - On failure it has undone what it did, and has called services->error with
 *   the driver's own code. It prints nothing.
 * - It calls nothing of the library but the services; it does not throw, does
 *   not longjmp out of itself, and ends neither its thread (pthread_exit) nor
 *   the process. Locks of the library are held meanwhile.
 * - free releases the memory and its addresses.
 * - It returns a status of the list, but not those that only the library has a
 *   use for: NOT_FOUND, LIMIT, ABI, CORRUPT, FORKED; and NOT_READY and
 *   BAD_POINTER only where it says so below. Any other number is DRIVER in the
 *   core, with a sentence that names the slot and the number.
 * - NO_MEMORY means that giving memory back may help, LOST that the device is
 *   gone for good; DRIVER is anything else the driver said. An answer that is
 *   no failure (NOT_READY, BUSY of a view) does not call services->error.
 * - An address is a number: the core adds to it and never dereferences it. It
 *   fits in 48 bits. What alloc, kind_alloc and va_reserve return overlaps no
 *   live memory of the process, whatever its device or backend.
 * - It leaves the calling thread's current context, device and signal mask as
 *   they were.
 *
 * A NULL slot means "unsupported". Groups are all or nothing. Slots are only
 * ever appended, in groups of their own; `size` says how many a plugin knows.
 * `abi` is compared for equality and changes only when something here breaks.
 */
#ifndef GPUMEM_BACKEND_H
#define GPUMEM_BACKEND_H

#include <gpumem/gpumem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUMEM_BACKEND_ABI 1u
#define GPUMEM_PLUGIN_SYMBOL "gpumem_plugin"

#if defined(__GNUC__) || defined(__clang__)
#define GPUMEM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define GPUMEM_PRINTF(f, a)
#endif

/* From the core to the plugin; valid for ever. */
struct gpumem_services {
	uint32_t abi;
	uint32_t size;
	/* One line to the log; no newline. */
	void (*log)(gpumem_log_level level, const char *format, ...)
		GPUMEM_PRINTF(2, 3);
	/* The reason of the failure that this thread is about to return: the
	 * driver's code and name for it (0 and "" if no driver call failed),
	 * and a sentence that begins in lower case and has no full stop. */
	void (*error)(int64_t native_code, const char *native_name,
		      const char *format, ...) GPUMEM_PRINTF(3, 4);
	/* The present value of one of the backend's own options; false if it
	 * declares none of that key. Copies at most `bytes` into `value_out`,
	 * zero-terminated. However it was written, a size comes as a number of
	 * bytes in digits, a count in digits, a percentage as "2.5%", also one
	 * of memory, and a switch as "on" or "off"; a TEXT as written. */
	bool (*option)(const char *key, char *value_out, size_t bytes);
	/* For functions that a plugin offers to programs beside its table:
	 * makes what error() said the thread's last error, "WHERE: ...", and
	 * returns status. */
	gpumem_status (*fail)(gpumem_status status, const char *backend,
			      const char *where);
};

/* The kinds of value an option can have; the core refuses others. */
typedef enum gpumem_option_kind {
	GPUMEM_OPTION_TEXT = 0,
	GPUMEM_OPTION_BOOL = 1,    /* on off yes no true false 1 0 */
	GPUMEM_OPTION_COUNT = 2,   /* 0, 1, 2, ... */
	GPUMEM_OPTION_BYTES = 3,   /* 4096, 64KiB, 1.5GiB, 1TB, 2g: 1024s */
	GPUMEM_OPTION_PERCENT = 4, /* 2, 2%, 0.5% */
	GPUMEM_OPTION_MEMORY = 5   /* as BYTES, or 80%: of the device's memory,
				      above 0 and at most 100 */
} gpumem_option_kind;

/* Keys begin with the backend's name and a dot: "host.capacity". */
struct gpumem_option_row {
	const char *key;
	const char *default_value;
	gpumem_option_kind kind;
	const char *text;
};

/* A handle of physical memory, chosen by the backend, for instance a
 * CUmemGenericAllocationHandle. Never 0, and no two that were created on one
 * device and are not destroyed are the same. */
typedef uint64_t gpumem_page;

struct gpumem_backend {
	uint32_t abi;  /* GPUMEM_BACKEND_ABI */
	uint32_t size; /* sizeof(struct gpumem_backend) */
	const char *name; /* lower case, at most 15 characters */
	const struct gpumem_option_row *options; /* up to key NULL; or NULL */

	/* ---- required ---- */

	/* Finds the driver. NO_DRIVER: it is not there or too old. */
	gpumem_status (*init)(const struct gpumem_services *services);
	/* As the vendor writes it; "" if unknown. Lives for ever. */
	const char *(*driver_version)(void);
	/* NO_DEVICE rather than a count of 0. Creates no context. With group
	 * ADOPT a backend that says NO_DEVICE may still be loaded or
	 * registered, and adopts. */
	gpumem_status (*device_count)(int *count_out);
	/* All but name, which the core fills. Creates no context. A capability
	 * of a group whose slots are NULL is cleared by the core. What opening
	 * a device finds may change what is said of it from then on, and `note`
	 * says why: the core asks again after each open. */
	gpumem_status (*device_info)(int index,
				     struct gpumem_device_info *info_out);
	gpumem_status (*device_open)(int index, void **device_out);
	void (*device_close)(void *device);
	/* total_bytes and free_bytes only. */
	gpumem_status (*memory_info)(void *device,
				     struct gpumem_memory *memory_out);
	/* bytes <= max_alloc_bytes. */
	gpumem_status (*alloc)(void *device, uint64_t bytes,
			       uint64_t *address_out);
	gpumem_status (*free)(void *device, uint64_t address, uint64_t bytes);

	/* ---- group STREAMS. stream NULL: the default stream ---- */

	gpumem_status (*stream_create)(void *device, gpumem_stream *stream_out);
	gpumem_status (*stream_destroy)(void *device, gpumem_stream stream);
	gpumem_status (*stream_sync)(void *device, gpumem_stream stream);
	/* OK: all work queued on the stream so far is over. NOT_READY: not yet,
	 * which may be said of an idle stream for a moment. CAPTURING while it
	 * is being captured. */
	gpumem_status (*stream_query)(void *device, gpumem_stream stream);
	/* Later work of `stream` waits on the device for `event`, as it was
	 * recorded by now. CAPTURING, and nothing happens, while the stream is
	 * being captured. */
	gpumem_status (*stream_wait)(void *device, gpumem_stream stream,
				     void *event);
	/* Whatever the backend chooses for it, but not NULL. */
	gpumem_status (*event_create)(void *device, void **event_out);
	/* Also called when the device was lost, for what the plugin keeps. */
	gpumem_status (*event_destroy)(void *device, void *event);
	/* The event now stands for all work queued on `stream` so far. May be
	 * recorded again; the newest record counts. CAPTURING, and nothing
	 * happens, while the stream is being captured. */
	gpumem_status (*event_record)(void *device, void *event,
				      gpumem_stream stream);
	/* OK: that work is over. NOT_READY: not yet. Of an event that was never
	 * recorded: OK. */
	gpumem_status (*event_query)(void *device, void *event);
	gpumem_status (*event_sync)(void *device, void *event);

	/* ---- group VM. Granularity: device_info's granularity_bytes ---- */

	/* Addresses without memory. */
	gpumem_status (*va_reserve)(void *device, uint64_t bytes,
				    uint64_t alignment, uint64_t *address_out);
	/* Exactly what one va_reserve gave, with nothing mapped in it. */
	gpumem_status (*va_release)(void *device, uint64_t address,
				    uint64_t bytes);
	/* Takes physical memory; its content is undefined. */
	gpumem_status (*page_create)(void *device, uint64_t bytes,
				     gpumem_page *page_out);
	gpumem_status (*page_destroy)(void *device, gpumem_page page,
				      uint64_t bytes);
	/* Puts `count` pages of `page_bytes` each behind the addresses from
	 * `address` on, readable and writable by the device; all or none.
	 * A page is mapped at one place at a time; with CAP_ALIAS at several,
	 * and work of one stream that writes it at one of them is seen by later
	 * work of that stream at the others. */
	gpumem_status (*map)(void *device, uint64_t address,
			     const gpumem_page *pages, size_t count,
			     uint64_t page_bytes);
	/* Takes `count` whole mappings of `page_bytes` away; all or none. Waits
	 * for no stream: the core knows that their last use is over. The pages
	 * keep their content, and where else they are mapped. */
	gpumem_status (*unmap)(void *device, uint64_t address, size_t count,
			       uint64_t page_bytes);

	/* ---- group COPY ---- */

	/* BAD_POINTER or INVALID where the driver can tell that an address is
	 * no memory; where only the work finds out, the device is LOST. */
	gpumem_status (*fill)(void *device, uint64_t address, uint8_t value,
			      uint64_t bytes, gpumem_stream stream);
	/* Between any two of host and device memory. */
	gpumem_status (*copy)(void *device, uint64_t to, uint64_t from,
			      uint64_t bytes, gpumem_stream stream);

	/* ---- group CAPTURE. With CAP_FREES_IN_CAPTURE no capture minds that
	 * meanwhile memory of whatever group goes back to the driver, pages are
	 * mapped and unmapped, and events, and other streams, are waited
	 * for ---- */

	/* 0 when the stream is not being captured, else a number that no other
	 * capture of this process has. */
	gpumem_status (*capture_id)(void *device, gpumem_stream stream,
				    uint64_t *id_out);

	/* ---- group KINDS: memory of a kind that is not DEVICE ---- */

	/* Of a kind that device_info's capabilities name. The address is that
	 * which host and device use, aligned as those of `alloc` are; the whole
	 * is committed, as far as the kind is, and all devices of the backend
	 * can use it. */
	gpumem_status (*kind_alloc)(void *device, gpumem_kind kind,
				    uint64_t bytes, uint64_t *address_out);
	gpumem_status (*kind_free)(void *device, gpumem_kind kind,
				   uint64_t address, uint64_t bytes);

	/* ---- group PEERS. peer: another open device of this backend ---- */

	/* Whether the peer can be given the device's memory. */
	gpumem_status (*peer_query)(void *device, void *peer, bool *can_out);
	/* From now on the peer reads and writes all that `alloc` of this device
	 * gave or gives. Once is enough; again is OK. */
	gpumem_status (*peer_enable)(void *device, void *peer);
	/* As `map`, and `peers` read and write it too. */
	gpumem_status (*map_peers)(void *device, uint64_t address,
				   const gpumem_page *pages, size_t count,
				   uint64_t page_bytes, void *const *peers,
				   size_t peer_count);

	/* ---- group PROCESSES ---- */

	/* Calls fn for every process that uses the device until it returns
	 * false. UNSUPPORTED: what it takes to know is not there now. */
	gpumem_status (*device_processes)(
		void *device,
		bool (*fn)(const struct gpumem_process *process, void *user),
		void *user);

	/* ---- group SHARE_IPC: raw allocations in other processes ---- */

	/* A name, GPUMEM_SHARE_HANDLE_BYTES long, for what one alloc gave, that
	 * a process of the same machine can open. Arrives zeroed. It keeps
	 * nothing: what becomes of those who opened it when the allocation is
	 * freed is the driver's business. */
	gpumem_status (*ipc_export)(void *device, uint64_t address,
				    uint64_t bytes, void *handle_out);
	/* In another process, on the same device: where that allocation is now.
	 * Opened twice it may be at one address or at two. Any other bytes, or
	 * a handle whose process has ended, give a failure. So does a `bytes`
	 * that is more than was exported, where the driver can tell: it is the
	 * sender's word too. */
	gpumem_status (*ipc_open)(void *device, const void *handle,
				  uint64_t bytes, uint64_t *address_out);
	/* One for each open. Waits for no stream. */
	gpumem_status (*ipc_close)(void *device, uint64_t address);

	/* ---- group SHARE_FD: pages in other processes; needs VM ---- */

	/* As page_create: a page that page_export takes. */
	gpumem_status (*page_create_shared)(void *device, uint64_t bytes,
					    gpumem_page *page_out);
	/* A new descriptor for the page, closed on exec; the caller closes it.
	 * The memory lasts until the page, all that were imported from it and
	 * all descriptors are gone. */
	gpumem_status (*page_export)(void *device, gpumem_page page,
				     uint64_t bytes, int *fd_out);
	/* The page that a descriptor stands for, in any process: it is mapped,
	 * unmapped and destroyed as any other, but takes no memory of its own,
	 * and may be mapped where others of the same memory are mapped too. The
	 * descriptor stays the caller's. INVALID: it stands for no page of so
	 * many bytes. */
	gpumem_status (*page_import)(void *device, int fd, uint64_t bytes,
				     gpumem_page *page_out);

	/* ---- group OBJECTS: memory that the vendor names by objects ---- */

	/* The vendor's object that holds `address`, which lies in what an alloc
	 * gave, and how far into it. Not counted: it lives as long as that
	 * allocation. */
	gpumem_status (*object_of)(void *device, uint64_t address,
				   void **object_out, uint64_t *offset_out);
	/* A new object that stands for just these bytes of it. */
	gpumem_status (*view_create)(void *device, uint64_t address,
				     uint64_t bytes, void **view_out);
	/* Gives our reference back. BUSY, and nothing happens: the program
	 * holds references of its own. Also called when the device was lost,
	 * and then it is the view's end whatever the answer. */
	gpumem_status (*view_destroy)(void *device, void *view);

	/* ---- group ADOPT ---- */

	/* A further device, the next index, that works in the program's own
	 * context. The same pair again gives the same index. That of a device
	 * which device_count counts, if it works in this context anyway. */
	gpumem_status (*device_adopt)(void *context, void *native_device,
				      int *index_out);

	/* ---- group NATIVE_EVENTS: the vendor's own events ---- */

	/* A new event, as event_create gives, that stands for the work that the
	 * vendor's event stands for now: the program may record or release that
	 * one right after. Waits for nothing, and what is imported waits for no
	 * other import. */
	gpumem_status (*event_import)(void *device, void *native,
				      void **event_out);
	/* The vendor's event that stands for what this one, which was recorded,
	 * stands for now. No reference is taken: it is valid until the event is
	 * recorded again or destroyed. */
	gpumem_status (*event_native)(void *device, void *event,
				      void **native_out);

	/* ---- group NATIVE_DEVICE ---- */

	/* The vendor's own context and device behind an open one, which stay
	 * the plugin's; a device that is a number, as that number. NULL: the
	 * vendor has no contexts. UNSUPPORTED: there is nothing behind it. */
	gpumem_status (*device_native)(void *device, void **context_out,
				       void **native_device_out);

	/* ---- group OPEN_MAPPED: peers that come later; needs VM ---- */

	/* From now on `peers` read and write `count` pages of one size that are
	 * mapped side by side, as if map_peers had been told; who could, still
	 * can. Some of these mappings may be unmapped by another thread at the
	 * same time: the call may fail then. On failure some peers may use some
	 * of the pages. */
	gpumem_status (*open_mapped)(void *device, uint64_t address,
				     size_t count, uint64_t page_bytes,
				     void *const *peers, size_t peer_count);

	/* ---- group EVENT_WAIT: waits that end at a time; needs STREAMS --- */

	/* As event_sync, for so many nanoseconds at most: NOT_READY, not much
	 * later, if that work is not over by then. Without it the core asks
	 * event_query again and again. */
	gpumem_status (*event_wait)(void *device, void *event, uint64_t ns);

	/* ---- group HOST_PIN: the process's own memory, pinned in place --- */

	/* From now on copies between these bytes and any device of the backend
	 * are as fast as with kind PINNED. They begin at a page of the host,
	 * are private, and nothing of them is pinned. What has no pages yet
	 * gets some, as near to the device as may be; NO_HOST_MEMORY: there are
	 * none. On failure nothing is pinned. */
	gpumem_status (*host_pin)(void *device, void *memory, uint64_t bytes);
	/* Exactly what one host_pin pinned; all work with it is over. On
	 * failure it is pinned as before. */
	gpumem_status (*host_unpin)(void *device, void *memory, uint64_t bytes);
};

/*
 * ---- All slots ------------------------------------------------------------
 *
 * One row for each slot of the table, in the table's order:
 * X(slot, GROUP, capabilities, COUNTED). A device that has none of the
 * capabilities gets no call of the slot; 0: it needs none. COUNTED is how
 * gpumem_stats counts a pool's calls of it, a GPUMEM_CALL_, or NONE.
 */
#define GPUMEM_SLOTS_REQUIRED(X)                                               \
	X(init, REQUIRED, 0, NONE)                                             \
	X(driver_version, REQUIRED, 0, NONE)                                   \
	X(device_count, REQUIRED, 0, NONE)                                     \
	X(device_info, REQUIRED, 0, NONE)                                      \
	X(device_open, REQUIRED, 0, NONE)                                      \
	X(device_close, REQUIRED, 0, NONE)                                     \
	X(memory_info, REQUIRED, 0, MEMORY_INFO)                               \
	X(alloc, REQUIRED, 0, ALLOC)                                           \
	X(free, REQUIRED, 0, FREE)

#define GPUMEM_SLOTS_STREAMS(X)                                                \
	X(stream_create, STREAMS, GPUMEM_CAP_STREAMS, NONE)                    \
	X(stream_destroy, STREAMS, GPUMEM_CAP_STREAMS, NONE)                   \
	X(stream_sync, STREAMS, GPUMEM_CAP_STREAMS, NONE)                      \
	X(stream_query, STREAMS, GPUMEM_CAP_STREAMS, STREAM_QUERY)             \
	X(stream_wait, STREAMS, GPUMEM_CAP_STREAMS, NONE)                      \
	X(event_create, STREAMS, GPUMEM_CAP_STREAMS, EVENT_CREATE)             \
	X(event_destroy, STREAMS, GPUMEM_CAP_STREAMS, EVENT_DESTROY)           \
	X(event_record, STREAMS, GPUMEM_CAP_STREAMS, EVENT_RECORD)             \
	X(event_query, STREAMS, GPUMEM_CAP_STREAMS, EVENT_QUERY)               \
	X(event_sync, STREAMS, GPUMEM_CAP_STREAMS, EVENT_SYNC)

#define GPUMEM_SLOTS_VM(X)                                                     \
	X(va_reserve, VM, GPUMEM_CAP_VM, VA_RESERVE)                           \
	X(va_release, VM, GPUMEM_CAP_VM, VA_RELEASE)                           \
	X(page_create, VM, GPUMEM_CAP_VM, PAGE_CREATE)                         \
	X(page_destroy, VM, GPUMEM_CAP_VM, PAGE_DESTROY)                       \
	X(map, VM, GPUMEM_CAP_VM, MAP)                                         \
	X(unmap, VM, GPUMEM_CAP_VM, UNMAP)

#define GPUMEM_SLOTS_COPY(X)                                                   \
	X(fill, COPY, GPUMEM_CAP_COPY, NONE)                                   \
	X(copy, COPY, GPUMEM_CAP_COPY, NONE)

#define GPUMEM_SLOTS_CAPTURE(X)                                                \
	X(capture_id, CAPTURE, GPUMEM_CAP_CAPTURE, CAPTURE_ID)

#define GPUMEM_SLOTS_KINDS(X)                                                  \
	X(kind_alloc, KINDS, GPUMEM_CAP_PINNED | GPUMEM_CAP_MANAGED, ALLOC)    \
	X(kind_free, KINDS, GPUMEM_CAP_PINNED | GPUMEM_CAP_MANAGED, FREE)

#define GPUMEM_SLOTS_PEERS(X)                                                  \
	X(peer_query, PEERS, GPUMEM_CAP_PEER, NONE)                            \
	X(peer_enable, PEERS, GPUMEM_CAP_PEER, NONE)                           \
	X(map_peers, PEERS, GPUMEM_CAP_PEER, MAP)

#define GPUMEM_SLOTS_PROCESSES(X) X(device_processes, PROCESSES, 0, NONE)

#define GPUMEM_SLOTS_SHARE_IPC(X)                                              \
	X(ipc_export, SHARE_IPC, GPUMEM_CAP_SHARE_IPC, NONE)                   \
	X(ipc_open, SHARE_IPC, GPUMEM_CAP_SHARE_IPC, NONE)                     \
	X(ipc_close, SHARE_IPC, GPUMEM_CAP_SHARE_IPC, NONE)

#define GPUMEM_SLOTS_SHARE_FD(X)                                               \
	X(page_create_shared, SHARE_FD, GPUMEM_CAP_SHARE_FD, PAGE_CREATE)      \
	X(page_export, SHARE_FD, GPUMEM_CAP_SHARE_FD, NONE)                    \
	X(page_import, SHARE_FD, GPUMEM_CAP_SHARE_FD, NONE)

#define GPUMEM_SLOTS_OBJECTS(X)                                                \
	X(object_of, OBJECTS, GPUMEM_CAP_OBJECTS, NONE)                        \
	X(view_create, OBJECTS, GPUMEM_CAP_OBJECTS, NONE)                      \
	X(view_destroy, OBJECTS, GPUMEM_CAP_OBJECTS, NONE)

#define GPUMEM_SLOTS_ADOPT(X) X(device_adopt, ADOPT, 0, NONE)

#define GPUMEM_SLOTS_NATIVE_EVENTS(X)                                          \
	X(event_import, NATIVE_EVENTS, 0, NONE)                                \
	X(event_native, NATIVE_EVENTS, 0, NONE)

#define GPUMEM_SLOTS_NATIVE_DEVICE(X)                                          \
	X(device_native, NATIVE_DEVICE, 0, NONE)

#define GPUMEM_SLOTS_OPEN_MAPPED(X) X(open_mapped, OPEN_MAPPED, 0, NONE)

#define GPUMEM_SLOTS_EVENT_WAIT(X) X(event_wait, EVENT_WAIT, 0, EVENT_SYNC)

#define GPUMEM_SLOTS_HOST_PIN(X)                                               \
	X(host_pin, HOST_PIN, 0, NONE)                                         \
	X(host_unpin, HOST_PIN, 0, NONE)

#define GPUMEM_SLOT_LIST(X)                                                    \
	GPUMEM_SLOTS_REQUIRED(X)                                               \
	GPUMEM_SLOTS_STREAMS(X)                                                \
	GPUMEM_SLOTS_VM(X)                                                     \
	GPUMEM_SLOTS_COPY(X)                                                   \
	GPUMEM_SLOTS_CAPTURE(X)                                                \
	GPUMEM_SLOTS_KINDS(X)                                                  \
	GPUMEM_SLOTS_PEERS(X)                                                  \
	GPUMEM_SLOTS_PROCESSES(X)                                              \
	GPUMEM_SLOTS_SHARE_IPC(X)                                              \
	GPUMEM_SLOTS_SHARE_FD(X)                                               \
	GPUMEM_SLOTS_OBJECTS(X)                                                \
	GPUMEM_SLOTS_ADOPT(X)                                                  \
	GPUMEM_SLOTS_NATIVE_EVENTS(X)                                          \
	GPUMEM_SLOTS_NATIVE_DEVICE(X)                                          \
	GPUMEM_SLOTS_OPEN_MAPPED(X)                                            \
	GPUMEM_SLOTS_EVENT_WAIT(X)                                             \
	GPUMEM_SLOTS_HOST_PIN(X)

enum gpumem_slot {
#define GPUMEM_SLOT_ENUM(slot, group, caps, counted) GPUMEM_SLOT_##slot,
	GPUMEM_SLOT_LIST(GPUMEM_SLOT_ENUM)
#undef GPUMEM_SLOT_ENUM
	GPUMEM_SLOT_COUNT
};

/* COUNTED of a slot that is not counted, as GPUMEM_CALL_##counted has it. */
#define GPUMEM_CALL_NONE GPUMEM_CALL_COUNT

/*
 * A backend writes down once which groups it has. The declarations of its slots
 * and the entries of its table follow from that, in C; all its functions are
 * called as their slots are, behind one prefix:
 *
 *     #define ACME_SLOTS(X) GPUMEM_SLOTS_REQUIRED(X) GPUMEM_SLOTS_COPY(X)
 *
 *     #define DECLARE(slot, ...) GPUMEM_SLOT_DECLARE(acme_, slot)
 *     ACME_SLOTS(DECLARE)
 *
 *     #define ENTRY(slot, ...) GPUMEM_SLOT_ENTRY(acme_, slot)
 *     static const struct gpumem_backend backend = {
 *             .abi = GPUMEM_BACKEND_ABI, ..., ACME_SLOTS(ENTRY)};
 *
 * The first gives "gpumem_status acme_alloc(void *device, ...);", the other
 * ".alloc = acme_alloc,".
 */
#define GPUMEM_SLOT_DECLARE(prefix, slot)                                      \
	__typeof__(*((struct gpumem_backend *)0)->slot) prefix##slot;
#define GPUMEM_SLOT_ENTRY(prefix, slot) .slot = prefix##slot,

/* The one exported symbol of a plugin. */
typedef const struct gpumem_backend *(*gpumem_plugin_fn)(void);

/* The checked and started table of a usable backend, for tools that speak to
 * a driver without a pool (gpumem-conform, raw latency). NULL: of the one that
 * gpumem_device_open(NULL) takes. Valid for ever. OK; NOT_FOUND; or the status
 * why the backend is not usable. */
GPUMEM_API GPUMEM_MUST_CHECK gpumem_status
gpumem_backend_table(const char *name,
		     const struct gpumem_backend **table_out);

#ifdef __cplusplus
}
#endif
#endif
