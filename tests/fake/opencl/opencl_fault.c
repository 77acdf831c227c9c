/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of the OpenCL layer: which functions there are, which call of them is to
 * fail, and what is held. All of it under the mutex.
 */
#include "opencl_layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_function fake_functions[LAYER_CALL_COUNT + 1] = {
#define LAYER_FUNCTION(name, ...) {#name, 0},
	LAYER_CALLS(LAYER_FUNCTION)
#undef LAYER_FUNCTION
};

static int64_t held[THING_COUNT];
static char trail[1024];
static void (*meanwhile)(void);

LAYER_API bool fakecl_fault(const char *name, unsigned nth, bool onwards,
			    int code)
{
	return fake_fault_add(name, nth, onwards, code);
}

LAYER_API void fakecl_heal(void)
{
	fake_fault_heal();
}

LAYER_API uint64_t fakecl_calls(const char *name)
{
	return fake_fault_calls(name);
}

LAYER_API void fakecl_meanwhile(void (*fn)(void))
{
	fake_lock();
	meanwhile = fn;
	fake_unlock();
}

LAYER_API void fakecl_audit(struct fakecl_held *held_out)
{
	fake_lock();
	*held_out = (struct fakecl_held){
		.contexts = held[CONTEXTS],
		.queues = held[QUEUES],
		.memory = held[MEMORY],
		.svm = held[SVM],
		.events = held[EVENTS],
	};
	fake_unlock();
}

/* Under the mutex. */
static void keep_trail(enum layer_call call)
{
	const char *name = fake_functions[call].name;
	size_t used = strlen(trail);

	if (strncmp(name, "clEnqueue", 9) == 0)
		snprintf(trail + used, sizeof(trail) - used, "%s%s",
			 used ? " " : "", name + 9);
}

LAYER_API void fakecl_trail(char *text_out, size_t bytes)
{
	fake_lock();
	snprintf(text_out, bytes, "%s", trail);
	trail[0] = '\0';
	fake_unlock();
}

int layer_next(enum layer_call call)
{
	void (*fn)(void) = NULL;
	int code;

	fake_lock();
	code = fake_fault_next(call);
	keep_trail(call);
	if (code) {
		fn = meanwhile;
		meanwhile = NULL;
	}
	fake_unlock();
	if (fn)
		fn();
	return code;
}

void layer_count(enum layer_thing thing, int change)
{
	fake_lock();
	held[thing] += change;
	fake_unlock();
}

void fake_configure(void)
{
	fake_fault_configure("FAKECL_FAULT");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAKECL_AUDIT");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file,
		"contexts %lld queues %lld memory %lld svm %lld events %lld\n",
		(long long)held[CONTEXTS], (long long)held[QUEUES],
		(long long)held[MEMORY], (long long)held[SVM],
		(long long)held[EVENTS]);
	fclose(file);
}
