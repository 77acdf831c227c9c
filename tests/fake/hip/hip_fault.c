/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How often each function was called, and which call of it is to fail.
 */
#include "hip_fake.h"

#include <stdlib.h>
#include <string.h>

#define RULES_MAX 64

struct rule {
	enum hip_call call;
	uint64_t nth, count;
	bool onwards;
	hipError_t code;
};

static struct rule rules[RULES_MAX];
static size_t rule_count;
static uint64_t calls[HIP_CALLS];

static const char *const names[] = {
#define HIP_STRING(name, age) #name,
	HIP_SYMBOLS(HIP_STRING)
#undef HIP_STRING
};

/* HIP_CALLS: there is none. */
static enum hip_call call_named(const char *name)
{
	for (int i = 0; i < HIP_CALLS; i++)
		if (!strcmp(names[i], name))
			return (enum hip_call)i;
	return HIP_CALLS;
}

static bool add_rule(struct rule rule)
{
	if (rule.call == HIP_CALLS || !rule.nth || rule_count == RULES_MAX)
		return false;
	rules[rule_count++] = rule;
	return true;
}

bool fakehip_fault(const char *name, unsigned nth, bool onwards, int code)
{
	struct rule rule = {
		.call = call_named(name),
		.nth = nth,
		.onwards = onwards,
		.code = (hipError_t)code,
	};
	bool added;

	hip_lock();
	added = add_rule(rule);
	hip_unlock();
	return added;
}

void fakehip_heal(void)
{
	hip_lock();
	rule_count = 0;
	hip_unlock();
}

uint64_t fakehip_calls(const char *name)
{
	enum hip_call call = name ? call_named(name) : HIP_CALLS;
	uint64_t sum = 0;

	hip_lock();
	for (int i = 0; i < HIP_CALLS; i++)
		if (!name || call == (enum hip_call)i)
			sum += calls[i];
	hip_unlock();
	return sum;
}

/* NAME:NTH[+]:CODE */
static bool take_fault(char *item)
{
	struct rule rule = {.call = HIP_CALLS};
	char *colon = strchr(item, ':'), *end;

	if (!colon)
		return false;
	*colon = '\0';
	rule.call = call_named(item);
	rule.nth = strtoull(colon + 1, &end, 10);
	rule.onwards = *end == '+';
	end += rule.onwards;
	if (*end != ':')
		return false;
	rule.code = (hipError_t)strtol(end + 1, NULL, 10);
	return add_rule(rule);
}

void hip_fault_configure(void)
{
	hip_each("FAKEHIP_FAULT", take_fault);
}

hipError_t hip_fault_next(enum hip_call call)
{
	hipError_t code = hipSuccess;

	calls[call]++;
	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (rule->call != call)
			continue;
		rule->count++;
		if (rule->count < rule->nth ||
		    (rule->count > rule->nth && !rule->onwards))
			continue;
		if (code == hipSuccess)
			code = rule->code;
	}
	return code;
}
