/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-keep: device memory that outlives its process. A daemon holds
 * descriptors by name, and its commands put them there and get them. Neither
 * opens a device.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "keep/keep.h"

#include <string.h>

enum { KEY_REPLACE = 0x100, KEY_ROOT };

static const struct argp_option options[] = {
	{"socket", 's', "PATH", 0,
	 "Where the daemon is (gpumem-keep.socket in XDG_RUNTIME_DIR)", 0},
	{"lease", 'l', "SECONDS", 0,
	 "put, renew: drop it unless that is renewed by then (600)", 0},
	{"replace", KEY_REPLACE, NULL, 0,
	 "put: in place of an entry of that name", 0},
	{"words", 'w', "FILE", 0,
	 "put, get: the bytes beside the descriptors, at most 4096", 0},
	{"root", KEY_ROOT, NULL, 0, "serve: root, too", 0},
	{"json", 'j', NULL, 0, "list, show: print JSON", 0},
	{0},
};

/* Arguments behind the command. */
static const struct command {
	const char *name;
	size_t least, most;
	int (*run)(const struct keep_config *config);
	const char *expected;
} commands[] = {
	{"serve", 0, 0, keep_serve, "nothing"},
	{"list", 0, 0, keep_list, "nothing"},
	{"show", 1, 1, keep_show, "a name"},
	{"put", 2, SIZE_MAX, keep_put, "a name and descriptors"},
	{"get", 2, SIZE_MAX, keep_get, "a name and a command"},
	{"renew", 1, SIZE_MAX, keep_renew, "names"},
	{"drop", 1, SIZE_MAX, keep_drop, "names"},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct keep_config *config = state->input;

	switch (key) {
	case 's':
		config->socket = usage_name_of("--socket", arg, "a path");
		return 0;
	case 'l':
		config->lease_seconds = (uint32_t)usage_count(
			"--lease", arg, 1, KEEP_LEASE_MOST);
		return 0;
	case 'w':
		config->words = usage_name_of("--words", arg, "a file");
		return 0;
	case KEY_REPLACE:
		config->replace = true;
		return 0;
	case KEY_ROOT:
		config->root = true;
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		config->args = state->argv + state->next;
		config->count = (size_t)(state->argc - state->next);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct command *choose(const struct keep_config *config)
{
	const char *name = config->count ? config->args[0] : "";

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	usage_fail("%s%sexpected serve, list, show, put, get, renew or drop",
		   name, *name ? ": " : "");
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "serve\nlist\nshow NAME\nput NAME FD...\n"
			    "get NAME -- COMMAND...\nrenew NAME...\n"
			    "drop NAME...",
		.doc = "Keep memory of a device while the process that it is "
		       "of starts anew.\v"
		       "serve is the daemon, which holds descriptors by name "
		       "until their lease ends, somebody drops them, or it "
		       "ends itself. COMMAND has them from 3 on, and their "
		       "number in GPUMEM_KEEP_FDS.\n\n"
		       "Exit status: 0 done, 1 it did not work, 2 usage, 3 no "
		       "daemon is there; of get what COMMAND exits with, 126 "
		       "or 127 where there is none.",
	};
	struct keep_config config = {.lease_seconds = KEEP_LEASE};
	const struct command *command;

	tool_begin_runner("gpumem-keep");
	usage_parse(&argp, argc, argv, &config);
	command = choose(&config);
	config.args++;
	config.count--;
	if (config.count < command->least || config.count > command->most)
		usage_fail("%s: expected %s behind it", command->name,
			   command->expected);
	return command->run(&config);
}
