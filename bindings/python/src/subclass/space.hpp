/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory of one of PyTorch's private pools: a MemPool's, or that of
 * captured graphs. PyTorch brings such a pool back to a state of before, with
 * the same blocks at the same addresses, so segments are taken from gpumem and
 * cut here. Knows neither PyTorch nor a device; whoever calls holds a lock.
 */
#ifndef GPUMEM_PYTHON_SUBCLASS_SPACE_HPP
#define GPUMEM_PYTHON_SUBCLASS_SPACE_HPP

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

namespace gpumem_torch
{

using stream = void *; /* a vendor's handle */

constexpr size_t UNIT = 512;	  /* in which PyTorch counts */
constexpr size_t SMALL = 1 << 20; /* the largest of the small blocks */

/* What PyTorch counts for a request. */
inline size_t rounded(size_t bytes)
{
	return bytes < UNIT ? UNIT : (bytes + UNIT - 1) / UNIT * UNIT;
}

struct piece {
	size_t bytes, requested; /* requested: 0 unless live */
	bool live;		 /* or freed, and waiting for other streams */
};

/* Its pieces follow each other without a gap, and no two neighbours are free:
 * their bytes add up to the segment's. */
struct segment {
	char *base;
	size_t bytes;
	stream on;
	bool small;
	int number; /* of this space, in the order in which they came */
	std::map<char *, piece> pieces;

	bool unused() const
	{
		return pieces.size() == 1 && !pieces.begin()->second.live;
	}
};

/* Segments by their address, as they were. */
using saved = std::map<char *, std::map<char *, piece>>;

class space
{
      public:
	bool no_split = false;

	/* NULL: it takes another segment of segment_bytes(). */
	char *take(size_t bytes, stream on);
	size_t segment_bytes(size_t bytes) const;
	void add(char *base, size_t size, stream on, size_t bytes);

	const piece &at(const char *ptr) const;
	const segment &holder(const char *ptr) const;
	void give(char *ptr);

	/* Removes the segments of which nothing is live, and returns them. */
	std::vector<segment> remove_unused();
	bool has_unused() const;

	const std::map<char *, segment> &segments() const
	{
		return all;
	}
	saved save() const;
	/* Nothing may be live. False, and nothing has changed: a segment of
	 * that time is gone. */
	bool restore(const saved &before);

      private:
	using key = std::tuple<stream, bool, size_t, char *>;

	std::map<char *, segment> all;
	std::set<key> free; /* one for each piece that is */
	int numbered = 0;

	segment &of(const char *ptr);
	static key key_of(const segment &in, char *ptr, size_t bytes)
	{
		return {in.on, in.small, bytes, ptr};
	}
};

} /* namespace gpumem_torch */

#endif
