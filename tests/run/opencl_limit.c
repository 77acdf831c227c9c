/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a program meets by OpenCL under `gpumem-run --limit=4MiB`, for
 * tests/tool_run_opencl.sh: its argument says which case. Exit status 77: the
 * implementation has not what the case needs. Here are how it begins, the calls
 * that all cases use, and the cases of no one kind of memory.
 */
#include "cases.h"
#include "opencl_limit.h"

#include <signal.h>
#include <unistd.h>

const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
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

/* Of what the implementation refuses nothing stays promised, and it says why.
 */
static void failures(void)
{
	cl_mem_flags wrong = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
	cl_int code;

	for (int i = 0; i < 100; i++) {
		TRUE(!clCreateBuffer(context, wrong, LIMIT, NULL, &code));
		TRUE(code == CL_INVALID_VALUE);
		/* rusticl of Mesa 25 takes these flags here. */
		clSVMFree(context, clSVMAlloc(context, wrong, LIMIT, 0));
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
	static const struct run_case cases[] = {
		{"buffers", buffers},	  {"properties", with_properties},
		{"images", images},	  {"svm", svm},
		{"no_memory", no_memory}, {"sizes", sizes},
		{"failures", failures},	  {"pipes", pipes},
		{"race", race},		  {"race_second", race_second},
		{"held", held},		  {"two", two},
		{"free", free_memory},	  {"part", part},
		{"told", told},		  {"threads", threads},
		{"killed", killed}};

	alarm(120);
	begin();
	return RUN_CASE(cases, argv[1]) ? 0 : 2;
}
