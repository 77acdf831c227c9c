/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory of captured graphs. PyTorch names it by a pair of numbers, which
 * several graphs may share: each capture for it begins and ends, each graph
 * that goes releases it once. A capture begins on the current stream, which the
 * pool has to know before; which others join is only known from the filter,
 * once there is an allocation on them. A graph's memory ends with its last
 * release, but not before its device has done what was launched; while anything
 * is captured no device can be waited for, so that waits.
 *
 * captures and spaces are under `lock`, which is not held during a call of
 * PyTorch's or of Python's.
 */
#include "plug.hpp"

#include <map>
#include <memory>
#include <set>
#include <vector>

namespace plug
{

std::atomic<int> capturing;

using key = std::pair<int, pool_id>;

/* users == 0: it is over when the device is. */
struct space {
	gpumem_graph *graph;
	int users;
};

struct capture {
	key of;
	filter is_of_capture;
	gpumem_graph *graph;
	std::set<stream> streams;
};

static std::mutex lock;
static std::map<key, space> spaces;
static std::vector<std::shared_ptr<capture>> captures;
static asked torch;

void use_asked(asked functions)
{
	std::lock_guard<std::mutex> hold(lock);

	torch = functions;
}

/* Nothing is asked of a stream by this. BUSY: it is another capture's. Under
 * the lock. */
static void take_stream(capture *own, stream on)
{
	gpumem_status status;

	if (!own->streams.insert(on).second)
		return;
	status = gpumem_graph_begin(own->graph, on);
	if (status == GPUMEM_OK)
		return;
	own->streams.erase(on);
	if (status != GPUMEM_BUSY)
		raise(status);
}

static std::vector<std::shared_ptr<capture>> of_device(int number)
{
	std::lock_guard<std::mutex> hold(lock);
	std::vector<std::shared_ptr<capture>> found;

	for (auto &each : captures)
		if (each->of.first == number)
			found.push_back(each);
	return found;
}

void route(int number, stream on)
{
	for (auto &each : of_device(number)) {
		if (!each->is_of_capture(on))
			continue;
		std::lock_guard<std::mutex> hold(lock);
		take_stream(each.get(), on);
		return;
	}
}

/* Those that nobody uses any more, which are no longer in the map. */
static std::map<key, space> take_unused()
{
	std::lock_guard<std::mutex> hold(lock);
	std::map<key, space> unused;

	if (!captures.empty() || !torch.wait)
		return unused;
	for (auto it = spaces.begin(); it != spaces.end();) {
		auto next = std::next(it);

		if (it->second.users == 0)
			unused.insert(spaces.extract(it));
		it = next;
	}
	return unused;
}

void settle()
{
	int waited = -1;

	for (auto &each : take_unused()) {
		int number = each.first.first;

		if (number != waited)
			torch.wait(number);
		waited = number;
		/* What fails is lost until the process ends. */
		GPUMEM_IGNORE(gpumem_graph_destroy(each.second.graph, nullptr));
	}
}

void hook_begin(int number, pool_id id, filter is_of_capture)
{
	key of(number, id);
	device *own = get(number);
	auto begun = std::make_shared<capture>();

	settle();
	stream on = torch.current ? torch.current(number) : nullptr;
	std::lock_guard<std::mutex> hold(lock);
	auto found = spaces.find(of);
	if (found == spaces.end()) {
		gpumem_graph *graph;
		gpumem_status status = gpumem_graph_create(own->pool, &graph);

		if (status != GPUMEM_OK)
			raise(status);
		found = spaces.emplace(of, space{graph, 0}).first;
	}
	begun->of = of;
	begun->is_of_capture = std::move(is_of_capture);
	begun->graph = found->second.graph;
	if (on)
		take_stream(begun.get(), on);
	found->second.users++;
	captures.push_back(begun);
	capturing.fetch_add(1, std::memory_order_release);
}

void hook_end(int number, pool_id id)
{
	if (is_child())
		return;
	std::lock_guard<std::mutex> hold(lock);

	for (auto it = captures.begin(); it != captures.end(); ++it) {
		if ((*it)->of != key(number, id))
			continue;
		for (stream each : (*it)->streams)
			GPUMEM_IGNORE(gpumem_graph_end((*it)->graph, each));
		captures.erase(it);
		capturing.fetch_sub(1, std::memory_order_release);
		return;
	}
}

void hook_release(int number, pool_id id)
{
	if (is_child())
		return;
	{
		std::lock_guard<std::mutex> hold(lock);
		auto found = spaces.find(key(number, id));

		if (found == spaces.end() || found->second.users == 0)
			return;
		found->second.users--;
	}
	settle();
}

} /* namespace plug */
