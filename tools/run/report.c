/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report as text; report_json.c has the same facts. What names a process or
 * a device is not trusted: the table and clean_copy() make it printable.
 */
#include "common/clean.h"
#include "common/human.h"
#include "common/table.h"
#include "common/tool.h"
#include "run.h"

#include <stdlib.h>

static const char *const kinds[LEDGER_KINDS] = {
#define KIND(name, key, text, on_device) text,
	LEDGER_KIND_LIST(KIND)
#undef KIND
};

static const char *const notes[LEDGER_NOTES] = {
#define NOTE(name, key, text) text,
	LEDGER_NOTE_LIST(NOTE)
#undef NOTE
};

static bool is_used(const struct ledger_counts *counts)
{
	return counts->allocs || counts->failures;
}

bool run_device_is_used(const struct ledger_device *device)
{
	for (int i = 0; i < LEDGER_KINDS; i++)
		if (is_used(&device->kinds[i]))
			return true;
	return false;
}

static bool pool_is_used(const struct ledger_pool *pool)
{
	return pool->hits || pool->misses || pool->peak_bytes;
}

/* ---- text ------------------------------------------------------------------
 */

static void add_kind(struct table *table, const char *text,
		     const struct ledger_counts *counts)
{
	char peak[HUMAN_BYTES], current[HUMAN_BYTES];

	if (!is_used(counts))
		return;
	table_cell(table, "%s", text);
	table_cell(table, "%s", human_bytes(peak, counts->peak_bytes));
	table_cell(table, "%s", human_bytes(current, counts->current_bytes));
	table_cell(table, "%llu", (unsigned long long)counts->allocs);
	table_cell(table, "%llu", (unsigned long long)counts->frees);
	table_cell(table, "%llu", (unsigned long long)counts->failures);
}

static void print_pool(const struct ledger_device *device)
{
	const struct ledger_pool *pool = &device->pool;
	char peak[HUMAN_BYTES], current[HUMAN_BYTES], reserved[HUMAN_BYTES];

	if (!pool_is_used(pool))
		return;
	printf("    kept after frees: peak %s, at the end %s; with it the "
	       "driver "
	       "gave %s at the peak\n",
	       human_bytes(peak, pool->peak_bytes),
	       human_bytes(current, pool->current_bytes),
	       human_bytes(reserved, device->reserved_peak_bytes));
	if (pool->hits || pool->misses)
		printf("    %llu of %llu allocations were such blocks; %llu "
		       "went back\n",
		       (unsigned long long)pool->hits,
		       (unsigned long long)(pool->hits + pool->misses),
		       (unsigned long long)pool->returned);
	if (pool->served)
		printf("    gpumem's pool served %llu of %llu stream-ordered "
		       "allocations\n",
		       (unsigned long long)pool->served,
		       (unsigned long long)device->kinds[LEDGER_ASYNC].allocs);
}

static bool print_line(const struct ledger_device *device, int number)
{
	char peak[HUMAN_BYTES], current[HUMAN_BYTES];
	char *name = clean_copy(device->name);

	if (!name)
		return false;
	printf("  device %d%s%s: peak %s, at the end %s\n", number,
	       *name ? ", " : "", name, human_bytes(peak, device->peak_bytes),
	       human_bytes(current, device->current_bytes));
	free(name);
	return true;
}

static bool print_device(const struct ledger_device *device, int number)
{
	static const char *const titles[] = {
		"", "peak", "at the end", "allocations", "frees", "failed"};
	struct table table;
	bool ok;

	if (!print_line(device, number))
		return false;
	table_init(&table, "lrrrrr");
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		table_cell(&table, "%s", titles[i]);
	for (int i = 0; i < LEDGER_KINDS; i++)
		add_kind(&table, kinds[i], &device->kinds[i]);
	ok = table_print(&table, 4);
	table_free(&table);
	if (device->refused)
		printf("    the limit refused %llu of those that failed\n",
		       (unsigned long long)device->refused);
	print_pool(device);
	return ok;
}

/* What --adopt could not do, in words of anybody's. */
static bool print_declined(const struct ledger *ledger)
{
	char *declined = clean_copy(ledger->declined);
	char *unserved = clean_copy(ledger->unserved);
	char *stopped = clean_copy(ledger->stopped);
	bool ok = declined && unserved && stopped;

	if (ok && *stopped)
		printf("  nothing was kept any more because of %s\n", stopped);
	if (ok && *declined)
		printf("  %s\n", declined);
	if (ok && *unserved)
		printf("  stream-ordered allocations were the driver's: %s\n",
		       unserved);
	free(declined);
	free(unserved);
	free(stopped);
	return ok;
}

static bool print_recording(const struct ledger *ledger)
{
	bool done = ledger->recording[0];
	char *text = clean_copy(done ? ledger->recording : ledger->unrecorded);

	if (!text)
		return false;
	if (*text)
		printf("  %s%s\n",
		       done ? "recorded to " : "not recorded: ", text);
	free(text);
	return true;
}

/* Anybody in the process may have said it. */
static bool print_told(const struct ledger *ledger)
{
	char *text = clean_copy(ledger->told);

	if (text && *text)
		printf("  %s\n", text);
	free(text);
	return text;
}

static bool print_process(const struct ledger *ledger)
{
	struct table table;
	bool ok;

	table_init(&table, "l");
	table_cell(&table, "process %llu, %s%s%s",
		   (unsigned long long)ledger->pid, ledger->program,
		   ledger->api == LEDGER_OPENCL ? ", by OpenCL"
		   : ledger->api == LEDGER_HIP	? ", by HIP"
						: "",
		   ledger->exited ? "" : ": did not end by exit()");
	ok = table_print(&table, 0);
	table_free(&table);
	for (int i = 0; ok && i < LEDGER_DEVICES; i++)
		if (run_device_is_used(&ledger->devices[i]))
			ok = print_device(&ledger->devices[i], i);
	for (int i = 0; i < LEDGER_NOTES; i++)
		if (ledger->notes[i])
			printf("  not counted: %llu %s\n",
			       (unsigned long long)ledger->notes[i], notes[i]);
	return ok && print_told(ledger) && print_declined(ledger) &&
	       print_recording(ledger);
}

static void print_adopted(void)
{
	const struct run_setting *setting;

	for (size_t i = 0; (setting = run_adopted(i)) != NULL; i++)
		if (setting->done)
			printf("set %s=%s\n", setting->name, setting->value);
}

double run_percent_of(struct limit_value limit)
{
	return (double)limit.billionths / (LIMIT_WHOLE / 100);
}

static void print_limit(struct limit_value limit)
{
	char text[HUMAN_BYTES];

	if (limit.bytes)
		printf("limit of each process on each device: %s\n",
		       human_bytes(text, limit.bytes));
	if (limit.billionths)
		printf("limit of each process on each device: %.9g %% of its "
		       "memory\n",
		       run_percent_of(limit));
}

/* The program's name, and its interpreter's, are anybody's. */
static bool print_gaps(const struct run_config *config)
{
	struct run_gap gap;

	for (size_t i = 0; run_gap(config, i, &gap); i++) {
		char *what = clean_copy(gap.text), *why = clean_copy(gap.why);

		if (what && why)
			printf("not followed: %s: %s\n", what, why);
		free(what);
		free(why);
		if (!what || !why)
			return false;
	}
	return true;
}

bool run_print_text(const struct run_config *config,
		    const struct run_ledgers *ledgers,
		    const struct run_end *end)
{
	bool ok = true;

	if (end->signal)
		printf("ended by signal %d\n", end->signal);
	else
		printf("exit status %d\n", end->status);
	print_adopted();
	print_limit(config->limit);
	if (!ledgers->count)
		printf("no process that was followed allocated GPU memory\n");
	for (size_t i = 0; ok && i < ledgers->count; i++)
		ok = print_process(&ledgers->processes[i].ledger);
	ok = ok && print_gaps(config);
	if (!ok)
		tool_error("out of memory");
	return ok;
}
