/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Other processes that use the library, as a test asks them to: each is forked
 * before the library is used, and does one thing after the other that comes
 * over its socket. Descriptors travel by SCM_RIGHTS. Only the main thread of a
 * process calls what is here.
 */
#ifndef LIB_PEER_H
#define LIB_PEER_H

#include "../../tap.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <gpumem/gpumem.h>
#include <grp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PEER_USE __attribute__((unused)) static

enum { PEER_FDS = 64 };

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

struct peer {
	pid_t pid;
	int socket;
	int fds[PEER_FDS]; /* of the last answer; the receiver closes them */
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

/* The double of the driver is loaded, so that peers find it as libcuda.so.1.
 * False: configured without CUDA headers. */
PEER_USE bool peer_has_cuda(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];

	folder = folder ? folder : ".";
	snprintf(path, sizeof(path), "%s/backends/.libs", folder);
	setenv("GPUMEM_PLUGIN_PATH", path, 1);
	snprintf(path, sizeof(path), "%s/backends/.libs/cuda.so", folder);
	if (access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "%s/tests/fake/cuda/.libs/libcuda.so.1",
		 folder);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* The same for the double of HIP's runtime, which runs over the other. */
PEER_USE bool peer_has_hip(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];

	folder = folder ? folder : ".";
	snprintf(path, sizeof(path), "%s/backends/.libs/hip.so", folder);
	if (!peer_has_cuda() || access(path, F_OK))
		return false;
	snprintf(path, sizeof(path),
		 "%s/tests/fake/hip/7/.libs/libamdhip64.so.7", folder);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* ---- in the peer ---- */

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
	gpumem_status status;
	void *other;

	config.shareable = m->method;
	mine.bytes = m->bytes;
	status = gpumem_pool_create(mine.device, &config, &mine.pool);
	/* So that the block does not begin where what is shared begins. */
	if (status == GPUMEM_OK)
		status = gpumem_alloc(mine.pool, m->bytes > 4096 ? 300000 : 256,
				      NULL, &other);
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

/* ---- in the test ---- */

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
