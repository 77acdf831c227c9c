/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program meets by OpenCL under `gpumem-run --limit=4MiB`, for
 * tests/tool_run_opencl.sh: its argument says which case. Exit status 77: the
 * implementation has not what the case needs.
 */
#include "opencl_limit.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
cl_device_id devices[2];
cl_uint device_count;
cl_platform_id platform;
cl_context context;

cl_context context_of(cl_uint count, const cl_device_id *of)
{
	cl_int code;
	cl_context made = clCreateContext(NULL, count, of, NULL, NULL, &code);

	TRUE(made && !code);
	return made;
}

static void begin(void)
{
	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, devices,
			   &device_count))
		exit(77);
	device_count = device_count < 2 ? device_count : 2;
	context = context_of(1, devices);
}

cl_mem buffer_in(cl_context in, size_t bytes)
{
	cl_int code = 1;
	cl_mem memory =
		clCreateBuffer(in, CL_MEM_READ_WRITE, bytes, NULL, &code);

	TRUE(memory ? code == CL_SUCCESS : code == REFUSED);
	return memory;
}

cl_mem buffer(size_t bytes)
{
	return buffer_in(context, bytes);
}

cl_mem image(size_t width, size_t height)
{
	const cl_image_desc about = {.image_type = CL_MEM_OBJECT_IMAGE2D,
				     .image_width = width,
				     .image_height = height};
	cl_int code = 1;
	cl_mem memory = clCreateImage(context, CL_MEM_READ_WRITE, &format,
				      &about, NULL, &code);

	TRUE(memory ? code == CL_SUCCESS : code == REFUSED);
	return memory;
}

void release(cl_mem memory)
{
	TRUE(memory && !clReleaseMemObject(memory));
}

void left(size_t bytes)
{
	cl_mem memory;

	TRUE(!buffer(bytes + 1));
	if (!bytes)
		return;
	memory = buffer(bytes);
	TRUE(!buffer(1));
	release(memory);
}

/* ---- cases, one thread
 */

/* 10 buffers are refused. */
static void buffers(void)
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

static void with_properties(void)
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
static void images(void)
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
static void svm(void)
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
static void no_memory(void)
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

/* Of what the implementation refuses nothing stays promised, and it says why.
 */
static void failures(void)
{
	cl_mem_flags wrong = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
	cl_int code;

	for (int i = 0; i < 100; i++) {
		TRUE(!clCreateBuffer(context, wrong, LIMIT, NULL, &code));
		TRUE(code == CL_INVALID_VALUE);
		(void)clSVMAlloc(context, wrong, LIMIT, 0);
	}
	TRUE(!clCreateBuffer(context, 0, 0, NULL, &code));
	TRUE(code == CL_INVALID_BUFFER_SIZE);
	TRUE(!clCreateBuffer(NULL, 0, LIMIT + 1, NULL, &code));
	TRUE(code == CL_INVALID_CONTEXT);
	left(LIMIT);
	/* It is not asked at all. */
	TRUE(!clCreateBuffer(context, wrong, LIMIT + 1, NULL, &code));
	TRUE(code == REFUSED);
}

/* Of a pipe the size is known when it is there. */
static void pipes(void)
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

/* A command holds what was released. */
static void held(void)
{
	static int zero;
	cl_command_queue queue;
	cl_mem memory = buffer(LIMIT);
	cl_event gate;
	cl_int code;

	queue = clCreateCommandQueue(context, devices[0], 0, &code);
	gate = clCreateUserEvent(context, &code);
	TRUE(!clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, sizeof(zero),
				   &zero, 1, &gate, NULL));
	release(memory);
	left(0);
	TRUE(!clSetUserEventStatus(gate, CL_COMPLETE) && !clFinish(queue));
	left(LIMIT);
}

/* The first device has been used before. */
static void race_second(void)
{
	if (device_count < 2)
		exit(77);
	clSVMFree(context, clSVMAlloc(context, CL_MEM_READ_WRITE, 1, 0));
	context = context_of(1, devices + 1);
	race();
}

/* ---- the end
 */

static void killed(void)
{
	TRUE(buffer(LIMIT) && !buffer(7));
	raise(9);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"buffers", buffers},     {"properties", with_properties},
		     {"images", images},       {"svm", svm},
		     {"no_memory", no_memory}, {"sizes", sizes},
		     {"failures", failures},   {"pipes", pipes},
		     {"race", race},	       {"race_second", race_second},
		     {"held", held},	       {"two", two},
		     {"free", free_memory},    {"part", part},
		     {"told", told},	       {"threads", threads},
		     {"killed", killed}};

	alarm(120);
	begin();
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			return 0;
		}
	return 2;
}
