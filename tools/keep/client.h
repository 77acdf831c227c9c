/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-keep's daemon as a client sees it. What fails is told (tool_error()),
 * and no descriptor stays open then. Nobody waits for a daemon that hangs
 * longer than CLIENT_SECONDS. No locks: for one thread.
 */
#ifndef GPUMEM_TOOLS_KEEP_CLIENT_H
#define GPUMEM_TOOLS_KEEP_CLIENT_H

#include "keep/wire.h"

enum { CLIENT_SECONDS = 30 };

/* The socket; -1: none is there, or it is another user's. */
int client_connect(const char *path);

/* A request of one message, and its answer, an END. */
bool client_ask(int socket, struct wire_message *message);

/* The same with descriptors, of which message->fd_count says how many; they
 * stay the caller's. */
bool client_put(int socket, struct wire_message *message, const int *fds);

/* The entry of message->name becomes the message; its descriptors, of which it
 * says how many, are a list to be freed. NULL: none. */
int *client_get(int socket, struct wire_message *message);

/* Calls fn for each entry, the oldest first, until one is not well. */
bool client_list(int socket,
		 bool (*fn)(const struct wire_message *entry, void *user),
		 void *user);

#endif
