/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How often each function was called, which call of it is to fail, and how
 * long it is to take.
 */
#include "cuda_fake.h"

#include <stdio.h>
#include <stdlib.h>

#define RULES_MAX 64

struct rule {
	enum fake_call call;
	uint64_t nth, count;
	bool onwards;
	CUresult code;
};

static struct rule rules[RULES_MAX];
static size_t rule_count;
static uint64_t calls[FAKE_CALLS], latency_ns[FAKE_CALLS];

static const char *const names[] = {
#define FAKE_STRING(name, type, age) #name,
	FAKE_SYMBOLS(FAKE_STRING)
#undef FAKE_STRING
};

/* With or without _vN, `length` bytes of it; FAKE_CALLS: there is none. */
static enum fake_call call_named(const char *name, size_t length)
{
	for (int i = 0; i < FAKE_CALLS; i++) {
		const char *suffix = strstr(names[i], "_v");
		size_t whole = strlen(names[i]);
		size_t stem = suffix ? (size_t)(suffix - names[i]) : whole;

		if ((length == whole || length == stem) &&
		    !strncmp(names[i], name, length))
			return (enum fake_call)i;
	}
	return FAKE_CALLS;
}

static bool add_rule(struct rule rule)
{
	if (rule.call == FAKE_CALLS || !rule.nth || rule_count == RULES_MAX)
		return false;
	rules[rule_count++] = rule;
	return true;
}

bool fakecuda_fault(const char *name, unsigned nth, bool onwards, int code)
{
	struct rule rule = {
		.call = call_named(name, strlen(name)),
		.nth = nth,
		.onwards = onwards,
		.code = (CUresult)code,
	};
	bool added;

	fake_lock();
	added = add_rule(rule);
	fake_unlock();
	return added;
}

void fakecuda_heal(void)
{
	fake_lock();
	rule_count = 0;
	fake_unlock();
}

uint64_t fakecuda_calls(const char *name)
{
	enum fake_call call =
		name ? call_named(name, strlen(name)) : FAKE_CALLS;
	uint64_t sum = 0;

	fake_lock();
	for (int i = 0; i < FAKE_CALLS; i++)
		if (!name || call == (enum fake_call)i)
			sum += calls[i];
	fake_unlock();
	return sum;
}

static bool set_latency(enum fake_call call, uint64_t ns)
{
	if (call == FAKE_CALLS)
		return false;
	latency_ns[call] = ns;
	return true;
}

bool fakecuda_latency(const char *name, uint64_t ns)
{
	bool set;

	fake_lock();
	set = set_latency(call_named(name, strlen(name)), ns);
	fake_unlock();
	return set;
}

/* NAME:NTH[+]:CODE */
static bool parse_fault(const char *name, size_t length, const char *rest)
{
	struct rule rule = {.call = call_named(name, length)};
	char *end;

	rule.nth = strtoull(rest, &end, 10);
	rule.onwards = *end == '+';
	end += rule.onwards;
	if (*end != ':')
		return false;
	rule.code = (CUresult)strtol(end + 1, NULL, 10);
	return add_rule(rule);
}

/* NAME:TIME */
static bool parse_latency(const char *name, size_t length, const char *rest)
{
	uint64_t ns;

	return fake_parse_amount(rest, &ns) &&
	       set_latency(call_named(name, length), ns);
}

/* A rule that cannot be read would make a test pass for nothing. */
static void parse_list(const char *variable,
		       bool (*parse)(const char *, size_t, const char *))
{
	const char *text = getenv(variable);
	char copy[1024], *save = NULL;

	if (!text)
		return;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *item = strtok_r(copy, ",", &save); item;
	     item = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(item, ':');

		if (colon && parse(item, (size_t)(colon - item), colon + 1))
			continue;
		fprintf(stderr, "%s: \"%s\" makes no sense\n", variable, item);
		abort();
	}
}

void fake_fault_configure(void)
{
	parse_list("FAKECUDA_FAULT", parse_fault);
	parse_list("FAKECUDA_LATENCY", parse_latency);
}

static CUresult apply_rules(enum fake_call call)
{
	CUresult code = CUDA_SUCCESS;

	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (rule->call != call)
			continue;
		rule->count++;
		if (rule->count < rule->nth ||
		    (rule->count > rule->nth && !rule->onwards))
			continue;
		if (code == CUDA_SUCCESS)
			code = rule->code;
	}
	return code;
}

CUresult fake_fault_next(enum fake_call call, uint64_t *ns_out)
{
	calls[call]++;
	*ns_out = latency_ns[call];
	return apply_rules(call);
}
