/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See driver.h. What the results mean is the documentation of CUDA 13.5 and
 * what driver 580 answered. */
#include "suspend/driver.h"
#include "common/tool.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	SUCCESS = 0,
	INVALID_VALUE = 1,
	OUT_OF_MEMORY = 2,
	NOT_INITIALIZED = 3,
	ILLEGAL_STATE = 401,
	NOT_READY = 600,
	NOT_PERMITTED = 800,
	NOT_SUPPORTED = 801
};

struct lock_args {
	unsigned timeout_ms, reserved;
	uint64_t more[7];
};
_Static_assert(sizeof(struct lock_args) == 64, "CUcheckpointLockArgs");

#define DRIVER_LIST(X)                                                         \
	X(Init, "cuInit", (unsigned flags))                                    \
	X(GetErrorString, "cuGetErrorString", (int result, const char **text)) \
	X(GetState, "cuCheckpointProcessGetState", (int pid, int *state))      \
	X(Lock, "cuCheckpointProcessLock", (int pid, struct lock_args *args))  \
	X(Checkpoint, "cuCheckpointProcessCheckpoint", (int pid, void *args))  \
	X(Restore, "cuCheckpointProcessRestore", (int pid, void *args))        \
	X(Unlock, "cuCheckpointProcessUnlock", (int pid, void *args))

static struct {
#define POINTER(name, symbol, parameters) int(*name) parameters;
	DRIVER_LIST(POINTER)
#undef POINTER
} driver;

/* What a call that failed is about. */
struct failure {
	int result;
	const char *call, *means;
};

static const char *text_of(int result)
{
	const char *text = NULL;

	if (driver.GetErrorString(result, &text) || !text)
		return "unknown error";
	return text;
}

static void *find(void *library, const char *symbol)
{
	void *address = dlsym(library, symbol);

	if (!address)
		tool_error("NVIDIA's driver is older than 570 and has no %s",
			   symbol);
	return address;
}

bool driver_load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *address;
	int result;

	if (!library) {
		tool_error("there is no driver of NVIDIA's here: %s",
			   dlerror());
		return false;
	}
#define FIND(name, symbol, parameters)                                         \
	address = find(library, symbol);                                       \
	if (!address)                                                          \
		return false;                                                  \
	memcpy(&driver.name, &address, sizeof(address));
	DRIVER_LIST(FIND)
#undef FIND
	result = driver.Init(0);
	if (result)
		tool_error("cuInit: %d, %s", result, text_of(result));
	return !result;
}

/* True: there was none. */
static bool explain(const struct failure *failure, char why[DRIVER_WHY])
{
	if (failure->result == SUCCESS)
		return true;
	if (failure->means)
		snprintf(why, DRIVER_WHY, "%s", failure->means);
	else
		snprintf(why, DRIVER_WHY, "%s: %d, %s", failure->call,
			 failure->result, text_of(failure->result));
	return false;
}

static const char *no_state(int result)
{
	switch (result) {
	case INVALID_VALUE:
	case NOT_INITIALIZED:
		return "it does not use CUDA, or is another user's";
	case NOT_PERMITTED:
		return "it is another user's";
	case NOT_SUPPORTED:
		return "the driver does not do this here: not under MPS, nor "
		       "on "
		       "a part of a GPU (MIG)";
	default:
		return NULL;
	}
}

bool driver_state(pid_t pid, enum driver_state *state_out, char why[DRIVER_WHY])
{
	struct failure failure = {.call = "cuCheckpointProcessGetState"};
	int state = DRIVER_RUNNING;

	failure.result = driver.GetState(pid, &state);
	failure.means = no_state(failure.result);
	*state_out = (enum driver_state)state;
	return explain(&failure, why);
}

bool driver_lock(pid_t pid, unsigned timeout_ms, char why[DRIVER_WHY])
{
	struct lock_args args = {.timeout_ms = timeout_ms};
	struct failure failure = {.call = "cuCheckpointProcessLock"};

	failure.result = driver.Lock(pid, &args);
	if (failure.result == NOT_READY)
		failure.means = "its work on the devices is not over yet; it "
				"goes on. Try a longer --timeout";
	else if (failure.result == ILLEGAL_STATE)
		failure.means = "somebody else suspends or resumes it now";
	return explain(&failure, why);
}

bool driver_checkpoint(pid_t pid, char why[DRIVER_WHY])
{
	struct failure failure = {.call = "cuCheckpointProcessCheckpoint"};

	failure.result = driver.Checkpoint(pid, NULL);
	if (failure.result == NOT_SUPPORTED)
		failure.means =
			"the driver cannot take what it uses: managed memory, "
			"memory shared with other processes (drivers before "
			"610), MPS or a part of a GPU (MIG)";
	else if (failure.result == OUT_OF_MEMORY)
		failure.means = "the host has too little memory for what it "
				"has on the devices";
	return explain(&failure, why);
}

bool driver_restore(pid_t pid, char why[DRIVER_WHY])
{
	struct failure failure = {.call = "cuCheckpointProcessRestore"};

	failure.result = driver.Restore(pid, NULL);
	if (failure.result == OUT_OF_MEMORY)
		failure.means =
			"the devices have too little free memory for it "
			"(gpumem-probe says who has it); it stays "
			"suspended, nothing is lost";
	return explain(&failure, why);
}

bool driver_unlock(pid_t pid, char why[DRIVER_WHY])
{
	struct failure failure = {.call = "cuCheckpointProcessUnlock"};

	failure.result = driver.Unlock(pid, NULL);
	return explain(&failure, why);
}
