/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Values put into memory. Nobody locks.
 */
#include "opencl_plugin.h"

#include <string.h>

/* Some implementations go wrong above that, and none gains by more. */
#define PIECE_BYTES (UINT64_C(256) << 20)

/* What OpenCL 1.1 copies values from. */
#define PATTERN_BYTES 256
static uint8_t patterns[256][PATTERN_BYTES];

void gm_opencl_fill_init(void)
{
	int value;

	for (value = 0; value < 256; value++)
		memset(patterns[value], value, PATTERN_BYTES);
}

static gpumem_status fill_piece(const struct opencl_lane *lane, cl_mem memory,
				uint64_t offset, uint8_t value, uint64_t bytes)
{
	return gm_opencl_check(
		gm_opencl.clEnqueueFillBuffer(lane->queue, memory, &value, 1,
					      offset, bytes, 0, NULL, NULL),
		"clEnqueueFillBuffer");
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

gpumem_status gm_opencl_fill_buffer(const struct opencl_lane *lane,
				    cl_mem memory, uint64_t offset,
				    uint8_t value, uint64_t bytes)
{
	gpumem_status status = GPUMEM_OK;

	if (lane->version < 12 || !gm_opencl.clEnqueueFillBuffer)
		return double_up(lane, memory, offset, value, bytes);
	while (bytes && status == GPUMEM_OK) {
		uint64_t piece = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;

		status = fill_piece(lane, memory, offset, value, piece);
		offset += piece;
		bytes -= piece;
	}
	return status;
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

gpumem_status gm_opencl_fill(void *handle, uint64_t address, uint8_t value,
			     uint64_t bytes, gpumem_stream stream)
{
	const struct opencl_device *device = handle;
	struct opencl_block block;
	struct opencl_lane lane;
	gpumem_status status = gm_opencl_enter(device, stream, &lane);

	if (status == GPUMEM_OK)
		status = gm_opencl_block(device, address, bytes, &block);
	if (status == GPUMEM_OK)
		status = gm_opencl_fence(&lane);
	if (status != GPUMEM_OK)
		return status;
	if (device->traits.memory == OPENCL_BUFFER)
		status = gm_opencl_fill_buffer(&lane, block.memory,
					       address - block.address, value,
					       bytes);
	else
		status = fill_pointer(device, &lane, address, value, bytes);
	return status == GPUMEM_OK ? gm_opencl_go(&lane) : status;
}
