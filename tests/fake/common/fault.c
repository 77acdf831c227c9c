/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Rules, each for one call: it counts them from when it was made.
 */
#include "fault.h"

#include "environment.h"
#include "lock.h"

#include <stdlib.h>
#include <string.h>

#define RULES_MAX 64

struct rule {
	int call;
	uint64_t nth, count;
	bool onwards;
	int code;
};

static struct rule rules[RULES_MAX];
static size_t rule_count;

int fake_call_named(const char *name)
{
	size_t length = strlen(name);

	for (int i = 0; fake_functions[i].name; i++) {
		const char *whole = fake_functions[i].name;
		const char *suffix = strstr(whole, "_v");

		if (!strcmp(name, whole) ||
		    (suffix && length == (size_t)(suffix - whole) &&
		     !strncmp(name, whole, length)))
			return i;
	}
	return -1;
}

static bool add_rule(struct rule rule)
{
	if (rule.call < 0 || !rule.nth || !rule.code || rule_count == RULES_MAX)
		return false;
	rules[rule_count++] = rule;
	return true;
}

bool fake_fault_add(const char *name, unsigned nth, bool onwards, int code)
{
	struct rule rule = {
		.call = fake_call_named(name),
		.nth = nth,
		.onwards = onwards,
		.code = code,
	};
	bool added;

	fake_lock();
	added = add_rule(rule);
	fake_unlock();
	return added;
}

void fake_fault_heal(void)
{
	fake_lock();
	rule_count = 0;
	fake_unlock();
}

uint64_t fake_fault_calls(const char *name)
{
	int call = name ? fake_call_named(name) : -1;
	uint64_t sum = 0;

	fake_lock();
	for (int i = 0; fake_functions[i].name; i++)
		if (!name || call == i)
			sum += fake_functions[i].calls;
	fake_unlock();
	return sum;
}

static bool take_fault(char *piece)
{
	char *colon = strchr(piece, ':'), *end;
	struct rule rule;

	if (!colon)
		return false;
	*colon = '\0';
	rule = (struct rule){.call = fake_call_named(piece)};
	rule.nth = strtoull(colon + 1, &end, 10);
	rule.onwards = *end == '+';
	end += rule.onwards;
	if (*end != ':')
		return false;
	rule.code = (int)strtol(end + 1, &end, 10);
	return !*end && add_rule(rule);
}

void fake_fault_configure(const char *variable)
{
	fake_each(variable, take_fault);
}

static bool applies(const struct rule *rule)
{
	return rule->count == rule->nth ||
	       (rule->count > rule->nth && rule->onwards);
}

int fake_fault_next(int call)
{
	int code = 0;

	fake_functions[call].calls++;
	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (rule->call != call)
			continue;
		rule->count++;
		if (!code && applies(rule))
			code = rule->code;
	}
	return code;
}
