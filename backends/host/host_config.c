/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The options "host.*" and what they say at present. Read anew whenever a
 * device is counted, described or opened; an open device keeps what it was
 * opened with. No locks.
 */
#include "host_device.h"

#include <string.h>

const struct gpumem_option_row gm_host_options[] = {
	{"host.devices", "1", GPUMEM_OPTION_COUNT,
	 "number of simulated devices, at most 64"},
	{"host.capacity", "64GiB", GPUMEM_OPTION_BYTES,
	 "memory of each device; what is not touched costs nothing"},
	{"host.page", "2MiB", GPUMEM_OPTION_BYTES,
	 "granularity of pages: a power of two, at least 4KiB"},
	{"host.vm", "on", GPUMEM_OPTION_BOOL, "the device has virtual memory"},
	{"host.streams", "on", GPUMEM_OPTION_BOOL,
	 "the device has streams and events"},
	{"host.copy", "on", GPUMEM_OPTION_BOOL, "the device can fill and copy"},
	{"host.capture", "on", GPUMEM_OPTION_BOOL,
	 "streams can be captured; needs host.streams"},
	{"host.capture_frees", "on", GPUMEM_OPTION_BOOL,
	 "memory can go back during a capture"},
	{"host.share_ipc", "on", GPUMEM_OPTION_BOOL,
	 "raw allocations can be opened by other processes"},
	{"host.share_fd", "on", GPUMEM_OPTION_BOOL,
	 "pages can go to other processes as descriptors; needs host.vm"},
	{"host.memory_info", "on", GPUMEM_OPTION_BOOL,
	 "free memory takes other programs into account"},
	{"host.alignment", "256", GPUMEM_OPTION_BYTES,
	 "alignment of the device: a power of two from 16 to 1GiB; without "
	 "virtual memory, every other allocation has no more than it"},
	{"host.max_alloc", "0", GPUMEM_OPTION_BYTES,
	 "largest single allocation without virtual memory; 0: the capacity"},
	{"host.pinned", "64GiB", GPUMEM_OPTION_BYTES,
	 "pinned host memory that each device can give; 0: it has none"},
	{"host.managed", "64GiB", GPUMEM_OPTION_BYTES,
	 "managed memory that each device can give; 0: it has none"},
	{"host.peers", "on", GPUMEM_OPTION_BOOL,
	 "devices can be opened to each other"},
	{"host.alias", "on", GPUMEM_OPTION_BOOL,
	 "a page can be mapped at several addresses; needs host.vm"},
	{"host.objects", "off", GPUMEM_OPTION_BOOL,
	 "memory is named by objects and its addresses cannot be used; without "
	 "virtual memory and sharing"},
	{"host.latency", "", GPUMEM_OPTION_TEXT,
	 "SLOT=MICROSECONDS;... that each call of a driver slot takes more, "
	 "'*' for all"},
	{"host.copy_rate", "0", GPUMEM_OPTION_BYTES,
	 "bytes a second of fill and copy; 0: as fast as it goes"},
	{"host.fail", "", GPUMEM_OPTION_TEXT,
	 "SLOT@N[+][:STATUS];... makes the Nth call of a driver slot fail, "
	 "'+' later ones too, '*' any slot"},
	{"host.fail_above", "0", GPUMEM_OPTION_BYTES,
	 "what takes more memory than this at once fails; 0: nothing does"},
	{"host.lose", "0", GPUMEM_OPTION_COUNT,
	 "calls after which the device is lost; 0: never"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

/* The value of an option, from the core or else its default. */
static const char *value_of(const char *key, char *text, size_t bytes)
{
	const struct gpumem_services *services = gm_host_services();
	const struct gpumem_option_row *row = gm_host_options;

	if (services && services->option(key, text, bytes))
		return text;
	while (strcmp(row->key, key))
		row++;
	return row->default_value;
}

static bool bad(const char *key, const char *text, const char *why)
{
	(void)gm_host_fail(GPUMEM_INVALID, "option %s is \"%s\": %s", key, text,
			   why);
	return false;
}

/* A number from least to most, which are bytes or counts. */
static bool read_number(const char *key, uint64_t least, uint64_t most,
			uint64_t *number_out)
{
	char buffer[64];
	const char *text = value_of(key, buffer, sizeof(buffer));

	if (!gm_host_parse_bytes(text, number_out))
		return bad(key, text, "that is no number");
	if (*number_out < least || *number_out > most)
		return bad(key, text, "out of range");
	return true;
}

static bool read_power(const char *key, uint64_t least, uint64_t most,
		       uint64_t *number_out)
{
	char buffer[64];

	if (!read_number(key, least, most, number_out))
		return false;
	if (*number_out & (*number_out - 1))
		return bad(key, value_of(key, buffer, sizeof(buffer)),
			   "not a power of two");
	return true;
}

static bool read_cap(const char *key, uint32_t cap, uint32_t *caps)
{
	char buffer[64];
	const char *text = value_of(key, buffer, sizeof(buffer));
	bool on;

	if (!gm_host_parse_bool(text, &on))
		return bad(key, text, "neither on nor off");
	if (on)
		*caps |= cap;
	return true;
}

/* One "SLOT=MICROSECONDS". */
static bool add_latency(char *item, void *user)
{
	uint64_t *latency_ns = user, us;
	char *equals = strchr(item, '=');
	unsigned slot;

	if (!equals)
		return false;
	*equals = '\0';
	slot = gm_host_parse_slot(item);
	if (slot == HOST_SLOT_NONE || !gm_host_parse_count(equals + 1, &us) ||
	    us > UINT32_MAX)
		return false;
	for (unsigned i = 0; i < GPUMEM_SLOT_COUNT; i++)
		if (slot == i || slot == HOST_SLOT_ANY)
			latency_ns[i] = us * 1000;
	return true;
}

static bool read_latency(uint64_t *latency_ns)
{
	char buffer[512];
	const char *text = value_of("host.latency", buffer, sizeof(buffer));

	memset(latency_ns, 0, GPUMEM_SLOT_COUNT * sizeof(*latency_ns));
	return gm_host_parse_list(text, add_latency, latency_ns) ||
	       bad("host.latency", text, "not SLOT=MICROSECONDS;...");
}

static bool read_caps(uint32_t *caps_out)
{
	uint32_t caps = GPUMEM_CAP_HOST_ACCESS | GPUMEM_CAP_SIMULATED;

	if (!read_cap("host.vm", GPUMEM_CAP_VM, &caps) ||
	    !read_cap("host.streams", GPUMEM_CAP_STREAMS, &caps) ||
	    !read_cap("host.copy", GPUMEM_CAP_COPY, &caps) ||
	    !read_cap("host.capture", GPUMEM_CAP_CAPTURE, &caps) ||
	    !read_cap("host.capture_frees", GPUMEM_CAP_FREES_IN_CAPTURE,
		      &caps) ||
	    !read_cap("host.share_ipc", GPUMEM_CAP_SHARE_IPC, &caps) ||
	    !read_cap("host.share_fd", GPUMEM_CAP_SHARE_FD, &caps) ||
	    !read_cap("host.memory_info", GPUMEM_CAP_MEMORY_INFO, &caps) ||
	    !read_cap("host.peers", GPUMEM_CAP_PEER, &caps) ||
	    !read_cap("host.alias", GPUMEM_CAP_ALIAS, &caps) ||
	    !read_cap("host.objects", GPUMEM_CAP_OBJECTS, &caps))
		return false;
	if (caps & GPUMEM_CAP_OBJECTS)
		caps &= ~(uint32_t)(GPUMEM_CAP_HOST_ACCESS | GPUMEM_CAP_VM |
				    GPUMEM_CAP_SHARE_IPC);
	if (!(caps & GPUMEM_CAP_VM))
		caps &= ~(uint32_t)(GPUMEM_CAP_SHARE_FD | GPUMEM_CAP_ALIAS);
	if (!(caps & GPUMEM_CAP_STREAMS))
		caps &= ~(uint32_t)GPUMEM_CAP_CAPTURE;
	if (!(caps & GPUMEM_CAP_CAPTURE))
		caps &= ~(uint32_t)GPUMEM_CAP_FREES_IN_CAPTURE;
	*caps_out = caps;
	return true;
}

static bool read_kind(const char *key, uint32_t cap, uint64_t *bytes,
		      uint32_t *caps)
{
	if (!read_number(key, 0, UINT64_C(1) << 50, bytes))
		return false;
	if (*bytes)
		*caps |= cap;
	return true;
}

static bool read_kinds(struct host_config *config)
{
	return read_kind("host.pinned", GPUMEM_CAP_PINNED,
			 &config->kind_bytes[GPUMEM_KIND_PINNED],
			 &config->caps) &&
	       read_kind("host.managed", GPUMEM_CAP_MANAGED,
			 &config->kind_bytes[GPUMEM_KIND_MANAGED],
			 &config->caps);
}

static bool read_sizes(struct host_config *config)
{
	const uint64_t most = UINT64_C(1) << 50;

	if (!read_number("host.capacity", gm_host_unit(), most,
			 &config->capacity) ||
	    !read_power("host.page", gm_host_unit(), UINT64_C(1) << 30,
			&config->granularity) ||
	    !read_power("host.alignment", 16, UINT64_C(1) << 30,
			&config->alignment) ||
	    !read_number("host.max_alloc", 0, most, &config->max_alloc) ||
	    !read_number("host.copy_rate", 0, UINT64_MAX, &config->copy_rate) ||
	    !read_number("host.fail_above", 0, UINT64_MAX,
			 &config->fail_above) ||
	    !read_number("host.lose", 0, UINT64_MAX, &config->lose))
		return false;
	if (!config->max_alloc || config->max_alloc > config->capacity)
		config->max_alloc = config->capacity;
	if (!(config->caps & GPUMEM_CAP_VM))
		config->granularity = gm_host_unit();
	return true;
}

gpumem_status gm_host_config_read(struct host_config *config_out)
{
	struct host_config config = {0};
	uint64_t devices;
	const char *fail;

	if (!read_number("host.devices", 0, HOST_DEVICES_MAX, &devices) ||
	    !read_caps(&config.caps) || !read_kinds(&config) ||
	    !read_sizes(&config) || !read_latency(config.latency_ns))
		return GPUMEM_INVALID;
	config.devices = (int)devices;
	fail = value_of("host.fail", config.fail, sizeof(config.fail));
	if (fail != config.fail)
		config.fail[0] = '\0';
	*config_out = config;
	return GPUMEM_OK;
}
