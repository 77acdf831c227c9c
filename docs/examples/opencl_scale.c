/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A kernel on blocks of a pool, in the program's own OpenCL context and queue:
 *
 *	cc opencl_scale.c $(pkg-config --cflags --libs gpumem) -lOpenCL
 *	./a.out [PLATFORM]
 *
 * The device is the first of the first platform whose name has PLATFORM in it.
 * It works with both kinds of device: where blocks have addresses (shared
 * virtual memory) a kernel takes the pointer, elsewhere the object that holds
 * the block and how far into it, or a view, which is an object for the block
 * alone. GPUMEM_CONF=opencl.memory:buffer or :svm chooses where there is a
 * choice.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <gpumem/gpumem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 40

static const char source[] =
	"kernel void scale(global float *data, ulong first, float factor)\n"
	"{\n"
	"	data[first + get_global_id(0)] *= factor;\n"
	"}\n";

static cl_context context;
static cl_command_queue queue;
static cl_kernel kernel;
static gpumem_device *device;
static gpumem_pool *pool;
static float data[BLOCKS * 1000 + 1];

static void check_cl(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: OpenCL says %d\n", what, (int)result);
	exit(1);
}

static void check(gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	if (status == GPUMEM_OK)
		return;
	gpumem_last_error(&error);
	fprintf(stderr, "%s\n", error.text);
	exit(1);
}

static cl_device_id find_device(const char *wanted)
{
	cl_platform_id platforms[16];
	cl_uint count = 0;

	check_cl(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
	for (cl_uint i = 0; i < count && i < 16; i++) {
		char name[256] = "";
		cl_device_id found;

		clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME,
				  sizeof(name) - 1, name, NULL);
		if (strstr(name, wanted) &&
		    clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &found,
				   NULL) == CL_SUCCESS) {
			printf("%s: ", name);
			return found;
		}
	}
	fprintf(stderr, "no OpenCL device of a platform \"%s\"\n", wanted);
	exit(3);
}

/* What the program has anyhow: a context, a queue and a kernel of its own. */
static void begin_opencl(cl_device_id id)
{
	const char *text = source;
	cl_program program;
	cl_int result;

	context = clCreateContext(NULL, 1, &id, NULL, NULL, &result);
	check_cl(result, "clCreateContext");
	queue = clCreateCommandQueue(context, id, 0, &result);
	check_cl(result, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &result);
	check_cl(result, "clCreateProgramWithSource");
	check_cl(clBuildProgram(program, 1, &id, "", NULL, NULL),
		 "clBuildProgram");
	kernel = clCreateKernel(program, "scale", &result);
	check_cl(result, "clCreateKernel");
	clReleaseProgram(program);
}

/* Gives the kernel a block, in one of the ways that the device has. */
static void set_block(void *block, bool as_view, bool has_objects)
{
	cl_ulong first = 0;
	uint64_t offset;
	void *object;

	if (!has_objects) {
		check_cl(clSetKernelArgSVMPointer(kernel, 0, block),
			 "clSetKernelArgSVMPointer");
	} else if (as_view) {
		check(gpumem_view(block, &object));
		check_cl(clSetKernelArg(kernel, 0, sizeof(cl_mem), &object),
			 "clSetKernelArg of a view");
	} else {
		check(gpumem_object(block, &object, &offset));
		first = offset / sizeof(float);
		check_cl(clSetKernelArg(kernel, 0, sizeof(cl_mem), &object),
			 "clSetKernelArg of an object");
	}
	check_cl(clSetKernelArg(kernel, 1, sizeof(first), &first),
		 "clSetKernelArg of the offset");
}

/* Scales `count` numbers on the device. All is queued; the block is freed at
 * once, and will not be given out again before that work is over. */
static void scale(float *numbers, size_t count, bool as_view, bool has_objects)
{
	size_t bytes = count * sizeof(float);
	cl_float factor = 3;
	void *block;

	check(gpumem_alloc(pool, bytes, queue, &block));
	check(gpumem_copy(device, block, numbers, bytes, queue));
	set_block(block, as_view, has_objects);
	check_cl(clSetKernelArg(kernel, 2, sizeof(factor), &factor),
		 "clSetKernelArg of the factor");
	check_cl(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0,
					NULL, NULL),
		 "clEnqueueNDRangeKernel");
	check(gpumem_copy(device, numbers, block, bytes, queue));
	check(gpumem_free(block, queue));
}

static size_t work(bool has_objects)
{
	size_t wrong = 0, i;
	void *kept;

	for (i = 0; i < BLOCKS * 1000 + 1; i++)
		data[i] = (float)i;
	/* So that no other block begins where its object does. */
	check(gpumem_alloc(pool, 1000, queue, &kept));
	for (i = 0; i < BLOCKS; i++)
		scale(data + i * 1000, 1000 - i % 7, i % 2, has_objects);
	check(gpumem_stream_sync(device, queue));
	for (i = 0; i < BLOCKS * 1000 + 1; i++) {
		size_t block = i / 1000, within = i % 1000;
		bool scaled = block < BLOCKS && within < 1000 - block % 7;

		wrong += data[i] != (float)i * (scaled ? 3 : 1);
	}
	check(gpumem_free(kept, queue));
	return wrong;
}

int main(int argc, char **argv)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	cl_device_id id = find_device(argc > 1 ? argv[1] : "");
	size_t wrong;

	begin_opencl(id);
	check(gpumem_device_adopt("opencl", context, id, &device));
	check(gpumem_device_get_info(device, &info));
	check(gpumem_pool_create(device, NULL, &pool));
	wrong = work((info.caps & GPUMEM_CAP_OBJECTS) != 0);
	check(gpumem_pool_stats(pool, &stats));
	printf("%d blocks as %s, %zu numbers are wrong, %llu bytes reserved\n",
	       BLOCKS,
	       info.caps & GPUMEM_CAP_OBJECTS ? "objects and views"
					      : "pointers",
	       wrong, (unsigned long long)stats.reserved.peak);
	/* Some implementations let a kernel hold the view that it was given
	 * last, and a pool does not end before all views are let go. */
	clReleaseKernel(kernel);
	check(gpumem_pool_destroy(pool, 0));
	check(gpumem_device_close(device));
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return wrong != 0;
}
