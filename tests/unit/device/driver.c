/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What surrounds a driver call: counters, sentences, and the end of a device.
 */
#include "base/error.h"
#include "base/log.h"
#include "device/driver.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "calls.h"
#include <pthread.h>
#include <unistd.h>

#define THREADS 4
#define CALLS 5000

static struct {
	unsigned count[GPUMEM_LOG_DEBUG + 1];
	char text[1300];
} seen;

static void keep(gpumem_log_level level, const char *text, void *user)
{
	(void)user;
	seen.count[level]++;
	snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static struct gpumem_error last_error(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gm_error_get(&error);
	return error;
}

static void is_counted(unsigned number, unsigned count, unsigned failed)
{
	is_uint(driver.calls[number].count, count, "%s: count", names[number]);
	is_uint(driver.calls[number].failed, failed, "%s: failed",
		names[number]);
}

static void test_counts(void)
{
	char where[128];
	unsigned i, j;

	for (i = 0; i < GPUMEM_CALL_COUNT; i++) {
		uint64_t others = 0;

		gm_driver_reset_counts(&driver);
		fake.next = GPUMEM_OK;
		is_status(call(i), GPUMEM_OK, "%s", names[i]);
		is_str(fake.last, names[i], "reaches its slot");
		fake.next = GPUMEM_DRIVER;
		fake.native_code = 700;
		fake.native_name = "FAKE_ILLEGAL";
		is_status(call(i), GPUMEM_DRIVER, "%s fails", names[i]);
		is_counted(i, 2, 1);
		for (j = 0; j < GPUMEM_CALL_COUNT; j++)
			if (j != i)
				others += driver.calls[j].count +
					  driver.calls[j].failed +
					  driver.calls[j].ns;
		is_uint(others, 0, "and no other");
		snprintf(where, sizeof(where),
			 "fake:0: %s: the fake %s failed "
			 "(FAKE_ILLEGAL, 700)",
			 names[i], names[i]);
		is_str(last_error().text, where, "its sentence");
		is_int(last_error().native_code, 700, "the driver's number");
		is_str(last_error().backend, "fake", "the backend");
	}
	gm_driver_reset_counts(&driver);
	for (i = 0; i < GPUMEM_CALL_COUNT; i++)
		if (driver.calls[i].count || driver.calls[i].failed ||
		    driver.calls[i].ns)
			break;
	is_uint(i, GPUMEM_CALL_COUNT, "all counters can be reset");
}

static void test_outputs(void)
{
	struct gpumem_memory memory = {.size = 1, .reserved_bytes = 5};
	uint64_t value = 42;

	fake.next = GPUMEM_NO_MEMORY;
	is_status(gm_driver_alloc(&driver, 4096, &value), GPUMEM_NO_MEMORY,
		  "no memory");
	is_uint(value, 42, "a failure leaves the output alone");
	is_status(gm_driver_memory_info(&driver, &memory), GPUMEM_NO_MEMORY,
		  "nor memory_info");
	is_uint(memory.total_bytes, 0, "likewise");
	fake.next = GPUMEM_OK;
	is_status(gm_driver_memory_info(&driver, &memory), GPUMEM_OK, "OK");
	is_uint(memory.total_bytes, 1u << 30, "total");
	is_uint(memory.free_bytes, 1u << 29, "free");
	fake.free_bytes = UINT64_MAX;
	is_status(gm_driver_memory_info(&driver, &memory), GPUMEM_OK, "OK");
	is_uint(memory.free_bytes, 1u << 30, "free is at most all");
	fake.free_bytes = 1u << 29;
	ok(memory.size == 1 && memory.reserved_bytes == 5, "no more than that");
	is_status(gm_driver_va_reserve(&driver, 4096, 8192, &value), GPUMEM_OK,
		  "arguments arrive in order");
	is_uint(value, 8192, "the alignment, for one");
}

/* NOT_READY and CAPTURING are answers where they are asked for. */
static void test_answers(void)
{
	unsigned number;

	gm_driver_reset_counts(&driver);
	gm_fail(GPUMEM_INVALID, "before");
	fake.next = GPUMEM_NOT_READY;
	is_status(call(GPUMEM_CALL_EVENT_QUERY), GPUMEM_NOT_READY, "not ready");
	is_counted(GPUMEM_CALL_EVENT_QUERY, 1, 0);
	is_status(call(GPUMEM_CALL_STREAM_QUERY), GPUMEM_NOT_READY, "busy");
	is_counted(GPUMEM_CALL_STREAM_QUERY, 1, 0);
	fake.next = GPUMEM_CAPTURING;
	is_status(call(GPUMEM_CALL_EVENT_RECORD), GPUMEM_CAPTURING, "capture");
	is_counted(GPUMEM_CALL_EVENT_RECORD, 1, 0);
	is_str(last_error().text, "before", "an answer is no error");
	is_status(call(GPUMEM_CALL_EVENT_QUERY), GPUMEM_CAPTURING,
		  "elsewhere it is one");
	is_counted(GPUMEM_CALL_EVENT_QUERY, 2, 1);
	fake.next = GPUMEM_NOT_READY;
	for (number = 0; number < GPUMEM_CALL_COUNT; number++) {
		if (number == GPUMEM_CALL_EVENT_QUERY ||
		    number == GPUMEM_CALL_STREAM_QUERY)
			continue;
		gm_driver_reset_counts(&driver);
		is_status(call(number), GPUMEM_DRIVER, "%s", names[number]);
		is_counted(number, 1, 1);
	}
	fake.next = GPUMEM_OK;
}

static void test_strange(void)
{
	fake.next = (gpumem_status)7;
	is_status(call(GPUMEM_CALL_MAP), GPUMEM_DRIVER, "an unknown status");
	is_str(last_error().text, "fake:0: map returned the unknown status 7",
	       "is said");

	/* A slot that has complained and succeeded all the same. */
	fake.core->error(5, "FAKE_OLD", "an old complaint");
	fake.next = GPUMEM_NO_MEMORY;
	fake.native_code = 0;
	fake.native_name = "";
	is_status(call(GPUMEM_CALL_MAP), GPUMEM_NO_MEMORY, "says nothing");
	is_str(last_error().text, "fake:0: map: device out of memory",
	       "an older complaint is not its own");
	fake.native_code = 700;
	fake.native_name = "FAKE_ILLEGAL";
	fake.next = GPUMEM_OK;
}

static void test_capture(void)
{
	uint64_t id = 5;

	gm_driver_reset_counts(&driver);
	is_status(gm_driver_capture_id(&driver, NULL, &id), GPUMEM_OK, "asked");
	is_uint(id, 77, "and answered");
	device->info.caps &= ~(uint32_t)GPUMEM_CAP_CAPTURE;
	is_status(gm_driver_capture_id(&driver, NULL, &id), GPUMEM_OK,
		  "without the capability");
	is_uint(id, 0, "no stream is ever captured");
	is_counted(GPUMEM_CALL_CAPTURE_ID, 1, 0);
	device->info.caps |= GPUMEM_CAP_CAPTURE;
}

static void test_user_calls(void)
{
	char text[128];
	int i;

	gm_driver_reset_counts(&driver);
	for (i = 0; i < 5; i++) {
		fake.next = GPUMEM_OK;
		is_status(use(i), GPUMEM_OK, "%s", slots[i]);
		is_str(fake.last, slots[i], "reaches its slot");
		fake.next = GPUMEM_DRIVER;
		is_status(use(i), GPUMEM_DRIVER, "%s fails", slots[i]);
		snprintf(text, sizeof(text),
			 "fake:0: %s: the fake %s failed (FAKE_ILLEGAL, 700)",
			 slots[i], slots[i]);
		is_str(last_error().text, text, "its sentence");
	}
	for (i = 0; i < GPUMEM_CALL_COUNT; i++)
		if (driver.calls[i].count)
			break;
	is_int(i, GPUMEM_CALL_COUNT, "they are not counted");
	fake.next = GPUMEM_OK;
}

static void *call_many(void *user)
{
	int i;

	(void)user;
	for (i = 0; i < CALLS; i++)
		if (gm_driver_event_query(&driver, &driver) != GPUMEM_OK)
			break;
	return NULL;
}

static void test_threads(void)
{
	pthread_t ids[THREADS];
	int i;

	gm_driver_reset_counts(&driver);
	for (i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, call_many, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	is_counted(GPUMEM_CALL_EVENT_QUERY, THREADS * CALLS, 0);
}

static void test_log(void)
{
	gm_log_set(GPUMEM_LOG_DEBUG, keep, NULL);
	fake.next = GPUMEM_OK;
	call(GPUMEM_CALL_MAP);
	is_uint(seen.count[GPUMEM_LOG_DEBUG], 0, "success is not logged");
	fake.next = GPUMEM_NO_MEMORY;
	call(GPUMEM_CALL_MAP);
	is_uint(seen.count[GPUMEM_LOG_DEBUG], 1, "a failure is, for debugging");
	is_str(seen.text, last_error().text, "with its sentence");
	fake.next = GPUMEM_NOT_READY;
	call(GPUMEM_CALL_EVENT_QUERY);
	is_uint(seen.count[GPUMEM_LOG_DEBUG], 1, "an answer is not");
}

/* The last: nothing works afterwards. */
static void test_lost(void)
{
	unsigned calls, i;

	fake.next = GPUMEM_LOST;
	fake.native_code = 719;
	fake.native_name = "FAKE_GONE";
	is_status(call(GPUMEM_CALL_EVENT_QUERY), GPUMEM_LOST, "lost");
	ok(device->lost, "the device knows");
	is_uint(seen.count[GPUMEM_LOG_ERROR], 1, "said as an error");
	calls = fake.calls;
	fake.next = GPUMEM_OK;
	gm_driver_reset_counts(&driver);
	for (i = 0; i < GPUMEM_CALL_COUNT; i++) {
		if (i == GPUMEM_CALL_EVENT_DESTROY)
			continue;
		is_status(call(i), GPUMEM_LOST, "%s after that", names[i]);
		is_counted(i, 0, 0);
	}
	for (i = 0; i < 5; i++)
		is_status(use((int)i), GPUMEM_LOST, "a user's call too");
	is_uint(fake.calls, calls, "no call reaches the driver any more");
	is_status(call(GPUMEM_CALL_EVENT_DESTROY), GPUMEM_OK,
		  "but the one that a plugin needs to forget an event");
	is_uint(fake.calls, calls + 1, "which does");
	is_uint(seen.count[GPUMEM_LOG_ERROR], 1, "and it is said only once");
	is_str(last_error().text,
	       "fake:0: stream_destroy: the device was lost: fake:0: "
	       "event_query: the fake event_query failed (FAKE_GONE, 719)",
	       "its sentence");
	is_str(last_error().backend, "fake", "its backend");
	is_int(last_error().native_code, 719, "the driver's first word for it");
	is_str(last_error().native_name, "FAKE_GONE", "and name");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	if (gm_backend_register(&fake_table) != GPUMEM_OK ||
	    gm_device_open("fake:0", &device) != GPUMEM_OK)
		bail("no fake: %s", last_error().text);
	gm_driver_init(&driver, device);
	test_counts();
	test_outputs();
	test_answers();
	test_strange();
	test_capture();
	test_user_calls();
	test_threads();
	test_log();
	test_lost();
	ok(gm_device_release(device), "a lost device can be closed");
	is_int(fake.closed, 1, "and is");
	return done_testing();
}
