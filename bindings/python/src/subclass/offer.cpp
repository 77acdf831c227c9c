/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Offers of blocks, and the thread that gives their descriptors; see offer.hpp.
 * It starts with the first offer by descriptor, and never ends. The table of
 * offers has a mutex, which is held while a block is exported, so that it is
 * not freed meanwhile; nothing of PyTorch's is called then.
 */
#include "allocator.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <thread>

namespace gpumem_torch
{

namespace
{

struct table {
	std::mutex lock;
	uint64_t last = 0;
	bool listens = false;
	std::map<uint64_t, void *> blocks; /* by number */
};

/* The thread uses it until the process is gone. */
table &all()
{
	static table *made = new table;

	return *made;
}

/* The descriptors of an offer, or why there are none. */
void open_all(uint64_t number, answer &into, descriptors &to)
{
	gpumem_error error = GPUMEM_INIT(gpumem_error);
	table &offers = all();
	std::lock_guard<std::mutex> hold(offers.lock);
	auto found = offers.blocks.find(number);

	into.status = GPUMEM_BAD_POINTER;
	snprintf(into.text, sizeof(into.text), "its sender has freed it");
	if (found == offers.blocks.end())
		return;
	into.status = gpumem_export(found->second, &into.shared, nullptr, 0);
	if (into.status == GPUMEM_OK) {
		to.fds.resize(into.shared.fd_count);
		into.status = gpumem_export(found->second, &into.shared,
					    to.fds.data(), to.fds.size());
	}
	if (into.status == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	snprintf(into.text, sizeof(into.text),
		 "%.350s (%zu descriptors: if these are too many, raise "
		 "`ulimit -n`, or make pages larger, option `page`)",
		 error.text, to.fds.size());
	to.fds.clear();
}

bool send_some(int socket, const int *fds, size_t count)
{
	union {
		cmsghdr first;
		char room[CMSG_SPACE(BATCH * sizeof(int))];
	} control{};
	char byte = 0;
	iovec part{&byte, 1};
	msghdr message{};

	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	control.first.cmsg_level = SOL_SOCKET;
	control.first.cmsg_type = SCM_RIGHTS;
	control.first.cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(&control.first), fds, count * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

void give(int socket)
{
	descriptors open;
	answer made{};
	uint64_t number;
	char more;

	bound_waits(socket);
	made.shared = GPUMEM_INIT(gpumem_shared);
	if (!is_same_user(socket) ||
	    recv(socket, &number, sizeof(number), 0) != sizeof(number))
		return;
	open_all(number, made, open);
	if (send(socket, &made, sizeof(made), MSG_NOSIGNAL) != sizeof(made))
		return;
	for (size_t i = 0; i < open.fds.size(); i += BATCH)
		if (recv(socket, &more, 1, 0) != 1 ||
		    !send_some(socket, &open.fds[i],
			       std::min(BATCH, open.fds.size() - i)))
			return;
}

[[noreturn]] void serve(int listener)
{
	for (;;) {
		int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);

		if (socket < 0) { /* of too many open files, say */
			usleep(10000);
			continue;
		}
		give(socket);
		close(socket);
	}
}

/* Under the table's lock. The thread takes no signal from the program's. */
void listen_once(const gpumem_shared &mine)
{
	table &offers = all();
	sockaddr_un place;
	sigset_t every, before;

	if (offers.listens)
		return;
	socklen_t bytes = meeting_place(mine.process, place);
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	TORCH_CHECK(listener >= 0 &&
			    !bind(listener,
				  reinterpret_cast<sockaddr *>(&place),
				  bytes) &&
			    !listen(listener, 64),
		    "there can be no socket to give descriptors by: ",
		    strerror(errno));
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	std::thread(serve, listener).detach();
	pthread_sigmask(SIG_SETMASK, &before, nullptr);
	offers.listens = true;
}

} /* namespace */

offer::offer(void *block)
{
	handle made{};
	gpumem_status status;

	memcpy(made.magic, MAGIC, sizeof(MAGIC));
	made.shared = GPUMEM_INIT(gpumem_shared);
	status = gpumem_export(block, &made.shared, nullptr, 0);
	TORCH_CHECK(status != GPUMEM_UNSUPPORTED,
		    "gpumem's memory can go to other processes only after "
		    "gpumem.torch.enable(share=\"any\"); else send "
		    "tensor.cpu()");
	if (status != GPUMEM_OK)
		raise();
	if (made.shared.method == GPUMEM_SHARE_FD) {
		table &offers = all();
		std::lock_guard<std::mutex> hold(offers.lock);

		listen_once(made.shared);
		made.number = number = ++offers.last;
		offers.blocks[number] = block;
	}
	text.assign(reinterpret_cast<const char *>(&made), sizeof(made));
}

offer::~offer()
{
	table &offers = all();
	std::lock_guard<std::mutex> hold(offers.lock);

	offers.blocks.erase(number);
}

} /* namespace gpumem_torch */
