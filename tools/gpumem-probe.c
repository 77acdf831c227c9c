/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-probe: shows which backends and devices there are, what can be
 * configured, and whether a device works. The work is in probe/.
 */
#include "common/raw.h"
#include "common/tool.h"
#include "common/usage.h"
#include "probe/probe.h"

#include <string.h>

enum { KEY_OPTIONS = 0x100, KEY_TEST };

static const struct argp_option options[] = {
	{"backend", 'b', "NAME", 0, "Show only this backend and its devices",
	 0},
	{"device", 'd', "NAME", 0,
	 "Show only this device, such as host:0, with its free memory", 0},
	{"list", 'L', NULL, 0, "Show one line for each device and no more", 0},
	{"options", KEY_OPTIONS, NULL, 0,
	 "Show every option, its value and where that came from", 0},
	{"test", KEY_TEST, NULL, 0, "Test each device that is shown", 0},
	{"json", 'j', NULL, 0, "Print JSON", 0},
	{0},
};

static void check(const struct probe_config *config)
{
	bool named = config->device || config->backend;

	if (config->options && (config->test || config->list || named))
		usage_fail("--options: expected no other option but --json");
	if (config->list && (config->test || config->json))
		usage_fail("--list: expected neither --test nor --json");
	if (config->device && config->backend)
		usage_fail("--device=%s: expected no --backend beside it",
			   config->device);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct probe_config *config = state->input;

	switch (key) {
	case 'b':
		config->backend = usage_name_of("--backend", arg,
						"a backend such as cuda");
		return 0;
	case 'd':
		config->device = usage_name_of("--device", arg,
					       "a device such as cuda:0");
		return 0;
	case 'L':
		config->list = true;
		return 0;
	case KEY_OPTIONS:
		config->options = true;
		return 0;
	case KEY_TEST:
		config->test = true;
		return 0;
	case 'j':
		config->json = true;
		return 0;
	case ARGP_KEY_ARG:
		usage_fail("%s: expected options only", arg);
	case ARGP_KEY_END:
		check(config);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int show_options(const struct probe_config *config)
{
	int code = tool_configured();
	bool ok;

	if (code)
		return code;
	ok = config->json ? probe_options_json() : probe_options_text();
	return ok ? TOOL_OK : TOOL_FAILED;
}

/* By its number; or by its UUID or its place on the PCI bus, which the library
 * knows when it opens it. Gives an exit code; a failure has been told. */
static int find_device(const char *text, struct gpumem_device_info *info,
		       char *backend)
{
	gpumem_device *device;
	int index, code = TOOL_OK;

	if (raw_split(text, backend, &index)) {
		snprintf(info->name, sizeof(info->name), "%s", text);
		return TOOL_OK;
	}
	device = tool_open(text, &code);
	/* A name that no device can have is one that none has. */
	if (!device)
		return code == TOOL_USAGE ? TOOL_ABSENT : code;
	if (gpumem_device_get_info(device, info) != GPUMEM_OK ||
	    !raw_split(info->name, backend, &index)) {
		tool_error("no such device: %s", text);
		code = TOOL_ABSENT;
	}
	return tool_close(device, code);
}

static int show_devices(struct probe_config *config)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct probe probe = {.config = config};
	char backend[16];
	int code = tool_configured();
	bool printed;

	if (!code && config->device)
		code = find_device(config->device, &info, backend);
	if (code)
		return code;
	if (config->device) {
		config->device = info.name;
		config->backend = backend;
	}
	code = probe_collect(&probe);
	/* Even when a named one is not there the reason may be in the list. */
	if (code != TOOL_ABSENT || config->json) {
		printed = config->json	 ? probe_print_json(&probe)
			  : config->list ? probe_print_list(&probe)
					 : probe_print_text(&probe);
		if (!code && (!printed || probe.failed_test))
			code = TOOL_FAILED;
	}
	probe_free(&probe);
	return code;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Show the backends and devices that gpumem can use.\v"
		       "Without --device and --test nothing is opened: no "
		       "driver context is made.\n\n"
		       "Exit status: 0 answered, 1 something failed, 2 usage, "
		       "3 a named backend or device is not there.",
	};
	struct probe_config config = {0};

	tool_begin("gpumem-probe");
	usage_parse(&argp, argc, argv, &config);
	return config.options ? show_options(&config) : show_devices(&config);
}
