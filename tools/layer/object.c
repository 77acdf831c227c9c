/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What there is to know of an object that a program made, by asking the
 * implementation. None of its questions change anything that the program can
 * ask, and none is asked with a lock of ours.
 *
 * How often a program releases an object does not tell when it ends: commands
 * and parts of it hold it too, and an implementation itself. Its callback does,
 * and since ours is the first one it is called after the program's.
 */
#include "layer.h"

#include <stdio.h>

#define DEVICES_MOST 64 /* of a context */

/* The device of which it is a part, or itself. */
static cl_device_id whole(cl_device_id device)
{
	cl_device_id parent;

	while (!layer_below.clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE,
					    sizeof(parent), &parent, NULL) &&
	       parent)
		device = parent;
	return device;
}

uint64_t layer_total(cl_device_id device)
{
	cl_ulong bytes = 0;

	return layer_below.clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE,
					   sizeof(bytes), &bytes, NULL)
		       ? 0
		       : bytes;
}

/* -1: there is none for it. */
static int row_of_device(cl_device_id device)
{
	char name[256] = "";
	int row;

	device = whole(device);
	row = layer_row(device);
	if (row >= 0)
		return row;
	(void)layer_below.clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name),
					  name, NULL);
	name[sizeof(name) - 1] = 0;
	return layer_row_add(device, name, layer_total(device));
}

/* Memory objects belong to no device of their context; here they are counted
 * with its first. -1: they cannot be. */
static int row_of(cl_context context)
{
	cl_device_id devices[DEVICES_MOST];
	size_t bytes;

	if (layer_below.clGetContextInfo(context, CL_CONTEXT_DEVICES,
					 sizeof(devices), devices, &bytes) ||
	    bytes < sizeof(devices[0]))
		return -1;
	return row_of_device(devices[0]);
}

static void CL_CALLBACK ended(cl_mem memory, void *serial)
{
	(void)memory;
	(void)layer_discharge(LAYER_MEMORY, (uintptr_t)serial, false);
}

/* False: it is made of another one's memory. */
static bool has_memory(cl_mem memory)
{
	cl_mem other = NULL;

	return layer_below.clGetMemObjectInfo(memory,
					      CL_MEM_ASSOCIATED_MEMOBJECT,
					      sizeof(other), &other, NULL) ||
	       !other;
}

/* Of one that is refused `ended` is told as well, which changes nothing. */
static enum layer_answer follow(int row, enum ledger_kind kind, cl_mem memory)
{
	struct block block = {.key = layer_serial(),
			      .kind = (uint8_t)kind,
			      .device = (uint8_t)row,
			      .space = LAYER_MEMORY};
	cl_mem_flags flags = 0;
	size_t bytes;

	if (layer_below.clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes),
					   &bytes, NULL) ||
	    layer_below.clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof(flags),
					   &flags, NULL) ||
	    layer_below.clSetMemObjectDestructorCallback(
		    memory, ended, (void *)(uintptr_t)block.key))
		return LAYER_UNKNOWN;
	block.bytes = bytes;
	if (flags & CL_MEM_USE_HOST_PTR)
		block.kind = LEDGER_HOST_PTR;
	return layer_charge(&block);
}

static bool promise(int row, enum ledger_kind kind, size_t bytes)
{
	struct block wanted = {
		.bytes = bytes, .kind = (uint8_t)kind, .device = (uint8_t)row};

	return row < 0 || layer_promise(&wanted);
}

/* Of a wrong context the implementation says so. */
bool layer_wanted(cl_context context, enum ledger_kind kind, cl_mem_flags flags,
		  size_t bytes)
{
	if (!layer_limited() || !bytes || !context ||
	    flags & CL_MEM_USE_HOST_PTR)
		return true;
	return promise(row_of(context), kind, bytes);
}

bool layer_wanted_svm(cl_context context, cl_device_id device,
		      enum ledger_kind kind, size_t bytes)
{
	if (!layer_limited() || !bytes || !context)
		return true;
	return promise(device ? row_of_device(device) : row_of(context), kind,
		       bytes);
}

bool layer_made(cl_context context, enum ledger_kind kind, cl_mem memory,
		size_t bytes, cl_int code)
{
	struct block wanted = {.bytes = bytes, .kind = (uint8_t)kind};
	enum layer_answer answer = LAYER_UNKNOWN;
	int row;

	if (memory ? !has_memory(memory) : code == CL_INVALID_CONTEXT)
		return true;
	row = row_of(context);
	wanted.device = (uint8_t)row;
	if (!memory && row >= 0)
		layer_failure(&wanted, code);
	if (memory && row >= 0)
		answer = follow(row, kind, memory);
	if (memory && answer == LAYER_UNKNOWN)
		layer_note(LEDGER_UNTRACKED);
	return answer != LAYER_REFUSED;
}

void layer_made_svm(cl_context context, cl_device_id device,
		    enum ledger_kind kind, void *address, size_t bytes)
{
	struct block block = {.key = (uintptr_t)address,
			      .bytes = bytes,
			      .kind = (uint8_t)kind,
			      .space = LAYER_SVM};
	int row = device ? row_of_device(device) : row_of(context);

	block.device = (uint8_t)row;
	if (!address && row >= 0)
		layer_failure(&block, CL_OUT_OF_RESOURCES);
	else if (address && (row < 0 || layer_charge(&block) == LAYER_UNKNOWN))
		layer_note(LEDGER_UNTRACKED);
}

/* One that has no row has not been used. */
uint64_t layer_left(cl_device_id device)
{
	device = whole(device);
	return layer_row_left(layer_row(device), layer_total(device));
}
