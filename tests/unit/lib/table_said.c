/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the memory of a device is: what the text of the table says, memory that
 * is not the device's, and a driver that does not answer. That the rows add up
 * is in table.c.
 */
#include "table.h"

static bool tells(const char *part)
{
	return strstr(rows.text, part) != NULL;
}

static void test_text(void)
{
	char line[100];
	void *ptr;

	world_start("1GiB", true, true);
	must(gpumem_tag_set(tag[1]));
	ptr = new_block(pool[0], 3 * MIB, stream[0]);
	must(gpumem_tag_set(0));
	must(gpumem_use_on(ptr, stream[1]));
	rows.used = 0;
	must(gpumem_device_report(device, 0, rows_write, &rows));
	ok(!strncmp(rows.text, "host:0: 1.00 GiB\npool \"first\"\n", 30),
	   "it begins with the device and its first pool");
	ok(tells("      3.00 MiB    0.3 %  live, 1 block, tag \"weights\"\n"),
	   "a tag");
	must(gpumem_tag_set_limit(pool[0], tag[1], 1024 * MIB));
	rows.used = 0;
	must(gpumem_device_report(device, 0, rows_write, &rows));
	ok(tells("tag \"weights\", limit 1.00 GiB, 3.00 MiB held\n"),
	   "and its limit");
	ok(tells("\npool \"second\"\n"), "the other pool");
	ok(tells("\noutside the pools\n      5.00 MiB    0.5 %  outside "
		 "gpumem\n"),
	   "what is outside");
	ok(tells("\nprocesses that use the device\n"), "processes");
	must(gpumem_free(ptr, stream[0]));
	rows.used = 0;
	must(gpumem_device_report(device, 0, rows_write, &rows));
	snprintf(line, sizeof(line), "pending, until stream %#llx has",
		 (ull)(uintptr_t)stream[1]);
	ok(tells(line), "%s", line);
	diag("%s", rows.text);
	world_end();
}

/* Memory that is not the device's is no part of its total. */
static void test_kinds(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *pinned = NULL;
	void *ptr;

	world_start("1GiB", true, false);
	config.name = "pinned";
	config.kind = GPUMEM_KIND_PINNED;
	must(gpumem_pool_create(device, &config, &pinned));
	ptr = new_block(pinned, MIB, stream[0]);
	compare();
	ok(!fault, "the sum is the device's");
	ok(rows_sum("pinned", "live") == MIB && !rows_sum("pinned", NULL),
	   "pinned memory is beside it");
	must(gpumem_free(ptr, stream[0]));
	must(gpumem_pool_destroy(pinned, 0));
	world_end();
}

/* A driver that does not answer: its status, and nothing is written. */
static void test_fails(void)
{
	world_start("1GiB", true, false);
	must(gpumem_host_faults("memory_info@1:driver"));
	rows.used = 0;
	is_status(gpumem_device_report(device, 0, rows_write, &rows),
		  GPUMEM_DRIVER, "the driver does not say what is free");
	is_int((long)rows.used, 0, "nothing was written");
	must(gpumem_host_faults("device_processes@1:driver"));
	rows_read(device);
	ok(!tells("\"processes\""), "nor which processes there are");
	agrees(rows_sum(NULL, NULL), rows.total_bytes, "the sum");
	ok(!fault, "the rest is there");
	must(gpumem_host_faults(""));
	world_end();
}

int main(void)
{
	alarm(60);
	tags_make();
	test_text();
	test_kinds();
	test_fails();
	return done_testing();
}
