/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program's own contexts in the cuda backend: one device for each, which
 * makes all that it makes in that context and leaves the context to the
 * program. The double is strict: whatever is used with another context current
 * than its own is refused.
 */
#include "fixture.h"

enum { POINTER_CONTEXT = 1 }; /* CU_POINTER_ATTRIBUTE_CONTEXT */

static void *a, *b, *elsewhere; /* contexts of device 0, 0 and 1 */

static void *new_context(int device)
{
	void *context = NULL, *popped = NULL;

	if (driver.cuCtxCreate_v2(&context, 0, device) ||
	    driver.cuCtxPopCurrent_v2(&popped))
		bail("cuCtxCreate");
	return context;
}

static void *number(int device)
{
	return (void *)(intptr_t)device;
}

/* Its index, or -1. */
static int adopt(void *context, int device)
{
	int index = -1;

	said.text[0] = '\0';
	if (gpu->device_adopt(context, number(device), &index) != GPUMEM_OK)
		return -1;
	return index;
}

static void refused(void *context, int device, const char *sentence)
{
	int index = 77;

	is_status(gpu->device_adopt(context, number(device), &index),
		  GPUMEM_INVALID, "refused: %s", sentence);
	ok(strstr(said.text, sentence) && index == 77, "%s", said.text);
}

static void test_pairs(void)
{
	void *primary = NULL, *gone = new_context(0);
	uint64_t contexts = audit().contexts;

	is_int(adopt(a, 0), 2, "the first after all devices: %s", said.text);
	is_int(adopt(b, 0), 3, "another context is another device");
	is_int(adopt(elsewhere, 1), 4, "one of another device too");
	is_int(adopt(a, 0), 2, "the same pair again is the same");
	is_uint(audit().contexts, contexts, "no context was made for that");
	if (driver.cuDevicePrimaryCtxRetain(&primary, 1))
		bail("cuDevicePrimaryCtxRetain");
	is_int(adopt(primary, 1), 1, "a primary context is its device's own");
	driver.cuDevicePrimaryCtxRelease_v2(1);
	is_uint(audit().contexts, contexts, "and is not kept");
	driver.cuCtxDestroy_v2(gone);
	refused(gone, 0, "the context is none, or was destroyed");
	refused(NULL, 0, "the context is none, or was destroyed");
	refused(a, 1, "the context is one of device 0, not of device 1");
	refused(a, -1, "the context is one of device 0, not of device -1");
	driver.cuCtxSetCurrent(b);
	is_int(adopt(a, 0), 2, "with another one current");
	is_ptr(current_context(), b, "which stays so");
	driver.cuCtxSetCurrent(NULL);
	is_ptr(current_context(), NULL, "or none");
}

static void same_as_named(int index)
{
	struct gpumem_device_info named =
		GPUMEM_INIT(struct gpumem_device_info);
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	if (gpu->device_info(0, &named) != GPUMEM_OK ||
	    gpu->device_info(index, &info) != GPUMEM_OK)
		bail("%s", said.text);
	ok(!memcmp(&info, &named, sizeof(info)),
	   "is described as its device, UUID and place too");
}

static void *owner_of(uint64_t address)
{
	void *context = NULL;

	if (driver.cuPointerGetAttribute(&context, POINTER_CONTEXT, address))
		return NULL;
	return context;
}

static void use_pages(void *device, void *stream)
{
	uint64_t address = 0;
	gpumem_page page = 0;
	int bad = 0, fd = -1;

	bad += gpu->va_reserve(device, PAGE, PAGE, &address) != GPUMEM_OK;
	bad += gpu->page_create_shared(device, PAGE, &page) != GPUMEM_OK;
	bad += gpu->map(device, address, &page, 1, PAGE) != GPUMEM_OK;
	bad += gpu->fill(device, address, 7, PAGE, stream) != GPUMEM_OK;
	bad += gpu->stream_sync(device, stream) != GPUMEM_OK;
	bad += gpu->page_export(device, page, PAGE, &fd) != GPUMEM_OK;
	bad += gpu->unmap(device, address, 1, PAGE) != GPUMEM_OK;
	bad += gpu->page_destroy(device, page, PAGE) != GPUMEM_OK;
	bad += gpu->va_release(device, address, PAGE) != GPUMEM_OK;
	close(fd);
	is_int(bad, 0, "pages: %s", said.text);
}

static void use_kinds(void *device)
{
	int bad = 0;

	for (int i = 1; i <= 2; i++) {
		uint64_t address = 0;

		bad += gpu->kind_alloc(device, (gpumem_kind)i, MIB, &address) !=
		       GPUMEM_OK;
		bad += gpu->kind_free(device, (gpumem_kind)i, address, MIB) !=
		       GPUMEM_OK;
	}
	is_int(bad, 0, "other kinds of memory: %s", said.text);
}

/* Of a stream: 0 is the context's own default one. */
static void use_stream(void *device, uint64_t block, void *stream)
{
	void *event = NULL, *import = NULL, *native = NULL;
	uint64_t id = 0;
	int bad = 0;

	bad += gpu->event_create(device, &event) != GPUMEM_OK;
	bad += gpu->fill(device, block, 3, PAGE, stream) != GPUMEM_OK;
	bad += gpu->event_record(device, event, stream) != GPUMEM_OK;
	bad += gpu->event_native(device, event, &native) != GPUMEM_OK;
	bad += gpu->event_import(device, native, &import) != GPUMEM_OK;
	bad += gpu->stream_wait(device, stream, event) != GPUMEM_OK;
	bad += gpu->copy(device, block, block + MIB, MIB, stream) != GPUMEM_OK;
	bad += gpu->stream_sync(device, stream) != GPUMEM_OK;
	bad += gpu->stream_query(device, stream) != GPUMEM_OK;
	bad += gpu->event_query(device, event) != GPUMEM_OK;
	bad += gpu->event_sync(device, import) != GPUMEM_OK;
	bad += gpu->capture_id(device, stream, &id) != GPUMEM_OK || id;
	bad += gpu->event_destroy(device, import) != GPUMEM_OK;
	bad += gpu->event_destroy(device, event) != GPUMEM_OK;
	is_int(bad, 0, "streams and events: %s", said.text);
}

/* All of it with no context current but what the slots make so. */
static void use(void *device, void *context)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES];
	void *behind = NULL, *native = &behind, *stream = NULL, *of = NULL;
	uint64_t block = 0;
	int bad = 0;

	is_status(gpu->device_native(device, &behind, &native), GPUMEM_OK,
		  "what is behind it");
	ok(behind == context && !native, "is what was adopted");
	bad += gpu->memory_info(device, &memory) != GPUMEM_OK;
	bad += gpu->alloc(device, PAGE, &block) != GPUMEM_OK;
	bad += gpu->ipc_export(device, block, PAGE, handle) != GPUMEM_OK;
	bad += gpu->stream_create(device, &stream) != GPUMEM_OK;
	is_int(bad, 0, "memory and a stream: %s", said.text);
	is_ptr(owner_of(block), context, "the memory is that context's");
	driver.cuCtxSetCurrent(context);
	(void)driver.cuStreamGetCtx(stream, &of);
	driver.cuCtxSetCurrent(NULL);
	is_ptr(of, context, "and so is the stream");
	use_stream(device, block, stream);
	use_stream(device, block, NULL);
	use_pages(device, stream);
	use_kinds(device);
	bad += gpu->stream_destroy(device, stream) != GPUMEM_OK;
	bad += gpu->free(device, block, PAGE) != GPUMEM_OK;
	is_int(bad, 0, "given back: %s", said.text);
	is_ptr(current_context(), NULL, "no context is left current");
}

static void test_use(void)
{
	struct fakecuda_held before = audit(), after;
	void *first = open_device(adopt(a, 0)), *second;
	void *named = open_device(0);

	second = open_device(adopt(b, 0));
	is_uint(audit().contexts, before.contexts + 1, "only the named one");
	use(first, a);
	use(second, b);
	use(first, a);
	same_as_named(2);
	gpu->device_close(first);
	use(second, b);
	gpu->device_close(second);
	gpu->device_close(named);
	after = audit();
	ok(!memcmp(&before, &after, sizeof(after)),
	   "the contexts are left to the program, with nothing in them");
}

/* What is of one device is none of the other's, though both are one GPU. */
static void test_apart(void)
{
	void *first = open_device(adopt(a, 0));
	void *second = open_device(adopt(b, 0));
	uint64_t block = 0;
	bool can = true;

	if (gpu->alloc(first, PAGE, &block) != GPUMEM_OK)
		bail("%s", said.text);
	is_status(gpu->fill(second, block, 1, PAGE, NULL), GPUMEM_INVALID,
		  "the strict double tells them apart");
	is_status(gpu->free(second, block, PAGE), GPUMEM_INVALID,
		  "when memory is freed too");
	is_status(gpu->free(first, block, PAGE), GPUMEM_OK, "its own does");
	is_status(gpu->peer_query(first, second, &can), GPUMEM_OK, "peers");
	ok(!can, "two contexts of one device are none, as the driver has it");
	gpu->device_close(second);
	gpu->device_close(first);
}

static void test_peers(void)
{
	void *first = open_device(adopt(a, 0)), *peer;
	gpumem_page page = 0;
	uint64_t address = 0, block = 0;
	bool can = false;
	int bad = 0;

	peer = open_device(adopt(elsewhere, 1));
	bad += gpu->peer_query(first, peer, &can) != GPUMEM_OK || !can;
	bad += gpu->peer_enable(first, peer) != GPUMEM_OK;
	bad += gpu->alloc(first, PAGE, &block) != GPUMEM_OK;
	bad += gpu->fill(peer, block, 1, PAGE, NULL) != GPUMEM_OK;
	bad += gpu->va_reserve(first, PAGE, PAGE, &address) != GPUMEM_OK;
	bad += gpu->page_create(first, PAGE, &page) != GPUMEM_OK;
	bad += gpu->map_peers(first, address, &page, 1, PAGE, &peer, 1) !=
	       GPUMEM_OK;
	bad += gpu->fill(peer, address, 1, PAGE, NULL) != GPUMEM_OK;
	bad += gpu->unmap(first, address, 1, PAGE) != GPUMEM_OK;
	bad += gpu->page_destroy(first, page, PAGE) != GPUMEM_OK;
	bad += gpu->va_release(first, address, PAGE) != GPUMEM_OK;
	bad += gpu->free(first, block, PAGE) != GPUMEM_OK;
	is_int(bad, 0, "a context of another device is a peer: %s", said.text);
	gpu->device_close(peer);
	gpu->device_close(first);
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	setenv("FAKECUDA_STRICT", "1", 1);
	cuda_start();
	a = new_context(0);
	b = new_context(0);
	elsewhere = new_context(1);
	test_pairs();
	test_use();
	test_apart();
	test_peers();
	return done_testing();
}
