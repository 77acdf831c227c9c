/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's addresses on a large scale: reservations, a device as
 * large as real ones, what closing takes away, and what a forked child sees.
 */
#include "probe.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* What the system says about this process's addresses. */
struct maps {
	long device;	 /* mappings of device memory */
	uint64_t unused; /* bytes that are reserved only */
};

static struct maps read_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	struct maps maps = {0, 0};
	unsigned long from, to;
	char line[4352], mode[8];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3)
			continue;
		maps.device += strstr(line, "memfd:gpumem-host") != NULL;
		if (strcmp(mode, "---p") == 0)
			maps.unused += to - from;
	}
	if (file)
		fclose(file);
	return maps;
}

static void test_reserve(void *device)
{
	uint64_t address[6], alignment = PAGE;
	bool aligned = true, apart = true;
	uint64_t before = read_maps().unused;

	for (int i = 0; i < 6; i++, alignment *= 8) {
		if (host->va_reserve(device, 3 * PAGE, alignment,
				     &address[i]) != GPUMEM_OK)
			bail("va_reserve: %s", fake_error.text);
		aligned = aligned && address[i] % alignment == 0;
		for (int k = 0; k < i; k++)
			apart = apart && (address[i] >= address[k] + 3 * PAGE ||
					  address[k] >= address[i] + 3 * PAGE);
	}
	ok(aligned, "addresses are aligned, up to 64 GiB");
	ok(apart, "and apart");
	for (int i = 5; i >= 0; i--)
		aligned = aligned && host->va_release(device, address[i],
						      3 * PAGE) == GPUMEM_OK;
	ok(aligned, "all are released");
	ok(read_maps().unused < before + 8 * PAGE,
	   "and nothing of them is left");
	is_status(host->va_reserve(device, UINT64_C(1) << 62, PAGE, address),
		  GPUMEM_NO_HOST_MEMORY, "nobody has so many addresses");
}

/* The lowest free memory goes out first, so that pages freed in any order make
 * few mappings again. */
static void test_order(void *device)
{
	static gpumem_page pages[2048];
	const uint32_t count = 2048;
	uint64_t base = reserve(device, count * PAGE);
	bool good = true;

	for (uint32_t i = 0; i < count; i++)
		pages[i] = create(device, PAGE);
	for (uint32_t i = 0; i < count; i++)
		good = good &&
		       host->page_destroy(device, pages[i * 789 % count],
					  PAGE) == GPUMEM_OK;
	for (uint32_t i = 0; i < count; i++) {
		pages[i] = create(device, PAGE);
		good = good && host->map(device, base + i * PAGE, &pages[i], 1,
					 PAGE) == GPUMEM_OK;
	}
	ok(good, "pages are freed in disorder and taken again");
	ok(read_maps().device < 3, "they are few mappings to the system");
}

/* At the system's limit of mappings: a map that it refuses midway must not
 * have happened. Pages 1, 3, 5 ... are not mapped, nor next to each other;
 * freeing a half of what is in `spare` makes room for a few mappings, and the
 * other half for what is left of those. */
static void check_midway(void *device, uint64_t space, const gpumem_page *pages,
			 const uint64_t *spare)
{
	gpumem_page odd[32];
	bool none = true;

	for (int i = 0; i < 32; i++)
		odd[i] = pages[2 * i + 1];
	for (int i = 0; i < 8; i++)
		if (host->free(device, spare[i], 4096) != GPUMEM_OK)
			bail("free: %s", fake_error.text);
	is_status(host->map(device, space, odd, 32, PAGE),
		  GPUMEM_NO_HOST_MEMORY, "so many mappings are refused");
	for (uint64_t i = 0; i < 32; i++)
		none = none && faults(space + i * PAGE);
	ok(none, "none was made");
	for (int i = 8; i < 24; i++)
		(void)!host->free(device, spare[i], 4096);
	is_status(host->map(device, space, &odd[0], 1, PAGE), GPUMEM_OK,
		  "one is possible");
	is_status(host->page_destroy(device, odd[1], PAGE), GPUMEM_OK,
		  "a page of them is as free as before");
}

/* Every other page is unmapped until the system has had enough, if ever: what
 * it refuses must not have happened. */
static void check_holes(void *device, uint64_t base, uint64_t count,
			const gpumem_page *pages)
{
	gpumem_status status = GPUMEM_OK;
	uint64_t i = 1, space = reserve(device, 64 * PAGE), spare[24];

	for (int k = 0; k < 24; k++)
		if (host->alloc(device, 4096, &spare[k]) != GPUMEM_OK)
			bail("alloc: %s", fake_error.text);
	for (; i < count - 1 && status == GPUMEM_OK; i += 2)
		status = host->unmap(device, base + i * PAGE, 1, PAGE);
	if (status == GPUMEM_OK) {
		ok(faults(base + PAGE), "every other page is unmapped");
		skip("the system allows more mappings", 7);
		return;
	}
	i -= 2;
	is_status(status, GPUMEM_NO_HOST_MEMORY,
		  "the system refuses so many holes");
	ok(!faults(base + i * PAGE) && faults(base + (i - 2) * PAGE),
	   "the page at which it refused is still there");
	is_status(host->unmap(device, base + (i - 3) * PAGE, 1, PAGE),
		  GPUMEM_OK, "a page between two holes can be unmapped");
	ok(faults(base + (i - 3) * PAGE), "and faults");
	check_midway(device, space, pages, spare);
}

/* A device as large as real ones, every page of it mapped, one by one. */
static void test_huge(void)
{
	const uint64_t count = (uint64_t)scaled(71680, 8192);
	gpumem_page *pages = calloc(count, sizeof(*pages));
	uint64_t base, done = 0;
	void *device;

	option("host.capacity", "141GiB");
	device = open_device(0);
	base = reserve(device, count * PAGE);
	for (; done < count; done++) {
		pages[done] = create(device, PAGE);
		if (host->map(device, base + done * PAGE, &pages[done], 1,
			      PAGE) != GPUMEM_OK)
			break;
	}
	is_uint(done, count, "every page is mapped");
	ok(read_maps().device < 3, "they are few mappings to the system");
	*word(base + (count - 1) * PAGE) = 1;
	ok(file_bytes() <= PAGE, "and what is not touched costs nothing");
	check_holes(device, base, count, pages);
	host->device_close(device);
	ok(faults(base), "closing takes all away");
	is_int(read_maps().device, 0, "mappings too");
	option("host.capacity", NULL);
	free(pages);
}

static void test_close(void)
{
	uint64_t base, raw;
	gpumem_page page;
	void *device = open_device(0), *same = open_device(0);

	ok(device == same, "an open device opens again as the same one");
	host->device_close(same);
	base = reserve(device, PAGE);
	page = create(device, PAGE);
	is_status(host->map(device, base, &page, 1, PAGE), GPUMEM_OK, "map");
	is_status(host->alloc(device, PAGE, &raw), GPUMEM_OK, "alloc");
	*word(base) = *word(raw) = 1;
	host->device_close(device);
	ok(faults(base) && faults(raw), "closing takes all memory away");
	is_uint(file_bytes(), UINT64_MAX, "the file is gone");
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
}

/* The system kills who grows a file beyond this limit. */
static void test_file_limit(void *device)
{
	struct rlimit before, small;
	gpumem_page page = 0;

	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = 64 << 20;
	setrlimit(RLIMIT_FSIZE, &small);
	is_status(host->page_create(device, PAGE, &page), GPUMEM_DRIVER,
		  "a limit on the size of files is respected");
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
	setrlimit(RLIMIT_FSIZE, &before);
	is_status(host->page_create(device, PAGE, &page), GPUMEM_OK,
		  "without it there are pages");
	is_status(host->page_destroy(device, page, PAGE), GPUMEM_OK,
		  "page_destroy");
}

/* A child has a hole where its parent has device memory, or whatever has been
 * put there since: never the memory. */
static void test_fork(void *device)
{
	uint64_t base = reserve(device, PAGE);
	gpumem_page page = create(device, PAGE);
	int state = 0;
	pid_t child;

	is_status(host->map(device, base, &page, 1, PAGE), GPUMEM_OK, "map");
	*word(base) = 7;
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(!faults(base) && *word(base) == 7 ? 0 : 3);
	waitpid(child, &state, 0);
	ok(WIFEXITED(state) && WEXITSTATUS(state) == 3,
	   "a forked child has no device memory");
	is_uint(*word(base), 7, "its parent has");
	(void)!host->unmap(device, base, 1, PAGE);
	(void)!host->page_destroy(device, page, PAGE);
	(void)!host->va_release(device, base, PAGE);
}

int main(void)
{
	void *device;

	fake_start();
	option("host.capacity", "64MiB");
	device = open_device(0);
	test_reserve(device);
	test_file_limit(device);
	test_fork(device);
	host->device_close(device);
	test_close();
	option("host.capacity", NULL);
	device = open_device(0);
	test_order(device);
	host->device_close(device);
	test_huge();
	return done_testing();
}
