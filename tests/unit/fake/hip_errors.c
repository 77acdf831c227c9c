/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * HIP over the double of NVIDIA's driver, each of the three libraries: what
 * becomes of that driver's errors, what is remembered of them, and faults.
 */
#include "hip.h"

/* What a code of CUDA becomes, where the number is another. */
static const struct {
	int cuda, hip;
	const char *name;
} codes[] = {
	{1, 1, "hipErrorInvalidValue"},
	{2, 2, "hipErrorOutOfMemory"},
	{3, 3, "hipErrorNotInitialized"},
	{4, 4, "hipErrorDeinitialized"},
	{34, 100, "hipErrorNoDevice"},
	{46, 101, "hipErrorInvalidDevice"},
	{100, 100, "hipErrorNoDevice"},
	{201, 201, "hipErrorInvalidContext"},
	{205, 205, "hipErrorMapFailed"},
	{214, 214, "hipErrorECCNotCorrectable"},
	{217, 217, "hipErrorPeerAccessUnsupported"},
	{304, 304, "hipErrorOperatingSystem"},
	{400, 400, "hipErrorInvalidHandle"},
	{600, 600, "hipErrorNotReady"},
	{700, 700, "hipErrorIllegalAddress"},
	{702, 702, "hipErrorLaunchTimeOut"},
	{704, 704, "hipErrorPeerAccessAlreadyEnabled"},
	{709, 709, "hipErrorContextIsDestroyed"},
	{711, 217, "hipErrorPeerAccessUnsupported"},
	{714, 719, "hipErrorLaunchFailure"},
	{715, 719, "hipErrorLaunchFailure"},
	{716, 719, "hipErrorLaunchFailure"},
	{717, 719, "hipErrorLaunchFailure"},
	{718, 719, "hipErrorLaunchFailure"},
	{719, 719, "hipErrorLaunchFailure"},
	{800, 801, "hipErrorNotSupported"},
	{801, 801, "hipErrorNotSupported"},
	{802, 35, "hipErrorInsufficientDriver"},
	{803, 35, "hipErrorInsufficientDriver"},
	{900, 900, "hipErrorStreamCaptureUnsupported"},
	{901, 901, "hipErrorStreamCaptureInvalidated"},
	{904, 904, "hipErrorStreamCaptureUnjoined"},
	{906, 906, "hipErrorStreamCaptureImplicit"},
	{907, 907, "hipErrorCapturedEvent"},
	{908, 908, "hipErrorStreamCaptureWrongThread"},
	{12345, 999, "hipErrorUnknown"},
};

static void test_codes(void)
{
	void *block;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		hipError_t error;

		(void)control.fault("cuMemAlloc", 1, false, codes[i].cuda);
		error = hip.hipMalloc(&block, 1);
		is_int(error, codes[i].hip, "CUDA's %d", codes[i].cuda);
		is_str(hip.hipGetErrorName(error), codes[i].name, "by name");
	}
	control.heal();
	is_str(hip.hipGetErrorString(hipErrorOutOfMemory),
	       major >= 6 ? "out of memory" : "hipErrorOutOfMemory", "a text");
}

static void test_last(void)
{
	int device, kept = major >= 7 ? 101 : 0;
	hipStream_t stream;

	(void)hip.hipGetLastError();
	is_int(hip.hipGetLastError(), 0, "none left");
	(void)hip.hipSetDevice(9);
	is_int(hip.hipPeekAtLastError(), 101, "the last error");
	is_int(hip.hipPeekAtLastError(), 101, "stays when looked at");
	(void)hip.hipGetDevice(&device);
	is_int(hip.hipPeekAtLastError(), kept, "a success later");
	(void)hip.hipStreamCreate(&stream);
	(void)control.fault("cuStreamQuery", 1, false, 600);
	is_int(hip.hipStreamQuery(stream), 600, "not ready");
	is_int(hip.hipGetLastError(), major >= 7 ? 101 : 600,
	       "is an error before 7 only");
	is_int(hip.hipGetLastError(), 0, "forgotten");
	(void)hip.hipStreamDestroy(stream);
	if (hip.hipExtGetLastError) {
		(void)hip.hipSetDevice(9);
		is_int(hip.hipExtGetLastError(), 101, "the newer call");
	}
}

static void test_faults(void)
{
	uint64_t calls = quirky.calls("hipGetDevice"), all = quirky.calls(NULL);
	uint64_t beneath = control.calls("cuMemAlloc");
	void *block = NULL;
	int device;

	ok(!quirky.fault("hipNothing", 1, false, 2), "no such function");
	ok(!quirky.fault("hipMalloc", 0, false, 2), "nor a 0th call");
	ok(quirky.fault("hipMalloc", 2, false, 2), "the second hipMalloc");
	is_int(hip.hipMalloc(&block, 1), 0, "the first");
	(void)hip.hipFree(block);
	is_int(hip.hipMalloc(&block, 1), 2, "the second fails");
	is_uint(control.calls("cuMemAlloc"), beneath + 1, "and does nothing");
	is_int(hip.hipMalloc(&block, 1), 0, "the third");
	(void)hip.hipFree(block);
	ok(quirky.fault("hipGetDevice", 1, true, 999), "onwards");
	is_int(hip.hipGetDevice(&device), 999, "fails");
	is_int(hip.hipGetDevice(&device), 999, "and again");
	quirky.heal();
	is_int(hip.hipGetDevice(&device), 0, "healed");
	is_uint(quirky.calls("hipGetDevice"), calls + 3, "three calls");
	ok(quirky.calls(NULL) >= all + 8, "among all");
	ok(!quirky.quirk("odd", true), "no such quirk");
}

int main(void)
{
	fake_load();
	for (int which = 5; which <= 7; which++) {
		hip_load(which);
		test_codes();
		test_last();
		test_faults();
	}
	return done_testing();
}
