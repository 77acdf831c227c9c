/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What goes between a test and the processes that do what it asks: a message
 * each way, with descriptors by SCM_RIGHTS. Only the main thread of a process
 * calls what is here.
 */
#ifndef LIB_PEER_MESSAGE_H
#define LIB_PEER_MESSAGE_H

#include <dirent.h>
#include <gpumem/gpumem.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PEER_USE __attribute__((unused)) static

enum { PEER_FDS = 64, PEER_LARGE = 100 << 20 };

enum peer_do {
	PEER_BECOME, /* user `value` */
	PEER_HOLD,   /* opens file `text` to read; answers with its number */
	PEER_OPEN,   /* device `name` */
	PEER_MAKE,   /* a pool that shares by `method`, and a block in it */
	PEER_EXPORT, /* the block: answers with shared and fds */
	PEER_FREE,   /* the block, and trims the pool */
	PEER_UNMAKE, /* the pool, by force */
	PEER_IMPORT, /* shared and fds */
	PEER_CLOSE,  /* the import */
	PEER_WORD,   /* sets the word of the import; value: what it was */
	PEER_MISUSE, /* gpumem_free() of the import */
	PEER_WRITE,  /* value, all over the block or import */
	PEER_READ,   /* answers with the value that is all over it, or -1 */
	PEER_END,    /* closes the device; answers with the descriptors open */
	PEER_EXIT,
	PEER_DIE
};

struct peer_message {
	enum peer_do what;
	gpumem_status status;
	uint64_t bytes, address;
	uint32_t method;
	int value;
	size_t fd_count;
	struct gpumem_shared shared;
	char text[512]; /* the device's name; the sentence of a failure */
};

static bool peer_send(int socket, const struct peer_message *message,
		      const int *fds)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(PEER_FDS * sizeof(int))];
	} control;
	struct iovec part = {(void *)(uintptr_t)message, sizeof(*message)};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	size_t bytes = message->fd_count * sizeof(int);

	if (message->fd_count) {
		memset(&control, 0, sizeof(control));
		header.msg_control = &control;
		header.msg_controllen = CMSG_SPACE(bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(&control.header), fds, bytes);
	}
	return sendmsg(socket, &header, MSG_NOSIGNAL) == sizeof(*message);
}

static bool peer_receive(int socket, struct peer_message *message, int *fds)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(PEER_FDS * sizeof(int))];
	} control;
	struct iovec part = {message, sizeof(*message)};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = &control,
				.msg_controllen = sizeof(control)};
	const struct cmsghdr *first;

	if (recvmsg(socket, &header, MSG_CMSG_CLOEXEC) != sizeof(*message))
		return false;
	first = CMSG_FIRSTHDR(&header);
	if (message->fd_count && first)
		memcpy(fds, CMSG_DATA(first), message->fd_count * sizeof(int));
	return true;
}

static void peer_close_fds(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
}

PEER_USE int peer_open_fds(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

#endif
