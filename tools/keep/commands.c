/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* gpumem-keep's commands about entries, but for what they print; see keep.h. */
#include "keep/client.h"
#include "keep/keep.h"
#include "keep/words.h"
#include "common/tool.h"
#include "common/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 3, NOT_EXECUTED = 126, NOT_FOUND = 127 };

static bool name_into(struct wire_message *message, const char *name)
{
	if (strlen(name) < sizeof(message->name)) {
		strcpy(message->name, name);
		return true;
	}
	tool_error("%s: a name has at most %d characters", name, WIRE_NAME - 1);
	return false;
}

/* About each of the names. */
static int about(const struct keep_config *config, enum wire_what what)
{
	int there = client_connect(config->socket);
	bool ok = true;

	if (there < 0)
		return TOOL_ABSENT;
	for (size_t i = 0; i < config->count; i++) {
		struct wire_message message = {
			.what = what, .lease_seconds = config->lease_seconds};

		ok &= name_into(&message, config->args[i]) &&
		      client_ask(there, &message);
	}
	close(there);
	return ok ? TOOL_OK : TOOL_FAILED;
}

int keep_drop(const struct keep_config *config)
{
	return about(config, WIRE_DROP);
}

int keep_renew(const struct keep_config *config)
{
	return about(config, WIRE_RENEW);
}

static int descriptor(const char *arg)
{
	uint64_t number;

	if (!tool_parse_count(arg, INT_MAX, &number))
		usage_fail("%s: expected the number of a descriptor", arg);
	return (int)number;
}

static bool put(const struct keep_config *config, struct wire_message *message,
		const int *fds)
{
	int there;
	bool ok;

	if (!name_into(message, config->args[0]) ||
	    (config->words && !words_read(config->words, message)))
		return false;
	there = client_connect(config->socket);
	if (there < 0)
		exit(TOOL_ABSENT);
	ok = client_put(there, message, fds);
	close(there);
	return ok;
}

int keep_put(const struct keep_config *config)
{
	size_t count = config->count - 1;
	struct wire_message message = {.what = WIRE_PUT,
				       .fd_count = (uint32_t)count,
				       .lease_seconds = config->lease_seconds,
				       .replace = config->replace};
	int *fds = calloc(count, sizeof(*fds));
	bool ok = fds != NULL;

	if (!ok)
		tool_error("out of memory");
	for (size_t i = 0; ok && i < count; i++) {
		fds[i] = descriptor(config->args[1 + i]);
		ok = fcntl(fds[i], F_GETFD) >= 0;
		if (!ok)
			tool_error("%d: %s", fds[i], strerror(errno));
	}
	ok = ok && put(config, &message, fds);
	free(fds);
	return ok ? TOOL_OK : TOOL_FAILED;
}

/* From FIRST on, left open when something is executed; what was there goes. */
static bool hand_down(int *fds, uint32_t count)
{
	char text[16];
	bool ok = true;

	for (uint32_t i = 0; ok && i < count; i++) {
		int above = fcntl(fds[i], F_DUPFD_CLOEXEC, FIRST + (int)count);

		ok = above >= 0;
		close(fds[i]);
		fds[i] = above;
	}
	for (uint32_t i = 0; ok && i < count; i++)
		ok = dup2(fds[i], FIRST + (int)i) >= 0;
	snprintf(text, sizeof(text), "%u", (unsigned)count);
	ok = ok && setenv("GPUMEM_KEEP_FDS", text, 1) == 0;
	if (!ok)
		tool_error("cannot hand down %u descriptors: %s",
			   (unsigned)count, strerror(errno));
	return ok;
}

static int execute(char **argv)
{
	execvp(argv[0], argv);
	tool_error("%s: %s", argv[0], strerror(errno));
	return errno == ENOENT ? NOT_FOUND : NOT_EXECUTED;
}

int keep_get(const struct keep_config *config)
{
	struct wire_message message = {.what = WIRE_GET};
	int there, *fds = NULL, code = TOOL_FAILED;

	if (!name_into(&message, config->args[0]))
		return TOOL_FAILED;
	there = client_connect(config->socket);
	if (there < 0)
		return TOOL_ABSENT;
	fds = client_get(there, &message);
	close(there);
	if (fds && (!config->words || words_write(config->words, &message)) &&
	    hand_down(fds, message.fd_count))
		code = execute(config->args + 1);
	free(fds);
	return code;
}
