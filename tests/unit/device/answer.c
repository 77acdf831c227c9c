/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every slot gives every status, and numbers that are none: what backend.h does
 * not let it give becomes DRIVER, with a sentence that names slot and number.
 */
#include "base/error.h"
#include "base/status.h"
#include "loader/loader.h"
#include "calls.h"
#include <limits.h>
#include <unistd.h>

enum { USES = sizeof(slots) / sizeof(*slots) };

static const int strange[] = {INT_MIN, -1000, -18, 1, 12, INT_MAX};

/* LOST is for the end. */
static const gpumem_status statuses[] = {
#define STATUS(name, number, text) GPUMEM_##name,
	GPUMEM_STATUS_LIST(STATUS)
#undef STATUS
};

/* As backend.h says, and not as the code does. */
static bool allowed(const char *slot, gpumem_status status)
{
	bool query =
		!strcmp(slot, "event_query") || !strcmp(slot, "stream_query");
	bool work = !strcmp(slot, "fill") || !strcmp(slot, "copy");

	return status == GPUMEM_OK || status == GPUMEM_INVALID ||
	       status == GPUMEM_NO_MEMORY || status == GPUMEM_NO_HOST_MEMORY ||
	       status == GPUMEM_UNSUPPORTED || status == GPUMEM_BUSY ||
	       status == GPUMEM_DRIVER || status == GPUMEM_NO_DRIVER ||
	       status == GPUMEM_NO_DEVICE || status == GPUMEM_CAPTURING ||
	       (work && status == GPUMEM_BAD_POINTER) ||
	       (query && status == GPUMEM_NOT_READY);
}

static void is_refused(const char *where, const char *slot, int number)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	gpumem_status status = (gpumem_status)number;
	char text[256];

	gm_error_get(&error);
	if (gm_status_known(status))
		snprintf(text, sizeof(text),
			 "%s: %s returned the status %d, %s, which it may not",
			 where, slot, number, gm_status_name(status));
	else
		snprintf(text, sizeof(text),
			 "%s: %s returned the unknown status %d", where, slot,
			 number);
	is_str(error.text, text, "its sentence");
	is_status(error.status, GPUMEM_DRIVER, "and its status");
}

static void try(unsigned i, gpumem_status status)
{
	bool counted = i < GPUMEM_CALL_COUNT;
	const char *slot = counted ? names[i] : slots[i - GPUMEM_CALL_COUNT];
	bool good = allowed(slot, status);

	fake.next = status;
	is_status(counted ? call(i) : use((int)(i - GPUMEM_CALL_COUNT)),
		  good ? status : GPUMEM_DRIVER, "%s gives %d", slot,
		  (int)status);
	if (!good)
		is_refused("fake:0", slot, (int)status);
	fake.next = GPUMEM_OK;
}

static void test_slots(void)
{
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT + USES; i++) {
		for (size_t j = 0; j < sizeof(statuses) / sizeof(*statuses);
		     j++)
			if (statuses[j] != GPUMEM_LOST)
				try(i, statuses[j]);
		for (size_t j = 0; j < sizeof(strange) / sizeof(*strange); j++)
			try(i, (gpumem_status)strange[j]);
	}
	ok(!device->lost, "none of that is the end of the device");
}

static void test_devices(void)
{
	struct gpumem_device *one = NULL;

	fake.open_status = GPUMEM_NOT_READY;
	is_status(gm_device_open("fake:1", &one), GPUMEM_DRIVER,
		  "a device that is not ready");
	is_refused("fake:1", "device_open", GPUMEM_NOT_READY);
	fake.open_status = GPUMEM_OK;
	fake.info_status = (gpumem_status)5;
	is_status(gm_device_open("fake:1", &one), GPUMEM_DRIVER,
		  "a device that says a number of itself");
	is_refused("fake:1", "device_info", 5);
	fake.info_status = GPUMEM_CORRUPT;
	is_status(gm_device_open("fake:1", &one), GPUMEM_DRIVER,
		  "or is corrupt");
	is_refused("fake:1", "device_info", GPUMEM_CORRUPT);
	fake.info_status = GPUMEM_OK;
	fake.next = GPUMEM_FORKED;
	is_status(gm_device_adopt("fake", (void *)6, NULL, &one), GPUMEM_DRIVER,
		  "or is another process's");
	is_refused("device_adopt", "device_adopt", GPUMEM_FORKED);
	fake.next = GPUMEM_OK;
	ok(!one, "no device is given out");
}

static void test_starts(void)
{
	static struct gpumem_backend limits, counts;

	limits = counts = fake_table;
	limits.name = "limits";
	fake.init_status = GPUMEM_LIMIT;
	is_status(gm_backend_register(&limits), GPUMEM_DRIVER, "init");
	is_refused("limits", "init", GPUMEM_LIMIT);
	fake.init_status = GPUMEM_OK;
	counts.name = "counts";
	fake.count_status = GPUMEM_ABI;
	is_status(gm_backend_register(&counts), GPUMEM_DRIVER, "device_count");
	is_refused("counts", "device_count", GPUMEM_ABI);
	fake.count_status = GPUMEM_OK;
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	if (gm_backend_register(&fake_table) != GPUMEM_OK ||
	    gm_device_open("fake:0", &device) != GPUMEM_OK)
		bail("no fake");
	gm_driver_init(&driver, device);
	test_slots();
	test_devices();
	test_starts();
	ok(gm_device_release(device), "closed");
	return done_testing();
}
