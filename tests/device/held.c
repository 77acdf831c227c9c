/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * On a device of the hip backend: nothing of ours waits for work on a stream
 * which is none of ours. The work is a function on the host that the stream
 * calls, and that returns when it is told to: if something waited for it, this
 * program would hang, and be ended by its alarm. Needs no compiler for kernels.
 * Built and run by tests/device/run.sh.
 */
#include "meanwhile.h"
#include <hip/hip_runtime_api.h>
#include <semaphore.h>
#include <unistd.h>

static hipStream_t stream;
static sem_t let_go;
static volatile bool begun, ended;

static void check_hip(hipError_t error, const char *what)
{
	if (error != hipSuccess)
		bail("%s: %s", what, hipGetErrorName(error));
}

#define CALL(call) check_hip(call, #call)

static void hold(hipStream_t of, hipError_t error, void *unused)
{
	(void)of;
	(void)error;
	(void)unused;
	begun = true;
	while (sem_wait(&let_go))
		; /* a signal came */
	ended = true;
}

static void begin_work(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	begun = ended = false;
	CALL(hipStreamAddCallback(stream, hold, NULL, 0));
	while (!begun)
		(void)nanosleep(&pause, NULL);
}

static bool working(void)
{
	return begun && !ended;
}

static void end_work(void)
{
	(void)sem_post(&let_go);
	CALL(hipStreamSynchronize(stream));
}

int main(void)
{
	int count;

	if (hipGetDeviceCount(&count) != hipSuccess || !count)
		skip_all("no HIP runtime, or no device");
	(void)alarm(120);
	(void)sem_init(&let_go, 0, 0);
	CALL(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	test_meanwhile("hip:0");
	CALL(hipStreamDestroy(stream));
	done_testing();
}
