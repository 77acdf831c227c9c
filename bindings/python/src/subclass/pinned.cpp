/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pinned blocks: taken from gpumem's pool, and given back to it when the
 * streams that were recorded with them have done their work. Whether that is so
 * is asked when something is allocated. See pinned.hpp.
 */
#include "pinned.hpp"

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>

namespace gpumem_torch
{

pinned_allocator *the_pinned;

static void delete_pinned(void *ptr)
{
	the_pinned->free(ptr);
}

pinned_allocator::pinned_allocator(std::string name, uint64_t bytes,
				   at::HostAllocator *other)
    : backend(std::move(name)), limit(bytes), before(other)
{
}

/* Its device is one that has a context already, for all devices can use the
 * memory: the current one if that has. */
gpumem_pool *pinned_allocator::open()
{
	gpumem_pool_config config = GPUMEM_INIT(gpumem_pool_config);
	gpumem_pool *made;
	DeviceIndex current = c10::cuda::current_device();

	check_process();
	if (gpumem_pool *found = opened())
		return found;
	std::lock_guard<std::mutex> hold(opening);
	if (gpumem_pool *found = opened())
		return found;
	if (!c10::cuda::hasPrimaryContext(current))
		current =
			c10::cuda::getDeviceIndexWithPrimaryContext().value_or(
				current);
	note_use();
	config.kind = GPUMEM_KIND_PINNED;
	config.name = "pinned memory of PyTorch";
	config.limit_bytes = limit;
	if (!handle &&
	    gpumem_device_open(
		    (backend + ":" + std::to_string(current)).c_str(),
		    &handle) != GPUMEM_OK)
		raise();
	if (!quiet && gpumem_stream_create(handle, &quiet) != GPUMEM_OK)
		raise();
	if (gpumem_pool_create(handle, &config, &made) != GPUMEM_OK)
		raise();
	number.store(current);
	pool.store(made, std::memory_order_release);
	return made;
}

/* What other streams may still use is asked for last, and waited for: the host
 * waits for nothing by itself. */
gpumem_status pinned_allocator::take(size_t size, void **ptr)
{
	gpumem_alloc_options options = GPUMEM_INIT(gpumem_alloc_options);
	gpumem_pool *from = open();
	gpumem_status status;

	options.flags = GPUMEM_ALLOC_NO_WAIT;
	status = gpumem_alloc_with(from, size, quiet, &options, ptr, nullptr);
	if (!is_oom(status))
		return status;
	await_all();
	status = gpumem_alloc(from, size, quiet, ptr);
	if (status != GPUMEM_OK)
		return status;
	status = gpumem_stream_sync(handle, quiet);
	if (status != GPUMEM_OK)
		GPUMEM_IGNORE(gpumem_free(*ptr, quiet));
	return status;
}

c10::DataPtr pinned_allocator::allocate(size_t size)
{
	c10::DataPtr none(nullptr, nullptr, &delete_pinned,
			  c10::DeviceType::CPU);
	gpumem_error error = GPUMEM_INIT(gpumem_error);
	void *ptr = nullptr;
	uint64_t usable = 0;

	if (!size)
		return none;
	pinned_block made{size, {}, {}, gather(RecordContext::STATE)};
	c10::cuda::CUDAStreamCaptureModeGuard guard(
		cudaStreamCaptureModeRelaxed);
	poll();
	if (released.load())
		settle();
	if (take(size, &ptr) != GPUMEM_OK) {
		gpumem_last_error(&error);
		TORCH_CHECK(false, "Tried to allocate ", size,
			    " bytes of pinned memory. ", error.text);
	}
	if (gpumem_usable_bytes(ptr, &usable) == GPUMEM_OK)
		made.bytes = usable;
	std::lock_guard<std::mutex> hold(lock);
	count.increase(1);
	bytes.increase(made.bytes);
	enter(action::ALLOC, ptr, made, made.allocated_at);
	blocks[ptr] = std::move(made);
	return {ptr, ptr, &delete_pinned, c10::DeviceType::CPU};
}

void pinned_allocator::copy_data(void *to, const void *from, size_t size) const
{
	memcpy(to, from, size);
}

/* Events for all that may use it. False: one cannot be recorded, so that nobody
 * knows when that is over. */
bool pinned_allocator::await(void *ptr, pinned_block &of)
{
	auto made = std::make_shared<waiting>();
	std::vector<std::pair<use, cudaEvent_t>> events;
	bool done = true;

	for (auto &each : of.uses) {
		c10::cuda::CUDAGuard guard(DeviceIndex(each.first));
		cudaEvent_t event = nullptr;
		cudaError_t status = cudaEventCreateWithFlags(
			&event, cudaEventDisableTiming);

		if (status == cudaSuccess) {
			events.emplace_back(each, event);
			status = cudaEventRecord(event, each.second);
		}
		done = done && status == cudaSuccess;
	}
	if (!done) {
		(void)cudaGetLastError();
		for (auto &each : events)
			(void)cudaEventDestroy(each.second);
		return false;
	}
	*made = {ptr, std::move(of), events.size()};
	std::lock_guard<std::mutex> hold(lock);
	for (auto &each : events)
		queues[each.first].emplace_back(each.second, made);
	return true;
}

void pinned_allocator::free(void *ptr)
{
	pinned_block gone;

	if (!ptr || is_child())
		return;
	context where = gather(RecordContext::ALL);
	{
		std::lock_guard<std::mutex> hold(lock);
		auto found = blocks.find(ptr);

		if (found == blocks.end())
			return;
		gone = std::move(found->second);
		blocks.erase(found);
		enter(action::FREE_REQUESTED, ptr, gone,
		      where ? where : gone.allocated_at);
	}
	if (gone.graphs.empty() && gone.uses.empty()) {
		give({{ptr, std::move(gone)}});
		return;
	}
	try {
		c10::cuda::CUDAStreamCaptureModeGuard guard(
			cudaStreamCaptureModeRelaxed);

		if (gone.graphs.empty() && await(ptr, gone))
			return;
	} catch (const c10::Error &) {
		(void)cudaGetLastError();
	}
	if (gone.graphs.empty())
		gone.graphs.insert(MempoolId_t{});
	keep(ptr, std::move(gone));
}

/* What is over goes back to gpumem. */
void pinned_allocator::poll()
{
	ended over;
	std::unique_lock<std::mutex> hold(lock);

	for (auto it = queues.begin(); it != queues.end();) {
		auto &queue = it->second;

		while (!queue.empty()) {
			auto &[event, each] = queue.front();

			if (cudaEventQuery(event) != cudaSuccess) {
				(void)cudaGetLastError();
				break;
			}
			(void)cudaEventDestroy(event);
			if (--each->left == 0)
				over.emplace_back(each->ptr,
						  std::move(each->of));
			queue.pop_front();
		}
		it = queue.empty() ? queues.erase(it) : std::next(it);
	}
	hold.unlock();
	give(over);
}

/* Nothing uses them any more. */
void pinned_allocator::give(const ended &all)
{
	for (auto &each : all) {
		{
			std::lock_guard<std::mutex> hold(lock);

			enter(action::FREE_COMPLETED, each.first, each.second,
			      each.second.allocated_at);
			count.decrease(1);
			bytes.decrease(each.second.bytes);
		}
		GPUMEM_IGNORE(gpumem_free(each.first, quiet));
	}
}

/* By what the tensor's storage has, or by its address. What is not from here
 * may be from PyTorch's own, before enable(). */
bool pinned_allocator::record_event(void *ptr, void *context_of, c10::Stream on)
{
	c10::cuda::CUDAStream stream(on);
	cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	MempoolId_t graph{};

	if (is_child())
		return false;
	if (cudaStreamIsCapturing(stream, &status) != cudaSuccess)
		(void)cudaGetLastError();
	bool captured = status != cudaStreamCaptureStatusNone;
	if (captured)
		graph = graph_of(on);
	{
		std::lock_guard<std::mutex> hold(lock);
		auto found = blocks.find(context_of);

		if (found == blocks.end())
			found = blocks.find(ptr);
		if (found != blocks.end()) {
			if (captured)
				found->second.graphs.insert(graph);
			else
				found->second.uses.emplace(
					stream.device_index(), stream.stream());
			return true;
		}
	}
	return before->record_event(ptr, context_of, on);
}

void pinned_allocator::empty_cache()
{
	gpumem_pool *own = opened();

	if (is_child())
		return;
	before->empty_cache();
	if (!own)
		return;
	c10::cuda::CUDAStreamCaptureModeGuard guard(
		cudaStreamCaptureModeRelaxed);
	poll();
	settle();
	if (gpumem_pool_trim(own, 0, nullptr) != GPUMEM_OK)
		raise();
}

} /* namespace gpumem_torch */

extern "C" {

/* For gpumem.torch, which has the GIL; after gpumem_torch_install(). */
__attribute__((visibility("default"))) void
gpumem_torch_pin(const char *backend, unsigned long long limit)
{
	auto *made = new gpumem_torch::pinned_allocator(
		backend, limit, at::getHostAllocator(c10::DeviceType::CUDA));

	gpumem_torch::the_pinned = made;
	/* Nobody has a higher priority. */
	at::setHostAllocator(c10::DeviceType::CUDA, made, 255);
}

/* Its pool, and the number of its device; NULL: nothing was pinned yet. */
__attribute__((visibility("default"))) void *gpumem_torch_pinned(int *device)
{
	auto *own = gpumem_torch::the_pinned;

	*device = own ? own->device() : -1;
	return own ? own->opened() : nullptr;
}
}
