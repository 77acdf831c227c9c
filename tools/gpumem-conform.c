/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-conform: tries on a real device whatever backend.h promises, and says
 * what holds, in TAP. The checks are in conform/.
 */
#include "common/tool.h"
#include "common/usage.h"
#include "conform/conform.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* A backend that gets stuck does not conform. */
#define STUCK_SECONDS 600

/* A driver keeps some memory for streams that have been used. */
#define KEPT_BYTES ((uint64_t)32 << 20)

struct config {
	const char *backend;
	uint64_t device;
};

static const struct argp_option options[] = {
	{"device", 'd', "N", 0, "Try the device of this number (default 0)", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct config *config = state->input;

	switch (key) {
	case 'd':
		config->device = usage_count("--device", arg, 0, INT_MAX);
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
		printf("1..0 # SKIP %s: %s\n", backend, error.text);
		return TOOL_OK;
	}
	printf("Bail out! %s: %s\n", backend, error.text);
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
		{"capacity", conform_capacity},
		{"fill and copy", conform_copy},
		{"streams and events", conform_streams},
		{"order between streams", conform_order},
		{"capture", conform_capture},
		{"addresses and pages", conform_virtual},
		{"mapping", conform_mapping},
		{"kinds of memory", conform_kinds},
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
			     "the device does not say what is free");
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
	conform_kinds_warm(c);
	before = conform_free_bytes(c);
	run_groups(c);
	conform_note("---- end");
	check_end(c, before);
	c->ops->device_close(c->device);
	conform_is(c, c->ops->device_open(c->index, &c->device), GPUMEM_OK,
		   "device %d: open again after the end", c->index);
	if (!c->failing)
		c->ops->device_close(c->device);
}

static int conform_main(const struct config *config)
{
	struct conform c = {.index = (int)config->device};
	int code = tool_configured();
	gpumem_status status;

	if (code)
		return code;
	status = find(&c, config->backend);
	if (status == GPUMEM_OK)
		status = c.ops->device_count(&c.devices);
	if (status != GPUMEM_OK)
		return refuse(config->backend, status);
	if (c.index >= c.devices) {
		printf("Bail out! %s has no device %d\n", c.ops->name, c.index);
		return TOOL_ABSENT;
	}
	conform_note("gpumem-conform %s: %s, driver %s", gpumem_version(),
		     c.ops->name, c.ops->driver_version());
	conform_note("---- table");
	conform_table(&c);
	conform_note("---- devices");
	conform_devices(&c);
	run_device(&c);
	if (c.hopeless) {
		printf("Bail out! the rest would use memory that is none\n");
		return TOOL_FAILED;
	}
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
	struct config config = {0};

	tool_begin("gpumem-conform");
	usage_parse(&argp, argc, argv, &config);
	alarm(STUCK_SECONDS);
	return conform_main(&config);
}
