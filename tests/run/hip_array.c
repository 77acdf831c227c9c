/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Arrays of a program of AMD's runtime under gpumem-run, for
 * tests/tool_run_hip_arrays.sh: its first argument says which case, its second
 * the number of the runtime's file. Over the runtime of hip_below.c, and the
 * doubles of ROCm 5, 6 and 7.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NO_MEMORY = 2,
	UINT8 = 1,
	HALF = 0x10,
	FLOAT = 0x20,
	UNKNOWN = 0xb0,
	LAYERED = 1,
	CUBEMAP = 4
};

#define MIB ((size_t)1 << 20)
#define LIMIT (64 * MIB)

struct channels {
	int x, y, z, w, kind;
};
struct extent {
	size_t width, height, depth;
};
struct flat {
	size_t width, height;
	int format;
	unsigned channels;
};
struct about {
	size_t width, height, depth;
	int format;
	unsigned channels, flags;
};

/* X(name, parameters) */
#define RUNTIME(X)                                                             \
	X(hipGetLastError, (void))                                             \
	X(hipMalloc, (void **, size_t))                                        \
	X(hipFree, (void *))                                                   \
	X(hipMemGetInfo, (size_t *, size_t *))                                 \
	X(hipMallocArray,                                                      \
	  (void **, const struct channels *, size_t, size_t, unsigned))        \
	X(hipMalloc3DArray,                                                    \
	  (void **, const struct channels *, struct extent, unsigned))         \
	X(hipMallocMipmappedArray, (void **, const struct channels *,          \
				    struct extent, unsigned, unsigned))        \
	X(hipArrayCreate, (void **, const struct flat *))                      \
	X(hipArray3DCreate, (void **, const struct about *))                   \
	X(hipMipmappedArrayCreate, (void **, struct about *, unsigned))        \
	X(hipFreeArray, (void *))                                              \
	X(hipArrayDestroy, (void *))                                           \
	X(hipFreeMipmappedArray, (void *))                                     \
	X(hipMipmappedArrayDestroy, (void *))

static struct {
#define MEMBER(name, parameters) int(*name) parameters;
	RUNTIME(MEMBER)
#undef MEMBER
} hip;

#define TRUE(is)                                                               \
	do {                                                                   \
		if (!(is)) {                                                   \
			printf("line %d: %s\n", __LINE__, #is);                \
			exit(1);                                               \
		}                                                              \
	} while (0)
#define OK(call) TRUE((call) == 0)
/* The runtime knows it, too. */
#define REFUSED(call)                                                          \
	TRUE((call) == NO_MEMORY && hip.hipGetLastError() == NO_MEMORY)

static const struct channels one = {8, 0, 0, 0, 1}, four = {32, 32, 32, 32, 2},
			     two = {16, 16, 0, 0, 2};

/* 832058 bytes at once, of 8, made in each way there is. */
static void sizes(void)
{
	const struct flat flat = {1000, 0, UINT8, 1};
	const struct about layers = {64, 64, 6, UINT8, 4, LAYERED};
	struct about cube = {4, 4, 6, UINT8, 1, CUBEMAP};
	void *arrays[5], *mipmaps[3];

	OK(hip.hipMallocArray(&arrays[0], &four, 256, 128, 0)); /* 524288 */
	OK(hip.hipMalloc3DArray(&arrays[1], &two, (struct extent){64, 32, 16},
				0)); /* 131072 */
	OK(hip.hipArrayCreate(&arrays[2], &flat));
	OK(hip.hipArray3DCreate(&arrays[3], &layers)); /* 98304 */
	OK(hip.hipMallocArray(&arrays[4], &one, 1000, 0, 0));
	/* 74924, for there are no more than 7 levels */
	OK(hip.hipMallocMipmappedArray(&mipmaps[0], &(struct channels){32},
				       (struct extent){64, 32, 8}, 100, 0));
	/* 1344: layers are as many at each level */
	OK(hip.hipMallocMipmappedArray(&mipmaps[1], &one,
				       (struct extent){4, 4, 64}, 9, LAYERED));
	OK(hip.hipMipmappedArrayCreate(&mipmaps[2], &cube, 9)); /* 126 */
	TRUE(hip.hipArrayDestroy(mipmaps[2]) != 0);
	for (int i = 0; i < 5; i++)
		OK(i % 2 ? hip.hipFreeArray(arrays[i])
			 : hip.hipArrayDestroy(arrays[i]));
	OK(hip.hipFreeMipmappedArray(mipmaps[0]));
	OK(hip.hipMipmappedArrayDestroy(mipmaps[1]));
	OK(hip.hipFreeMipmappedArray(mipmaps[2]));
}

/* 2 fail and 1 is live. */
static void ends(void)
{
	const struct flat none = {0, 1, FLOAT, 1};
	const struct about huge = {(size_t)1 << 40, 4, 0, FLOAT, 4, 0};
	void *array;

	TRUE(hip.hipArrayCreate(&array, &none) != 0);
	TRUE(hip.hipArray3DCreate(&array, &huge) == NO_MEMORY);
	TRUE(hip.hipArrayCreate(&array, NULL) != 0);
	TRUE(hip.hipMallocArray(&array, NULL, 1, 1, 0) != 0);
	TRUE(hip.hipFreeArray(NULL) != 0);
	OK(hip.hipMallocArray(&array, &two, 512, 4, 0)); /* 8192 */
	OK(hip.hipFreeArray(array));
	OK(hip.hipMallocArray(&array, &two, 512, 0, 0)); /* 2048 */
}

/* Nothing is known of the size of this format. */
static void unknown(void)
{
	const struct flat flat = {1024, 1, UNKNOWN, 3};
	void *array;

	OK(hip.hipArrayCreate(&array, &flat));
	OK(hip.hipFreeArray(array));
}

/* What the doubles lack; an array of 2048 bytes outlives it. */
static void reset(void)
{
	int (*function)(void) = dlsym(RTLD_DEFAULT, "hipDeviceReset");
	void *array;

	TRUE(function);
	OK(hip.hipMallocArray(&array, &two, 512, 0, 0));
	OK(function());
}

static void refuses(size_t width)
{
	const struct extent extent = {width, 0, 0};
	const struct flat flat = {width, 0, UINT8, 1};
	struct about about = {width, 0, 0, UINT8, 1, 0};
	void *array;

	REFUSED(hip.hipMallocArray(&array, &one, width, 0, 0));
	REFUSED(hip.hipMalloc3DArray(&array, &one, extent, 0));
	REFUSED(hip.hipMallocMipmappedArray(&array, &one, extent, 1, 0));
	REFUSED(hip.hipArrayCreate(&array, &flat));
	REFUSED(hip.hipArray3DCreate(&array, &about));
	REFUSED(hip.hipMipmappedArrayCreate(&array, &about, 1));
}

/* 14 are refused, 13 of them arrays. */
static void limited(void)
{
	const struct extent huge = {SIZE_MAX, SIZE_MAX, 4};
	void *array, *block;
	size_t left, total;

	refuses(LIMIT + 1); /* 6 */
	REFUSED(hip.hipMalloc3DArray(&array, &four, huge, 0));
	OK(hip.hipMallocArray(&array, &four, 4096, 1024, 0));
	refuses(1); /* 6 */
	REFUSED(hip.hipMalloc(&block, 1));
	OK(hip.hipMemGetInfo(&left, &total));
	TRUE(left == 0 && total == LIMIT);
	OK(hip.hipFreeArray(array));
	OK(hip.hipMalloc(&block, LIMIT - 5));
	OK(hip.hipMallocArray(&array, &one, 5, 0, 0));
	OK(hip.hipFreeArray(array));
	OK(hip.hipFree(block));
}

/* What is being given back is there until the runtime has it. */
static void *churn(void *peak)
{
	void *array;

	for (int i = 0; i < 100; i++) {
		if (hip.hipMallocArray(&array, &four, 2048, 1024, 0) == 0)
			OK(hip.hipFreeArray(array));
		TRUE(((size_t(*)(int))peak)(0) <= LIMIT);
	}
	return NULL;
}

static void threads(void)
{
	void *peak = dlsym(RTLD_DEFAULT, "below_peak");
	pthread_t threads[8];

	TRUE(peak);
	for (int i = 0; i < 8; i++)
		TRUE(!pthread_create(&threads[i], NULL, churn, peak));
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

static void find(const char *number)
{
	char file[64];
	void *library;

	snprintf(file, sizeof(file), "libamdhip64.so.%s", number);
	library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
	TRUE(library);
#define FIND(name, parameters)                                                 \
	*(void **)&hip.name = dlsym(library, #name);                           \
	TRUE(hip.name);
	RUNTIME(FIND)
#undef FIND
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"sizes", sizes},	   {"ends", ends},
		     {"unknown", unknown}, {"limited", limited},
		     {"threads", threads}, {"reset", reset}};

	if (argc < 3)
		return 2;
	find(argv[2]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(cases[i].name, argv[1])) {
			cases[i].run();
			printf("done\n");
			return 0;
		}
	return 2;
}
