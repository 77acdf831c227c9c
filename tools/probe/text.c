/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What gpumem-probe prints for people.
 */
#include "probe.h"

#include "common/human.h"
#include "common/table.h"
#include "common/tool.h"

#include <ctype.h>
#include <string.h>

const char *probe_status_words(gpumem_status status, char words_out[32])
{
	const char *name = gpumem_status_name(status);
	size_t i = 0;

	if (!strncmp(name, "GPUMEM_", 7))
		name += 7;
	for (; name[i] && i < 31; i++)
		words_out[i] = (char)(name[i] == '_' ? ' ' : tolower(name[i]));
	words_out[i] = '\0';
	return words_out;
}

/* The reason without the backend's name in front, which the row begins with. */
static const char *own_reason(const struct gpumem_backend_info *info)
{
	size_t length = strlen(info->name);

	if (!strncmp(info->reason, info->name, length) &&
	    !strncmp(info->reason + length, ": ", 2))
		return info->reason + length + 2;
	return info->reason;
}

static void backend_row(struct table *table,
			const struct gpumem_backend_info *info)
{
	char words[32];

	table_cell(table, "%s", info->name);
	table_cell(table, "%s", info->chosen ? "*" : "");
	table_cell(table, "%s", probe_status_words(info->status, words));
	table_paint(table, info->status == GPUMEM_OK ? TERM_GOOD : TERM_DIM);
	if (info->status != GPUMEM_OK) {
		table_cell(table, "%s", "");
		table_cell(table, "%s", own_reason(info));
		return;
	}
	table_cell(table, "%d device%s", info->device_count,
		   info->device_count == 1 ? "" : "s");
	table_cell(table, "%s%s, %s",
		   *info->driver_version ? "driver " : "driver unknown",
		   info->driver_version, *info->path ? info->path : "built in");
}

static bool print_backends(const struct probe *probe)
{
	struct table table;
	bool ok;

	table_init(&table, "lllll");
	for (int i = 0; i < probe->backend_count; i++)
		backend_row(&table, &probe->backends[i].info);
	printf("backends (* is the default)\n");
	ok = table_print(&table, 2);
	table_free(&table);
	if (*probe->default_device)
		printf("  default device: %s\n", probe->default_device);
	if (*probe->no_default)
		ok = term_say("no default: %s", probe->no_default) && ok;
	return ok;
}

static void fact(struct table *table, const char *name, const char *value)
{
	table_cell(table, "%s", name);
	table_cell(table, "%s", *value ? value : "unknown");
}

static void bytes_fact(struct table *table, const char *name, uint64_t bytes)
{
	char text[HUMAN_BYTES];

	table_cell(table, "%s", name);
	if (bytes < 1024)
		table_cell(table, "%s", human_bytes(text, bytes));
	else
		table_cell(table, "%s (%llu bytes)", human_bytes(text, bytes),
			   (unsigned long long)bytes);
}

static void memory_facts(struct table *table, const struct probe_device *device)
{
	const struct gpumem_memory *memory = &device->memory;

	bytes_fact(table, "total memory", device->info.total_bytes);
	if (!memory->size) {
		fact(table, "free memory",
		     "unknown without a context; see --device");
		return;
	}
	bytes_fact(table, "free memory", memory->free_bytes);
	bytes_fact(table, "outside gpumem", memory->outside_bytes);
}

static void process_fact(struct table *table, const char *name,
			 const struct gpumem_process *process)
{
	char bytes[HUMAN_BYTES];

	table_cell(table, "%s", name);
	table_cell(table, "%s  process %llu  %s",
		   process->bytes == UINT64_MAX
			   ? "unknown"
			   : human_bytes(bytes, process->bytes),
		   (unsigned long long)process->pid, process->name);
}

static void process_facts(struct table *table,
			  const struct probe_device *device)
{
	const struct probe_processes *processes = &device->processes;

	if (!device->memory.size)
		return;
	if (*processes->reason)
		fact(table, "held by", processes->reason);
	else if (!processes->count)
		fact(table, "held by", "no process");
	for (int i = 0; i < processes->count; i++)
		process_fact(table, i ? "" : "held by", &processes->list[i]);
}

/* What is no ability: said where it is so. */
static const uint32_t traits = GPUMEM_CAP_FREE_WAITS | GPUMEM_CAP_LATE_COMMIT |
			       GPUMEM_CAP_OBJECTS | GPUMEM_CAP_CPU |
			       GPUMEM_CAP_SIMULATED;

static void capability_facts(struct table *table, uint32_t caps)
{
	const char *heading = "capabilities", *mind = "to be minded";
	static const struct {
		uint32_t bit;
		const char *text;
	} list[] = {
#define ROW(name, bit, word, text) {1u << (bit), text},
		GPUMEM_CAP_LIST(ROW)
#undef ROW
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		if (list[i].bit & traits)
			continue;
		table_cell(table, "%s", heading);
		table_cell(table, "%-3s  %s", caps & list[i].bit ? "yes" : "no",
			   list[i].text);
		heading = "";
	}
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) {
		if (!(list[i].bit & traits & caps))
			continue;
		table_cell(table, "%s", mind);
		table_cell(table, "%s", list[i].text);
		mind = "";
	}
}

static bool print_facts(const struct probe_device *device)
{
	const struct gpumem_device_info *info = &device->info;
	struct table table;
	bool ok;

	table_init(&table, "ll");
	fact(&table, "product", info->product);
	fact(&table, "UUID", info->uuid);
	fact(&table, "PCI", *info->pci ? info->pci : "none");
	if (*info->note)
		fact(&table, "note", info->note);
	memory_facts(&table, device);
	process_facts(&table, device);
	bytes_fact(&table, "granularity", info->granularity_bytes);
	bytes_fact(&table, "alignment", info->alignment_bytes);
	bytes_fact(&table, "largest raw block", info->max_alloc_bytes);
	capability_facts(&table, info->caps);
	ok = table_print(&table, 2);
	table_free(&table);
	return ok;
}

static bool print_test(const struct probe_device *device)
{
	static const char *const words[] = {"ok", "FAILED", "skipped"};
	static const enum term_style styles[] = {TERM_GOOD, TERM_BAD, TERM_DIM};
	struct table table;
	bool ok;

	table_init(&table, "lll");
	for (int i = 0; i < device->line_count; i++) {
		const struct probe_line *line = &device->lines[i];

		table_cell(&table, "test: %s", line->name);
		table_cell(&table, "%s", words[line->verdict]);
		table_paint(&table, styles[line->verdict]);
		table_cell(&table, "%s", line->detail);
	}
	ok = table_print(&table, 2);
	table_free(&table);
	return ok;
}

bool probe_print_text(const struct probe *probe)
{
	bool ok;

	printf("gpumem %s\n\n", gpumem_version());
	ok = probe->config->device || print_backends(probe);
	if (!probe->config->backend)
		ok = probe_gpus_text(probe) && ok;
	for (int i = 0; i < probe->backend_count; i++) {
		const struct probe_backend *backend = &probe->backends[i];

		for (int j = 0; j < backend->device_count && ok; j++) {
			const struct probe_device *device =
				&backend->devices[j];

			if (!probe->config->device)
				putchar('\n');
			term_put(TERM_TITLE, device->info.name);
			putchar('\n');
			ok = print_facts(device) && print_test(device);
		}
	}
	if (!ok)
		tool_error("out of memory");
	return ok;
}
