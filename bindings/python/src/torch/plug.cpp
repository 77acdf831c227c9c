/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Allocation, free and the simple hooks. A device is opened by the first
 * allocation on it, never closed, and found without a lock afterwards. A free
 * cannot fail there: at the end of a process the driver may be gone before
 * PyTorch's last tensors are.
 */
#include "plug.hpp"

#include <cstdio>
#include <memory>
#include <string>

namespace plug
{

static std::mutex opening;
static std::string backend = "cuda";
static std::atomic<device *> devices[MOST_DEVICES];

void use_backend(const char *name)
{
	std::lock_guard<std::mutex> lock(opening);

	backend = name;
}

device *opened(int number)
{
	if (number < 0 || number >= MOST_DEVICES)
		return nullptr;
	return devices[number].load(std::memory_order_acquire);
}

static void let_use(const device &pool_of, const device &peer)
{
	bool can = false;

	if (gpumem_device_peer(pool_of.handle, peer.handle, &can) ==
		    GPUMEM_OK &&
	    can)
		GPUMEM_IGNORE(gpumem_pool_add_peer(pool_of.pool, peer.handle));
}

/* A kernel of one device that copies to another uses the memory of both, and
 * nobody tells the plug before it is launched. So devices that a process uses
 * are opened to each other. If that fails, other copies still work. */
static void open_to_others(const device &made)
{
	for (int i = 0; i < MOST_DEVICES; i++)
		if (const device *other = opened(i)) {
			let_use(made, *other);
			let_use(*other, made);
		}
}

static device *open(int number)
{
	std::lock_guard<std::mutex> lock(opening);
	auto made = std::make_unique<device>();
	std::string name = backend + ":" + std::to_string(number);
	gpumem_status status;

	if (opened(number))
		return opened(number);
	note_use();
	status = gpumem_device_open(name.c_str(), &made->handle);
	if (status == GPUMEM_OK) {
		status = gpumem_device_pool(made->handle, &made->pool);
		if (status != GPUMEM_OK)
			GPUMEM_IGNORE(gpumem_device_close(made->handle));
	}
	if (status != GPUMEM_OK)
		raise(status);
	open_to_others(*made);
	devices[number].store(made.get(), std::memory_order_release);
	return made.release();
}

device *get(int number)
{
	check_process();
	device *found = opened(number);

	return found ? found : open(number);
}

/* Nothing is given before the limit holds, which frees may have made room for.
 */
static gpumem_status fit(device *own)
{
	if (!own->wanted_limit.load(std::memory_order_relaxed))
		return GPUMEM_OK;
	std::lock_guard<std::mutex> hold(own->limiting);
	uint64_t limit = own->wanted_limit.load();
	if (limit && gpumem_pool_set_limit(own->pool, limit) != GPUMEM_OK)
		return GPUMEM_LIMIT;
	own->wanted_limit.store(0);
	return GPUMEM_OK;
}

/* Some versions ask for nothing, and want a pointer that is theirs. */
void *hook_alloc(size_t bytes, int number, stream on)
{
	device *own = get(number);
	gpumem_status status;
	void *ptr;

	if (capturing.load(std::memory_order_acquire))
		route(number, on);
	status = fit(own);
	if (status == GPUMEM_OK)
		status = gpumem_alloc(own->pool, bytes ? bytes : 1, on, &ptr);
	if (status != GPUMEM_OK)
		raise(status);
	return ptr;
}

void hook_free(void *ptr, size_t bytes, int number, stream on)
{
	(void)bytes;
	(void)number;
	if (is_child())
		return;
	GPUMEM_IGNORE(gpumem_free(ptr, on));
}

/* A pool unmaps nothing while it knows of a capture; those that are not
 * PyTorch's know of none, so they are left alone then. */
static gpumem_status trim(const device *own)
{
	return capturing.load(std::memory_order_acquire)
		       ? gpumem_pool_trim(own->pool, 0, nullptr)
		       : gpumem_device_trim(own->handle, 0, nullptr);
}

/* torch.cuda.empty_cache() */
void hook_reset()
{
	if (is_child())
		return;
	settle();
	for (int i = 0; i < MOST_DEVICES; i++)
		if (device *own = opened(i)) {
			gpumem_status status = trim(own);

			if (status != GPUMEM_OK)
				raise(status);
		}
}

/* torch.cuda.set_per_process_memory_fraction(); 1: as much as there is */
void hook_fraction(double part, int number)
{
	gpumem_device_info info = GPUMEM_INIT(gpumem_device_info);
	device *own = get(number);
	gpumem_status status = gpumem_device_get_info(own->handle, &info);
	double bytes = part * static_cast<double>(info.total_bytes);
	uint64_t limit = part < 1 ? static_cast<uint64_t>(bytes) : 0;

	if (status != GPUMEM_OK)
		raise(status);
	/* 0 would be no limit. */
	if (part < 1 && limit == 0)
		limit = 1;
	std::lock_guard<std::mutex> hold(own->limiting);
	status = gpumem_pool_set_limit(own->pool, limit);
	bool later = status == GPUMEM_BUSY || status == GPUMEM_INVALID;
	if (status != GPUMEM_OK && !later)
		raise(status);
	own->wanted_limit.store(later ? limit : 0);
}

void *hook_base(void *ptr, size_t *bytes_out)
{
	gpumem_block block = GPUMEM_INIT(gpumem_block);

	if (gpumem_query(ptr, &block) != GPUMEM_OK)
		return ptr;
	if (bytes_out)
		*bytes_out = block.bytes;
	return block.ptr;
}

/* Tensor.record_stream(); of memory that is not a pool's there is nothing to
 * say. */
void hook_record(void *ptr, stream on)
{
	check_process();
	gpumem_status status = ptr ? gpumem_use_on(ptr, on) : GPUMEM_OK;

	if (status != GPUMEM_OK && status != GPUMEM_BAD_POINTER)
		raise(status);
}

/* How many devices there are; each is opened when it is used. */
void hook_init(int count)
{
	(void)count;
}

} /* namespace plug */
