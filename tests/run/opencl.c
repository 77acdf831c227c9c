/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that knows nothing of gpumem, for tests/tool_run_opencl.sh: its
 * argument says what it does with the memory of the first OpenCL device. What
 * it prints depends on neither gpumem nor addresses.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void say(const char *what, long value)
{
	printf("%s: %ld\n", what, value);
	fflush(stdout);
}

static void begin(void)
{
	cl_platform_id platform;
	cl_int code;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
		printf("no device\n");
		exit(77);
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	queue = clCreateCommandQueue(context, device, 0, &code);
	say("begin", code);
}

static void end(void)
{
	say("queue", clReleaseCommandQueue(queue));
	say("context", clReleaseContext(context));
}

static cl_mem buffer(size_t bytes)
{
	cl_int code = 1;
	cl_mem memory =
		clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);

	if (!memory || code)
		say("buffer", code);
	return memory;
}

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

/* ---- objects
 */

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

static void objects(void)
{
	parts();
	contents();
	images();
	image_of_buffer();
	newer();
	errors();
	end();
}

/* ---- shared virtual memory
 */

static void CL_CALLBACK free_them(cl_command_queue from, cl_uint count,
				  void *addresses[], void *user)
{
	(void)from;
	(void)user;
	for (cl_uint i = 0; i < count; i++)
		clSVMFree(context, addresses[i]);
}

/* 300000 B at the peak; 5 of 6 are freed in each way. */
static void svm(void)
{
	void *all[6];

	for (int i = 0; i < 6; i++) {
		all[i] = clSVMAlloc(context, CL_MEM_READ_WRITE, 50000, 0);
		if (!all[i]) {
			printf("no shared virtual memory\n");
			exit(76);
		}
	}
	say("too much",
	    clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE_MAX / 2, 0) != NULL);
	say("a wrong queue",
	    clEnqueueSVMFree(NULL, 1, all, NULL, NULL, 0, NULL, NULL));
	clSVMFree(context, all[0]);
	clSVMFree(context, NULL);
	say("enqueued",
	    clEnqueueSVMFree(queue, 2, all + 1, NULL, NULL, 0, NULL, NULL));
	say("finished", clFinish(queue));
	say("by a function", clEnqueueSVMFree(queue, 2, all + 3, free_them,
					      NULL, 0, NULL, NULL));
	say("finished", clFinish(queue));
	end();
}

/* ---- order, threads, children
 */

/* A command holds what was released: 8 MiB at the peak. */
static void held(void)
{
	cl_mem first = buffer(4 * MIB), second;
	static int zero;
	cl_int code;
	cl_event gate = clCreateUserEvent(context, &code);

	say("gate", code);
	say("write", clEnqueueWriteBuffer(queue, first, CL_FALSE, 0,
					  sizeof(zero), &zero, 1, &gate, NULL));
	clReleaseMemObject(first);
	second = buffer(4 * MIB);
	clSetUserEventStatus(gate, CL_COMPLETE);
	say("finish", clFinish(queue));
	clReleaseEvent(gate);
	clReleaseMemObject(second);
	end();
}

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < 200; i++) {
		cl_mem first = buffer(KIB), second = buffer(2 * KIB);

		clReleaseMemObject(first);
		clRetainMemObject(second);
		clReleaseMemObject(second);
		clReleaseMemObject(second);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
	end();
}

/* The child's release is of its own copy. */
static void child(void)
{
	cl_mem memory = buffer(4 * MIB);
	int status = 0;

	if (!fork()) {
		clReleaseMemObject(memory);
		_exit(3);
	}
	wait(&status);
	say("child", WEXITSTATUS(status));
	clReleaseMemObject(memory);
	end();
}

static void leave(void)
{
	(void)buffer(6 * MIB);
}

static void quit(void)
{
	leave();
	_exit(5);
}

static void killed(void)
{
	leave();
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} ways[] = {{"objects", objects}, {"svm", svm},	    {"held", held},
		    {"threads", threads}, {"child", child}, {"leave", leave},
		    {"quit", quit},	  {"kill", killed}};

	alarm(120);
	begin();
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].function();
	return 0;
}
