/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Systems that differ in which memory files they make: one that wants each to
 * say that it will not be executed (vm.memfd_noexec=2), one from before Linux
 * 6.3 that does not know how to say so, and one that makes none. For that
 * memfd_create() is that of this file. The linker finds it before the C
 * library's, for the library as well.
 */
#include "child.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x20
#endif

enum { FDS = 16 };

static enum { AS_IS, STRICT, OLD, NONE } system_is;
static _Atomic unsigned made;

static int create(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

int memfd_create(const char *name, unsigned flags)
{
	int fd;

	if (system_is == NONE)
		return refuse(EPERM);
	if (system_is == STRICT && !(flags & MFD_NOEXEC_SEAL))
		return refuse(EACCES);
	if (system_is == OLD && flags & MFD_NOEXEC_SEAL)
		return refuse(EINVAL);
	fd = create(name, flags);
	/* The system that this runs on may be the old one. */
	if (fd < 0 && errno == EINVAL && system_is == STRICT)
		fd = create(name, flags & ~MFD_NOEXEC_SEAL);
	made += fd >= 0;
	return fd;
}

/* Does this system seal what is not to be executed? */
static bool can_seal(void)
{
	int fd = create("probe", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void check_seals(const int *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		int seals = fcntl(fds[i], F_GET_SEALS);

		need(system_is != AS_IS || !can_seal() || seals & F_SEAL_EXEC,
		     "a page can be made executable: seals 0x%x", seals);
		close(fds[i]);
	}
}

/* A block that can be shared holds what is written, and is described. */
static void use(uint32_t share)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	unsigned char copy[1000] = {0};
	gpumem_pool *pool;
	int fds[FDS];
	void *ptr;

	config.shareable = share;
	works(gpumem_pool_create(device, &config, &pool));
	works(gpumem_alloc(pool, 3 * MIB, NULL, &ptr));
	works(gpumem_fill(device, ptr, 42, sizeof(copy), NULL));
	works(gpumem_copy(device, copy, ptr, sizeof(copy), NULL));
	works(gpumem_stream_sync(device, NULL));
	need(copy[0] == 42 && copy[999] == 42, "other bytes are read");
	works(gpumem_export(ptr, &shared, fds, FDS));
	check_seals(fds, shared.fd_count);
	works(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void case_works(const void *system)
{
	system_is = *(const int *)system;
	works(gpumem_device_open("host:0", &device));
	use(GPUMEM_SHARE_ANY);
	use(GPUMEM_SHARE_IPC);
	works(gpumem_device_close(device));
	need(made > 0, "no memory file was made");
}

/* Some call says why, and nothing crashes. */
static void case_none(const void *unused)
{
	gpumem_status status;
	gpumem_pool *pool;
	void *ptr;

	(void)unused;
	system_is = NONE;
	status = gpumem_device_open("host:0", &device);
	if (!status)
		status = gpumem_pool_create(device, NULL, &pool);
	if (!status)
		status = gpumem_alloc(pool, MIB, NULL, &ptr);
	need(status != GPUMEM_OK, "there is memory");
	need(strstr(last_text(), "memory file"), "it says: %s", last_text());
}

int main(void)
{
	static const int as_is = AS_IS, strict = STRICT, old = OLD;

	in_child(case_works, &as_is, "this system: sealed where it can be");
	in_child(case_works, &strict, "a system that wants no executable file");
	in_child(case_works, &old, "a system that does not know the flag");
	in_child(case_none, NULL, "a system that makes none: a sentence");
	return done_testing();
}
