/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See suspend.h. */
#include "suspend/suspend.h"
#include "common/clean.h"
#include "common/human.h"
#include "common/json.h"
#include "common/tool.h"
#include "common/usage.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>

enum { TIMEOUT_MOST = 86400 };

static pid_t parse_pid(const char *arg)
{
	uint64_t pid;

	if (!tool_parse_count(arg, INT_MAX, &pid) || !pid)
		usage_fail("%s: expected the number of a process", arg);
	return (pid_t)pid;
}

error_t suspend_parse(int key, char *arg, struct argp_state *state)
{
	struct suspend_config *config = state->input;

	switch (key) {
	case 't':
		config->tree = true;
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case 'w':
		config->timeout_seconds =
			usage_moment("--timeout", arg, TIMEOUT_MOST);
		return 0;
	case ARGP_KEY_ARG:
		if (!group_add(&config->group, parse_pid(arg)))
			exit(TOOL_USAGE);
		return 0;
	case ARGP_KEY_END:
		if (!config->group.count)
			usage_fail("expected the number of a process");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool print_text(const struct group *group)
{
	char bytes[HUMAN_BYTES], time[HUMAN_BYTES];

	for (size_t i = 0; i < group->count; i++) {
		const struct member *member = &group->members[i];
		char *name = clean_copy(member->name);

		if (!name)
			return false;
		printf("%ld %s: %s", (long)member->pid, name,
		       group_state_name(member->state));
		if (member->seconds > 0)
			printf(" after %s, %s of it in the host's memory",
			       human_ns(time, member->seconds * 1e9),
			       human_bytes(bytes, member->host_bytes));
		putchar('\n');
		free(name);
	}
	return true;
}

static json_t *json_of(const struct member *member)
{
	json_t *object = json_object();
	bool ok = object;

	json_put(object, "pid", json_integer(member->pid), &ok);
	json_put(object, "name", json_text(member->name), &ok);
	json_put(object, "state", json_string(group_state_name(member->state)),
		 &ok);
	json_put(object, "seconds", json_number(member->seconds), &ok);
	json_put(object, "host_bytes", json_u64(member->host_bytes), &ok);
	json_put(object, "error",
		 *member->why ? json_text(member->why) : json_null(), &ok);
	if (ok)
		return object;
	json_decref(object);
	return NULL;
}

static bool print_json(const struct group *group)
{
	json_t *all = json_object(), *list = json_array();
	bool ok = all && list;

	for (size_t i = 0; i < group->count; i++)
		json_put(list, NULL, json_of(&group->members[i]), &ok);
	json_put(all, "processes", list, &ok);
	return json_print(all, ok);
}

static void tell_failures(const struct group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (*group->members[i].why)
			tool_error("%ld %s: %s", (long)group->members[i].pid,
				   group->members[i].name,
				   group->members[i].why);
}

static void hold_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	(void)sigprocmask(how, &set, NULL);
}

static bool act_and_print(struct suspend_config *config,
			  bool (*act)(struct group *group, unsigned timeout_ms))
{
	struct group *group = &config->group;
	bool ok;

	hold_signals(SIG_BLOCK);
	ok = act(group, (unsigned)(config->timeout_seconds * 1000));
	hold_signals(SIG_UNBLOCK);
	tell_failures(group);
	if (!(config->json ? print_json : print_text)(group)) {
		tool_error("out of memory");
		ok = false;
	}
	return ok;
}

int suspend_do(struct suspend_config *config,
	       bool (*act)(struct group *group, unsigned timeout_ms))
{
	struct group *group = &config->group;
	int code = TOOL_ABSENT;

	if (driver_load()) {
		bool ok = !config->tree || group_add_descendants(group);

		code = ok && act_and_print(config, act) ? TOOL_OK : TOOL_FAILED;
	}
	group_free(group);
	return code;
}
