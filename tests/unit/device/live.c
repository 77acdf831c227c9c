/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is live is not given out again: each way in and out, and its sentence.
 */
#include "device/share.h"
#include "live.h"
#include <stdlib.h>
#include <unistd.h>

enum { KIB = 1024 };

static struct gm_driver pinned;

static gpumem_status alloc_of(struct gm_driver *from, uint64_t address,
			      uint64_t bytes)
{
	uint64_t got = 1;
	gpumem_status status;

	given = address;
	status = gm_driver_alloc(from, bytes, &got);
	is_uint(got, status ? 1 : address, "the output is set on success only");
	return status;
}

static gpumem_status reserve(uint64_t address, uint64_t bytes)
{
	uint64_t got;

	given = address;
	return gm_driver_va_reserve(&driver, bytes, 4096, &got);
}

static const char *sentence(void)
{
	static struct gpumem_error error = {.size = sizeof(error)};

	gm_error_get(&error);
	return error.text;
}

static void test_sentences(void)
{
	size_t done;

	is_status(alloc_of(&driver, 0x10000, 4096), GPUMEM_OK, "a range");
	is_status(alloc_of(&driver, 0x10000, 4096), GPUMEM_DRIVER,
		  "the same again");
	is_str(sentence(),
	       "fake:0: alloc: the backend returned success and the 4096 bytes "
	       "at 0x10000, which overlap the 4096 bytes at 0x10000 that "
	       "fake:0 gave and has not taken back",
	       "its sentence");
	is_status(alloc_of(&other_driver, 0x10800, 4096), GPUMEM_DRIVER,
		  "half of it, by another device");
	is_str(sentence(),
	       "fake:1: alloc: the backend returned success and the 4096 bytes "
	       "at 0x10800, which overlap the 4096 bytes at 0x10000 that "
	       "fake:0 gave and has not taken back",
	       "which is named");
	is_status(alloc_of(&pinned, 0xf800, 4096), GPUMEM_DRIVER,
		  "as pinned memory");
	ok(strstr(sentence(), ": kind_alloc: ") != NULL, "%s", sentence());
	is_status(reserve(0x8000, 64 * KIB), GPUMEM_DRIVER, "around it");
	ok(strstr(sentence(), ": va_reserve: ") != NULL, "%s", sentence());
	is_status(page_of(&driver, 7, 2, &done), GPUMEM_DRIVER,
		  "one page twice");
	is_uint(done, 1, "the first was good");
	is_str(sentence(),
	       "fake:0: page_create: the backend returned success and the page "
	       "0x7, which it gave before and has not taken back",
	       "its sentence");
	is_status(page_of(&other_driver, 7, 1, &done), GPUMEM_OK,
		  "pages have their device's own numbers");
}

/* After test_sentences(). */
static void test_ends(void)
{
	gpumem_page seven = 7;
	size_t done;

	is_status(alloc_of(&driver, 0x11000, 4096), GPUMEM_OK, "just behind");
	is_status(alloc_of(&driver, 0xf000, 4096), GPUMEM_OK, "just before");
	fake.next = GPUMEM_DRIVER;
	is_status(gm_driver_free(&driver, 0x10000, 4096), GPUMEM_DRIVER,
		  "a free that is refused");
	is_status(gm_driver_page_destroy(&driver, 4096, &seven, 1, &done),
		  GPUMEM_DRIVER, "a page that is not taken back");
	fake.next = GPUMEM_OK;
	is_status(alloc_of(&driver, 0x10000, 4096), GPUMEM_DRIVER,
		  "keeps the range");
	is_status(page_of(&driver, 7, 1, &done), GPUMEM_DRIVER, "and the page");
	is_status(gm_driver_free(&driver, 0x10000, 4096), GPUMEM_OK, "freed");
	is_status(gm_driver_page_destroy(&driver, 4096, &seven, 1, &done),
		  GPUMEM_OK, "both");
	is_status(reserve(0x10000, 4096), GPUMEM_OK, "can be had again");
	is_status(page_of(&driver, 7, 1, &done), GPUMEM_OK, "both");
	fake.next = GPUMEM_DRIVER;
	is_status(gm_driver_va_release(&driver, 0x10000, 4096), GPUMEM_DRIVER,
		  "addresses that are not taken back");
	fake.next = GPUMEM_OK;
	is_status(alloc_of(&pinned, 0x10000, 4096), GPUMEM_DRIVER, "stay live");
	is_status(gm_driver_va_release(&driver, 0x10000, 4096), GPUMEM_OK,
		  "released");
	is_status(alloc_of(&pinned, 0x10000, 4096), GPUMEM_OK, "pinned");
	is_status(gm_driver_free(&pinned, 0x10000, 4096), GPUMEM_OK, "freed");
	is_status(alloc_of(&driver, 0x10000, 4096), GPUMEM_OK, "as at first");
}

static void test_imports(void)
{
	char handle[GPUMEM_SHARE_HANDLE_BYTES] = "";
	uint64_t address = 1;

	given = 0x10000;
	is_status(gm_ipc_open(device, handle, 4096, &address), GPUMEM_DRIVER,
		  "an import over what is live");
	is_uint(address, 1, "is not given on");
	ok(strstr(sentence(), ": ipc_open: ") &&
		   strstr(sentence(), "which overlap"),
	   "%s", sentence());
	given = 0x70000;
	is_status(gm_ipc_open(device, handle, 4096, &address), GPUMEM_OK,
		  "an import");
	is_status(gm_ipc_open(device, handle, 4096, &address), GPUMEM_OK,
		  "may be where it was before");
}

static void give_again(void)
{
	uint64_t got;

	during_free = NULL;
	fake.next = GPUMEM_OK;
	given = 0x20800;
	is_status(gm_driver_alloc(&other_driver, 4096, &got), GPUMEM_OK,
		  "what is on its way back can be another's");
	fake.next = GPUMEM_DRIVER;
}

static void give_again_lost(void)
{
	give_again();
	fake.next = GPUMEM_LOST;
}

/* The driver has taken it, whatever it says: two owners must not be. */
static void test_given_meanwhile(void)
{
	is_status(alloc_of(&driver, 0x20000, 4096), GPUMEM_OK, "a range");
	during_free = give_again;
	is_status(gm_driver_free(&driver, 0x20000, 4096), GPUMEM_OK,
		  "a free that is refused, of what is another's by now");
	fake.next = GPUMEM_OK;
	is_status(alloc_of(&driver, 0x20000, 4096), GPUMEM_DRIVER,
		  "whose it is");
	is_status(gm_driver_free(&other_driver, 0x20800, 4096), GPUMEM_OK,
		  "until it is freed");
	is_status(alloc_of(&driver, 0x20000, 4096), GPUMEM_OK, "and then not");
}

/* What a lost device had ends with it. */
static void test_lost(void)
{
	during_free = give_again_lost;
	is_status(gm_driver_free(&driver, 0x20000, 4096), GPUMEM_LOST,
		  "a loss stays one");
	fake.next = GPUMEM_OK;
	is_status(gm_driver_free(&driver, 0x10000, 4096), GPUMEM_LOST,
		  "no free any more");
	is_status(alloc_of(&other_driver, 0x10000, 4096), GPUMEM_DRIVER,
		  "what the lost device had is live");
	ok(gm_device_release(device), "until it is closed");
	is_status(alloc_of(&other_driver, 0x10000, 4096), GPUMEM_OK,
		  "then others may have it");
	is_status(alloc_of(&other_driver, 0x20800, 4096), GPUMEM_DRIVER,
		  "and what is theirs stays theirs");
}

static void test_reopened(void)
{
	ok(gm_device_release(other), "a device with live memory can be closed");
	is_status(gm_device_open("fake:1", &other), GPUMEM_OK, "and opened");
	gm_driver_init(&other_driver, other);
	is_status(alloc_of(&other_driver, 0x20800, 4096), GPUMEM_OK,
		  "with nothing of before");
	ok(gm_device_release(other), "closed");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	open_devices();
	gm_driver_init(&pinned, device);
	pinned.kind = GPUMEM_KIND_PINNED;
	test_sentences();
	test_ends();
	test_imports();
	test_given_meanwhile();
	test_lost();
	test_reopened();
	return done_testing();
}
