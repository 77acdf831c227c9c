/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that knows nothing of gpumem, for tests/tool_run_opencl.sh: its
 * argument says what it does with the memory of the first OpenCL device. What
 * it prints depends on neither gpumem nor addresses. Here are shared virtual
 * memory, what holds a buffer, and how it ends; objects are in
 * opencl_objects.c.
 */
#include "cases.h"
#include "opencl.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_device_id device;
cl_context context;
cl_command_queue queue;

void say(const char *what, long value)
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

void end(void)
{
	say("queue", clReleaseCommandQueue(queue));
	say("context", clReleaseContext(context));
}

cl_mem buffer(size_t bytes)
{
	cl_int code = 1;
	cl_mem memory =
		clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);

	if (!memory || code)
		say("buffer", code);
	return memory;
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

/* Of the device, which the report has, too. */
static void name(void)
{
	char text[256] = "";

	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(text) - 1, text, NULL);
	printf("%s\n", text);
	end();
}

int main(int argc, char **argv)
{
	static const struct run_case cases[] = {
		{"objects", objects}, {"svm", svm},	{"held", held},
		{"threads", threads}, {"child", child}, {"leave", leave},
		{"quit", quit},	      {"kill", killed}, {"name", name}};

	alarm(120);
	begin();
	return RUN_CASE(cases, argv[1]) ? 0 : 2;
}
