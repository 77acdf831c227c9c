/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Texts to values: every kind, right and wrong. */
#include "base/option_table.h"
#include "../../tap.h"
#include <locale.h>

static void test_bytes(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"4096", 4096},
		{"007", 7},
		{"17B", 17},
		{"64KiB", 65536},
		{"64kib", 65536},
		{"64K", 65536},
		{"64k", 65536},
		{"64KB", 65536},
		{"64kB", 65536},
		{"64Ki", 65536},
		{"64 KiB", 65536},
		{"17 B", 17},
		{"1G", UINT64_C(1) << 30},
		{"1g", UINT64_C(1) << 30},
		{"1GB", UINT64_C(1) << 30},
		{"1gb", UINT64_C(1) << 30},
		{"1Gi", UINT64_C(1) << 30},
		{"1 GB", UINT64_C(1) << 30},
		{"2TB", UINT64_C(2) << 40},
		{"2MiB", 2097152},
		{"1.5GiB", 1610612736},
		{"0.5k", 512},
		{"1TiB", UINT64_C(1) << 40},
		{"1.000001TiB", (UINT64_C(1) << 40) + 1099511},
		{"18446744073709551615", UINT64_MAX},
		{"16777215TiB", UINT64_C(16777215) << 40},
		{"16777215.999999TiB",
		 (UINT64_C(16777215) << 40) +
			 (UINT64_C(999999) << 40) / 1000000},
	};
	static const char *const bad[] = {
		"",
		"-1",
		"+1",
		" 1",
		"KiB",
		"1.5",
		"1.5B",
		".5KiB",
		"1.KiB",
		"1KiBs",
		"1KBi",
		"1Kb/s",
		"1BB",
		"1bi",
		"1  KiB",
		"1\tKiB",
		"1K B",
		"1 ",
		"1GG",
		"1@",
		"80%",
		"0x10",
		"1e3",
		"1,5GiB",
		"1..5K",
		"1.1234567K",
		"1PiB",
		"NaN",
		"inf",
		"18446744073709551616",
		"16777216TiB",
		"99999999999999999999KiB",
	};
	uint64_t bytes;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		bytes = 1;
		ok(gm_parse_bytes(good[i].text, &bytes), "%s", good[i].text);
		is_uint(bytes, good[i].bytes, "%s is right", good[i].text);
	}
	bytes = 99;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!gm_parse_bytes(bad[i], &bytes), "no size: \"%s\"", bad[i]);
	is_uint(bytes, 99, "a refusal leaves the output alone");
}

static void test_memory(void)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{"0", 0},	 {"1GB", UINT64_C(1) << 30}, {"100%", 1000000},
		{"80%", 800000}, {"80 %", 800000},	     {"12.5%", 125000},
		{"0.05%", 500},	 {"0.000001%", 1},
	};
	static const char *const bad[] = {
		"",	"%",	 "0%",	 "0.0%", "100.1%", "101%", "-5%",
		"80%%", "80%GB", "80% ", "8,5%", "1e1%",   "80  %"};
	uint64_t bytes;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		bytes = 99;
		ok(gm_parse_memory(good[i].text, 1000000, &bytes), "%s",
		   good[i].text);
		is_uint(bytes, good[i].bytes, "%s of a million", good[i].text);
	}
	bytes = 99;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!gm_parse_memory(bad[i], 1000000, &bytes), "none: \"%s\"",
		   bad[i]);
	is_uint(bytes, 99, "a refusal leaves the output alone");
	ok(gm_parse_memory("0.000001%", 7, &bytes), "a part that is nothing");
	is_uint(bytes, 1, "is not 0, which would be no limit");
}

static void test_bool(void)
{
	static const char *const on[] = {"on", "ON", "yes", "true", "1"};
	static const char *const off[] = {"off", "Off", "no", "false", "0"};
	static const char *const bad[] = {"", "2", "onn", "o", " on", "y"};
	bool value;
	size_t i;

	for (i = 0; i < 5; i++) {
		value = false;
		ok(gm_parse_bool(on[i], &value) && value, "%s", on[i]);
		value = true;
		ok(gm_parse_bool(off[i], &value) && !value, "%s", off[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!gm_parse_bool(bad[i], &value), "no bool: \"%s\"", bad[i]);
}

static void test_count(void)
{
	static const char *const bad[] = {
		"", "-1", "1.5", "1k", "1 ", "x", "18446744073709551616"};
	uint64_t count = 0;
	size_t i;

	ok(gm_parse_count("0", &count) && count == 0, "0");
	ok(gm_parse_count("18446744073709551615", &count) &&
		   count == UINT64_MAX,
	   "the largest");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!gm_parse_count(bad[i], &count), "none: \"%s\"", bad[i]);
}

static void test_percent(void)
{
	static const char *const bad[] = {"",	 "%",  "-1%",	"1%%",
					  "1,5", "1 ", "10001", "0.1234567%"};
	double fraction = 0;
	size_t i;

	ok(gm_parse_percent("2", &fraction) && fraction == 0.02, "2");
	ok(gm_parse_percent("2%", &fraction) && fraction == 0.02, "2%%");
	ok(gm_parse_percent("2 %", &fraction) && fraction == 0.02, "2 %%");
	ok(gm_parse_percent("0.5%", &fraction) && fraction == 0.005, "0.5%%");
	ok(gm_parse_percent("0", &fraction) && fraction == 0.0, "0");
	ok(gm_parse_percent("150%", &fraction) && fraction == 1.5, "150%%");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!gm_parse_percent(bad[i], &fraction), "none: \"%s\"",
		   bad[i]);
}

static void test_fault(void)
{
	struct gpumem_option_row row = {"x.y", "", GPUMEM_OPTION_TEXT, "t"};
	char large[GM_OPTION_VALUE_BYTES + 1];

	memset(large, 'a', sizeof(large));
	large[sizeof(large) - 1] = '\0';
	is_str(gm_option_fault(&row, large), "is too long", "too long");
	large[sizeof(large) - 2] = '\0';
	is_str(gm_option_fault(&row, large), NULL, "as long as can be");
	is_str(gm_option_fault(&row, ""), NULL, "an empty text is one");
	row.kind = GPUMEM_OPTION_MEMORY;
	is_str(gm_option_fault(&row, "80%"), NULL, "a part of the memory");
	is_str(gm_option_fault(&row, "1XB"),
	       "is no size such as 4096, 64KiB or 1.5GiB, nor a part of the "
	       "device's memory such as 80%",
	       "says what it should be");
	row.kind = (gpumem_option_kind)9;
	ok(gm_option_fault(&row, "1") != NULL, "a kind that is none");
	row.key = "log";
	row.kind = GPUMEM_OPTION_TEXT;
	ok(gm_option_fault(&row, "loud") != NULL, "log is of a list");
}

static void test_distance(void)
{
	is_uint(gm_option_distance("limit", "limit"), 0, "the same");
	is_uint(gm_option_distance("limti", "limit"), 2, "two swapped");
	is_uint(gm_option_distance("limt", "limit"), 1, "one lost");
	is_uint(gm_option_distance("llimit", "limit"), 1, "one more");
	is_uint(gm_option_distance("", "abc"), 3, "from nothing");
	is_uint(gm_option_distance("abc", ""), 3, "to nothing");
	is_uint(gm_option_distance("kitten", "sitting"), 3, "a known one");
}

int main(void)
{
	const char *name = setlocale(LC_ALL, "de_DE.UTF-8");

	diag("locale: %s", name ? name : "C; no German one is here");
	test_bytes();
	test_memory();
	test_bool();
	test_count();
	test_percent();
	test_fault();
	test_distance();
	return done_testing();
}
