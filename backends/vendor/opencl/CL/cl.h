/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem uses of OpenCL's interface: what a build takes that finds no
 * headers of Khronos'. It is neither complete nor meant for programs, and has
 * no code. Functions of each version are declared, those that are deprecated
 * too.
 *
 *     cl.h            the functions
 *     cl_platform.h   the types
 *     cl_constants.h  the numbers
 *     cl_ext.h        extensions
 *     cl_icd.h        the loader's table of functions
 *     cl_layer.h      what a layer exports
 *
 * A comment that begins with "if" says which headers of Khronos' have such a
 * thing. tests/opencl_headers.sh compares all of it with them, and knows the
 * layout of these files, not C.
 */
#ifndef GPUMEM_VENDOR_OPENCL_CL_H
#define GPUMEM_VENDOR_OPENCL_CL_H

#include <CL/cl_constants.h>
#include <CL/cl_platform.h>

/* ---- Platforms, devices, contexts --------------------------------------- */

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *ids, cl_uint *count);
cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
			 size_t bytes, void *value, size_t *used);
void *clGetExtensionFunctionAddress(const char *name);
void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
					       const char *name);

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
		      cl_uint room, cl_device_id *ids, cl_uint *count);
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes,
		       void *value, size_t *used);
cl_int clCreateSubDevices(cl_device_id device,
			  const cl_device_partition_property *parts,
			  cl_uint room, cl_device_id *ids, cl_uint *count);

cl_context clCreateContext(const cl_context_properties *properties,
			   cl_uint count, const cl_device_id *devices,
			   void(CL_CALLBACK *tell)(const char *text,
						   const void *details,
						   size_t bytes, void *user),
			   void *user, cl_int *result);
cl_int clRetainContext(cl_context context);
cl_int clReleaseContext(cl_context context);
cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t bytes,
			void *value, size_t *used);

/* ---- Memory objects ------------------------------------------------------ */

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
		      void *host, cl_int *result);
cl_mem clCreateBufferWithProperties(cl_context context,
				    const cl_mem_properties *properties,
				    cl_mem_flags flags, size_t bytes,
				    void *host, cl_int *result);
cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
			 cl_buffer_create_type type, const void *about,
			 cl_int *result);
cl_mem clCreateImage(cl_context context, cl_mem_flags flags,
		     const cl_image_format *format, const cl_image_desc *about,
		     void *host, cl_int *result);
cl_mem clCreateImageWithProperties(cl_context context,
				   const cl_mem_properties *properties,
				   cl_mem_flags flags,
				   const cl_image_format *format,
				   const cl_image_desc *about, void *host,
				   cl_int *result);
cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags,
		       const cl_image_format *format, size_t width,
		       size_t height, size_t row_bytes, void *host,
		       cl_int *result);
cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags,
		       const cl_image_format *format, size_t width,
		       size_t height, size_t depth, size_t row_bytes,
		       size_t slice_bytes, void *host, cl_int *result);
cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint bytes,
		    cl_uint count, const cl_pipe_properties *properties,
		    cl_int *result);
cl_int clRetainMemObject(cl_mem memory);
cl_int clReleaseMemObject(cl_mem memory);
cl_int clGetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t bytes,
			  void *value, size_t *used);
cl_int clSetMemObjectDestructorCallback(cl_mem memory,
					void(CL_CALLBACK *tell)(cl_mem memory,
								void *user),
					void *user);

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes,
		 cl_uint alignment);
void clSVMFree(cl_context context, void *address);

/* ---- Queues and events --------------------------------------------------- */

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
				      cl_command_queue_properties properties,
				      cl_int *result);
cl_int clRetainCommandQueue(cl_command_queue queue);
cl_int clReleaseCommandQueue(cl_command_queue queue);
cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what,
			     size_t bytes, void *value, size_t *used);
cl_int clFlush(cl_command_queue queue);
cl_int clFinish(cl_command_queue queue);

cl_event clCreateUserEvent(cl_context context, cl_int *result);
cl_int clSetUserEventStatus(cl_event event, cl_int status);
cl_int clWaitForEvents(cl_uint count, const cl_event *events);
cl_int clRetainEvent(cl_event event);
cl_int clReleaseEvent(cl_event event);
cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t bytes,
		      void *value, size_t *used);

/* ---- Commands ------------------------------------------------------------ */

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem from, cl_bool wait,
			   size_t offset, size_t bytes, void *to, cl_uint count,
			   const cl_event *events, cl_event *event);
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem to, cl_bool wait,
			    size_t offset, size_t bytes, const void *from,
			    cl_uint count, const cl_event *events,
			    cl_event *event);
cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
			   size_t from_offset, size_t to_offset, size_t bytes,
			   cl_uint count, const cl_event *events,
			   cl_event *event);
cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem to,
			   const void *pattern, size_t each, size_t offset,
			   size_t bytes, cl_uint count, const cl_event *events,
			   cl_event *event);
cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint objects,
				  const cl_mem *memory,
				  cl_mem_migration_flags flags, cl_uint count,
				  const cl_event *events, cl_event *event);
cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool wait, void *to,
			  const void *from, size_t bytes, cl_uint count,
			  const cl_event *events, cl_event *event);
cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *to,
			   const void *pattern, size_t each, size_t bytes,
			   cl_uint count, const cl_event *events,
			   cl_event *event);
cl_int clEnqueueSVMFree(
	cl_command_queue queue, cl_uint blocks, void *addresses[],
	void(CL_CALLBACK *free_them)(cl_command_queue queue, cl_uint blocks,
				     void *addresses[], void *user),
	void *user, cl_uint count, const cl_event *events, cl_event *event);
cl_int clEnqueueMarker(cl_command_queue queue, cl_event *event);
cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count,
				   const cl_event *events, cl_event *event);
cl_int clEnqueueBarrier(cl_command_queue queue);
cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count,
				    const cl_event *events, cl_event *event);
cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
			      const cl_event *events);

#endif
