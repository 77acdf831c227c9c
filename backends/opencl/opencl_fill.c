/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Values put into memory. No locks.
 */
#include "opencl_plugin.h"

#include <string.h>

/* What OpenCL 1.1 copies values from. */
#define PATTERN_BYTES 256
static uint8_t patterns[256][PATTERN_BYTES];

void gm_opencl_fill_init(void)
{
	int value;

	for (value = 0; value < 256; value++)
		memset(patterns[value], value, PATTERN_BYTES);
}

/* OpenCL 1.1 has no fill: a little is written, and then what is there is
 * copied behind itself, each time twice as much. */
static gpumem_status double_up(const struct opencl_lane *lane, cl_mem memory,
			       uint64_t offset, uint8_t value, uint64_t bytes)
{
	uint64_t done = bytes < PATTERN_BYTES ? bytes : PATTERN_BYTES;
	gpumem_status status;

	status = gm_opencl_check(gm_opencl.clEnqueueWriteBuffer(
					 lane->queue, memory, CL_FALSE, offset,
					 done, patterns[value], 0, NULL, NULL),
				 "clEnqueueWriteBuffer");
	while (status == GPUMEM_OK && done < bytes) {
		uint64_t next = done < bytes - done ? done : bytes - done;

		status = gm_opencl_fence(lane);
		if (status == GPUMEM_OK)
			status = gm_opencl_check(
				gm_opencl.clEnqueueCopyBuffer(
					lane->queue, memory, memory, offset,
					offset + done, next, 0, NULL, NULL),
				"clEnqueueCopyBuffer");
		done += next;
	}
	return status;
}

static gpumem_status fill_buffer(const struct opencl_lane *lane, cl_mem memory,
				 uint64_t offset, uint8_t value, uint64_t bytes)
{
	if (lane->version < 12 || !gm_opencl.clEnqueueFillBuffer)
		return double_up(lane, memory, offset, value, bytes);
	return gm_opencl_check(
		gm_opencl.clEnqueueFillBuffer(lane->queue, memory, &value, 1,
					      offset, bytes, 0, NULL, NULL),
		"clEnqueueFillBuffer");
}

static gpumem_status fill_pointer(const struct opencl_device *device,
				  const struct opencl_lane *lane,
				  uint64_t address, uint8_t value,
				  uint64_t bytes)
{
	void *to = (void *)(uintptr_t)address;

	if (device->traits.memory == OPENCL_USM)
		return gm_opencl_check(device->usm_fill(lane->queue, to, &value,
							1, bytes, 0, NULL,
							NULL),
				       "clEnqueueMemFillINTEL");
	return gm_opencl_check(gm_opencl.clEnqueueSVMMemFill(lane->queue, to,
							     &value, 1, bytes,
							     0, NULL, NULL),
			       "clEnqueueSVMMemFill");
}

/* The pieces need no order among each other. */
static gpumem_status fill_pieces(const struct opencl_device *device,
				 const struct opencl_lane *lane,
				 const struct opencl_block *block,
				 uint64_t address, uint8_t value,
				 uint64_t bytes)
{
	gpumem_status status = GPUMEM_OK;

	while (bytes && status == GPUMEM_OK) {
		uint64_t piece =
			bytes < OPENCL_PIECE_BYTES ? bytes : OPENCL_PIECE_BYTES;

		if (block->memory)
			status = fill_buffer(lane, block->memory,
					     address - block->address, value,
					     piece);
		else
			status = fill_pointer(device, lane, address, value,
					      piece);
		address += piece;
		bytes -= piece;
	}
	return status;
}

gpumem_status gm_opencl_fill(void *handle, uint64_t address, uint8_t value,
			     uint64_t bytes, gpumem_stream stream)
{
	struct opencl_device *device = handle;
	struct opencl_block block;
	struct opencl_lane lane;
	gpumem_status status = gm_opencl_enter(device, stream, &lane);

	if (status == GPUMEM_OK)
		status = gm_opencl_block(device, address, bytes, &block);
	if (status == GPUMEM_OK)
		status = gm_opencl_fence(&lane);
	if (status == GPUMEM_OK)
		status = fill_pieces(device, &lane, &block, address, value,
				     bytes);
	if (status == GPUMEM_OK)
		status = gm_opencl_go(&lane);
	return gm_opencl_leave(&lane, status);
}
