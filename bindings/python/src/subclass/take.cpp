/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tensors of other processes: PyTorch's functions for them, and the handles of
 * offer.hpp as those who take them see them. A handle that is open already
 * gives the same memory.
 */
#include "allocator.hpp"

#include <c10/cuda/CUDAFunctions.h>
#include <unistd.h>

namespace gpumem_torch
{

descriptors::~descriptors()
{
	for (int fd : fds)
		close(fd);
}

/* No file: a name that ends with the socket, and is one in each network
 * namespace. */
socklen_t meeting_place(const unsigned char *process, sockaddr_un &place)
{
	size_t at = 1 + size_t(snprintf(place.sun_path + 1, 16, "gpumem-"));

	place.sun_family = AF_UNIX;
	place.sun_path[0] = 0;
	for (size_t i = 0; i < sizeof(gpumem_shared::process); i++, at += 2)
		snprintf(place.sun_path + at, 3, "%02x", process[i]);
	return socklen_t(offsetof(sockaddr_un, sun_path) + at);
}

bool is_same_user(int socket)
{
	ucred other;
	socklen_t bytes = sizeof(other);

	return !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &bytes) &&
	       other.uid == geteuid();
}

void bound_waits(int socket)
{
	timeval most{30, 0};

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
}

/* Of one message. */
static bool receive_some(int socket, descriptors &to)
{
	union {
		cmsghdr first;
		char room[CMSG_SPACE(BATCH * sizeof(int))];
	} control{};
	char byte = 0;
	iovec part{&byte, 1};
	msghdr message{};

	if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1)
		return false;
	message.msg_iov = &part;
	message.msg_iovlen = 1;
	message.msg_control = &control;
	message.msg_controllen = sizeof(control);
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return false;
	const cmsghdr *first = CMSG_FIRSTHDR(&message);
	if (!first || first->cmsg_type != SCM_RIGHTS)
		return false;
	size_t count = (first->cmsg_len - CMSG_LEN(0)) / sizeof(int), had;
	had = to.fds.size();
	to.fds.resize(had + count);
	memcpy(&to.fds[had], CMSG_DATA(first), count * sizeof(int));
	return !(message.msg_flags & MSG_CTRUNC);
}

static void ask(int socket, const handle &of, answer &told, descriptors &to)
{
	sockaddr_un place;
	socklen_t bytes = meeting_place(of.shared.process, place);

	bound_waits(socket);
	TORCH_CHECK(
		!connect(socket, reinterpret_cast<sockaddr *>(&place), bytes) &&
			is_same_user(socket) &&
			send(socket, &of.number, sizeof(of.number),
			     MSG_NOSIGNAL) == sizeof(of.number) &&
			recv(socket, &told, sizeof(told), 0) == sizeof(told),
		"the process that sent a tensor does not give its "
		"memory: it has ended, is another user's, or is in "
		"another network namespace (",
		strerror(errno), ")");
	told.text[sizeof(told.text) - 1] = 0;
	TORCH_CHECK(told.status == GPUMEM_OK,
		    "a tensor cannot be had: ", told.text);
	while (to.fds.size() < told.shared.fd_count)
		TORCH_CHECK(receive_some(socket, to), "only ", to.fds.size(),
			    " of the ", told.shared.fd_count,
			    " descriptors of a tensor have come: raise "
			    "`ulimit -n`, or make the pages of its sender "
			    "larger (option `page`)");
}

void *take_offer(const std::string &bytes, gpumem_device *device)
{
	descriptors connection, pages;
	handle of;
	answer told{};
	void *ptr;

	TORCH_CHECK(bytes.size() == sizeof(of) &&
			    !memcmp(bytes.data(), MAGIC, sizeof(MAGIC)),
		    "this tensor's memory is not of this version of gpumem: "
		    "both processes have to call gpumem.torch.enable()");
	memcpy(&of, bytes.data(), sizeof(of));
	told.shared = of.shared;
	if (of.shared.method == GPUMEM_SHARE_FD) {
		int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		TORCH_CHECK(made >= 0, "no socket: ", strerror(errno));
		connection.fds.push_back(made);
		ask(made, of, told, pages);
	}
	if (gpumem_import(device, &told.shared, pages.fds.data(),
			  pages.fds.size(), &ptr) != GPUMEM_OK)
		raise();
	return ptr;
}

/* ---- PyTorch's functions ---------------------------------------------------
 */

cca::ShareableHandle allocator::shareIpcHandle(void *ptr)
{
	{
		std::lock_guard<std::mutex> hold(lock);

		TORCH_CHECK(!their_segment(ptr),
			    "memory of a MemPool with an allocator of its own "
			    "cannot go to other processes: send tensor.cpu()");
	}
	char *base = static_cast<char *>(getBaseAllocation(ptr, nullptr));
	auto made = std::make_shared<offer>(base);
	std::lock_guard<std::mutex> hold(lock);
	record &of = listed(ptr);
	if (!of.sent)
		of.sent = std::move(made);
	return {static_cast<char *>(ptr) - base, of.sent->bytes()};
}

/* PyTorch closes before it waits for its stream, and other streams may be at
 * work too. What fails when the driver is gone is of no interest. */
static void close_taken(int number, void *ptr)
{
	int here = number;

	if (cudaGetDevice(&here) == cudaSuccess && here != number)
		(void)cudaSetDevice(number);
	if (cudaDeviceSynchronize() != cudaSuccess)
		(void)cudaGetLastError();
	GPUMEM_IGNORE(gpumem_import_close(ptr));
	if (here != number)
		(void)cudaSetDevice(here);
}

std::shared_ptr<void> allocator::getIpcDevPtr(std::string bytes)
{
	static auto &opening = *new std::mutex;
	static auto &open = *new std::map<std::string, std::weak_ptr<void>>;
	check_process();
	int number = c10::cuda::current_device();
	device &own = get(number);
	std::lock_guard<std::mutex> hold(opening);

	for (auto it = open.begin(); it != open.end();)
		it = it->second.expired() ? open.erase(it) : std::next(it);
	auto &known = open[bytes];
	if (auto had = known.lock())
		return had;
	std::shared_ptr<void> made(
		take_offer(bytes, own.handle),
		[number](void *ptr) { close_taken(number, ptr); });
	known = made;
	return made;
}

} /* namespace gpumem_torch */
