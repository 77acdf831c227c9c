/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * pool_cases NAME [LIBRARY]: one case for tests/tool_run_pool.sh. Says nothing
 * and exits with 0 if all is as it should be under gpumem-run.
 */
#include "pool_cases.h"
#include "cases.h"

const char *other;

/* All streams of the program, with their contexts; a stream of NULL was
 * destroyed. */
static struct {
	void *context, *stream;
} streams[2048];
static unsigned stream_count;
void *current;

void enter(void *context)
{
	OK(cu.cuCtxSetCurrent(context));
	current = context;
}

void add_stream(void *stream)
{
	streams[stream_count].context = current;
	streams[stream_count++].stream = stream;
}

void *stream_new(unsigned flags)
{
	void *stream;

	OK(cu.cuStreamCreate(&stream, flags));
	add_stream(stream);
	return stream;
}

void stream_end(void *stream)
{
	OK(cu.cuStreamDestroy_v2(stream));
	for (unsigned i = 0; i < stream_count; i++)
		if (streams[i].stream == stream)
			streams[i].stream = NULL;
}

void *context_new(int device)
{
	void *context;

	OK(cu.cuCtxCreate_v2(&context, 0, device));
	current = context;
	add_stream(LEGACY);
	add_stream(PER_THREAD);
	return context;
}

void run_but(void *one)
{
	void *home = current;

	for (unsigned i = 0; i < 3 * stream_count; i++) {
		unsigned at = i % stream_count;

		if (!streams[at].stream ||
		    (streams[at].context == home && streams[at].stream == one))
			continue;
		enter(streams[at].context);
		cu.step(streams[at].stream, 1000);
	}
	enter(home);
}

void goes(address block)
{
	uint64_t frees = driver_frees();

	release(block);
	TRUE(driver_frees() == frees + 1);
}

void stays(address block)
{
	uint64_t frees = driver_frees();

	release(block);
	TRUE(driver_frees() == frees);
}

static const struct run_case cases[] = {
#define CASE(name) {#name, name},
	ORDER_CASES(CASE) ANSWERS_CASES(CASE) LIMITS_CASES(CASE)
		TRIM_CASES(CASE)
#undef CASE
};

int main(int argc, char **argv)
{
	other = argc > 2 ? argv[2] : "";
	current = begin();
	add_stream(LEGACY);
	add_stream(PER_THREAD);
	return RUN_CASE(cases, argv[1]) ? 0 : 2;
}
