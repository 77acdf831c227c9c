/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Of the OpenCL layer: how often each function was called, which call of it is
 * to fail, and what is held. All of it under one mutex.
 */
#include "opencl_layer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 64

struct rule {
	enum layer_call call;
	uint64_t nth, count;
	bool onwards;
	int code;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[RULES_MAX];
static size_t rule_count;
static uint64_t calls[LAYER_CALL_COUNT];
static int64_t held[THING_COUNT];
static char trail[1024];
static void (*meanwhile)(void);

static const char *const names[] = {
#define LAYER_NAME(name, ...) #name,
	LAYER_CALLS(LAYER_NAME)
#undef LAYER_NAME
};

enum layer_call layer_call_named(const char *name)
{
	int i = 0;

	while (i < LAYER_CALL_COUNT && strcmp(names[i], name) != 0)
		i++;
	return (enum layer_call)i;
}

const char *layer_name(enum layer_call call)
{
	return names[call];
}

LAYER_API bool fakecl_fault(const char *name, unsigned nth, bool onwards,
			    int code)
{
	struct rule rule = {
		.call = layer_call_named(name),
		.nth = nth,
		.onwards = onwards,
		.code = code,
	};
	bool added;

	pthread_mutex_lock(&mutex);
	added = rule.call != LAYER_CALL_COUNT && nth && code &&
		rule_count < RULES_MAX;
	if (added)
		rules[rule_count++] = rule;
	pthread_mutex_unlock(&mutex);
	return added;
}

LAYER_API void fakecl_meanwhile(void (*fn)(void))
{
	pthread_mutex_lock(&mutex);
	meanwhile = fn;
	pthread_mutex_unlock(&mutex);
}

LAYER_API void fakecl_heal(void)
{
	pthread_mutex_lock(&mutex);
	rule_count = 0;
	pthread_mutex_unlock(&mutex);
}

LAYER_API uint64_t fakecl_calls(const char *name)
{
	enum layer_call call = layer_call_named(name);
	uint64_t count = 0;

	pthread_mutex_lock(&mutex);
	if (call != LAYER_CALL_COUNT)
		count = calls[call];
	pthread_mutex_unlock(&mutex);
	return count;
}

LAYER_API void fakecl_audit(struct fakecl_held *held_out)
{
	pthread_mutex_lock(&mutex);
	*held_out = (struct fakecl_held){
		.contexts = held[CONTEXTS],
		.queues = held[QUEUES],
		.memory = held[MEMORY],
		.svm = held[SVM],
		.events = held[EVENTS],
	};
	pthread_mutex_unlock(&mutex);
}

/* Under the mutex. */
static void keep_trail(enum layer_call call)
{
	size_t used = strlen(trail);

	if (strncmp(names[call], "clEnqueue", 9) == 0)
		snprintf(trail + used, sizeof(trail) - used, "%s%s",
			 used ? " " : "", names[call] + 9);
}

LAYER_API void fakecl_trail(char *text_out, size_t bytes)
{
	pthread_mutex_lock(&mutex);
	snprintf(text_out, bytes, "%s", trail);
	trail[0] = '\0';
	pthread_mutex_unlock(&mutex);
}

int layer_next(enum layer_call call)
{
	void (*fn)(void) = NULL;
	int code = 0;

	pthread_mutex_lock(&mutex);
	calls[call]++;
	keep_trail(call);
	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (rule->call != call)
			continue;
		rule->count++;
		if (!code && (rule->count == rule->nth ||
			      (rule->count > rule->nth && rule->onwards)))
			code = rule->code;
	}
	if (code) {
		fn = meanwhile;
		meanwhile = NULL;
	}
	pthread_mutex_unlock(&mutex);
	if (fn)
		fn();
	return code;
}

void layer_count(enum layer_thing thing, int change)
{
	pthread_mutex_lock(&mutex);
	held[thing] += change;
	pthread_mutex_unlock(&mutex);
}

/* NAME:NTH[+]:CODE */
static bool parse_fault(const char *text)
{
	char name[64];
	unsigned nth;
	int code, end = 0;

	if (sscanf(text, "%63[^:]:%u:%d%n", name, &nth, &code, &end) == 3 &&
	    !text[end])
		return fakecl_fault(name, nth, false, code);
	end = 0;
	return sscanf(text, "%63[^:]:%u+:%d%n", name, &nth, &code, &end) == 3 &&
	       !text[end] && fakecl_fault(name, nth, true, code);
}

/* A rule that cannot be read would make a test pass for nothing. */
__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAKECL_FAULT");
	char copy[1024], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", text ? text : "");
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		if (parse_fault(item))
			continue;
		fprintf(stderr, "FAKECL_FAULT: \"%s\" makes no sense\n", item);
		abort();
	}
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
