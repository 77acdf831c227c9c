/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Names, texts and numbers of the statuses. */
#include "base/status.h"
#include "../../tap.h"

static const struct {
	const char *name;
	gpumem_status status;
	int number;
	const char *text;
} list[] = {
#define ROW(name, number, text) {"GPUMEM_" #name, GPUMEM_##name, number, text},
	GPUMEM_STATUS_LIST(ROW)
#undef ROW
};

#define COUNT (sizeof(list) / sizeof(list[0]))

int main(void)
{
	const int none[] = {1, 7, -18, -1000, 2147483647, -2147483647 - 1};
	size_t i, j;

	for (i = 0; i < COUNT; i++) {
		is_int(list[i].status, list[i].number, "%s", list[i].name);
		is_int(list[i].number, -(int)i, "its place never changes");
		is_str(gm_status_name(list[i].status), list[i].name, "name");
		is_str(gm_status_text(list[i].status), list[i].text, "text");
		ok(gm_status_known(list[i].status), "known");
		for (j = 0; j < i; j++)
			if (strcmp(list[i].text, list[j].text) == 0)
				break;
		ok(j == i, "its text is its own");
	}
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		gpumem_status status = (gpumem_status)none[i];

		is_str(gm_status_name(status), "GPUMEM_UNKNOWN", "%d", none[i]);
		is_str(gm_status_text(status), "unknown status", "its text");
		ok(!gm_status_known(status), "not known");
	}
	return done_testing();
}
