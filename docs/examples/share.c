/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A block in two processes: one writes it, the other reads the same memory. A
 * description and, if pages are shared, a descriptor go through a socket.
 *
 *	cc share.c $(pkg-config --cflags --libs gpumem) && ./a.out
 */
#include <err.h>
#include <gpumem/gpumem.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int failed) /* a status, too: OK is 0 */
{
	if (failed)
		errx(1, "it failed: %s", gpumem_error_text());
}

/* Sends or receives the description, and the descriptor of its first page. */
static void pass(int socket, struct gpumem_shared *shared, int *fd, int send)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {{.cmsg_len = CMSG_LEN(sizeof(int)),
		      .cmsg_level = SOL_SOCKET,
		      .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {shared, sizeof(*shared)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	message.msg_control = &control;
	if (!send || shared->fd_count == 1)
		message.msg_controllen = sizeof(control);
	memcpy(CMSG_DATA(&control.header), fd, sizeof(*fd));
	must((send ? sendmsg(socket, &message, 0)
		   : recvmsg(socket, &message, 0)) != sizeof(*shared));
	memcpy(fd, CMSG_DATA(&control.header), sizeof(*fd));
}

int main(void)
{
	struct gpumem_pool_config config = {.size = sizeof(config)};
	struct gpumem_shared shared = GPUMEM_INIT(struct gpumem_shared);
	char text[16] = "hello";
	gpumem_device *device;
	gpumem_pool *pool;
	int ends[2], fd = -1, child, status;
	void *block;

	must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	must((child = fork()) < 0); /* before the first use of the library */
	must(gpumem_device_open(NULL, &device));
	if (child == 0) {
		close(ends[1]);
		pass(ends[0], &shared, &fd, 0);
		must(gpumem_import(device, &shared, &fd, shared.fd_count,
				   &block));
		must(gpumem_copy(device, text, block, 16, NULL) ||
		     gpumem_stream_sync(device, NULL));
		printf("the child reads: %s\n", text);
		must(gpumem_import_close(block));
		return gpumem_device_close(device);
	}
	config.shareable = GPUMEM_SHARE_ANY;
	must(gpumem_pool_create(device, &config, &pool));
	must(gpumem_alloc(pool, 1000, NULL, &block));
	must(gpumem_copy(device, block, text, 16, NULL) ||
	     gpumem_stream_sync(device, NULL));
	must(gpumem_export(block, &shared, &fd, 1));
	pass(ends[1], &shared, &fd, 1);
	must(wait(&status) != child); /* it no longer has the block */
	must(gpumem_free(block, NULL) || gpumem_pool_destroy(pool, 0));
	return gpumem_device_close(device) || status;
}
