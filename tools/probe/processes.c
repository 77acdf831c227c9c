/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The processes that hold memory of an open device. A driver that does not list
 * them is no failure of the tool. See probe.h.
 */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>

struct asking {
	struct probe_processes *processes;
	bool no_memory;
};

static bool add(const struct gpumem_process *process, void *user)
{
	struct asking *asking = user;
	struct probe_processes *processes = asking->processes;
	size_t count = (size_t)processes->count + 1;
	struct gpumem_process *larger =
		realloc(processes->list, count * sizeof(*larger));

	if (!larger) {
		asking->no_memory = true;
		return false;
	}
	processes->list = larger;
	larger[processes->count++] = *process;
	return true;
}

static int larger_first(const void *a, const void *b)
{
	const struct gpumem_process *one = a, *two = b;

	if (one->bytes != two->bytes)
		return one->bytes < two->bytes ? 1 : -1;
	return (one->pid > two->pid) - (one->pid < two->pid);
}

bool probe_ask_processes(gpumem_device *handle,
			 struct probe_processes *processes)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	struct asking asking = {.processes = processes};

	if (gpumem_process_visit(handle, add, &asking) != GPUMEM_OK) {
		gpumem_last_error(&error);
		snprintf(processes->reason, sizeof(processes->reason), "%.511s",
			 error.text);
	}
	if (processes->count)
		qsort(processes->list, (size_t)processes->count,
		      sizeof(*processes->list), larger_first);
	return !asking.no_memory;
}

void probe_free_processes(struct probe_processes *processes)
{
	free(processes->list);
}
