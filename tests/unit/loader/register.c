/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Backends that are linked into the program: names, options, one init. */
#include "base/error.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "fake.h"
#include <limits.h>
#include <unistd.h>

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static void refuses_table(const struct gpumem_backend *table,
			  gpumem_status status, const char *sentence)
{
	is_status(gm_backend_register(table), status, "%s", table->name);
	is_str(last_text(), sentence, "%s", sentence);
}

static void test_names(void)
{
	struct gpumem_backend copy;

	is_status(gm_backend_register(&fake_table), GPUMEM_OK, "register");
	is_status(gm_backend_register(&fake_table), GPUMEM_OK, "twice");
	is_int(fake.inits, 1, "is started once");
	copy = fake_table;
	is_status(gm_backend_register(&copy), GPUMEM_BUSY, "another's name");
	is_str(last_text(), "another backend is called \"fake\" (built in)",
	       "says whose");
	copy.name = "host";
	is_status(gm_backend_register(&gm_host_backend), GPUMEM_OK, "host");
	is_status(gm_backend_register(&copy), GPUMEM_BUSY, "host's name");
	copy.map = NULL;
	is_status(gm_backend_register(&copy), GPUMEM_ABI, "a bad table");
}

static void test_refusals(void)
{
	static const struct gpumem_option_row rows[] = {
		{"limit", "1", GPUMEM_OPTION_TEXT, "the core's"},
		{NULL, NULL, GPUMEM_OPTION_TEXT, NULL}};
	static const struct gpumem_option_row near_rows[] = {
		{"near2.x", "1", GPUMEM_OPTION_TEXT, "another's"},
		{NULL, NULL, GPUMEM_OPTION_TEXT, NULL}};
	static struct gpumem_backend t[8];
	const struct gm_backend *backend;
	int i;

	for (i = 0; i < 8; i++)
		t[i] = fake_table;
	t[0].name = "foreign";
	t[0].options = rows;
	refuses_table(&t[0], GPUMEM_ABI,
		      "foreign: its option \"limit\" does not begin with "
		      "\"foreign.\"");
	t[1].name = "near";
	t[1].options = near_rows;
	refuses_table(&t[1], GPUMEM_ABI,
		      "near: its option \"near2.x\" does not begin with "
		      "\"near.\"");
	t[2].name = "nodevice";
	t[2].device_adopt = NULL;
	fake.count_status = GPUMEM_NO_DEVICE;
	refuses_table(&t[2], GPUMEM_NO_DEVICE,
		      "nodevice: no such device is present");
	fake.count_status = GPUMEM_OK;
	fake.devices = 0;
	t[3].name = "zero";
	t[3].device_adopt = NULL;
	refuses_table(&t[3], GPUMEM_NO_DEVICE,
		      "zero: no such device is present");
	fake.devices = INT_MAX;
	t[6].name = "countless";
	refuses_table(&t[6], GPUMEM_DRIVER,
		      "countless: device_count gave 2147483647 devices");
	fake.devices = 2;
	fake.init_status = (gpumem_status)44;
	t[4].name = "strange";
	refuses_table(&t[4], GPUMEM_DRIVER,
		      "strange: init returned the unknown status 44");
	fake.init_status = GPUMEM_OK;
	is_status(gm_backend_register(&t[4]), GPUMEM_DRIVER,
		  "init is not called a second time");
	is_status(gm_backend_find("strange", &backend), GPUMEM_DRIVER,
		  "nor by a find");
	t[5].name = "strange";
	is_status(gm_backend_register(&t[5]), GPUMEM_OK,
		  "another one may take the name of a refused one");
	is_status(gm_backend_find("strange", &backend), GPUMEM_OK, "and works");
}

/* What has no device until a program brings a context. */
static void test_adopting(void)
{
	static struct gpumem_backend first, second;
	const struct gm_backend *backend = NULL;

	first = fake_table;
	first.name = "adopter";
	second = first;
	fake.count_status = GPUMEM_NO_DEVICE;
	is_status(gm_backend_register(&first), GPUMEM_OK, "no device yet");
	is_status(gm_backend_find("adopter", &backend), GPUMEM_NO_DEVICE,
		  "none can be opened");
	ok(!backend, "nothing is given out");
	is_status(gm_backend_find_adopting("adopter", &backend), GPUMEM_OK,
		  "to adopt it is there");
	is_int(backend->info.device_count, 0, "with no device of its own");
	is_status(gm_backend_register(&second), GPUMEM_BUSY, "and it stays");
	second.name = "never";
	second.device_adopt = NULL;
	is_status(gm_backend_register(&second), GPUMEM_NO_DEVICE,
		  "one that cannot adopt is refused");
	is_status(gm_backend_find_adopting("never", &backend),
		  GPUMEM_NO_DEVICE, "also to adopt");
	fake.count_status = GPUMEM_OK;
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	test_names();
	test_refusals();
	test_adopting();
	return done_testing();
}
