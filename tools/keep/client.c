/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See client.h. */
#include "keep/client.h"
#include "common/tool.h"
#include "keep/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Memory is handed to nobody but this user, and root. */
static bool is_ours(int socket)
{
	struct ucred who;
	socklen_t bytes = sizeof(who);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

int client_connect(const char *path)
{
	const struct timeval patience = {.tv_sec = CLIENT_SECONDS};
	struct sockaddr_un place;
	int there;

	if (!keep_place(path, &place))
		return -1;
	there = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (there < 0 ||
	    setsockopt(there, SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) < 0 ||
	    setsockopt(there, SOL_SOCKET, SO_SNDTIMEO, &patience,
		       sizeof(patience)) < 0 ||
	    connect(there, (const struct sockaddr *)&place, sizeof(place)) <
		    0) {
		tool_error("%s: no gpumem-keep serves there: %s",
			   place.sun_path, strerror(errno));
	} else if (!is_ours(there)) {
		tool_error("%s: it is another user's", place.sun_path);
	} else {
		return there;
	}
	if (there >= 0)
		close(there);
	return -1;
}

/* In place of what was asked. */
static bool receive(int socket, struct wire_message *message,
		    struct wire_fds *fds)
{
	char name[WIRE_NAME];

	memcpy(name, message->name, sizeof(name));
	switch (wire_receive(socket, message, fds)) {
	case WIRE_GOT:
		break;
	case WIRE_CUT:
		tool_error("too many descriptors for this process: raise its "
			   "limit (ulimit -n)");
		return false;
	case WIRE_MALFORMED:
		tool_error("the daemon is of another version");
		return false;
	case WIRE_NOTHING:
		tool_error("the daemon does not answer");
		return false;
	default:
		tool_error("the daemon has gone");
		return false;
	}
	if (message->what != WIRE_FAILED)
		return true;
	tool_error("%s%s%.*s", name, *name ? ": " : "",
		   (int)message->word_bytes, (const char *)message->words);
	wire_close(fds);
	return false;
}

/* A refusal before the last one is heard where the next is received. */
static bool send_all(int socket, struct wire_message *message, const int *fds)
{
	size_t left = message->fd_count;

	do {
		size_t count = left < WIRE_FDS ? left : WIRE_FDS;

		if (wire_send(socket, message, fds, count) != 1)
			return errno == EPIPE || errno == ECONNRESET;
		message->what = WIRE_MORE;
		message->word_bytes = 0;
		left -= count;
		fds += count;
	} while (left);
	return true;
}

bool client_put(int socket, struct wire_message *message, const int *fds)
{
	struct wire_fds none = {.count = 0};

	message->magic = WIRE_MAGIC;
	if (!send_all(socket, message, fds)) {
		tool_error("cannot send it: %s", strerror(errno));
		return false;
	}
	if (!receive(socket, message, &none))
		return false;
	wire_close(&none);
	return true;
}

bool client_ask(int socket, struct wire_message *message)
{
	message->fd_count = 0;
	return client_put(socket, message, NULL);
}

int *client_get(int socket, struct wire_message *message)
{
	struct wire_message more = {.magic = WIRE_MAGIC};
	struct wire_fds got = {.count = 0};
	uint32_t have = 0;
	bool ok;
	int *fds;

	message->magic = WIRE_MAGIC;
	if (wire_send(socket, message, NULL, 0) != 1 ||
	    !receive(socket, message, &got))
		return NULL;
	fds = calloc(message->fd_count, sizeof(*fds));
	ok = fds != NULL;
	if (!fds)
		tool_error("out of memory");
	while (ok) {
		ok = got.count && got.count <= message->fd_count - have;
		if (!ok)
			break;
		memcpy(fds + have, got.fd, got.count * sizeof(*fds));
		have += (uint32_t)got.count;
		got.count = 0;
		if (have == message->fd_count)
			return fds;
		ok = receive(socket, &more, &got);
	}
	wire_close(&got);
	while (have)
		close(fds[--have]);
	free(fds);
	return NULL;
}

bool client_list(int socket,
		 bool (*fn)(const struct wire_message *entry, void *user),
		 void *user)
{
	struct wire_message message = {.magic = WIRE_MAGIC, .what = WIRE_LIST};
	struct wire_fds none = {.count = 0};

	if (wire_send(socket, &message, NULL, 0) != 1) {
		tool_error("cannot ask: %s", strerror(errno));
		return false;
	}
	for (;;) {
		if (!receive(socket, &message, &none))
			return false;
		wire_close(&none);
		if (message.what == WIRE_END)
			return true;
		if (!fn(&message, user))
			return false;
	}
}
