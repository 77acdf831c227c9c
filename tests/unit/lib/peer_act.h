/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a process does that a test asks: see peer.h. One message after the
 * other; no lock. */
#ifndef LIB_PEER_ACT_H
#define LIB_PEER_ACT_H

#include "peer_message.h"
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	gpumem_device *device;
	gpumem_pool *pool;
	void *block;
	uint64_t bytes;
} mine;

static gpumem_status peer_make(const struct peer_message *m)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	size_t before = m->bytes > 4096 ? 300000 : 256;
	gpumem_status status;
	void *other;

	if (m->bytes >= PEER_LARGE)
		before = 6 * PEER_LARGE;
	config.shareable = m->method;
	mine.bytes = m->bytes;
	status = gpumem_pool_create(mine.device, &config, &mine.pool);
	/* So that the block does not begin where what is shared begins, and a
	 * large one lies in a large pool. */
	if (status == GPUMEM_OK)
		status = gpumem_alloc(mine.pool, before, NULL, &other);
	if (status == GPUMEM_OK && m->bytes <= 4096)
		status = gpumem_alloc(mine.pool, m->bytes, NULL, &other);
	if (status == GPUMEM_OK)
		status = gpumem_alloc(mine.pool, m->bytes, NULL, &mine.block);
	return status;
}

static gpumem_status peer_free(void)
{
	gpumem_status status = gpumem_free(mine.block, NULL);

	mine.block = NULL;
	if (status == GPUMEM_OK)
		status = gpumem_pool_trim(mine.pool, 0, NULL);
	return status;
}

static gpumem_status peer_write(int value)
{
	gpumem_status status = gpumem_fill(mine.device, mine.block,
					   (uint8_t)value, mine.bytes, NULL);

	if (status == GPUMEM_OK)
		status = gpumem_stream_sync(mine.device, NULL);
	return status;
}

static gpumem_status peer_read(int *value_out)
{
	unsigned char *copy = malloc(mine.bytes);
	gpumem_status status =
		gpumem_copy(mine.device, copy, mine.block, mine.bytes, NULL);

	if (status == GPUMEM_OK)
		status = gpumem_stream_sync(mine.device, NULL);
	*value_out = copy[0];
	for (uint64_t i = 1; i < mine.bytes; i++)
		if (copy[i] != copy[0])
			*value_out = -1;
	free(copy);
	return status;
}

/* -1: the import has none. */
static gpumem_status peer_change_word(int *value)
{
	static int words[100];
	void *before = NULL;
	gpumem_status status = gpumem_block_get_user(mine.block, &before);

	if (status == GPUMEM_OK)
		status = gpumem_block_set_user(mine.block, &words[*value]);
	*value = before ? (int)((int *)before - words) : -1;
	return status;
}

static gpumem_status peer_import(struct peer_message *m, const int *fds)
{
	gpumem_status status = gpumem_import(mine.device, &m->shared, fds,
					     m->fd_count, &mine.block);

	peer_close_fds(fds, m->fd_count);
	m->fd_count = 0;
	if (status != GPUMEM_OK)
		return status;
	mine.bytes = m->shared.bytes;
	m->address = (uintptr_t)mine.block;
	return status;
}

static gpumem_status peer_export(struct peer_message *m, int *fds)
{
	gpumem_status status;

	m->shared = GPUMEM_INIT(struct gpumem_shared);
	status = gpumem_export(mine.block, &m->shared, fds, PEER_FDS);
	m->fd_count = status == GPUMEM_OK ? m->shared.fd_count : 0;
	return status;
}

static gpumem_status peer_act(struct peer_message *m, int *fds)
{
	switch (m->what) {
	case PEER_BECOME:
		return setgroups(0, NULL) || setgid((gid_t)m->value) ||
				       setuid((uid_t)m->value)
			       ? GPUMEM_DRIVER
			       : GPUMEM_OK;
	case PEER_HOLD:
		m->value = open(m->text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		return m->value < 0 ? GPUMEM_DRIVER : GPUMEM_OK;
	case PEER_OPEN:
		return gpumem_device_open(m->text, &mine.device);
	case PEER_MAKE:
		return peer_make(m);
	case PEER_EXPORT:
		return peer_export(m, fds);
	case PEER_FREE:
		return peer_free();
	case PEER_UNMAKE:
		return gpumem_pool_destroy(mine.pool, GPUMEM_DESTROY_FORCE);
	case PEER_IMPORT:
		return peer_import(m, fds);
	case PEER_CLOSE:
		return gpumem_import_close(mine.block);
	case PEER_WORD:
		return peer_change_word(&m->value);
	case PEER_MISUSE:
		return gpumem_free(mine.block, NULL);
	case PEER_WRITE:
		return peer_write(m->value);
	case PEER_READ:
		return peer_read(&m->value);
	case PEER_END:
		m->value = peer_open_fds();
		return gpumem_device_close(mine.device);
	case PEER_EXIT:
		_exit(0);
	case PEER_DIE:
		raise(SIGKILL);
	}
	return GPUMEM_INVALID;
}

static void peer_live(int socket)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct peer_message message;
	int fds[PEER_FDS];

	alarm(60);
	while (peer_receive(socket, &message, fds)) {
		message.status = peer_act(&message, fds);
		gpumem_last_error(&error);
		snprintf(message.text, sizeof(message.text), "%.500s",
			 error.text);
		if (!peer_send(socket, &message, fds))
			break;
		peer_close_fds(fds, message.fd_count);
	}
}

#endif
