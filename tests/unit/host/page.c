/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The host backend where pages of the system have 64 KiB: it maps whole ones
 * only, of addresses and of files. */
#include "fake.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if THREAD_SANITIZER
int main(void)
{
	skip_all("ThreadSanitizer has an mmap of its own");
	return EXIT_SUCCESS;
}
#else

enum { SYSTEM_PAGE = 65536, COUNT = 8, BYTES = 12288 };

long sysconf(int name)
{
	long (*own)(int);

	*(void **)&own = dlsym(RTLD_NEXT, "sysconf");
	return name == _SC_PAGESIZE ? SYSTEM_PAGE : own(name);
}

static void *map(void *address, size_t bytes, int protection, int flags, int fd,
		 off_t offset)
{
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd,
			       offset);
}

/* The addresses before a page, and behind it, stay nobody's. */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd,
	   off_t offset)
{
	const bool fixed = flags & MAP_FIXED;
	char *at = address;

	if (offset % SYSTEM_PAGE || (fixed && (uintptr_t)at % SYSTEM_PAGE)) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	if (!fixed) {
		at = map(NULL, bytes + SYSTEM_PAGE, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (at == MAP_FAILED)
			return at;
		at += -(uintptr_t)at % SYSTEM_PAGE;
	}
	return map(at, bytes, protection, flags | MAP_FIXED, fd, offset);
}

static void test_raw(const char *vm)
{
	uint64_t address[COUNT] = {0};
	bool given = true, apart = true, freed = true;
	void *device;

	option("host.vm", vm);
	device = open_device(0);
	for (int i = 0; i < COUNT && given; i++) {
		given = !host->alloc(device, BYTES, &address[i]);
		if (given)
			memset((void *)(uintptr_t)address[i], i, BYTES);
	}
	if (!ok(given, "small allocations, host.vm:%s", vm))
		bail("%s", fake_error.text);
	for (int i = 0; i < COUNT; i++) {
		const unsigned char *at = (void *)(uintptr_t)address[i];

		apart = apart && at[0] == i && at[BYTES - 1] == i;
		freed = !host->free(device, address[i], BYTES) && freed;
	}
	ok(apart, "contents are apart");
	ok(freed, "all are freed");
	is_uint(gpumem_host_used_bytes(0), 0, "nothing is used");
	host->device_close(device);
	option("host.vm", NULL);
}

static void test_page(void)
{
	void *device = NULL;

	option("host.page", "4KiB");
	is_status(host->device_open(0, &device), GPUMEM_INVALID,
		  "no page of a device is less than one of the system's");
	option("host.page", NULL);
}

int main(void)
{
	fake_start();
	test_raw("on");
	test_raw("off");
	test_page();
	return done_testing();
}
#endif
