/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The hip backend on a runtime that has faults: what opening finds, that its
 * description says so, that at each level a call is all or nothing, and that
 * memory comes back where the level promises it. Over the double of ROCm 6.
 */
#include "fixture.h"
#include <sys/resource.h>

#define PAGES 4

static void *open_at(const char *level)
{
	hip_vm = level;
	return open_device(0);
}

static uint64_t free_bytes(void *device)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	if (gpu->memory_info(device, &memory) != GPUMEM_OK)
		bail("%s", said.text);
	return memory.free_bytes;
}

/* What opening finds when the runtime has this fault: the level, and why. */
static void finds(const char *name, const char *level, const char *note)
{
	bool vm = !strcmp(level, "full") || !strcmp(level, "single");
	char start[64];

	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	uint64_t address = 0;
	void *device;

	diag("%s", name);
	runtime.fakehip_quirk(name, true);
	device = open_at("auto");
	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("%s", said.text);
	is_int(!!(info.caps & GPUMEM_CAP_VM), vm, "pages or not");
	is_int(!(info.caps & GPUMEM_CAP_FREE_WAITS), !strcmp(level, "reserve"),
	       "a free that waits or not");
	snprintf(start, sizeof(start), "virtual memory: %s (", level);
	if (!ok(*note ? !strncmp(info.note, start, strlen(start)) &&
				strstr(info.note, note) != NULL
		      : !*info.note,
		"%s, and why", level))
		diag("%s", info.note);
	is_status(gpu->va_reserve(device, PAGE, PAGE, &address),
		  vm ? GPUMEM_OK : GPUMEM_UNSUPPORTED, "reserve");
	if (address)
		is_status(gpu->va_release(device, address, PAGE), GPUMEM_OK,
			  "release");
	gpu->device_close(device);
	runtime.fakehip_quirk(name, false);
}

/* The level is as it was, without GPUMEM_CAP_ALIAS, and why. */
static void finds_once(const char *name, const char *wanted, const char *note)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct fakecuda_held before = audit(), after;
	bool lost = name && !strcmp(name, "twice_taken");
	void *device;

	diag("%s, %s", name ? name : "hip.alias", wanted);
	if (name)
		runtime.fakehip_quirk(name, true);
	device = open_at(wanted);
	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("%s", said.text);
	is_int(!!(info.caps & GPUMEM_CAP_VM), true, "pages");
	is_int(!!(info.caps & GPUMEM_CAP_ALIAS), !*note, "at two addresses");
	ok(*note ? strstr(info.note, note) != NULL
		 : !strstr(info.note, "second mappings"),
	   "\"%s\"", info.note);
	gpu->device_close(device);
	if (name)
		runtime.fakehip_quirk(name, false);
	after = audit();
	if (lost)
		skip("what the fault loses is lost", 1);
	else
		ok(!memcmp(&before, &after, sizeof(after)), "nothing is left");
}

static void finds_aliases(const char *level)
{
	finds_once("optimistic", level, "");
	finds_once("once", level,
		   "second mappings: off, as a page is mapped once only");
	finds_once("copies", level, "two mappings of a page differ");
	finds_once("together", level, "a mapping goes with another");
	finds_once("twice_taken", level,
		   "memory that was given back stays taken");
	hip_alias = "off";
	finds_once(NULL, level, "second mappings: off, as hip.alias says so");
	hip_alias = "auto";
}

/* What is claimed before a device is opened, and a word that is none. */
static void wants_aliases(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL;

	hip_alias = "always";
	is_status(gpu->device_open(0, &device), GPUMEM_INVALID,
		  "hip.alias is no such word");
	ok(strstr(said.text, "auto or off") != NULL, "%s", said.text);
	hip_alias = "off";
	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("%s", said.text);
	is_int(info.caps & GPUMEM_CAP_ALIAS, 0, "nothing is claimed with off");
	hip_alias = "auto";
	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("%s", said.text);
	ok(info.caps & GPUMEM_CAP_ALIAS, "and else what may be");
}

struct mapped {
	uint64_t address;
	gpumem_page pages[PAGES];
};

static struct mapped map_all(void *device)
{
	struct mapped mapped;

	if (gpu->va_reserve(device, PAGES * PAGE, PAGE, &mapped.address))
		bail("%s", said.text);
	for (int i = 0; i < PAGES; i++)
		if (gpu->page_create(device, PAGE, &mapped.pages[i]))
			bail("%s", said.text);
	is_status(gpu->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_OK, "map");
	return mapped;
}

static void destroy_all(void *device, const struct mapped *mapped)
{
	int bad = 0;

	for (int i = 0; i < PAGES; i++)
		bad += gpu->page_destroy(device, mapped->pages[i], PAGE) !=
		       GPUMEM_OK;
	is_int(bad, 0, "destroy the pages");
}

static gpumem_status fills(void *by, const struct mapped *mapped)
{
	gpumem_status status =
		gpu->fill(by, mapped->address, 1, PAGES * PAGE, NULL);

	return status == GPUMEM_OK ? gpu->stream_sync(by, NULL) : status;
}

/* All or none: what fails half way leaves what was there, open to whom it was.
 */
static void undoes(const char *wanted)
{
	void *device = open_at(wanted), *peer = open_device(1);
	struct mapped mapped = map_all(device);

	diag("%s", wanted);
	ok(fills(peer, &mapped) != GPUMEM_OK, "a peer does not write");
	is_status(
		gpu->open_mapped(device, mapped.address, PAGES, PAGE, &peer, 1),
		GPUMEM_OK, "all is opened to it");
	is_status(fills(peer, &mapped), GPUMEM_OK, "then it writes");
	runtime.fakehip_fault("hipMemUnmap", strcmp(wanted, "full") ? 3 : 1,
			      false, 1);
	is_status(gpu->unmap(device, mapped.address, PAGES, PAGE),
		  GPUMEM_INVALID, "an unmap fails");
	is_status(fills(device, &mapped), GPUMEM_OK, "all is mapped as it was");
	is_status(fills(peer, &mapped), GPUMEM_OK, "for the peer, too");
	is_status(gpu->unmap(device, mapped.address, PAGES, PAGE), GPUMEM_OK,
		  "unmap");
	runtime.fakehip_fault("hipMemMap", 3, false, 2);
	is_status(gpu->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_NO_MEMORY, "a map fails");
	runtime.fakehip_fault("hipMemSetAccess", 1, false, 1);
	is_status(gpu->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_INVALID, "access fails");
	runtime.fakehip_heal();
	is_status(gpu->map(device, mapped.address, mapped.pages, PAGES, PAGE),
		  GPUMEM_OK, "nothing was left mapped");
	is_status(gpu->unmap(device, mapped.address, PAGES, PAGE), GPUMEM_OK,
		  "unmap");
	destroy_all(device, &mapped);
	is_status(gpu->va_release(device, mapped.address, PAGES * PAGE),
		  GPUMEM_OK, "release");
	gpu->device_close(peer);
	gpu->device_close(device);
}

/* With ROCm/hip#3781 what a pool destroys stays taken until its range goes:
 * pages would not be what a pool counts on. */
static void stays(const char *wanted)
{
	void *device = open_at(wanted);
	uint64_t before;
	struct mapped mapped;

	diag("%s, with the fault", wanted);
	runtime.fakehip_quirk("stuck", true);
	before = free_bytes(device);
	mapped = map_all(device);
	is_status(gpu->unmap(device, mapped.address, PAGES, PAGE), GPUMEM_OK,
		  "unmap");
	destroy_all(device, &mapped);
	ok(free_bytes(device) < before, "its memory does not come back");
	is_status(gpu->va_release(device, mapped.address, PAGES * PAGE),
		  GPUMEM_OK, "release");
	is_uint(free_bytes(device), before, "but then");
	runtime.fakehip_quirk("stuck", false);
	gpu->device_close(device);
}

/* A range so large that there is no room to write down what is mapped in it.
 * Addresses without memory are not what this limit is about. */
static void no_room(void)
{
	const uint64_t bytes = UINT64_C(1) << 38;
	void *device = open_at("single");
	struct fakecuda_held before = audit(), after;
	uint64_t address = UNTOUCHED;
	struct rlimit limit, none;

	if (getenv("SANITIZER") && strcmp(getenv("SANITIZER"), "none") != 0) {
		skip("a sanitizer ends programs that have no memory", 4);
		gpu->device_close(device);
		return;
	}
	if (getrlimit(RLIMIT_DATA, &limit))
		bail("getrlimit");
	none = limit;
	none.rlim_cur = 1;
	if (setrlimit(RLIMIT_DATA, &none))
		bail("setrlimit");
	is_status(gpu->va_reserve(device, bytes, PAGE, &address),
		  GPUMEM_NO_HOST_MEMORY, "no room for a table");
	if (setrlimit(RLIMIT_DATA, &limit))
		bail("setrlimit");
	ok(strstr(said.text, "table of mappings") != NULL, "which is said: %s",
	   said.text);
	is_uint(address, UNTOUCHED, "and no addresses");
	after = audit();
	ok(!memcmp(&before, &after, sizeof(after)), "none are left");
	gpu->device_close(device);
}

/* What the trial cannot do without. */
static const char *const trial_calls[] = {
	"hipMemAddressReserve",
	"hipMemCreate",
	"hipMemMap",
	"hipMemSetAccess",
	"hipMemUnmap",
	"hipMemRelease",
	"hipMemAddressFree",
	"hipMemsetAsync",
	"hipMemcpyAsync",
	"hipStreamSynchronize",
	"hipStreamCreateWithFlags",
	"hipDeviceGetStreamPriorityRange",
};

#define TWICE "second mappings: off, as "

/* What it could not give back stays: the runtime has said that it will not
 * have it. */
static bool may_stay(const char *name)
{
	return !strcmp(name, "hipMemUnmap") || !strcmp(name, "hipMemRelease") ||
	       !strcmp(name, "hipMemAddressFree");
}

/* Opening goes on at a lower level, or without second mappings, and says so. */
static unsigned fails_in_trial(const char *name, unsigned nth, const char *note)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct fakecuda_held before = audit(), after;
	unsigned bad = 0;
	void *device;

	runtime.fakehip_fault(name, nth, false, 999);
	device = open_at("auto");
	runtime.fakehip_heal();
	bad += gpu->device_info(0, &info) != GPUMEM_OK;
	bad += !strstr(info.note, note) && !strstr(info.note, TWICE);
	bad += runtime.hipPeekAtLastError() != 0;
	gpu->device_close(device);
	after = audit();
	bad += !may_stay(name) && memcmp(&before, &after, sizeof(after)) != 0;
	if (bad)
		diag("%s@%u: note \"%s\"", name, nth, info.note);
	return bad;
}

static unsigned calls_of_trial(const char *name)
{
	uint64_t before = runtime.fakehip_calls(name);

	gpu->device_close(open_at("auto"));
	return (unsigned)(runtime.fakehip_calls(name) - before);
}

static void trial(void)
{
	for (size_t i = 0; i < sizeof(trial_calls) / sizeof(*trial_calls);
	     i++) {
		const char *name = trial_calls[i];
		unsigned calls = calls_of_trial(name), bad = 0;

		for (unsigned nth = 1; nth <= calls; nth++)
			bad += fails_in_trial(name, nth, "as a trial showed");
		ok(calls && !bad, "%s fails in the trial, each of %u times",
		   name, calls);
	}
}

/* With ROCm/hip#3781 the last trial is that of the level RESERVE, and each last
 * call is in it. */
static void last_trial(void)
{
	runtime.fakehip_quirk("stuck", true);
	for (size_t i = 0; i < sizeof(trial_calls) / sizeof(*trial_calls);
	     i++) {
		const char *name = trial_calls[i];

		is_uint(fails_in_trial(name, calls_of_trial(name),
				       "virtual memory: off (hip.vm)"),
			0, "%s fails in the last trial", name);
	}
	runtime.fakehip_quirk("stuck", false);
}

static void checks(void)
{
	wants_aliases();
	finds("stuck", "reserve", "stays taken");
	finds("never", "off", "stays taken");
	finds("joint_unmap", "single", "cannot be mapped again");
	finds("joint_access", "single", "access not given");
	finds("no_access", "off", "no allocation can be made");
	finds("foreign", "reserve", "mapped again have other content");
	finds("optimistic", "full", "");
	finds_aliases("auto");
	finds_aliases("single");
	undoes("full");
	undoes("single");
	stays("full");
	stays("single");
	no_room();
	trial();
	last_trial();
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "2", 1);
	on_release(6, checks);
	return done_testing();
}
