/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Fuzzes what reads GPUMEM_CONF. Whatever the text: it falls into pairs of
 * ended strings without blanks around them; a pair is either said to be wrong
 * or can be set, and is then read back as written; a row never holds a value
 * that is not of its kind; and a value is judged as the parser of its kind
 * judges it.
 */
#include "fuzz.h"

#include "base/option_table.h"

#include <stdlib.h>
#include <string.h>

const struct fuzz_seed fuzz_seeds[] = {
	FUZZ_SEED("limit:1GiB,soft_limit:512MiB,vm:off,page:2MiB,waste:0.5%"),
	FUZZ_SEED(" log : debug , cache:128KiB ,, wait:on"),
	FUZZ_SEED("limti:1,limit,:1,limit:,limit:x,host.fail:alloc@3:lost"),
	FUZZ_SEED("f.text:a:b;c,f.count:18446744073709551615,f.flag:yes"),
	FUZZ_SEED("limit:18446744073709551616,space:16777216TiB,waste:1000%"),
	FUZZ_SEED("limit:80%,soft_limit:12.5 %,page:1GB,cache:1 g,space:2Ti"),
	FUZZ_SEED("limit:0%,limit:101%,limit:1 0,soft_limit:80%GB,f.part:3%"),
	FUZZ_SEED("segment_waste:99999999999999999999%,page:1.0000001KiB"),
	{NULL, 0},
};

static const struct gpumem_option_row rows[] = {
	{"f.text", "", GPUMEM_OPTION_TEXT, "a text"},
	{"f.flag", "no", GPUMEM_OPTION_BOOL, "a flag"},
	{"f.part", "0", GPUMEM_OPTION_MEMORY, "a size or a part"},
	{"f.count", "3", GPUMEM_OPTION_COUNT, "a count"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static void check(bool condition)
{
	if (!condition)
		abort();
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void check_text(const char *text, size_t bytes)
{
	size_t length = strnlen(text, bytes);

	check(length < bytes);
	check(!length || (!blank(text[0]) && !blank(text[length - 1])));
	check(!strchr(text, ','));
}

/* What the parsers themselves say of a value. */
static bool parses(const struct gpumem_option_row *row, const char *value)
{
	double fraction = 0.0;
	uint64_t number;
	bool flag;

	switch (row->kind) {
	case GPUMEM_OPTION_TEXT:
		return true;
	case GPUMEM_OPTION_BOOL:
		return gm_parse_bool(value, &flag);
	case GPUMEM_OPTION_COUNT:
		return gm_parse_count(value, &number);
	case GPUMEM_OPTION_BYTES:
		return gm_parse_bytes(value, &number);
	case GPUMEM_OPTION_MEMORY:
		return gm_parse_memory(value, UINT64_C(1) << 47, &number) &&
		       (!strchr(value, '%') ||
			(number && number <= UINT64_C(1) << 47));
	case GPUMEM_OPTION_PERCENT:
		return gm_parse_percent(value, &fraction) && fraction >= 0.0 &&
		       fraction <= 101.0;
	}
	return false;
}

/* Every row still holds a value of its kind. */
static void check_rows(void)
{
	const struct gm_option *option;

	gm_option_lock();
	for (option = gm_option_first(); option; option = option->next) {
		check(memchr(option->value, '\0', sizeof(option->value)));
		check(!gm_option_fault(option->row, option->value));
		check(parses(option->row, option->value));
	}
	gm_option_unlock();
}

static void try_pair(const struct gm_pair *pair)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	char sentence[512] = "";
	gpumem_status status;

	status = gm_option_judge(pair->key, pair->value, sentence,
				 sizeof(sentence));
	check(gm_option_set(pair->key, pair->value) == status);
	check((status == GPUMEM_OK) == !*sentence);
	check(gm_option_get(pair->key, &option) ==
	      (status == GPUMEM_INVALID ? GPUMEM_OK : status));
	if (status == GPUMEM_OK)
		check(!strcmp(option.value, pair->value) &&
		      !strcmp(option.source, "program"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	const char *at = text;
	struct gm_pair pair;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	check(gm_option_add(rows) == GPUMEM_OK);
	while (gm_conf_next(&at, &pair)) {
		check(at >= text && at <= text + strlen(text));
		if (pair.fault)
			continue;
		check(pair.key[0]);
		check_text(pair.key, sizeof(pair.key));
		check_text(pair.value, sizeof(pair.value));
		try_pair(&pair);
	}
	check(!*at);
	check_rows();
	free(text);
	return 0;
}
