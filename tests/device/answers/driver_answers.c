/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The frame of the questions of answers.h. Links NVIDIA's driver, or its
 *double, and nothing of gpumem:
 *
 *	cc -I/usr/local/cuda/include tests/device/answers/[a-z]*.c -lcuda
 *
 * tests/fake/cuda/answers.txt has the answers that are known, by which
 * tests/driver_answers.sh goes.
 */
#include "answers.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	void (*ask)(void);
} sections[] = {
#define SECTION(name) {#name, ask_##name},
	SECTIONS(SECTION)
#undef SECTION
};

static const char *section = "", *now = "";

void situation(const char *text)
{
	now = text;
}

void question(const char *call)
{
	printf("%s%s%s: %s: ", section, *now ? ", " : "", now, call);
	fflush(stdout);
}

static const char *name_of(CUresult result)
{
	static char number[24];
	const char *name = NULL;

	if (cuGetErrorName(result, &name) == CUDA_SUCCESS && name)
		return name;
	snprintf(number, sizeof(number), "%d", (int)result);
	return number;
}

/* What was written is of interest only if the call was good. */
CUresult answer(CUresult result, const char *value)
{
	if (value && result == CUDA_SUCCESS)
		printf("%s, %s\n", name_of(result), value);
	else
		printf("%s\n", name_of(result));
	fflush(stdout);
	return result;
}

CUresult answer_int(CUresult result, const void *place)
{
	char text[24];

	snprintf(text, sizeof(text), "%d", *(const int *)place);
	return answer(result, text);
}

CUresult answer_byte(CUresult result, const void *place)
{
	return answer_bool(result, *(const unsigned char *)place);
}

CUresult answer_bool(CUresult result, bool yes)
{
	return answer(result, yes ? "yes" : "no");
}

CUresult answer_bytes(CUresult result, const void *place)
{
	uint64_t bytes = *(const uint64_t *)place;

	return answer(result, !bytes		      ? "0"
			      : bytes & (2 * MIB - 1) ? "some"
						      : "granules");
}

CUresult answer_pointer(CUresult result, const void *place)
{
	return answer(result, *(void *const *)place ? "something" : "NULL");
}

void must(const char *call, CUresult result)
{
	if (result == CUDA_SUCCESS)
		return;
	question(call);
	answer(result, NULL);
	printf("%s: ends here\n", section);
	exit(1);
}

CUcontext start(void)
{
	CUcontext context;

	DO(cuInit(0));
	DO(cuDevicePrimaryCtxRetain(&context, 0));
	DO(cuCtxSetCurrent(context));
	return context;
}

/* False: it did not come to its end. */
static bool run(unsigned i)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		alarm(60);
		section = sections[i].name;
		sections[i].ask();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	if (WIFSIGNALED(status))
		printf("signal %d\n", WTERMSIG(status));
	fflush(stdout);
	return !status;
}

int main(int argc, char **argv)
{
	bool all = true;

	for (unsigned i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (argc < 2 || !strcmp(argv[1], sections[i].name))
			all = run(i) && all;
	return !all;
}
