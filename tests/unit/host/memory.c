/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's pages and addresses: content stays with a page, what is
 * not mapped faults, accounts are exact, and nothing wrong is accepted.
 */
#include "probe.h"

static void test_remap(void *device)
{
	uint64_t base = reserve(device, 16 * PAGE);
	gpumem_page pages[4], swapped[4];
	bool same = true;

	for (int i = 0; i < 4; i++)
		pages[i] = create(device, PAGE);
	is_status(host->map(device, base, pages, 4, PAGE), GPUMEM_OK,
		  "four pages are mapped");
	for (uint32_t i = 0; i < 4; i++) {
		*word(base + i * PAGE) = i + 1;
		*word(base + (i + 1) * PAGE - 4) = i + 11;
		swapped[3 - i] = pages[i];
	}
	is_status(host->unmap(device, base + PAGE, 2, PAGE), GPUMEM_OK,
		  "two from the middle are unmapped");
	ok(faults(base + PAGE) && faults(base + 3 * PAGE - 1),
	   "their addresses fault");
	ok(!faults(base) && *word(base + 3 * PAGE) == 4, "the others do not");
	is_status(host->unmap(device, base, 1, PAGE), GPUMEM_OK, "first");
	is_status(host->unmap(device, base + 3 * PAGE, 1, PAGE), GPUMEM_OK,
		  "last");
	base += 8 * PAGE;
	is_status(host->map(device, base, swapped, 4, PAGE), GPUMEM_OK,
		  "mapped elsewhere in the other order");
	for (uint32_t i = 0; i < 4; i++)
		same = same && *word(base + i * PAGE) == 4 - i &&
		       *word(base + (i + 1) * PAGE - 4) == 14 - i;
	ok(same, "each page kept its content");
	is_status(host->unmap(device, base, 4, PAGE), GPUMEM_OK, "unmap");
	for (int i = 0; i < 4; i++)
		is_status(host->page_destroy(device, pages[i], PAGE), GPUMEM_OK,
			  "page_destroy");
	is_status(host->va_release(device, base - 8 * PAGE, 16 * PAGE),
		  GPUMEM_OK, "va_release");
	ok(faults(base), "released addresses fault");
}

static void test_capacity(void *device)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_page pages[32], extra = 77;
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; i < 32; i++)
		pages[i] = create(device, PAGE);
	is_uint(gpumem_host_used_bytes(0), 32 * PAGE, "64 MiB are used");
	is_status(host->page_create(device, PAGE, &extra), GPUMEM_NO_MEMORY,
		  "and no more are there");
	is_uint(extra, 77, "the output is left alone");
	is_int(fake_error.code, 2, "native code");
	is_str(fake_error.name, "HOST_ERROR_OUT_OF_MEMORY", "native name");
	ok(strstr(fake_error.text, "67108864") != NULL,
	   "the sentence has figures: %s", fake_error.text);
	status = host->page_destroy(device, pages[31], PAGE);
	is_status(status, GPUMEM_OK, "one page less");
	ok(gpumem_host_outside(0, PAGE) == GPUMEM_OK, "others take it");
	is_status(host->page_create(device, PAGE, &extra), GPUMEM_NO_MEMORY,
		  "then it is not there");
	is_status(host->memory_info(device, &memory), GPUMEM_OK, "memory_info");
	is_uint(memory.total_bytes, 32 * PAGE, "total");
	is_uint(memory.free_bytes, 0, "free");
	ok(gpumem_host_outside(0, UINT64_MAX) == GPUMEM_OK, "others overdo");
	is_status(host->memory_info(device, &memory), GPUMEM_OK, "memory_info");
	is_uint(memory.free_bytes, 0, "free is still none");
	ok(gpumem_host_outside(0, 0) == GPUMEM_OK, "others leave");
	is_status(host->memory_info(device, &memory), GPUMEM_OK, "memory_info");
	is_uint(memory.free_bytes, PAGE, "free is one page");
	is_status(host->page_create(device, 2 * PAGE, &extra), GPUMEM_NO_MEMORY,
		  "not two");
	is_status(host->page_create(device, PAGE, &pages[31]), GPUMEM_OK,
		  "but one");
	for (int i = 0; i < 32; i++)
		if (host->page_destroy(device, pages[i], PAGE) != GPUMEM_OK)
			bail("page_destroy: %s", fake_error.text);
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
}

static void test_given_back(void *device)
{
	uint64_t base = reserve(device, 8 * PAGE);
	gpumem_page pages[8];

	for (int i = 0; i < 8; i++)
		pages[i] = create(device, PAGE);
	is_uint(file_bytes(), 0, "what is not touched costs nothing");
	is_status(host->map(device, base, pages, 8, PAGE), GPUMEM_OK, "map");
	memset(word(base), 1, 8 * PAGE);
	is_uint(file_bytes(), 8 * PAGE, "what is touched is there");
	is_status(host->unmap(device, base, 8, PAGE), GPUMEM_OK, "unmap");
	is_uint(file_bytes(), 8 * PAGE, "unmapping gives nothing back");
	for (int i = 0; i < 8; i += 2)
		(void)!host->page_destroy(device, pages[i], PAGE);
	is_uint(file_bytes(), 4 * PAGE, "destroying does");
	for (int i = 1; i < 8; i += 2)
		(void)!host->page_destroy(device, pages[i], PAGE);
	is_uint(file_bytes(), 0, "to the last byte");
	is_status(host->va_release(device, base, 8 * PAGE), GPUMEM_OK,
		  "va_release");
}

#define refused(call, ...)                                                     \
	do {                                                                   \
		unsigned said = fake_error.count;                              \
		is_status(call, GPUMEM_INVALID, __VA_ARGS__);                  \
		is_uint(fake_error.count, said + 1, "with a sentence");        \
	} while (0)

static void test_refused_maps(void *device, uint64_t base, gpumem_page page)
{
	gpumem_page other = create(device, PAGE),
		    big = create(device, 2 * PAGE);
	gpumem_page twice[2] = {other, other}, garbage = 12345678901234567;

	refused(host->map(device, base, &other, 1, PAGE), "map over a page");
	refused(host->map(device, base + PAGE, &page, 1, PAGE),
		"map a page twice");
	refused(host->map(device, base + PAGE, twice, 2, PAGE),
		"one page twice in a call");
	refused(host->map(device, base + PAGE, &big, 1, PAGE),
		"a page of another size");
	refused(host->map(device, base + 3 * PAGE, &big, 1, 2 * PAGE),
		"map over the end");
	refused(host->map(device, base + 4 * PAGE, &other, 1, PAGE),
		"map beyond the end");
	refused(host->map(device, base + 6 * PAGE, &other, 1, PAGE),
		"map far beyond");
	refused(host->map(device, base + PAGE + 4096, &other, 1, PAGE),
		"map between granules");
	refused(host->map(device, base + PAGE, &garbage, 1, PAGE),
		"map garbage");
	refused(host->map(device, base + PAGE, &other, SIZE_MAX / 2, PAGE),
		"map an overflow");
	refused(host->map(device, base + PAGE, &other, 0, PAGE), "map nothing");
	ok(faults(base + PAGE), "nothing was mapped");
	is_status(host->map(device, base + 2 * PAGE, &big, 1, 2 * PAGE),
		  GPUMEM_OK, "the large page is mapped");
	refused(host->unmap(device, base + 2 * PAGE, 2, PAGE),
		"unmap it in halves");
	refused(host->unmap(device, base + 3 * PAGE, 1, PAGE),
		"unmap its second half");
	refused(host->unmap(device, base, 2, PAGE), "unmap a hole");
	refused(host->map(device, base + 3 * PAGE, &other, 1, PAGE),
		"map into it");
	is_status(host->unmap(device, base + 2 * PAGE, 1, 2 * PAGE), GPUMEM_OK,
		  "unmap it whole");
	is_status(host->page_destroy(device, other, PAGE), GPUMEM_OK, "one");
	is_status(host->page_destroy(device, big, 2 * PAGE), GPUMEM_OK, "two");
}

/* A page at two addresses stays until it is at neither. */
static void test_alias(void *device)
{
	uint64_t base = reserve(device, 4 * PAGE);
	gpumem_page page = create(device, PAGE);

	is_status(host->map(device, base, &page, 1, PAGE), GPUMEM_OK, "map");
	is_status(host->map(device, base + 2 * PAGE, &page, 1, PAGE), GPUMEM_OK,
		  "and elsewhere");
	*word(base) = 42;
	is_uint(*word(base + 2 * PAGE), 42, "the same memory");
	is_status(host->unmap(device, base, 1, PAGE), GPUMEM_OK, "unmap");
	ok(faults(base), "it is gone there");
	is_uint(*word(base + 2 * PAGE), 42, "and here it is not");
	refused(host->page_destroy(device, page, PAGE), "destroy when mapped");
	is_status(host->unmap(device, base + 2 * PAGE, 1, PAGE), GPUMEM_OK,
		  "unmap the other");
	is_status(host->page_destroy(device, page, PAGE), GPUMEM_OK, "destroy");
	is_status(host->va_release(device, base, 4 * PAGE), GPUMEM_OK, "all");
}

static void test_refusals(void *device)
{
	uint64_t base = reserve(device, 4 * PAGE), out = 77;
	gpumem_page page = create(device, PAGE), again, got = 77;

	refused(host->page_create(device, PAGE + 1, &got), "create odd bytes");
	refused(host->page_create(device, 4096, &got), "create a part");
	refused(host->va_reserve(device, 4096, PAGE, &out), "reserve a part");
	refused(host->va_reserve(device, PAGE, 3 * PAGE, &out), "align by 3");
	ok(got == 77 && out == 77, "outputs are left alone");
	is_status(host->map(device, base, &page, 1, PAGE), GPUMEM_OK, "map");
	*word(base) = 42;
	test_refused_maps(device, base, page);
	refused(host->page_destroy(device, page, PAGE), "destroy when mapped");
	refused(host->va_release(device, base, 4 * PAGE),
		"release when mapped");
	is_uint(*word(base), 42, "after all that the page is there");
	is_status(host->unmap(device, base, 1, PAGE), GPUMEM_OK, "unmap");
	refused(host->unmap(device, base, 1, PAGE), "unmap twice");
	refused(host->page_destroy(device, page, 2 * PAGE), "destroy too much");
	is_status(host->page_destroy(device, page, PAGE), GPUMEM_OK, "destroy");
	refused(host->page_destroy(device, page, PAGE), "destroy twice");
	again = create(device, PAGE);
	refused(host->page_destroy(device, page, PAGE),
		"destroy what is another's now");
	refused(host->map(device, base, &page, 1, PAGE), "map it");
	is_status(host->page_destroy(device, again, PAGE), GPUMEM_OK, "again");
	refused(host->page_destroy(device, 0, PAGE), "destroy 0");
	refused(host->va_release(device, base, 2 * PAGE), "release a part");
	refused(host->va_release(device, base + PAGE, 3 * PAGE),
		"release the rest");
	is_status(host->va_release(device, base, 4 * PAGE), GPUMEM_OK, "all");
	refused(host->va_release(device, base, 4 * PAGE), "release twice");
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
}

int main(void)
{
	void *device;

	fake_start();
	option("host.capacity", "64MiB");
	option("host.alias", "on");
	device = open_device(0);
	test_alias(device);
	host->device_close(device);
	option("host.alias", "off");
	device = open_device(0);
	test_remap(device);
	test_capacity(device);
	test_given_back(device);
	test_refusals(device);
	host->device_close(device);
	return done_testing();
}
