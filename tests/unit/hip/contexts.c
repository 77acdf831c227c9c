/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The thread and the hip backend: its current device and its capture mode are
 * what they were before and after every slot, whatever comes of it, in any
 * thread; streams of another device are refused where the runtime can tell, and
 * destroyed ones always.
 */
#include "fixture.h"
#include <pthread.h>

/* What one thread finds. */
struct finding {
	void *device, *stream;
	int current, mode; /* of the thread, from the start */
	unsigned failed, moved;
	const char *which; /* the first slot that did either */
};

static void look(struct finding *finding, gpumem_status status,
		 gpumem_status want, const char *slot)
{
	bool moved = current_device() != finding->current ||
		     capture_mode() != finding->mode;

	if (!finding->which && (status != want || moved))
		finding->which = slot;
	finding->failed += status != want;
	finding->moved += moved;
}

#define LOOK(call, want) look(finding, (call), (want), #call)
#define WORKS(call) LOOK(call, GPUMEM_OK)

static void use_virtual(struct finding *finding)
{
	void *device = finding->device;
	uint64_t address = 0;
	gpumem_page page = 0, again = 0;
	int fd = -1;

	WORKS(gpu->va_reserve(device, PAGE, PAGE, &address));
	WORKS(gpu->page_create_shared(device, PAGE, &page));
	WORKS(gpu->map(device, address, &page, 1, PAGE));
	WORKS(gpu->page_export(device, page, PAGE, &fd));
	WORKS(gpu->page_import(device, fd, PAGE, &again));
	close(fd);
	WORKS(gpu->fill(device, address, 7, PAGE, finding->stream));
	WORKS(gpu->stream_sync(device, finding->stream));
	WORKS(gpu->unmap(device, address, 1, PAGE));
	WORKS(gpu->page_destroy(device, page, PAGE));
	WORKS(gpu->page_destroy(device, again, PAGE));
	WORKS(gpu->page_create(device, PAGE, &page));
	WORKS(gpu->page_destroy(device, page, PAGE));
	WORKS(gpu->va_release(device, address, PAGE));
}

static void use_memory(struct finding *finding)
{
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES];
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	void *device = finding->device;
	uint64_t raw = 0, pinned = 0, none = 0;

	WORKS(gpu->memory_info(device, &memory));
	WORKS(gpu->alloc(device, PAGE, &raw));
	WORKS(gpu->kind_alloc(device, GPUMEM_KIND_PINNED, PAGE, &pinned));
	WORKS(gpu->ipc_export(device, raw, PAGE, handle));
	WORKS(gpu->fill(device, raw, 7, PAGE, finding->stream));
	WORKS(gpu->copy(device, pinned, raw, PAGE, finding->stream));
	WORKS(gpu->stream_sync(device, finding->stream));
	WORKS(gpu->free(device, raw, PAGE));
	WORKS(gpu->kind_free(device, GPUMEM_KIND_PINNED, pinned, PAGE));
	LOOK(gpu->alloc(device, UINT64_C(1) << 46, &none), GPUMEM_NO_MEMORY);
	LOOK(gpu->free(device, PAGE, PAGE), GPUMEM_INVALID);
	LOOK(gpu->ipc_open(device, handle, PAGE, &none), GPUMEM_INVALID);
	LOOK(gpu->ipc_close(device, PAGE), GPUMEM_INVALID);
	LOOK(gpu->kind_alloc(device, (gpumem_kind)3, PAGE, &none),
	     GPUMEM_UNSUPPORTED);
}

static void use_streams(struct finding *finding)
{
	void *device = finding->device, *stream = finding->stream, *own = NULL;
	void *event = NULL;
	uint64_t id = 0;

	WORKS(gpu->stream_create(device, &own));
	WORKS(gpu->event_create(device, &event));
	WORKS(gpu->event_record(device, event, stream));
	WORKS(gpu->stream_wait(device, own, event));
	WORKS(gpu->event_record(device, event, own));
	WORKS(gpu->event_sync(device, event));
	WORKS(gpu->event_query(device, event));
	WORKS(gpu->stream_sync(device, stream));
	WORKS(gpu->stream_query(device, stream));
	WORKS(gpu->capture_id(device, stream, &id));
	WORKS(gpu->event_destroy(device, event));
	WORKS(gpu->stream_destroy(device, own));
	LOOK(gpu->stream_query(device, own), GPUMEM_INVALID);
}

static void *use_all(void *finding_of)
{
	struct finding *finding = finding_of;

	if (runtime.hipSetDevice(finding->current))
		bail("hipSetDevice");
	set_capture_mode(finding->mode);
	use_memory(finding);
	use_streams(finding);
	if (release >= 6)
		use_virtual(finding);
	return NULL;
}

static void report(const struct finding *finding)
{
	bool right =
		is_uint(finding->failed, 0, "every slot answers as it should");

	if (!is_uint(finding->moved, 0, "and leaves the thread as it was") ||
	    !right)
		diag("%s: %s", finding->which, said.text);
}

/* In this thread and in one that has never called the runtime. */
static void threads(void *device, void *stream, int current, int mode)
{
	struct finding here = {device, stream, current, mode, 0, 0, NULL};
	struct finding there = here;
	pthread_t thread;

	diag("device %d is current, capture mode %d, stream %p", current, mode,
	     stream);
	(void)use_all(&here);
	report(&here);
	if (pthread_create(&thread, NULL, use_all, &there) ||
	    pthread_join(thread, NULL))
		bail("no thread");
	report(&there);
}

/* What is mapped is the device's own, unless a peer is named. */
static void map_for(struct finding *finding, void *peer)
{
	void *device = finding->device;
	uint64_t address = 0;
	gpumem_page page = 0;

	WORKS(gpu->va_reserve(device, PAGE, PAGE, &address));
	WORKS(gpu->page_create(device, PAGE, &page));
	WORKS(gpu->map(device, address, &page, 1, PAGE));
	LOOK(gpu->fill(peer, address, 1, PAGE, NULL), GPUMEM_INVALID);
	WORKS(gpu->fill(device, address, 1, PAGE, NULL));
	WORKS(gpu->open_mapped(device, address, 1, PAGE, &peer, 1));
	WORKS(gpu->fill(peer, address, 1, PAGE, NULL));
	WORKS(gpu->fill(device, address, 1, PAGE, NULL));
	WORKS(gpu->unmap(device, address, 1, PAGE));
	WORKS(gpu->map_peers(device, address, &page, 1, PAGE, &peer, 1));
	WORKS(gpu->fill(peer, address, 1, PAGE, NULL));
	WORKS(gpu->fill(device, address, 1, PAGE, NULL));
	WORKS(gpu->unmap(device, address, 1, PAGE));
	WORKS(gpu->page_destroy(device, page, PAGE));
	WORKS(gpu->va_release(device, address, PAGE));
}

static void peers(void *device, void *second)
{
	struct finding found = {
		device, NULL, current_device(), capture_mode(), 0, 0, NULL};
	struct finding *finding = &found;
	bool can = false;

	WORKS(gpu->peer_query(device, second, &can));
	ok(can, "a peer");
	WORKS(gpu->peer_enable(device, second));
	WORKS(gpu->peer_enable(second, device));
	WORKS(gpu->peer_enable(second, device));
	if (release >= 6)
		map_for(finding, second);
	report(finding);
}

/* Before 5.3 nobody can tell, and what the runtime itself does not refuse it
 * does: then `without` is its answer. */
#define REFUSED(call, without, part)                                           \
	do {                                                                   \
		said.text[0] = '\0';                                           \
		is_status((call), release >= 6 ? GPUMEM_INVALID : (without),   \
			  #call);                                              \
		if (release >= 6 && !ok(strstr(said.text, part), "says why"))  \
			diag("%s", said.text);                                 \
	} while (0)

static void another_device(void *device, void *second)
{
	const char *part = "another device: number 1, not 0";
	void *event = NULL;
	void *stream = NULL;
	uint64_t raw = 0;

	if (gpu->stream_create(second, &stream) != GPUMEM_OK ||
	    gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &raw) != GPUMEM_OK)
		bail("%s", said.text);
	REFUSED(gpu->event_record(device, event, stream), GPUMEM_INVALID, part);
	REFUSED(gpu->stream_wait(device, stream, event), GPUMEM_OK, part);
	REFUSED(gpu->stream_query(device, stream), GPUMEM_OK, part);
	REFUSED(gpu->stream_sync(device, stream), GPUMEM_OK, part);
	REFUSED(gpu->copy(device, raw, raw + MIB, MIB, stream), GPUMEM_OK,
		part);
	REFUSED(gpu->fill(device, raw, 0, PAGE, stream), GPUMEM_OK, part);
	if (release >= 6)
		REFUSED(gpu->stream_destroy(device, stream), GPUMEM_OK, part);
	is_status(gpu->stream_destroy(second, stream), GPUMEM_OK,
		  "its own device destroys it");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "the block");
}

#define GONE(call)                                                             \
	do {                                                                   \
		said.text[0] = '\0';                                           \
		is_status((call), GPUMEM_INVALID, #call);                      \
		if (!ok(strstr(said.text, "no stream, or it was destroyed"),   \
			"says why"))                                           \
			diag("%s", said.text);                                 \
	} while (0)

static void all_gone(void *device, void *stream, void *event, uint64_t raw)
{
	uint64_t id = UNTOUCHED;

	GONE(gpu->event_record(device, event, stream));
	GONE(gpu->stream_wait(device, stream, event));
	GONE(gpu->stream_query(device, stream));
	GONE(gpu->stream_sync(device, stream));
	GONE(gpu->fill(device, raw, 0, PAGE, stream));
	GONE(gpu->copy(device, raw, raw + MIB, MIB, stream));
	GONE(gpu->capture_id(device, stream, &id));
	GONE(gpu->stream_destroy(device, stream));
	is_uint(id, UNTOUCHED, "and no number");
}

/* Releases differ in what they say of a handle that is none. */
static void unknown(void *device, const char *name, void *stream)
{
	static const int codes[] = {1, 201, 400, 709};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		runtime.fakehip_fault(name, 1, false, codes[i]);
		GONE(gpu->stream_query(device, stream));
		is_int(said.code, codes[i], "what %s said", name);
		runtime.fakehip_heal();
	}
	runtime.fakehip_fault(name, 1, false, 999);
	is_status(gpu->stream_query(device, stream), GPUMEM_DRIVER,
		  "any other is a failure");
	runtime.fakehip_heal();
}

static void destroyed(void *device)
{
	void *stream = new_stream(STREAM_NON_BLOCKING);
	void *event = NULL;
	uint64_t raw = 0;

	if (gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &raw) != GPUMEM_OK ||
	    gpu->event_record(device, event, stream) != GPUMEM_OK)
		bail("%s", said.text);
	unknown(device, "hipStreamGetCaptureInfo", stream);
	if (release >= 6)
		unknown(device, "hipStreamGetDevice", stream);
	if (runtime.hipStreamDestroy(stream))
		bail("hipStreamDestroy");
	is_status(gpu->event_query(device, event), GPUMEM_OK,
		  "what was recorded on it is over");
	all_gone(device, stream, event, raw);
	is_status(gpu->event_record(device, event, NULL), GPUMEM_OK,
		  "the event can be used again");
	for (intptr_t name = 0; name <= 2; name++) {
		runtime.fakehip_fault("hipStreamGetCaptureInfo", 1, false, 709);
		is_status(gpu->stream_query(device, (void *)name), GPUMEM_LOST,
			  "only a default stream is never destroyed");
		runtime.fakehip_heal();
	}
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "the block");
}

static void checks(void)
{
	void *device = open_device(0), *second = open_device(1), *stream;
	struct fakecuda_held before, after;

	is_int(current_device(), 0, "opening moves no thread");
	stream = new_stream(STREAM_NON_BLOCKING);
	/* The runtime keeps a context of each device that was ever used. */
	threads(device, stream, 1, MODE_GLOBAL);
	before = audit();
	for (int current = 0; current < 2; current++)
		for (int mode = MODE_GLOBAL; mode <= MODE_RELAXED; mode++) {
			threads(device, NULL, current, mode);
			threads(device, stream, current, mode);
			threads(device, (void *)2, current, mode);
		}
	if (release >= 6)
		threads(device, (void *)1, 1, MODE_GLOBAL);
	runtime.hipSetDevice(0);
	set_capture_mode(MODE_THREAD_LOCAL);
	peers(device, second);
	another_device(device, second);
	destroyed(device);
	runtime.hipStreamDestroy(stream);
	before.streams--;
	after = audit();
	ok(!memcmp(&before, &after, sizeof(after)), "nothing is left");
	gpu->device_close(second);
	gpu->device_close(device);
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	return on_all_releases(checks);
}
