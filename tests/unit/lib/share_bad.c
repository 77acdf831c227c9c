/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What cannot be exported or imported: each is refused with its status and a
 * sentence that says why, outputs are left alone, and nothing is left behind.
 * This process imports; the one that exports is another.
 */
#include "fixture.h"
#include "peer.h"
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

static struct peer peer;
static char untouched;

static void refused(gpumem_status got, gpumem_status want, const char *part)
{
	is_status(got, want, "%s", part);
	ok(strstr(last_text(), part), "says: %s", last_text());
}

static gpumem_status import(const struct gpumem_shared *shared, const int *fds,
			    size_t fd_count)
{
	void *ptr = &untouched;
	gpumem_status status =
		gpumem_import(device, shared, fds, fd_count, &ptr);

	if (status != GPUMEM_OK && ptr != &untouched)
		bail("a failure has written its output");
	if (status == GPUMEM_OK)
		must(gpumem_import_close(ptr));
	return status;
}

/* Each byte of what travels matters. */
static void test_damaged(const struct gpumem_shared *good, const int *fds)
{
	size_t i = offsetof(struct gpumem_shared, check), taken = 0;

	for (; i < sizeof(*good); i++) {
		struct gpumem_shared bad = *good;

		((unsigned char *)&bad)[i] ^= 0x40;
		taken += import(&bad, fds, good->fd_count) != GPUMEM_INVALID;
	}
	is_uint(taken, 0, "no byte can be another one");
}

static void test_descriptions(const struct gpumem_shared *good, const int *fds)
{
	struct gpumem_shared bad = *good;

	bad.size = sizeof(bad) - 1;
	refused(import(&bad, fds, good->fd_count), GPUMEM_INVALID, "cut short");
	memset(&bad, 0x5a, sizeof(bad));
	refused(import(&bad, fds, good->fd_count), GPUMEM_INVALID, "damaged");
	bad = GPUMEM_INIT(struct gpumem_shared);
	refused(import(&bad, NULL, 0), GPUMEM_INVALID, "damaged");
	test_damaged(good, fds);
	is_status(import(good, fds, good->fd_count), GPUMEM_OK,
		  "the good one is taken");
}

/* A page, but of another size. */
static int small_page(void)
{
	int fd = memfd_create("gpumem-host-page-0", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 4096))
		bail("no memfd");
	return fd;
}

static void test_descriptors(const struct gpumem_shared *good, const int *fds)
{
	size_t count = good->fd_count;
	int bad[PEER_FDS], pipes[2];

	if (pipe(pipes))
		bail("no pipe");
	refused(import(good, fds, count - 1), GPUMEM_INVALID,
		"descriptors came with");
	refused(import(good, NULL, 0), GPUMEM_INVALID, "descriptors came with");
	refused(import(good, NULL, count), GPUMEM_INVALID, "fds is NULL");
	memcpy(bad, fds, count * sizeof(*bad));
	bad[count - 1] = pipes[0];
	refused(import(good, bad, count), GPUMEM_INVALID, "are not those");
	bad[count - 1] = small_page();
	refused(import(good, bad, count), GPUMEM_INVALID, "are not those");
	close(bad[count - 1]);
	close(pipes[0]);
	close(pipes[1]);
	refused(import(good, bad, count), GPUMEM_INVALID, "is not open");
	is_status(import(good, fds, count), GPUMEM_OK, "the good are taken");
}

static void test_devices(const struct gpumem_shared *good, const int *fds)
{
	gpumem_device *first = device, *second = NULL;

	must(gpumem_device_open("host:1", &second));
	device = second;
	refused(import(good, fds, good->fd_count), GPUMEM_INVALID,
		"not of host:1");
	device = first;
	must(gpumem_device_close(second));
}

static void test_own(uint32_t method)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	int fds[PEER_FDS];
	gpumem_pool *pool;
	void *ptr;

	config.shareable = method;
	must(gpumem_pool_create(device, &config, &pool));
	ptr = new_block(pool, 100, NULL);
	must(gpumem_export(ptr, &shared, fds, PEER_FDS));
	is_uint(shared.method, method, "by the method that was asked for");
	refused(import(&shared, fds, shared.fd_count), GPUMEM_INVALID,
		"by this process");
	peer_close_fds(fds, shared.fd_count);
	refused(gpumem_export((char *)ptr + 1, &shared, fds, PEER_FDS),
		GPUMEM_BAD_POINTER, "not the start");
	must(gpumem_free(ptr, NULL));
	refused(gpumem_export(ptr, &shared, fds, PEER_FDS), GPUMEM_BAD_POINTER,
		"");
	must(gpumem_pool_destroy(pool, 0));
}

static void test_room(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	int fds[PEER_FDS], before;
	gpumem_pool *pool;
	void *ptr;

	config.shareable = GPUMEM_SHARE_ANY;
	must(gpumem_pool_create(device, &config, &pool));
	ptr = new_block(pool, 5 * MIB, NULL);
	before = peer_open_fds();
	must(gpumem_export(ptr, &shared, NULL, 0));
	is_uint(shared.fd_count, 3, "5 MiB are in three pages");
	is_uint(shared.total_bytes, 6 * MIB, "of 2 MiB");
	is_int(peer_open_fds(), before, "described without a descriptor");
	shared = GPUMEM_INIT(struct gpumem_shared);
	refused(gpumem_export(ptr, &shared, fds, 2), GPUMEM_INVALID,
		"room for 2 descriptors");
	is_uint(shared.fd_count, 0, "nothing is written");
	must(gpumem_export(ptr, &shared, fds, 3));
	for (int i = 0; i < 3; i++)
		is_int(fcntl(fds[i], F_GETFD), FD_CLOEXEC, "closed on exec");
	peer_close_fds(fds, 3);
	is_int(peer_open_fds(), before, "nothing is left open");
	shared.size = sizeof(shared) - 8;
	refused(gpumem_export(ptr, &shared, fds, 3), GPUMEM_INVALID,
		"GPUMEM_INIT(struct gpumem_shared)");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
}

static void test_pools(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	gpumem_pool *pool = new_pool(0);
	int fds[PEER_FDS];

	refused(gpumem_export(new_block(pool, 100, NULL), &shared, fds,
			      PEER_FDS),
		GPUMEM_UNSUPPORTED, "without `shareable`");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	config.shareable = 4;
	refused(gpumem_pool_create(device, &config, &pool), GPUMEM_INVALID,
		"no way to share");
	option("vm", "off");
	config.shareable = GPUMEM_SHARE_FD;
	refused(gpumem_pool_create(device, &config, &pool), GPUMEM_UNSUPPORTED,
		"option `vm` is off");
	config.shareable = GPUMEM_SHARE_ANY;
	is_status(gpumem_pool_create(device, &config, &pool), GPUMEM_OK,
		  "any: by name");
	must(gpumem_export(new_block(pool, 100, NULL), &shared, NULL, 0));
	is_uint(shared.method, GPUMEM_SHARE_IPC, "without pages");
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	option("vm", "on");
}

static void test_kinds(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool = (void *)&untouched;

	for (int kind = GPUMEM_KIND_PINNED; kind <= GPUMEM_KIND_MANAGED; kind++)
		for (uint32_t share = GPUMEM_SHARE_ANY;
		     share <= GPUMEM_SHARE_IPC; share++) {
			config.kind = (gpumem_kind)kind;
			config.shareable = share;
			refused(gpumem_pool_create(device, &config, &pool),
				GPUMEM_UNSUPPORTED, "only device memory");
		}
	is_ptr(pool, &untouched, "no pool");
}

static void test_nulls(const struct gpumem_shared *good)
{
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	int local;

	refused(gpumem_export(NULL, &shared, NULL, 0), GPUMEM_INVALID, "ptr");
	refused(gpumem_export(&local, NULL, NULL, 0), GPUMEM_INVALID,
		"shared_out");
	refused(gpumem_export(&local, &shared, NULL, 0), GPUMEM_BAD_POINTER,
		"no live block");
	refused(gpumem_import(NULL, good, NULL, 0, NULL), GPUMEM_INVALID,
		"device");
	refused(gpumem_import(device, NULL, NULL, 0, NULL), GPUMEM_INVALID,
		"shared");
	refused(gpumem_import(device, good, NULL, 0, NULL), GPUMEM_INVALID,
		"ptr_out");
	refused(gpumem_import_close(NULL), GPUMEM_INVALID, "ptr");
	refused(gpumem_import_close(&local), GPUMEM_BAD_POINTER, "no pointer");
}

/* A child has no devices; what it had imported is not its own. */
static void test_forked(const struct gpumem_shared *good, const int *fds)
{
	void *ptr = NULL;
	int status = -1;
	pid_t child;

	must(gpumem_import(device, good, fds, good->fd_count, &ptr));
	child = fork();
	if (child == 0) {
		struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);

		_exit((gpumem_export(ptr, &shared, NULL, 0) != GPUMEM_FORKED) +
		      2 * (gpumem_import(device, good, fds, good->fd_count,
					 &ptr) != GPUMEM_FORKED) +
		      4 * (gpumem_import_close(ptr) != GPUMEM_FORKED));
	}
	(void)waitpid(child, &status, 0);
	is_int(status, 0, "forked: each is FORKED");
	is_int(*(unsigned char *)ptr, 11, "the parent has it still");
	must(gpumem_import_close(ptr));
}

/* A device that cannot do it. */
static void test_unable(const struct gpumem_shared *fd,
			const struct gpumem_shared *ipc, const int *fds)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pool;

	option("host.share_fd", "off");
	option("host.share_ipc", "off");
	must(gpumem_device_open("host:0", &device));
	refused(import(fd, fds, fd->fd_count), GPUMEM_UNSUPPORTED,
		"cannot import descriptors");
	refused(import(ipc, NULL, 0), GPUMEM_UNSUPPORTED,
		"cannot import names");
	config.shareable = GPUMEM_SHARE_ANY;
	refused(gpumem_pool_create(device, &config, &pool), GPUMEM_UNSUPPORTED,
		"cannot share");
	ok(device_end(), "nothing is left");
}

int main(void)
{
	struct peer other = peer_start();
	struct gpumem_shared by_fd, by_name;
	int before;

	alarm(60);
	peer = peer_start();
	peer_prepare(&peer, "host:0", GPUMEM_SHARE_FD, 5 * MIB, 11);
	peer_prepare(&other, "host:0", GPUMEM_SHARE_IPC, 5 * MIB, 22);
	by_fd = peer_shared(&peer);
	by_name = peer_shared(&other);
	option("host.devices", "2");
	device_start("1GiB", true);
	test_own(GPUMEM_SHARE_FD);
	before = peer_open_fds();
	test_own(GPUMEM_SHARE_IPC);
	test_nulls(&by_fd);
	test_descriptions(&by_fd, peer.fds);
	test_descriptions(&by_name, NULL);
	test_descriptors(&by_fd, peer.fds);
	test_devices(&by_fd, peer.fds);
	test_devices(&by_name, NULL);
	test_room();
	test_pools();
	test_kinds();
	test_forked(&by_fd, peer.fds);
	test_forked(&by_fd, peer.fds);
	is_int(peer_open_fds(), before, "no descriptor is left behind");
	ok(device_end(), "nothing is left");
	test_unable(&by_fd, &by_name, peer.fds);
	peer_end(&peer);
	peer_end(&other);
	return done_testing();
}
