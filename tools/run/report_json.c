/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The report as JSON, which makes printable what is not trusted: report.c has
 * the same facts. */
#include "common/json.h"
#include "run.h"

static const char *const kinds[LEDGER_KINDS] = {
#define KIND(name, key, text, on_device) key,
	LEDGER_KIND_LIST(KIND)
#undef KIND
};

static const char *const notes[LEDGER_NOTES] = {
#define NOTE(name, key, text) key,
	LEDGER_NOTE_LIST(NOTE)
#undef NOTE
};

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
		json_put(of_kinds, kinds[i], kind_json(&device->kinds[i], ok),
			 ok);
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
		json_put(json, notes[i], json_u64(ledger->notes[i]), ok);
	for (int i = 0; i < LEDGER_DEVICES; i++)
		if (run_device_is_used(&ledger->devices[i]))
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
			 ? json_number(run_percent_of(config->limit))
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
