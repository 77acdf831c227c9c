/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A plugin whose every string holds what a terminal would obey, or no UTF-8. By
 * option rude.refuse it is one that refuses to start, with such a reason.
 */
#include "bad.h"
#include <stdio.h>

/* Clears the screen, sets the title, 8-bit CSI, DEL, reversal, no UTF-8; and a
 * letter that is to stay. */
#define RUDE "\033[2J\033]0;x\a\233A\177\342\200\256\377\303\274"

static const struct gpumem_services *core;
static char device;

static const struct gpumem_option_row options[] = {
	{"rude.refuse", "", GPUMEM_OPTION_TEXT, "a reason " RUDE},
	{"rude.text", RUDE, GPUMEM_OPTION_TEXT, "as its default " RUDE},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static gpumem_status init(const struct gpumem_services *services)
{
	char reason[64] = "";

	core = services;
	core->option("rude.refuse", reason, sizeof(reason));
	core->log(GPUMEM_LOG_WARN, "a plugin says " RUDE);
	if (!*reason)
		return GPUMEM_OK;
	core->error(7, "E_" RUDE, "%s " RUDE, reason);
	return GPUMEM_NO_DRIVER;
}

static const char *driver_version(void)
{
	return "version " RUDE;
}

static gpumem_status device_info(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = bad_device_info(index, info_out);

	snprintf(info_out->product, sizeof(info_out->product), "product " RUDE);
	snprintf(info_out->note, sizeof(info_out->note), "note " RUDE);
	snprintf(info_out->uuid, sizeof(info_out->uuid), RUDE);
	snprintf(info_out->pci, sizeof(info_out->pci), "\033[2J\377");
	return status;
}

static gpumem_status device_open(int index, void **device_out)
{
	(void)index;
	*device_out = &device;
	return GPUMEM_OK;
}

static gpumem_status
device_processes(void *self,
		 bool (*fn)(const struct gpumem_process *process, void *user),
		 void *user)
{
	struct gpumem_process process = GPUMEM_INIT(struct gpumem_process);

	(void)self;
	process.pid = 42;
	process.bytes = 4096;
	snprintf(process.name, sizeof(process.name), "process " RUDE);
	fn(&process, user);
	return GPUMEM_OK;
}

const struct gpumem_backend *gpumem_plugin(void)
{
	static struct gpumem_backend table;

	table = bad_table("rude");
	table.options = options;
	table.init = init;
	table.driver_version = driver_version;
	table.device_info = device_info;
	table.device_open = device_open;
	table.device_processes = device_processes;
	return &table;
}
