/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Faults: which calls must fail, for all devices together, and the count of
 * calls. A mutex of its own guards the rules; without rules a call costs one
 * atomic addition.
 */
#include "host_device.h"

#include <string.h>
#include <strings.h>

#define RULES_MAX 64

/* Fails when count == nth, or with onward count >= nth. */
struct rule {
	unsigned slot; /* or HOST_SLOT_ANY */
	uint64_t nth, count;
	bool onward;
	gpumem_status status; /* OK: the slot's usual one */
};

struct rules {
	struct rule item[RULES_MAX];
	size_t count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rules active;
static char applied[512]; /* the option text that was applied last */
static _Atomic bool armed;
static _Atomic uint64_t calls;

/* The status of that name, with or without "gpumem_"; OK: none that fails. */
static gpumem_status status_named(const char *name)
{
	static const struct {
		const char *name;
		gpumem_status status;
	} list[] = {
#define STATUS_NAME(name, number, text) {#name, GPUMEM_##name},
		GPUMEM_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
	};

	if (!strncasecmp(name, "gpumem_", 7))
		name += 7;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (!strcasecmp(name, list[i].name))
			return list[i].status;
	return GPUMEM_OK;
}

/* One "SLOT@N[+][:STATUS]", read from its end. */
static bool add_rule(char *item, void *user)
{
	struct rules *rules = user;
	struct rule rule = {.status = GPUMEM_OK};
	char *at = strchr(item, '@'), *colon = strchr(item, ':');
	size_t length;

	if (!at || rules->count == RULES_MAX)
		return false;
	if (colon) {
		rule.status = status_named(colon + 1);
		if (rule.status == GPUMEM_OK)
			return false;
		*colon = '\0';
	}
	*at++ = '\0';
	length = strlen(at);
	rule.onward = length && at[length - 1] == '+';
	if (rule.onward)
		at[length - 1] = '\0';
	rule.slot = gm_host_parse_slot(item);
	if (rule.slot == HOST_SLOT_NONE ||
	    !gm_host_parse_count(at, &rule.nth) || !rule.nth)
		return false;
	rules->item[rules->count++] = rule;
	return true;
}

static void activate(const struct rules *rules)
{
	active = *rules;
	atomic_store(&calls, 0);
	atomic_store(&armed, rules->count > 0);
}

gpumem_status gpumem_host_faults(const char *faults)
{
	struct rules rules = {.count = 0};

	if (gm_host_forked())
		return gm_host_return(gm_host_fail(GPUMEM_FORKED,
						   "the simulated devices are "
						   "the parent's"),
				      "gpumem_host_faults");
	if (!gm_host_parse_list(faults ? faults : "", add_rule, &rules))
		return gm_host_return(
			gm_host_fail(GPUMEM_INVALID,
				     "\"%s\" is not SLOT@N[+][:STATUS];...",
				     faults),
			"gpumem_host_faults");
	pthread_mutex_lock(&mutex);
	activate(&rules);
	pthread_mutex_unlock(&mutex);
	return GPUMEM_OK;
}

gpumem_status gm_host_fault_option(const char *text)
{
	struct rules rules = {.count = 0};

	if (!gm_host_parse_list(text, add_rule, &rules))
		return gm_host_fail(GPUMEM_INVALID,
				    "option host.fail is \"%s\": not "
				    "SLOT@N[+][:STATUS];...",
				    text);
	pthread_mutex_lock(&mutex);
	if (strcmp(applied, text)) {
		strncpy(applied, text, sizeof(applied) - 1);
		activate(&rules);
	}
	pthread_mutex_unlock(&mutex);
	return GPUMEM_OK;
}

uint64_t gpumem_host_calls(void)
{
	return atomic_load(&calls);
}

/* What takes memory runs out of it. */
static gpumem_status usual_status(enum gpumem_slot slot)
{
	switch (slot) {
	case GPUMEM_SLOT_alloc:
	case GPUMEM_SLOT_va_reserve:
	case GPUMEM_SLOT_page_create:
	case GPUMEM_SLOT_map:
	case GPUMEM_SLOT_kind_alloc:
	case GPUMEM_SLOT_host_pin:
	case GPUMEM_SLOT_map_peers:
	case GPUMEM_SLOT_page_create_shared:
		return GPUMEM_NO_MEMORY;
	default:
		return GPUMEM_DRIVER;
	}
}

/* Counts the call in every rule that it concerns; the first that fires says
 * how it fails. */
static gpumem_status apply_rules(enum gpumem_slot slot)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < active.count; i++) {
		struct rule *rule = &active.item[i];

		if (rule->slot != slot && rule->slot != HOST_SLOT_ANY)
			continue;
		rule->count++;
		if (rule->count < rule->nth ||
		    (rule->count > rule->nth && !rule->onward))
			continue;
		if (status == GPUMEM_OK)
			status = rule->status != GPUMEM_OK ? rule->status
							   : usual_status(slot);
	}
	return status;
}

gpumem_status gm_host_fault_next(enum gpumem_slot slot)
{
	gpumem_status status;

	atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
	if (!atomic_load_explicit(&armed, memory_order_relaxed))
		return GPUMEM_OK;
	pthread_mutex_lock(&mutex);
	status = apply_rules(slot);
	pthread_mutex_unlock(&mutex);
	return status;
}
