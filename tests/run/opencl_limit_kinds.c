/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of the program opencl_limit: each kind of memory at the limit and above
 * it, and what has no memory of the device. Not how the program begins, nor
 * what refusals of the implementation do, which are in opencl_limit.c.
 */
#include "opencl_limit.h"

/* 10 buffers are refused. */
void buffers(void)
{
	cl_int code = 1;
	cl_mem memory;

	left(LIMIT); /* 2 */
	memory = buffer(LIMIT);
	TRUE(!buffer(SIZE_MAX));
	TRUE(!clCreateBuffer(context, 0, 1, NULL, NULL));
	TRUE(!clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 1, "", &code) &&
	     code == REFUSED);
	release(memory);
	memory = buffer(LIMIT - 5);
	left(5); /* 2 */
	left(5); /* 2 */
	release(memory);
	release(buffer(LIMIT));
	TRUE(!buffer(LIMIT + 1));
}

void with_properties(void)
{
	cl_int code = 1;
	cl_mem memory = clCreateBufferWithProperties(
		context, NULL, CL_MEM_READ_WRITE, LIMIT, NULL, &code);

	if (!memory && code != REFUSED)
		exit(77);
	TRUE(memory && !code);
	TRUE(!clCreateBufferWithProperties(context, NULL, 0, 1, NULL, &code));
	TRUE(code == REFUSED);
	release(memory);
	left(LIMIT);
}

/* 5 images are refused, when they are there. */
void images(void)
{
	cl_mem memory = image(1024, 1024), small;
	cl_int code = 1;

	TRUE(memory);
	TRUE(!image(1, 1));
	left(0);
	release(memory);
	TRUE(!image(1024, 1025));
	left(LIMIT);
	memory = buffer(LIMIT - 4 * KIB);
	TRUE(!image(32, 33));
	small = image(32, 32);
	TRUE(small);
	TRUE(!clCreateImage2D(context, 0, &format, 1, 1, 0, NULL, &code) &&
	     code == REFUSED);
	code = 1;
	TRUE(!clCreateImage3D(context, 0, &format, 2, 2, 2, 0, 0, NULL,
			      &code) &&
	     code == REFUSED);
	release(small);
	left(4 * KIB);
	release(memory);
	left(LIMIT);
}

/* 3 are refused. */
void svm(void)
{
	void *all = clSVMAlloc(context, CL_MEM_READ_WRITE, LIMIT, 0), *one;
	cl_command_queue queue;
	cl_int code;

	if (!all)
		exit(77);
	TRUE(!clSVMAlloc(context, CL_MEM_READ_WRITE, 1, 0));
	left(0);
	clSVMFree(context, all);
	left(LIMIT);
	TRUE(!clSVMAlloc(context, CL_MEM_READ_WRITE, LIMIT + 1, 0));
	queue = clCreateCommandQueue(context, devices[0], 0, &code);
	for (int i = 0; i < 100; i++) {
		one = clSVMAlloc(context, CL_MEM_READ_WRITE, LIMIT, 0);
		TRUE(one);
		TRUE(!clEnqueueSVMFree(queue, 1, &one, NULL, NULL, 0, NULL,
				       NULL));
		TRUE(!clFinish(queue));
	}
	TRUE((one = clSVMAlloc(context, CL_MEM_READ_WRITE, 1, 0)) != NULL);
	TRUE(!clSVMAlloc(context, CL_MEM_READ_WRITE, LIMIT, 0));
	left(LIMIT - 1);
	clSVMFree(context, one);
}

/* What has no memory of the device is had at the limit, and changes nothing. */
void no_memory(void)
{
	static char mine[2 * LIMIT];
	const cl_buffer_region half = {0, LIMIT / 2};
	cl_mem whole = buffer(LIMIT), part, use, seen;
	cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
			       .image_width = KIB,
			       .mem_object = whole};
	cl_int code = 1;

	part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &half,
				 &code);
	TRUE(part && !code);
	use = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof(mine), mine,
			     &code);
	TRUE(use && !code);
	seen = clCreateImage(context, CL_MEM_READ_ONLY, &format, &about, NULL,
			     &code);
	TRUE(seen && !code);
	left(0);
	release(seen);
	release(use);
	left(0);
	release(whole);
	left(0); /* the part holds it */
	release(part);
	left(LIMIT);
}

/* Of a pipe the size is known when it is there. */
void pipes(void)
{
	cl_int code = 1;
	cl_mem memory = buffer(LIMIT - 64), pipe;

	TRUE(!clCreatePipe(context, 0, 5, 13, NULL, &code) && code == REFUSED);
	pipe = clCreatePipe(context, 0, 4, 16, NULL, &code);
	TRUE(pipe && !code);
	left(0);
	release(pipe);
	left(64);
	release(memory);
}
