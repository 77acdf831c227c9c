/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of NVIDIA's driver that tests/tool_suspend.sh needs: the calls that
 * suspend other processes. What those are is said by files in the folder
 * $DOUBLE:
 *
 *	PID         the state of a process that uses CUDA, a number
 *	CALL.PID    the result that the call has for it instead of success
 *	log         the calls, a line each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { INVALID_VALUE = 1, ILLEGAL_STATE = 401 };
enum { RUNNING, LOCKED, CHECKPOINTED };

int cuInit(unsigned flags);
int cuGetErrorString(int result, const char **text);
int cuCheckpointProcessGetState(int pid, int *state);
int cuCheckpointProcessLock(int pid, const unsigned *args);
int cuCheckpointProcessCheckpoint(int pid, const void *args);
int cuCheckpointProcessRestore(int pid, const void *args);
int cuCheckpointProcessUnlock(int pid, const void *args);

static FILE *file(const char *name, int pid, const char *mode)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", getenv("DOUBLE"), name);
	if (pid)
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "%d",
			 pid);
	return fopen(path, mode);
}

/* The number in a file, or `otherwise`. */
static int number(const char *name, int pid, int otherwise)
{
	FILE *stream = file(name, pid, "r");
	int value = otherwise;

	if (!stream)
		return otherwise;
	if (fscanf(stream, "%d", &value) != 1)
		value = otherwise;
	fclose(stream);
	return value;
}

static void put(const char *name, int pid, const char *mode, const char *text)
{
	FILE *stream = file(name, pid, mode);

	if (!stream || fputs(text, stream) < 0 || fclose(stream))
		abort();
}

/* From one state to another, if the process is in the first. */
static int change(const char *call, int pid, int from, int to)
{
	char line[64], name[64];
	int state = number("", pid, -1), result;

	snprintf(line, sizeof(line), "%s %d\n", call, pid);
	put("log", 0, "a", line);
	snprintf(name, sizeof(name), "%s.", call);
	result = number(name, pid, 0);
	if (result)
		return result;
	if (state < 0)
		return INVALID_VALUE;
	if (state != from)
		return ILLEGAL_STATE;
	snprintf(line, sizeof(line), "%d\n", to);
	put("", pid, "w", line);
	return 0;
}

EXPORT int cuInit(unsigned flags)
{
	(void)flags;
	return number("init", 0, 0);
}

EXPORT int cuGetErrorString(int result, const char **text)
{
	(void)result;
	*text = "the double's text";
	return 0;
}

EXPORT int cuCheckpointProcessGetState(int pid, int *state)
{
	*state = number("", pid, -1);
	return *state < 0 ? number("state.", pid, INVALID_VALUE) : 0;
}

EXPORT int cuCheckpointProcessLock(int pid, const unsigned *args)
{
	char call[32];

	snprintf(call, sizeof(call), "waits %u\n", args[0]);
	put("log", 0, "a", call);
	return change("lock", pid, RUNNING, LOCKED);
}

EXPORT int cuCheckpointProcessCheckpoint(int pid, const void *args)
{
	(void)args;
	return change("checkpoint", pid, LOCKED, CHECKPOINTED);
}

EXPORT int cuCheckpointProcessRestore(int pid, const void *args)
{
	(void)args;
	return change("restore", pid, CHECKPOINTED, LOCKED);
}

#ifndef OLD
EXPORT int cuCheckpointProcessUnlock(int pid, const void *args)
{
	(void)args;
	return change("unlock", pid, LOCKED, RUNNING);
}
#endif
