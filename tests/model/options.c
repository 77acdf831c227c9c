/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a seed draws before its first step: options of the library and of the
 * simulated GPUs, and which kinds of steps there are. */
#include "model.h"

/* One of four values each, so that some are more likely. */
static const struct {
	const char *key, *value[4];
} drawn[] = {
	{"host.pinned", {"16MiB", "24MiB", "48MiB", "96MiB"}},
	{"host.managed", {"16MiB", "24MiB", "48MiB", "96MiB"}},
	{"alias", {"on", "on", "on", "off"}},
	{"handle_max", {"64MiB", "0", "1MiB", "4MiB"}},
	{"cache", {"256KiB", "256KiB", "0", "16KiB"}},
	{"waste", {"1.5%", "1.5%", "0", "20%"}},
	{"stream_waste", {"4.5%", "4.5%", "0", "20%"}},
	{"segment_waste", {"5%", "5%", "0", "50%"}},
	{"segment_wait_ms", {"1000", "1000", "1000", "0"}},
	{"space", {"0", "0", "64MiB", "128MiB"}},
};

static void option(const char *key, const char *value)
{
	must(gpumem_option_set(key, value));
	say(0, 0, "option %s: %s", key, value);
}

static void option_on(const char *key, bool on)
{
	option(key, on ? "on" : "off");
}

static void draw_configuration(struct configuration *c)
{
	static const unsigned pools[] = {1, 1, 2, 2, 3, 4, 6, 6};

	*c = (struct configuration){.vm = !one_in(3),
				    .wait = !one_in(4),
				    .faults = one_in(4),
				    .captures = !one_in(4),
				    .capture_frees = !one_in(4),
				    .tell = !one_in(3),
				    .large = one_in(4),
				    .pools = pools[random_below(8)]};
}

/* A page is no smaller than the device's. */
static void set_pages(const struct configuration *c)
{
	static const char *const pages[] = {"0", "256KiB", "512KiB", "2MiB"};
	static const char *const units[] = {"4KiB", "64KiB", "256KiB", "1MiB"};
	static const char *const small[] = {"8MiB", "16MiB", "24MiB", "48MiB"};
	static const char *const large[] = {"48MiB", "96MiB", "128MiB",
					    "256MiB"};
	uint64_t unit = random_below(4), page = random_below(4);

	option("host.page", units[unit]);
	option("page", c->vm && unit < 3 ? pages[page] : "0");
	option("host.alignment", unit && one_in(4) ? "16KiB" : "256");
	option("host.capacity", (c->large ? large : small)[random_below(4)]);
}

static void set_options(const struct configuration *c)
{
	option("decay_ms", "0");
	option("host.devices", "2");
	option_on("host.capture_frees", c->capture_frees);
	option_on("vm", c->vm);
	option_on("wait", c->wait);
	set_pages(c);
	for (size_t i = 0; i < COUNT(drawn); i++)
		option(drawn[i].key, drawn[i].value[random_below(4)]);
}

void options_draw(void)
{
	draw_configuration(&world.configuration);
	set_options(&world.configuration);
}
