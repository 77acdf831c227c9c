/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Best fit among the free pieces of a stream; small requests and large ones
 * have segments of their own, of the sizes that PyTorch gives its own. No lock,
 * no driver.
 */
#include "space.hpp"

namespace gpumem_torch
{

constexpr size_t SMALL_SEGMENT = 2 << 20;
constexpr size_t MEDIUM = 10 << 20;
constexpr size_t MEDIUM_SEGMENT = 20 << 20;

static size_t least_rest(bool small)
{
	return small ? UNIT : SMALL + 1;
}

size_t space::segment_bytes(size_t bytes) const
{
	bytes = rounded(bytes);
	if (!no_split && bytes <= SMALL)
		return SMALL_SEGMENT;
	if (!no_split && bytes < MEDIUM)
		return MEDIUM_SEGMENT;
	return (bytes + SMALL_SEGMENT - 1) / SMALL_SEGMENT * SMALL_SEGMENT;
}

char *space::take(size_t requested, stream on)
{
	size_t bytes = rounded(requested);
	bool small = bytes <= SMALL;
	auto found = free.lower_bound(key{on, small, bytes, nullptr});

	if (found == free.end() || std::get<0>(*found) != on ||
	    std::get<1>(*found) != small)
		return nullptr;
	char *ptr = std::get<3>(*found);
	segment &in = of(ptr);
	piece &own = in.pieces.at(ptr);
	size_t rest = own.bytes - bytes;

	free.erase(found);
	if (!no_split && rest >= least_rest(small)) {
		in.pieces[ptr + bytes] = piece{rest, 0, false};
		free.insert(key_of(in, ptr + bytes, rest));
		own.bytes = bytes;
	}
	own.live = true;
	own.requested = requested;
	return ptr;
}

/* For a request of `bytes`, which decides whom it will serve. */
void space::add(char *base, size_t size, stream on, size_t bytes)
{
	segment made{base, size, on, rounded(bytes) <= SMALL, numbered++, {}};

	made.pieces[base] = piece{size, 0, false};
	free.insert(key_of(made, base, size));
	all.emplace(base, std::move(made));
}

segment &space::of(const char *ptr)
{
	return std::prev(all.upper_bound(const_cast<char *>(ptr)))->second;
}

const piece &space::at(const char *ptr) const
{
	return const_cast<space *>(this)->of(ptr).pieces.at(
		const_cast<char *>(ptr));
}

const segment &space::holder(const char *ptr) const
{
	return const_cast<space *>(this)->of(ptr);
}

void space::give(char *ptr)
{
	segment &in = of(ptr);
	auto own = in.pieces.find(ptr);
	auto next = std::next(own);

	own->second.live = false;
	own->second.requested = 0;
	if (next != in.pieces.end() && !next->second.live) {
		free.erase(key_of(in, next->first, next->second.bytes));
		own->second.bytes += next->second.bytes;
		in.pieces.erase(next);
	}
	if (own != in.pieces.begin() && !std::prev(own)->second.live) {
		auto before = std::prev(own);

		free.erase(key_of(in, before->first, before->second.bytes));
		before->second.bytes += own->second.bytes;
		in.pieces.erase(own);
		own = before;
	}
	free.insert(key_of(in, own->first, own->second.bytes));
}

bool space::has_unused() const
{
	for (auto &each : all)
		if (each.second.unused())
			return true;
	return false;
}

std::vector<segment> space::remove_unused()
{
	std::vector<segment> gone;

	for (auto it = all.begin(); it != all.end();) {
		if (!it->second.unused()) {
			++it;
			continue;
		}
		free.erase(key_of(it->second, it->first, it->second.bytes));
		gone.push_back(std::move(it->second));
		it = all.erase(it);
	}
	return gone;
}

saved space::save() const
{
	saved now;

	for (auto &each : all)
		now[each.first] = each.second.pieces;
	return now;
}

bool space::restore(const saved &before)
{
	for (auto &each : before)
		if (!all.count(each.first))
			return false;
	for (auto &each : before) {
		segment &in = all.at(each.first);

		free.erase(key_of(in, in.base, in.bytes));
		in.pieces = each.second;
		for (auto &own : in.pieces)
			if (!own.second.live)
				free.insert(key_of(in, own.first,
						   own.second.bytes));
	}
	return true;
}

} /* namespace gpumem_torch */
