/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A case of the program opencl: memory objects of each kind, one after the
 * other, and calls that are wrong. Not shared virtual memory, which has no
 * object, nor commands and threads that hold one.
 */
#include "opencl.h"

#include <stdio.h>
#include <string.h>

static long references(cl_mem memory)
{
	cl_uint count = 0;

	clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(count),
			   &count, NULL);
	return count;
}

static void CL_CALLBACK told(cl_mem memory, void *what)
{
	(void)memory;
	printf("the end of %s\n", (const char *)what);
	fflush(stdout);
}

/* Parts and references hold it. Peak 1 MiB. */
static void parts(void)
{
	cl_buffer_region half = {512 * KIB, 512 * KIB};
	cl_mem whole = buffer(MIB), part;
	cl_int code;

	clSetMemObjectDestructorCallback(whole, told, "the first callback");
	clSetMemObjectDestructorCallback(whole, told, "the second callback");
	say("references", references(whole));
	part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE,
				 CL_BUFFER_CREATE_TYPE_REGION, &half, &code);
	say("part", code);
	clRetainMemObject(whole);
	clReleaseMemObject(whole);
	clReleaseMemObject(whole);
	say("released", 2);
	clReleaseMemObject(part);
	say("part released", 1);
}

/* rusticl holds what a blocking read is of for a while after that has returned,
 * on a thread of its own, which does this next. */
static void wait_for_marker(void)
{
	cl_event event;

	say("marker", clEnqueueMarkerWithWaitList(queue, 0, NULL, &event));
	say("wait", clWaitForEvents(1, &event));
	clReleaseEvent(event);
}

/* 12345 B at the peak, and 2 MiB of our own. */
static void contents(void)
{
	static char mine[2 * MIB], there[12345], back[12345];
	cl_mem copy, use;
	cl_int code;

	memset(there, 7, sizeof(there));
	copy = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(there),
			      there, &code);
	say("copy", code);
	clEnqueueReadBuffer(queue, copy, CL_TRUE, 0, sizeof(back), back, 0,
			    NULL, NULL);
	say("equal", !memcmp(there, back, sizeof(back)));
	use = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(mine), mine,
			     NULL);
	say("use", use != NULL);
	wait_for_marker();
	clReleaseMemObject(use);
	clReleaseMemObject(copy);
}

/* 16 KiB each, one after the other. */
static void images(void)
{
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE2D,
			       .image_width = 64,
			       .image_height = 64};
	cl_mem image;
	cl_int code;

	image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &about, NULL,
			      &code);
	say("image", code);
	if (image)
		clReleaseMemObject(image);
	image = clCreateImage2D(context, CL_MEM_READ_ONLY, &format, 64, 64, 0,
				NULL, &code);
	say("image of two dimensions", code);
	if (image)
		clReleaseMemObject(image);
	image = clCreateImage3D(context, CL_MEM_READ_ONLY, &format, 16, 16, 16,
				0, 0, NULL, &code);
	say("image of three dimensions", code);
	if (image)
		clReleaseMemObject(image);
	about.image_width = 0;
	image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &about, NULL,
			      &code);
	say("an image of nothing", code);
}

/* It is the buffer's memory: 4 KiB, and no image. */
static void image_of_buffer(void)
{
	const cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
	cl_mem memory = buffer(4 * KIB);
	cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
			       .image_width = 1024,
			       .mem_object = memory};
	cl_int code;
	cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY, &format, &about,
				     NULL, &code);

	say("image of a buffer", code);
	if (image)
		clReleaseMemObject(image);
	clReleaseMemObject(memory);
}

/* 2000 B, where there is OpenCL 3.0. */
static void newer(void)
{
	cl_int code = 0;
	cl_mem memory = clCreateBufferWithProperties(
		context, NULL, CL_MEM_READ_WRITE, 2000, NULL, &code);

	say("with properties", code);
	if (memory)
		clReleaseMemObject(memory);
	memory = clCreatePipe(context, 0, 16, 16, NULL, &code);
	say("pipe", memory || code);
	if (memory)
		clReleaseMemObject(memory);
}

/* The last has no place for its code. */
static void errors(void)
{
	cl_int code;

	clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &code);
	say("no bytes", code);
	clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 8, NULL, &code);
	say("no pointer", code);
	clCreateBuffer(NULL, CL_MEM_READ_WRITE, 8, NULL, &code);
	say("no context", code);
	say("release of nothing", clReleaseMemObject(NULL));
	say("none", clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 8, NULL,
				   NULL) != NULL);
}

void objects(void)
{
	parts();
	contents();
	images();
	image_of_buffer();
	newer();
	errors();
	end();
}
