/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Group COPY: bytes moved between any two of host and device memory. What is in
 * no block is the host's. No locks.
 */
#include "opencl_plugin.h"

/* What goes from host to host on the way of buffers. */
#define STAGE_BYTES (UINT64_C(4) << 20)

/* One end of a copy: a block, or host memory. */
struct place {
	bool on_device;
	cl_mem memory;
	uint64_t offset;
	uint8_t *host; /* the address, of either */
};

static gpumem_status locate(const struct opencl_device *device,
			    uint64_t address, uint64_t bytes,
			    struct place *place)
{
	struct opencl_block block;
	gpumem_status status = GPUMEM_OK;

	place->host = (uint8_t *)(uintptr_t)address;
	place->on_device = gm_opencl_table_find(address, &block);
	if (place->on_device)
		status = gm_opencl_block(device, address, bytes, &block);
	if (place->on_device && status == GPUMEM_OK) {
		place->memory = block.memory;
		place->offset = address - block.address;
	}
	return status;
}

static gpumem_status copy_pointers(const struct opencl_device *device,
				   const struct opencl_lane *lane, void *to,
				   const void *from, uint64_t bytes)
{
	if (device->traits.memory == OPENCL_USM)
		return gm_opencl_check(device->usm_copy(lane->queue, CL_FALSE,
							to, from, bytes, 0,
							NULL, NULL),
				       "clEnqueueMemcpyINTEL");
	return gm_opencl_check(
		gm_opencl.clEnqueueSVMMemcpy(lane->queue, CL_FALSE, to, from,
					     bytes, 0, NULL, NULL),
		"clEnqueueSVMMemcpy");
}

static gpumem_status write_to(const struct opencl_lane *lane, cl_mem memory,
			      uint64_t offset, const void *from, uint64_t bytes)
{
	return gm_opencl_check(gm_opencl.clEnqueueWriteBuffer(
				       lane->queue, memory, CL_FALSE, offset,
				       bytes, from, 0, NULL, NULL),
			       "clEnqueueWriteBuffer");
}

static gpumem_status read_from(const struct opencl_lane *lane, void *to,
			       cl_mem memory, uint64_t offset, uint64_t bytes)
{
	return gm_opencl_check(
		gm_opencl.clEnqueueReadBuffer(lane->queue, memory, CL_FALSE,
					      offset, bytes, to, 0, NULL, NULL),
		"clEnqueueReadBuffer");
}

/* Over the device and back, piece by piece. */
static gpumem_status stage(const struct opencl_lane *lane, cl_mem memory,
			   uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	gpumem_status status = GPUMEM_OK;

	while (bytes && status == GPUMEM_OK) {
		uint64_t piece = bytes < STAGE_BYTES ? bytes : STAGE_BYTES;

		status = write_to(lane, memory, 0, from, piece);
		if (status == GPUMEM_OK)
			status = gm_opencl_fence(lane);
		if (status == GPUMEM_OK)
			status = read_from(lane, to, memory, 0, piece);
		if (status == GPUMEM_OK)
			status = gm_opencl_fence(lane);
		to += piece;
		from += piece;
		bytes -= piece;
	}
	return status;
}

/* OpenCL has no command for it before SVM, and to wait for the queue is not
 * what a copy does. The buffer goes when the commands are over. */
static gpumem_status copy_host(const struct opencl_device *device,
			       const struct opencl_lane *lane, void *to,
			       const void *from, uint64_t bytes)
{
	uint64_t most = bytes < STAGE_BYTES ? bytes : STAGE_BYTES;
	cl_int result = CL_SUCCESS;
	gpumem_status status;
	cl_mem memory;

	memory = gm_opencl.clCreateBuffer(device->context, CL_MEM_READ_WRITE,
					  most, NULL, &result);
	if (result != CL_SUCCESS)
		return gm_opencl_check_memory(result, "clCreateBuffer");
	status = stage(lane, memory, to, from, bytes);
	(void)gm_opencl.clReleaseMemObject(memory);
	return status;
}

static gpumem_status copy_buffers(const struct opencl_device *device,
				  const struct opencl_lane *lane,
				  const struct place *to,
				  const struct place *from, uint64_t bytes)
{
	if (to->on_device && from->on_device)
		return gm_opencl_check(
			gm_opencl.clEnqueueCopyBuffer(
				lane->queue, from->memory, to->memory,
				from->offset, to->offset, bytes, 0, NULL, NULL),
			"clEnqueueCopyBuffer");
	if (to->on_device)
		return write_to(lane, to->memory, to->offset, from->host,
				bytes);
	if (from->on_device)
		return read_from(lane, to->host, from->memory, from->offset,
				 bytes);
	return copy_host(device, lane, to->host, from->host, bytes);
}

/* The pieces need no order among each other. */
static gpumem_status copy_pieces(const struct opencl_device *device,
				 const struct opencl_lane *lane,
				 struct place to, struct place from,
				 uint64_t bytes)
{
	gpumem_status status = GPUMEM_OK;

	while (bytes && status == GPUMEM_OK) {
		uint64_t piece =
			bytes < OPENCL_PIECE_BYTES ? bytes : OPENCL_PIECE_BYTES;

		if (device->traits.memory == OPENCL_BUFFER)
			status = copy_buffers(device, lane, &to, &from, piece);
		else
			status = copy_pointers(device, lane, to.host, from.host,
					       piece);
		to.host += piece;
		to.offset += piece;
		from.host += piece;
		from.offset += piece;
		bytes -= piece;
	}
	return status;
}

/* Implementations see it of a command, and not of several. */
static gpumem_status check_apart(uint64_t to, uint64_t from, uint64_t bytes)
{
	if ((to > from ? to - from : from - to) >= bytes)
		return GPUMEM_OK;
	return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
			      "%llu bytes at 0x%llx and at 0x%llx overlap",
			      (unsigned long long)bytes, (unsigned long long)to,
			      (unsigned long long)from);
}

gpumem_status gm_opencl_copy(void *handle, uint64_t to, uint64_t from,
			     uint64_t bytes, gpumem_stream stream)
{
	struct opencl_device *device = handle;
	struct place target = {0}, source = {0};
	struct opencl_lane lane;
	gpumem_status status = gm_opencl_enter(device, stream, &lane);

	if (status == GPUMEM_OK)
		status = locate(device, to, bytes, &target);
	if (status == GPUMEM_OK)
		status = locate(device, from, bytes, &source);
	if (status == GPUMEM_OK)
		status = check_apart(to, from, bytes);
	if (status == GPUMEM_OK)
		status = gm_opencl_fence(&lane);
	if (status == GPUMEM_OK)
		status = copy_pieces(device, &lane, target, source, bytes);
	if (status == GPUMEM_OK)
		status = gm_opencl_go(&lane);
	return gm_opencl_leave(&lane, status);
}
