/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-conform: tests on a device every promise of backend.h, and prints the
 * results as TAP. The checks are in conform/. They run in a process of their
 * own, so that a crash of the backend is reported too.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "conform/conform.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A backend that gets stuck does not conform. */
#define STUCK_SECONDS 600
#define SECONDS_MAX 86400

/* A driver keeps some memory for streams that have been used. */
#define KEPT_BYTES ((uint64_t)32 << 20)

/* Of what is free: so much is taken at once, but to try what is beyond. */
#define BUDGET_PART 4

struct config {
	const char *backend;
	uint64_t device, seconds;
	bool one_thread;
};

static const struct argp_option options[] = {
	{"device", 'd', "N", 0, "Try the device of this number (default 0)", 0},
	{"one-thread", '1', NULL, 0,
	 "Leave out what several threads do at once", 0},
	{"timeout", 't', "SECONDS", 0,
	 "End a backend that gets stuck after so many seconds (default 600)",
	 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config *config = state->input;

	switch (key) {
	case 'd':
		config->device = usage_count("--device", arg, 0, INT_MAX);
		return 0;
	case '1':
		config->one_thread = true;
		return 0;
	case 't':
		config->seconds = usage_count("--timeout", arg, 1, SECONDS_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (config->backend)
			usage_fail("%s: expected one backend only", arg);
		config->backend = arg;
		return 0;
	case ARGP_KEY_END:
		if (!config->backend)
			usage_fail("expected a backend's name or file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_path(const char *backend)
{
	size_t length = strlen(backend);

	return strchr(backend, '/') ||
	       (length > 3 && !strcmp(backend + length - 3, ".so"));
}

/* No driver and no device are a skip; what is broken is not. */
static int refuse(const char *backend, gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	if (status == GPUMEM_NO_DRIVER || status == GPUMEM_NO_DEVICE) {
		conform_skip_all("%s: %s", backend, error.text);
		return TOOL_OK;
	}
	conform_bail("%s: %s", backend, error.text);
	return tool_exit_of(status);
}

static gpumem_status find(struct conform *c, const char *backend)
{
	char name[16];
	gpumem_status status;

	if (!is_path(backend))
		return gpumem_backend_table(backend, &c->ops);
	status = gpumem_backend_load(backend, name);
	if (status == GPUMEM_OK)
		status = gpumem_backend_table(name, &c->ops);
	return status;
}

static void run_groups(struct conform *c)
{
	static const struct {
		const char *name;
		void (*run)(struct conform *c);
	} groups[] = {
		{"raw memory", conform_memory},
		{"what is given back", conform_given_back},
		{"capacity", conform_capacity},
		{"fill and copy", conform_copy},
		{"streams and events", conform_streams},
		{"order between streams", conform_order},
		{"capture", conform_capture},
		{"addresses and pages", conform_virtual},
		{"mapping", conform_mapping},
		{"kinds of memory", conform_kinds},
		{"memory pinned in place", conform_pin},
		{"peers", conform_peers},
		{"processes", conform_processes},
		{"sharing", conform_share},
		{"objects", conform_objects},
		{"threads", conform_threads},
	};

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		if (c->hopeless)
			return;
		conform_note("---- %s", groups[i].name);
		groups[i].run(c);
	}
}

/* All was given back, so about as much must be free as before; others use the
 * device, so it is tried a few times. */
static void check_end(struct conform *c, uint64_t before)
{
	bool back = false;

	if (!conform_has(c, GPUMEM_CAP_MEMORY_INFO)) {
		conform_skip(c, "nothing is kept",
			     "the device does not report free memory");
		return;
	}
	for (int i = 0; i < 50 && !back; i++) {
		back = conform_free_bytes(c) + KEPT_BYTES >= before;
		if (!back)
			usleep(100000);
	}
	if (!back)
		conform_note(
			"%llu bytes are not",
			(unsigned long long)(before - conform_free_bytes(c)));
	conform_ok(c, back, "nothing is kept: as much is free as before");
}

/* What the core would clear is not there for us either. */
static void clear_caps(struct conform *c)
{
	uint32_t absent = c->info.caps & ~conform_usable_caps(c->ops);

	c->info.caps &= ~absent;
	if (absent)
		conform_note("capabilities %#x are claimed and have no slots: "
			     "the library clears them",
			     absent);
}

static void run_device(struct conform *c)
{
	uint64_t before;

	if (!conform_is(c, c->ops->device_open(c->index, &c->device), GPUMEM_OK,
			"device %d: open", c->index))
		return;
	/* Not before: opening it may show what it cannot do. */
	c->info = GPUMEM_INIT(struct gpumem_device_info);
	if (!conform_is(c, c->ops->device_info(c->index, &c->info), GPUMEM_OK,
			"device %d: info", c->index))
		return;
	clear_caps(c);
	if (*tool_simulated(&c->info))
		conform_note("%s", tool_simulated(&c->info));
	conform_kinds_warm(c);
	before = conform_free_bytes(c);
	c->budget_bytes = before / BUDGET_PART;
	run_groups(c);
	if (c->hopeless)
		return;
	conform_note("---- end");
	check_end(c, before);
	c->ops->device_close(c->device);
	conform_is(c, c->ops->device_open(c->index, &c->device), GPUMEM_OK,
		   "device %d: open again after the end", c->index);
	if (!c->failing)
		c->ops->device_close(c->device);
}

static gpumem_status start(struct conform *c, const char *backend)
{
	gpumem_status status;

	conform_calls("the backend, loaded and started,");
	status = find(c, backend);
	if (status == GPUMEM_OK)
		status = c->ops->device_count(&c->devices);
	conform_calls(NULL);
	return status;
}

static int try_backend(void *user)
{
	const struct config *config = user;
	struct conform c = {.index = (int)config->device,
			    .one_thread = config->one_thread};
	gpumem_status status = start(&c, config->backend);

	if (status != GPUMEM_OK)
		return refuse(config->backend, status);
	if (c.index >= c.devices) {
		conform_bail("%s has no device %d", c.ops->name, c.index);
		return TOOL_ABSENT;
	}
	c.ops = conform_watch(&c, c.ops);
	if (!c.ops) {
		conform_bail("the rules of every call cannot be watched");
		return TOOL_FAILED;
	}
	conform_note("gpumem-conform %s: %s, driver %s", gpumem_version(),
		     c.ops->name, c.ops->driver_version());
	conform_note("---- table");
	conform_table(&c);
	conform_note("---- devices");
	conform_devices(&c);
	if (!c.hopeless)
		run_device(&c);
	if (c.hopeless) {
		conform_bail("the rest would use memory that is none");
		return TOOL_FAILED;
	}
	conform_note("---- rules of every call");
	conform_watched(&c);
	conform_covered(&c);
	return conform_end(&c);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "PLUGIN.so|NAME",
		.doc = "Try everything that gpumem's backend.h promises on one "
		       "device of a backend, and print the result in TAP.\v"
		       "A capability that the device lacks is a skip with its "
		       "reason, and so is a driver or device that is not "
		       "there.\n\nExit status: 0 all that could be tried "
		       "holds, 1 something does not, 2 usage, 3 no such "
		       "backend or device.",
	};
	struct config config = {.seconds = STUCK_SECONDS};

	tool_begin("gpumem-conform");
	usage_parse(&argp, argc, argv, &config);
	return conform_apart(try_backend, &config, (unsigned)config.seconds);
}
