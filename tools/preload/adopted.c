/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See adopted.h: what is seen in the program when it ends. Versions of
 * frameworks change what a setting means, and no error says so.
 */
#include "adopted.h"
#include "hooks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_set(const char *variable, const char *value)
{
	const char *has = getenv(variable);

	return has && !strcmp(has, value);
}

static bool has_stream_ordered(const struct ledger *ledger)
{
	for (int i = 0; i < LEDGER_DEVICES; i++) {
		const struct ledger_counts *counts =
			&ledger->devices[i].kinds[LEDGER_ASYNC];

		if (counts->allocs || counts->failures)
			return true;
	}
	return false;
}

void adopted_look(struct ledger *ledger)
{
	static const struct {
		const char *variable, *value, *framework, *library;
		bool stream_ordered;
	} settings[] = {
#define SETTING(...) {__VA_ARGS__},
		ADOPTED_LIST(SETTING)
#undef SETTING
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (settings[i].stream_ordered &&
		    is_set(settings[i].variable, settings[i].value) &&
		    !has_stream_ordered(ledger) &&
		    hook_file_is_loaded(settings[i].library))
			snprintf(ledger->declined, sizeof(ledger->declined),
				 "%s did not take %s=%s: it made no "
				 "stream-ordered allocation",
				 settings[i].framework, settings[i].variable,
				 settings[i].value);
}

void adopted_miss(struct ledger *ledger)
{
	static const struct {
		const char *library, *what;
	} frameworks[] = {
#define FRAMEWORK(...) {__VA_ARGS__},
		ADOPTED_PYTHON_LIST(FRAMEWORK)
#undef FRAMEWORK
	};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(frameworks) / sizeof(*frameworks); i++)
		if (hook_file_is_loaded(frameworks[i].library))
			used += (size_t)snprintf(
				ledger->told + used, LEDGER_TOLD - used,
				"%s%s", used ? "; " : "", frameworks[i].what);
	if (used)
		snprintf(ledger->told + used, LEDGER_TOLD - used,
			 ": no Python here has read gpumem-run's "
			 "sitecustomize.py, as with -I, -E, -S or another "
			 "PYTHONPATH");
}
