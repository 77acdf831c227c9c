/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The functions that the OpenCL layer stands in front of: all that the plugin
 * looks up, by what they give and what that does to what is held.
 * tests/opencl_traces.sh compares the two lists.
 */
#ifndef OPENCL_CALLS_H
#define OPENCL_CALLS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl_layer.h>

/* name, parameters, arguments: they give a result and hold nothing. */
#define LAYER_ASKS(X)                                                          \
	X(clGetPlatformIDs,                                                    \
	  (cl_uint room, cl_platform_id * ids, cl_uint * count),               \
	  (room, ids, count))                                                  \
	X(clGetPlatformInfo,                                                   \
	  (cl_platform_id id, cl_platform_info what, size_t bytes,             \
	   void *value, size_t *used),                                         \
	  (id, what, bytes, value, used))                                      \
	X(clGetDeviceIDs,                                                      \
	  (cl_platform_id id, cl_device_type type, cl_uint room,               \
	   cl_device_id * ids, cl_uint * count),                               \
	  (id, type, room, ids, count))                                        \
	X(clGetContextInfo,                                                    \
	  (cl_context context, cl_context_info what, size_t bytes,             \
	   void *value, size_t *used),                                         \
	  (context, what, bytes, value, used))                                 \
	X(clGetCommandQueueInfo,                                               \
	  (cl_command_queue queue, cl_command_queue_info what, size_t bytes,   \
	   void *value, size_t *used),                                         \
	  (queue, what, bytes, value, used))                                   \
	X(clWaitForEvents, (cl_uint count, const cl_event *events),            \
	  (count, events))                                                     \
	X(clFlush, (cl_command_queue queue), (queue))                          \
	X(clFinish, (cl_command_queue queue), (queue))                         \
	X(clEnqueueBarrier, (cl_command_queue queue), (queue))                 \
	X(clEnqueueWaitForEvents,                                              \
	  (cl_command_queue queue, cl_uint count, const cl_event *events),     \
	  (queue, count, events))

/* name, type of the thing that is asked: a test may have them answer what it
 * likes. */
#define LAYER_LIARS(X)                                                         \
	X(clGetDeviceInfo, cl_device_id)                                       \
	X(clGetMemObjectInfo, cl_mem)                                          \
	X(clGetEventInfo, cl_event)

/* name, type of the only parameter, thing, change */
#define LAYER_REFERENCES(X)                                                    \
	X(clRetainContext, cl_context, CONTEXTS, 1)                            \
	X(clReleaseContext, cl_context, CONTEXTS, -1)                          \
	X(clRetainCommandQueue, cl_command_queue, QUEUES, 1)                   \
	X(clReleaseCommandQueue, cl_command_queue, QUEUES, -1)                 \
	X(clRetainMemObject, cl_mem, MEMORY, 1)                                \
	X(clReleaseMemObject, cl_mem, MEMORY, -1)                              \
	X(clRetainEvent, cl_event, EVENTS, 1)                                  \
	X(clReleaseEvent, cl_event, EVENTS, -1)

/* name, type, thing, parameters up to the result's place, arguments */
#define LAYER_MAKERS(X)                                                        \
	X(clCreateContext, cl_context, CONTEXTS,                               \
	  (const cl_context_properties *properties, cl_uint count,             \
	   const cl_device_id *ids,                                            \
	   void(CL_CALLBACK * tell)(const char *, const void *, size_t,        \
				    void *),                                   \
	   void *user, cl_int *result),                                        \
	  (properties, count, ids, tell, user, result))                        \
	X(clCreateCommandQueue, cl_command_queue, QUEUES,                      \
	  (cl_context context, cl_device_id id,                                \
	   cl_command_queue_properties properties, cl_int * result),           \
	  (context, id, properties, result))                                   \
	X(clCreateBuffer, cl_mem, MEMORY,                                      \
	  (cl_context context, cl_mem_flags flags, size_t bytes, void *host,   \
	   cl_int *result),                                                    \
	  (context, flags, layer_bytes(bytes), host, result))                  \
	X(clCreateSubBuffer, cl_mem, MEMORY,                                   \
	  (cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type,      \
	   const void *info, cl_int *result),                                  \
	  (memory, flags, type, info, result))

#define LAYER_WAITS cl_uint count, const cl_event *waits, cl_event *event

/* name, parameters, arguments: with a place for an event at the end */
#define LAYER_COMMANDS(X)                                                      \
	X(clEnqueueMarker, (cl_command_queue queue, cl_event * event),         \
	  (queue, event))                                                      \
	X(clEnqueueMarkerWithWaitList, (cl_command_queue queue, LAYER_WAITS),  \
	  (queue, count, waits, event))                                        \
	X(clEnqueueBarrierWithWaitList, (cl_command_queue queue, LAYER_WAITS), \
	  (queue, count, waits, event))                                        \
	X(clEnqueueMigrateMemObjects,                                          \
	  (cl_command_queue queue, cl_uint objects, const cl_mem *memory,      \
	   cl_mem_migration_flags flags, LAYER_WAITS),                         \
	  (queue, objects, memory, flags, count, waits, event))

/* The same for those that have a size, with where to and where from. */
#define LAYER_MOVES(X)                                                         \
	X(clEnqueueReadBuffer,                                                 \
	  (cl_command_queue queue, cl_mem memory, cl_bool block,               \
	   size_t offset, size_t bytes, void *to, LAYER_WAITS),                \
	  (queue, memory, block, offset, bytes, to, count, waits, event),      \
	  (uintptr_t)to, offset)                                               \
	X(clEnqueueWriteBuffer,                                                \
	  (cl_command_queue queue, cl_mem memory, cl_bool block,               \
	   size_t offset, size_t bytes, const void *from, LAYER_WAITS),        \
	  (queue, memory, block, offset, bytes, from, count, waits, event),    \
	  offset, (uintptr_t)from)                                             \
	X(clEnqueueCopyBuffer,                                                 \
	  (cl_command_queue queue, cl_mem from, cl_mem to, size_t at,          \
	   size_t to_at, size_t bytes, LAYER_WAITS),                           \
	  (queue, from, to, at, to_at, bytes, count, waits, event), to_at, at) \
	X(clEnqueueFillBuffer,                                                 \
	  (cl_command_queue queue, cl_mem memory, const void *pattern,         \
	   size_t each, size_t offset, size_t bytes, LAYER_WAITS),             \
	  (queue, memory, pattern, each, offset, bytes, count, waits, event),  \
	  offset, 0)                                                           \
	X(clEnqueueSVMMemcpy,                                                  \
	  (cl_command_queue queue, cl_bool block, void *to, const void *from,  \
	   size_t bytes, LAYER_WAITS),                                         \
	  (queue, block, to, from, bytes, count, waits, event), (uintptr_t)to, \
	  (uintptr_t)from)                                                     \
	X(clEnqueueSVMMemFill,                                                 \
	  (cl_command_queue queue, void *to, const void *pattern, size_t each, \
	   size_t bytes, LAYER_WAITS),                                         \
	  (queue, to, pattern, each, bytes, count, waits, event),              \
	  (uintptr_t)to, 0)

/* All of them. X looks at the name alone: X(name, ...). */
#define LAYER_CALLS(X)                                                         \
	LAYER_ASKS(X)                                                          \
	LAYER_REFERENCES(X)                                                    \
	LAYER_MAKERS(X)                                                        \
	LAYER_COMMANDS(X)                                                      \
	LAYER_MOVES(X)                                                         \
	LAYER_LIARS(X)                                                         \
	X(clGetExtensionFunctionAddressForPlatform, )                          \
	X(clSVMAlloc, )                                                        \
	X(clSVMFree, )

#endif
