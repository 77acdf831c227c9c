/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The rules that hold for every call of every slot: which statuses there are,
 * what becomes of outputs, who says why, who prints. A slot that breaks one is
 * reported once, when it does. Whether error() was called is heard through the
 * services, which a backend of our own gets as every backend does. See
 * conform.h.
 */
#include "watch.h"

#include <pthread.h>
#include <string.h>

enum { UNTOUCHED = 0x5a };

#define RULES(X)                                                               \
	X(STATUS, "gives a status that a slot may give")                       \
	X(SAYS, "says why it fails")                                           \
	X(ANSWER, "calls no error() for an answer")                            \
	X(LEAVES, "leaves its output alone when it fails")                     \
	X(SETS, "sets its output")                                             \
	X(STRUCT, "writes no more than its struct")                            \
	X(ADDRESS, "gives an aligned address below 2^48 that is not 0")        \
	X(OWN, "gives what is nobody else's, and not 0")                       \
	X(PRINTS, "prints nothing")                                            \
	X(MASK, "leaves the signal mask as it was")

enum rule {
#define RULE_NUMBER(name, text) RULE_##name,
	RULES(RULE_NUMBER)
#undef RULE_NUMBER
		RULE_COUNT
};

static const char *const rule_texts[] = {
#define RULE_TEXT(name, text) text,
	RULES(RULE_TEXT)
#undef RULE_TEXT
};

static struct conform *conform;
static const struct gpumem_services *services;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool broken[RULE_COUNT][GPUMEM_SLOT_COUNT]; /* under the mutex */

static bool is_first(enum gpumem_slot slot, enum rule rule)
{
	bool before;

	pthread_mutex_lock(&mutex);
	before = broken[rule][slot];
	broken[rule][slot] = true;
	pthread_mutex_unlock(&mutex);
	return !before;
}

static void breaks(const struct watched *call, enum rule rule, int detail)
{
	if (!is_first(call->slot, rule))
		return;
	conform_broken(conform, "%s %s", conform_slots[call->slot].name,
		       rule_texts[rule]);
	if (rule == RULE_STATUS)
		conform_note("got %d, %s", detail,
			     gpumem_status_name((gpumem_status)detail));
	else if (rule == RULE_SAYS)
		conform_note("%s without a call of error()",
			     gpumem_status_name((gpumem_status)detail));
}

/* ---- what error() said -------------------------------------------------- */

static gpumem_status listen(const struct gpumem_services *given)
{
	services = given;
	return GPUMEM_NO_DEVICE; /* that was all */
}

static const char *no_version(void)
{
	return "";
}

static gpumem_status no_count(int *count_out)
{
	(void)count_out;
	return GPUMEM_NO_DEVICE;
}

static gpumem_status no_info(int index, struct gpumem_device_info *info_out)
{
	(void)index;
	(void)info_out;
	return GPUMEM_NO_DEVICE;
}

static gpumem_status no_open(int index, void **device_out)
{
	(void)index;
	(void)device_out;
	return GPUMEM_NO_DEVICE;
}

static void no_close(void *device)
{
	(void)device;
}

static gpumem_status no_memory(void *device, struct gpumem_memory *memory_out)
{
	(void)device;
	(void)memory_out;
	return GPUMEM_NO_DEVICE;
}

static gpumem_status no_alloc(void *device, uint64_t bytes,
			      uint64_t *address_out)
{
	(void)device;
	(void)bytes;
	(void)address_out;
	return GPUMEM_NO_DEVICE;
}

static gpumem_status no_free(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_NO_DEVICE;
}

static const struct gpumem_backend listener = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_backend),
	.name = "conform-listens",
	.init = listen,
	.driver_version = no_version,
	.device_count = no_count,
	.device_info = no_info,
	.device_open = no_open,
	.device_close = no_close,
	.memory_info = no_memory,
	.alloc = no_alloc,
	.free = no_free,
};

/* Whether error() was called by this thread since this was last asked. */
static bool was_said(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct gpumem_error silent = GPUMEM_INIT(struct gpumem_error);

	(void)services->fail(GPUMEM_DRIVER, "conform", "said");
	gpumem_last_error(&error);
	(void)services->fail(GPUMEM_DRIVER, "conform", "said");
	gpumem_last_error(&silent);
	return strcmp(error.text, silent.text) != 0 || error.native_code ||
	       error.native_name[0];
}

/* ---- a call ------------------------------------------------------------- */

struct watched watch_begin(enum gpumem_slot slot, void *out, size_t out_bytes)
{
	struct watched call = {
		.slot = slot,
		.out = out,
		.out_bytes = out_bytes,
	};

	if (out)
		memset(out, UNTOUCHED, out_bytes);
	(void)was_said();
	call.printed_bytes = conform_printed_bytes();
	pthread_sigmask(SIG_SETMASK, NULL, &call.mask);
	conform_slot_called(slot);
	conform_calls(conform_slots[slot].name);
	return call;
}

static bool is_untouched(const struct watched *call)
{
	const unsigned char *byte = call->out;

	for (size_t i = 0; i < call->out_bytes; i++)
		if (byte[i] != UNTOUCHED)
			return false;
	return true;
}

/* Those that only the library itself has a use for are none of a slot's. */
static bool may_give(const struct watched *call, gpumem_status status)
{
	switch (status) {
	case GPUMEM_NOT_READY:
		return call->answers;
	case GPUMEM_NOT_FOUND:
	case GPUMEM_LIMIT:
	case GPUMEM_ABI:
	case GPUMEM_CORRUPT:
	case GPUMEM_FORKED:
		return false;
	case GPUMEM_BAD_POINTER:
		return call->slot == GPUMEM_SLOT_fill ||
		       call->slot == GPUMEM_SLOT_copy;
	default:
		return strcmp(gpumem_status_name(status), "GPUMEM_UNKNOWN") !=
		       0;
	}
}

static bool is_answer(const struct watched *call, gpumem_status status)
{
	return call->answers &&
	       (status == GPUMEM_NOT_READY || status == GPUMEM_BUSY ||
		status == GPUMEM_CAPTURING);
}

static void look_around(const struct watched *call)
{
	sigset_t mask;

	if (conform_printed_bytes() > call->printed_bytes)
		breaks(call, RULE_PRINTS, 0);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int i = 1; i < SIGRTMAX; i++)
		if (sigismember(&mask, i) != sigismember(&call->mask, i)) {
			breaks(call, RULE_MASK, 0);
			pthread_sigmask(SIG_SETMASK, &call->mask, NULL);
			return;
		}
}

gpumem_status watch_end(const struct watched *call, gpumem_status status)
{
	bool said = was_said();

	conform_calls(NULL);
	look_around(call);
	if (!may_give(call, status)) {
		breaks(call, RULE_STATUS, (int)status);
		return GPUMEM_DRIVER;
	}
	if (status == GPUMEM_OK) {
		if (!call->out || !is_untouched(call))
			return status;
		breaks(call, RULE_SETS, 0);
		return GPUMEM_DRIVER;
	}
	if (is_answer(call, status) && said)
		breaks(call, RULE_ANSWER, 0);
	if (!is_answer(call, status) && !said)
		breaks(call, RULE_SAYS, (int)status);
	if (call->out && !is_untouched(call))
		breaks(call, RULE_LEAVES, 0);
	return status;
}

void watch_beyond(const struct watched *call)
{
	breaks(call, RULE_STRUCT, 0);
}

void watch_touched(const struct watched *call)
{
	breaks(call, RULE_LEAVES, 0);
}

gpumem_status watch_address(const struct watched *call, uint64_t from,
			    uint64_t bytes, uint64_t alignment)
{
	const uint64_t end = UINT64_C(1) << 48;

	if (!from || from % alignment || bytes > end || from > end - bytes)
		breaks(call, RULE_ADDRESS, 0);
	else if (!live_add(LIVE_ADDRESSES, from, bytes))
		breaks(call, RULE_OWN, 0);
	else
		return GPUMEM_OK;
	conform_note("0x%llx, %llu bytes", (unsigned long long)from,
		     (unsigned long long)bytes);
	conform->hopeless = true;
	return GPUMEM_DRIVER;
}

gpumem_status watch_handle(const struct watched *call, enum live_class class,
			   uint64_t handle)
{
	if (handle && live_add(class, handle, 1))
		return GPUMEM_OK;
	breaks(call, RULE_OWN, 0);
	conform->hopeless = true;
	return GPUMEM_DRIVER;
}

bool watch_start(struct conform *c)
{
	conform = c;
	(void)!gpumem_backend_register(&listener);
	return services != NULL;
}

static bool is_kept(enum rule rule)
{
	for (unsigned slot = 0; slot < GPUMEM_SLOT_COUNT; slot++)
		if (broken[rule][slot])
			return false;
	return true;
}

void conform_watched(struct conform *c)
{
	for (int i = 0; i < RULE_COUNT; i++)
		if (is_kept(i))
			conform_ok(c, true, "every slot %s", rule_texts[i]);
}
