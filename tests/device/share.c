/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a real device: two processes use one block, by descriptors of pages and by
 * the driver's names. What one writes the other reads, both ways. Built and run
 * by tests/device/run.sh; GPUMEM_BACKEND says on which backend.
 */
#include <gpumem/gpumem.h>

#include "../tap.h"
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 5 << 20, ROOM = 16, FROM_PARENT = 0x21, FROM_CHILD = 0x43 };

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(ROOM * sizeof(int))];
};

static bool send_block(int to, struct gpumem_shared *shared, const int *fds)
{
	size_t bytes = shared->fd_count * sizeof(int);
	struct iovec part = {shared, sizeof(*shared)};
	union control control = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (bytes) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(&control.header), fds, bytes);
	}
	return sendmsg(to, &message, 0) == sizeof(*shared);
}

static bool receive_block(int from, struct gpumem_shared *shared, int *fds)
{
	union control control = {0};
	struct iovec part = {shared, sizeof(*shared)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	if (recvmsg(from, &message, 0) != sizeof(*shared) ||
	    shared->fd_count > ROOM)
		return false;
	memcpy(fds, CMSG_DATA(&control.header), shared->fd_count * sizeof(int));
	return true;
}

static void close_all(const struct gpumem_shared *shared, const int *fds)
{
	for (uint32_t i = 0; i < shared->fd_count; i++)
		close(fds[i]);
}

static bool all_are(gpumem_device *device, const void *ptr, unsigned char value)
{
	static unsigned char bytes[BYTES];

	if (gpumem_copy(device, bytes, ptr, BYTES, NULL) ||
	    gpumem_stream_sync(device, NULL))
		return false;
	for (size_t i = 0; i < BYTES; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

/* The exit status: 0, or the number of what failed. */
static int child(int from)
{
	struct gpumem_shared shared;
	gpumem_device *device;
	int fds[ROOM];
	void *ptr;

	if (!receive_block(from, &shared, fds))
		return 1;
	if (gpumem_device_open(NULL, &device))
		return 2;
	if (gpumem_import(device, &shared, fds, shared.fd_count, &ptr))
		return 3;
	close_all(&shared, fds);
	if (!all_are(device, ptr, FROM_PARENT))
		return 4;
	if (gpumem_fill(device, ptr, FROM_CHILD, BYTES, NULL) ||
	    gpumem_stream_sync(device, NULL))
		return 5;
	if (gpumem_import_close(ptr) || gpumem_device_close(device))
		return 6;
	return 0;
}

static const char *last_text(void)
{
	static struct gpumem_error error;

	error = GPUMEM_INIT(struct gpumem_error);
	gpumem_last_error(&error);
	return error.text;
}

#define must(call)                                                             \
	do {                                                                   \
		if (call)                                                      \
			bail("%s: %s", #call, last_text());                    \
	} while (0)

static void parent(int to, uint32_t method, const char *name)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	gpumem_status created;
	gpumem_device *device;
	gpumem_pool *pool;
	int fds[ROOM], status = -1;
	void *ptr;

	config.shareable = method;
	must(gpumem_device_open(NULL, &device));
	created = gpumem_pool_create(device, &config, &pool);
	if (created == GPUMEM_UNSUPPORTED)
		skip_all(last_text());
	must(created);
	must(gpumem_alloc(pool, BYTES, NULL, &ptr));
	must(gpumem_fill(device, ptr, FROM_PARENT, BYTES, NULL));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_export(ptr, &shared, fds, ROOM));
	ok(send_block(to, &shared, fds), "%s: sent, %u descriptors", name,
	   shared.fd_count);
	close_all(&shared, fds);
	wait(&status);
	is_int(status, 0, "%s: another process reads and writes it", name);
	ok(all_are(device, ptr, FROM_CHILD), "%s: which shows here", name);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
}

/* Each method in processes that have not used the library before. */
static void test(uint32_t method, const char *name)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		bail("no socket");
	if (fork() == 0) {
		close(ends[1]);
		_exit(child(ends[0]));
	}
	close(ends[0]);
	parent(ends[1], method, name);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "ipc"))
		test(GPUMEM_SHARE_IPC, "by name");
	else
		test(GPUMEM_SHARE_FD, "by descriptor");
	done_testing();
}
