/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Another process, which has exported blocks of host:0 for as long as the
 * attack goes on. It is forked before the library is used. Its descriptors come
 * by SCM_RIGHTS, and it ends when its socket does.
 */
#include "attack.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int channel = -1;
static pid_t child;

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(OFFER_FDS * sizeof(int))];
};

static void give(int socket, struct offer *offer)
{
	union control control = {0};
	struct iovec part = {&offer->shared, sizeof(offer->shared)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	size_t bytes = offer->shared.fd_count * sizeof(int);

	if (bytes) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(&control.header), offer->fds, bytes);
	}
	expect(sendmsg(socket, &message, MSG_NOSIGNAL) > 0, "nobody listens");
}

static void take(int socket, struct offer *offer)
{
	union control control;
	struct iovec part = {&offer->shared, sizeof(offer->shared)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};

	expect(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) ==
		       sizeof(offer->shared),
	       "the exporter has nothing to say");
	if (CMSG_FIRSTHDR(&message))
		memcpy(offer->fds, CMSG_DATA(CMSG_FIRSTHDR(&message)),
		       offer->shared.fd_count * sizeof(int));
}

static void export_all(int socket, const struct configuration *configuration)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_device *device;
	gpumem_pool *pool;
	char byte;

	must(gpumem_option_set("vm", configuration->vm ? "on" : "off"));
	must(gpumem_option_set("host.capacity", "96MiB"));
	must(gpumem_device_open("host:0", &device));
	config.shareable = GPUMEM_SHARE_ANY;
	must(gpumem_pool_create(device, &config, &pool));
	for (unsigned i = 0; i < OFFERS; i++) {
		struct offer offer = {.shared.size = sizeof(offer.shared)};
		void *ptr;

		must(gpumem_alloc(pool, i ? 5 * MIB : 1000, NULL, &ptr));
		must(gpumem_export(ptr, &offer.shared, offer.fds, OFFER_FDS));
		give(socket, &offer);
	}
	(void)!read(socket, &byte, 1);
}

/* Where memory is named by objects none can be imported. */
void exporter_start(const struct configuration *configuration)
{
	int ends[2];

	if (configuration->objects)
		return;
	expect(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
	       "no sockets");
	child = fork();
	expect(child >= 0, "no process");
	if (!child) {
		close(ends[0]);
		export_all(ends[1], configuration);
		_exit(0);
	}
	close(ends[1]);
	channel = ends[0];
	while (world.offers < OFFERS)
		take(channel, &world.offer[world.offers++]);
}

void exporter_end(void)
{
	if (channel < 0)
		return;
	close(channel);
	(void)waitpid(child, NULL, 0);
}
