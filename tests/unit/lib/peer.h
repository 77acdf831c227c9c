/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Other processes that use the library, as a test asks them to: each is forked
 * before the library is used, and does one thing after the other that comes
 * over its socket (peer_act.h). Only the main thread of a process calls what is
 * here.
 */
#ifndef LIB_PEER_H
#define LIB_PEER_H

#include "../../tap.h"
#include "doubles.h"
#include "peer_act.h"
#include <sys/wait.h>

struct peer {
	pid_t pid;
	int socket;
	int fds[PEER_FDS]; /* of the last answer; the receiver closes them */
};

/* Before the library is used. */
PEER_USE struct peer peer_start(void)
{
	struct peer peer = {0};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		bail("no socket");
	fflush(stdout);
	peer.pid = fork();
	if (peer.pid < 0)
		bail("no process");
	if (peer.pid == 0) {
		close(ends[0]);
		peer_live(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	peer.socket = ends[0];
	return peer;
}

/* Has it done; the answer is in *message. NO_DEVICE: it is there no more. */
PEER_USE gpumem_status peer_ask(struct peer *peer, enum peer_do what,
				struct peer_message *message, const int *fds)
{
	message->what = what;
	if (!peer_send(peer->socket, message, fds) ||
	    !peer_receive(peer->socket, message, peer->fds))
		return GPUMEM_NO_DEVICE;
	return message->status;
}

/* Without parameters, and an answer that is only a status. */
PEER_USE gpumem_status peer_do(struct peer *peer, enum peer_do what)
{
	struct peer_message message = {0};
	gpumem_status status = peer_ask(peer, what, &message, NULL);

	if (status != GPUMEM_OK)
		diag("peer: %s", message.text);
	return status;
}

PEER_USE gpumem_status peer_write_value(struct peer *peer, int value)
{
	struct peer_message message = {.value = value};

	return peer_ask(peer, PEER_WRITE, &message, NULL);
}

/* -1 for different values, -2 for a failure. */
PEER_USE int peer_read_value(struct peer *peer)
{
	struct peer_message message = {0};

	return peer_ask(peer, PEER_READ, &message, NULL) ? -2 : message.value;
}

/* Sets the word of what it has to one of its own, and returns which of them it
 * was; -1: none. */
PEER_USE int peer_word(struct peer *peer, int value)
{
	struct peer_message message = {.value = value};

	return peer_ask(peer, PEER_WORD, &message, NULL) ? -2 : message.value;
}

PEER_USE void peer_open(struct peer *peer, const char *name)
{
	struct peer_message message = {0};

	snprintf(message.text, sizeof(message.text), "%s", name);
	if (peer_ask(peer, PEER_OPEN, &message, NULL))
		bail("a peer cannot open %s: %s", name, message.text);
}

/* With a block that holds `value`. */
PEER_USE void peer_prepare(struct peer *peer, const char *name, uint32_t method,
			   size_t bytes, int value)
{
	struct peer_message message = {.method = method, .bytes = bytes};

	peer_open(peer, name);
	if (peer_ask(peer, PEER_MAKE, &message, NULL))
		bail("a peer has no block on %s: %s", name, message.text);
	if (peer_write_value(peer, value))
		bail("a peer cannot write");
}

/* The descriptors are in peer->fds. */
PEER_USE struct gpumem_shared peer_shared(struct peer *peer)
{
	struct peer_message message = {0};

	if (peer_ask(peer, PEER_EXPORT, &message, NULL))
		bail("a peer cannot export: %s", message.text);
	return message.shared;
}

/* Others hold its socket too, so that it would not see that this end closes. */
PEER_USE void peer_end(struct peer *peer)
{
	struct peer_message message = {0};

	(void)peer_ask(peer, PEER_EXIT, &message, NULL);
	close(peer->socket);
	(void)waitpid(peer->pid, NULL, 0);
}

#endif
