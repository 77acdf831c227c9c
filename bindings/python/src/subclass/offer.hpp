/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks that are offered to other processes (offer.cpp), and what these take
 * (take.cpp). A handle is plain bytes, which PyTorch sends. A segment's name is
 * in it; descriptors of pages are not: the process that offers them has a
 * thread that gives them, by a socket, to processes of the same user that ask.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_OFFER_HPP
#define GPUMEM_PYTHON_SUBCLASS_OFFER_HPP

#include <gpumem/gpumem.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <string>
#include <vector>

namespace gpumem_torch
{

struct handle {
	char magic[8];
	uint64_t number; /* of the offer, in its process */
	gpumem_shared shared;
};

constexpr char MAGIC[8] = "gpumem1";
constexpr size_t BATCH = 250; /* descriptors of a message; at most 253 */

/* What comes before the descriptors; these come in batches, each when it is
 * asked for by a byte, so that few are under way. */
struct answer {
	gpumem_status status;
	gpumem_shared shared;
	char text[512];
};

/* Of a live block: good until it is destroyed, which is before the free. */
class offer
{
      public:
	explicit offer(void *block); /* throws */
	~offer();
	offer(const offer &) = delete;
	offer &operator=(const offer &) = delete;

	const std::string &bytes() const
	{
		return text;
	}

      private:
	uint64_t number = 0;
	std::string text;
};

/* Open files, closed at the end. */
struct descriptors {
	std::vector<int> fds;

	descriptors() = default;
	~descriptors();
	descriptors(const descriptors &) = delete;
	descriptors &operator=(const descriptors &) = delete;
};

/* Where the process of that name (gpumem_shared) gives descriptors. */
socklen_t meeting_place(const unsigned char *process, sockaddr_un &place);
/* Whether the other end is a process of this one's user. */
bool is_same_user(int socket);
/* Nobody waits for the other end for ever. */
void bound_waits(int socket);

/* The block of another process's handle, for gpumem_import_close(); throws. */
void *take_offer(const std::string &bytes, gpumem_device *device);

} /* namespace gpumem_torch */

#endif
