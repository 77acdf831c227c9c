/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See wire.h. */
#include "keep/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER = offsetof(struct wire_message, words) };

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(WIRE_FDS * sizeof(int))];
};

int wire_send(int socket, const struct wire_message *message, const int *fds,
	      size_t fd_count)
{
	union control control = {0};
	struct iovec part = {(void *)(uintptr_t)message,
			     HEADER + message->word_bytes};
	struct msghdr whole = {.msg_iov = &part, .msg_iovlen = 1};
	size_t bytes = fd_count * sizeof(int);
	ssize_t sent;

	if (bytes) {
		whole.msg_control = &control;
		whole.msg_controllen = CMSG_SPACE(bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(&control.header), fds, bytes);
	}
	do
		sent = sendmsg(socket, &whole, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent >= 0)
		return 1;
	return errno == EAGAIN ? 0 : -1;
}

static void take_fds(struct msghdr *whole, struct wire_fds *fds)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(whole);

	fds->count = 0;
	for (; header; header = CMSG_NXTHDR(whole, header)) {
		size_t bytes = header->cmsg_len - CMSG_LEN(0);

		if (header->cmsg_level != SOL_SOCKET ||
		    header->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(fds->fd + fds->count, CMSG_DATA(header), bytes);
		fds->count += bytes / sizeof(int);
	}
}

void wire_close(struct wire_fds *fds)
{
	while (fds->count)
		close(fds->fd[--fds->count]);
}

static bool is_well(const struct wire_message *message, size_t bytes)
{
	return bytes >= HEADER && message->magic == WIRE_MAGIC &&
	       message->word_bytes == bytes - HEADER &&
	       memchr(message->name, '\0', WIRE_NAME);
}

enum wire_got wire_receive(int socket, struct wire_message *message,
			   struct wire_fds *fds)
{
	union control control;
	struct iovec part = {message, sizeof(*message)};
	struct msghdr whole = {.msg_iov = &part,
			       .msg_iovlen = 1,
			       .msg_control = &control,
			       .msg_controllen = sizeof(control)};
	enum wire_got got = WIRE_GOT;
	ssize_t bytes;

	/* What was said before a reset, which is told once, is there still. */
	do
		bytes = recvmsg(socket, &whole, MSG_CMSG_CLOEXEC);
	while (bytes < 0 && (errno == EINTR || errno == ECONNRESET));
	if (bytes < 0)
		return errno == EAGAIN ? WIRE_NOTHING : WIRE_CLOSED;
	take_fds(&whole, fds);
	if (whole.msg_flags & MSG_CTRUNC)
		got = WIRE_CUT;
	else if (bytes == 0 && !fds->count)
		got = WIRE_CLOSED;
	else if (whole.msg_flags & MSG_TRUNC ||
		 !is_well(message, (size_t)bytes))
		got = WIRE_MALFORMED;
	if (got != WIRE_GOT)
		wire_close(fds);
	return got;
}

void wire_fail(struct wire_message *message, enum wire_why why,
	       const char *sentence)
{
	message->what = WIRE_FAILED;
	message->why = why;
	message->word_bytes = (uint32_t)snprintf((char *)message->words,
						 WIRE_WORDS, "%s", sentence);
}
