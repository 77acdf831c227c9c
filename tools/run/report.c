/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The report as text and as JSON. Both have the same facts. What names a
 * process or a device is not trusted: the table, clean_copy() and JSON make it
 * printable.
 */
#include "common/clean.h"
#include "common/human.h"
#include "common/json.h"
#include "common/table.h"
#include "common/tool.h"
#include "run.h"

#include <stdlib.h>

static const struct {
	const char *key, *text;
} kinds[LEDGER_KINDS] =
	{
#define KIND(name, key, text, on_device) {key, text},
		LEDGER_KIND_LIST(KIND)
#undef KIND
},
  notes[LEDGER_NOTES] = {
#define NOTE(name, key, text) {key, text},
	  LEDGER_NOTE_LIST(NOTE)
#undef NOTE
};

static bool is_used(const struct ledger_counts *counts)
{
	return counts->allocs || counts->failures;
}

static bool device_is_used(const struct ledger_device *device)
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
		add_kind(&table, kinds[i].text, &device->kinds[i]);
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
	bool ok = declined && unserved;

	if (ok && *declined)
		printf("  %s\n", declined);
	if (ok && *unserved)
		printf("  stream-ordered allocations were the driver's: %s\n",
		       unserved);
	free(declined);
	free(unserved);
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
		if (device_is_used(&ledger->devices[i]))
			ok = print_device(&ledger->devices[i], i);
	if (ledger->stopped[0])
		printf("  nothing was kept any more because of %s\n",
		       ledger->stopped);
	for (int i = 0; i < LEDGER_NOTES; i++)
		if (ledger->notes[i])
			printf("  not counted: %llu %s\n",
			       (unsigned long long)ledger->notes[i],
			       notes[i].text);
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

static double percent_of(struct limit_value limit)
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
		       percent_of(limit));
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

/* ---- JSON ------------------------------------------------------------------
 */

static json_t *kind_json(const struct ledger_counts *counts, bool *ok)
{
	json_t *json = json_object();

	json_put(json, "peak_bytes", json_u64(counts->peak_bytes), ok);
	json_put(json, "current_bytes", json_u64(counts->current_bytes), ok);
	json_put(json, "allocations", json_u64(counts->allocs), ok);
	json_put(json, "frees", json_u64(counts->frees), ok);
	json_put(json, "failures", json_u64(counts->failures), ok);
	return json;
}

static json_t *pool_json(const struct ledger_pool *pool, bool *ok)
{
	json_t *json = json_object();

	json_put(json, "peak_bytes", json_u64(pool->peak_bytes), ok);
	json_put(json, "current_bytes", json_u64(pool->current_bytes), ok);
	json_put(json, "hits", json_u64(pool->hits), ok);
	json_put(json, "misses", json_u64(pool->misses), ok);
	json_put(json, "returned", json_u64(pool->returned), ok);
	json_put(json, "served", json_u64(pool->served), ok);
	return json;
}

/* What is there of NVIDIA's driver alone, of which blocks are kept. */
static void put_reserved(json_t *json, const struct ledger_device *device,
			 bool *ok)
{
	json_put(json, "reserved_peak_bytes",
		 json_u64(device->reserved_peak_bytes), ok);
	json_put(json, "reserved_bytes", json_u64(device->reserved_bytes), ok);
	json_put(json, "pool", pool_json(&device->pool, ok), ok);
}

static json_t *device_json(const struct ledger_device *device, int number,
			   uint64_t api, bool *ok)
{
	json_t *json = json_object(), *of_kinds = json_object();
	bool opencl = api == LEDGER_OPENCL;
	int first = opencl ? LEDGER_OPENCL_FIRST : 0;
	int end = opencl ? LEDGER_KINDS : LEDGER_OPENCL_FIRST;

	json_put(json, "device", json_u64((uint64_t)number), ok);
	if (opencl)
		json_put(json, "name", json_text(device->name), ok);
	json_put(json, "peak_bytes", json_u64(device->peak_bytes), ok);
	json_put(json, "current_bytes", json_u64(device->current_bytes), ok);
	json_put(json, "refused", json_u64(device->refused), ok);
	if (api == LEDGER_CUDA)
		put_reserved(json, device, ok);
	for (int i = first; i < end; i++)
		json_put(of_kinds, kinds[i].key,
			 kind_json(&device->kinds[i], ok), ok);
	json_put(json, "kinds", of_kinds, ok);
	return json;
}

static json_t *text_or_null(const char *text)
{
	return *text ? json_text(text) : json_null();
}

static json_t *process_json(const struct ledger *ledger, bool *ok)
{
	json_t *json = json_object(), *devices = json_array();

	json_put(json, "pid", json_u64(ledger->pid), ok);
	json_put(json, "program", json_text(ledger->program), ok);
	json_put(json, "api", json_text(ledger_api_name(ledger->api)), ok);
	json_put(json, "exited", json_boolean(ledger->exited), ok);
	json_put(json, "stopped", text_or_null(ledger->stopped), ok);
	json_put(json, "told", text_or_null(ledger->told), ok);
	json_put(json, "declined", text_or_null(ledger->declined), ok);
	json_put(json, "unserved", text_or_null(ledger->unserved), ok);
	json_put(json, "recording", text_or_null(ledger->recording), ok);
	json_put(json, "unrecorded", text_or_null(ledger->unrecorded), ok);
	for (int i = 0; i < LEDGER_NOTES; i++)
		json_put(json, notes[i].key, json_u64(ledger->notes[i]), ok);
	for (int i = 0; i < LEDGER_DEVICES; i++)
		if (device_is_used(&ledger->devices[i]))
			json_put(devices, NULL,
				 device_json(&ledger->devices[i], i,
					     ledger->api, ok),
				 ok);
	json_put(json, "devices", devices, ok);
	return json;
}

static json_t *adopted_json(bool *ok)
{
	const struct run_setting *setting;
	json_t *json = json_object();

	for (size_t i = 0; (setting = run_adopted(i)) != NULL; i++)
		if (setting->done)
			json_put(json, setting->name, json_text(setting->value),
				 ok);
	return json;
}

static json_t *gaps_json(const struct run_config *config, bool *ok)
{
	json_t *json = json_array();
	struct run_gap gap;

	for (size_t i = 0; run_gap(config, i, &gap); i++) {
		json_t *one = json_object();

		json_put(one, "what", json_text(gap.key), ok);
		json_put(one, "why", json_text(gap.why), ok);
		json_put(json, NULL, one, ok);
	}
	return json;
}

bool run_print_json(const struct run_config *config,
		    const struct run_ledgers *ledgers,
		    const struct run_end *end)
{
	json_t *json = json_object(), *processes = json_array();
	bool ok = true;

	json_put(json, "status",
		 end->signal ? json_null() : json_u64((uint64_t)end->status),
		 &ok);
	json_put(json, "signal",
		 end->signal ? json_u64((uint64_t)end->signal) : json_null(),
		 &ok);
	json_put(json, "limit_bytes",
		 config->limit.bytes ? json_u64(config->limit.bytes)
				     : json_null(),
		 &ok);
	json_put(json, "limit_percent",
		 config->limit.billionths
			 ? json_number(percent_of(config->limit))
			 : json_null(),
		 &ok);
	for (size_t i = 0; i < ledgers->count; i++)
		json_put(processes, NULL,
			 process_json(&ledgers->processes[i].ledger, &ok), &ok);
	json_put(json, "set", adopted_json(&ok), &ok);
	json_put(json, "not_followed", gaps_json(config, &ok), &ok);
	json_put(json, "processes", processes, &ok);
	return json_print(json, ok);
}
