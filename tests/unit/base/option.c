/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The table as programs and backends use it: no environment. */
#include "base/error.h"
#include "base/option.h"
#include "../../tap.h"
#include <pthread.h>
#include <unistd.h>

#define ROUNDS 2000

static const struct gpumem_option_row rows[] = {
	{"t.text", "", GPUMEM_OPTION_TEXT, "a text"},
	{"t.flag", "no", GPUMEM_OPTION_BOOL, "a flag"},
	{"t.count", "3", GPUMEM_OPTION_COUNT, "a count"},
	{"t.bytes", "1KiB", GPUMEM_OPTION_BYTES, "a size"},
	{"t.memory", "0", GPUMEM_OPTION_MEMORY, "a size or a part"},
	{"t.percent", "1%", GPUMEM_OPTION_PERCENT, "a percentage"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static void test_core(void)
{
	static const char *const keys[] = {
#define KEY(key, value, kind, text) #key,
		GM_OPTION_LIST(KEY)
#undef KEY
	};
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		is_status(gm_option_get(keys[i], &option), GPUMEM_OK, "%s",
			  keys[i]);
		is_str(option.key, keys[i], "key");
		is_str(option.value, option.default_value, "default");
		is_str(option.source, "default", "source");
		ok(option.text && *option.text, "text");
		is_status(gm_option_set(keys[i], option.default_value),
			  GPUMEM_OK, "its default is a value");
	}
	is_int(gm_option_bool(GM_BOOL_vm), true, "vm is on");
	is_uint(gm_option_bytes(GM_BYTES_cache), 262144, "cache");
	ok(gm_option_fraction(GM_PERCENT_waste) == 0.015, "waste is 1.5%%");
	ok(gm_option_fraction(GM_PERCENT_waste_max) == 0.04,
	   "waste_max is 4%%");
	ok(gm_option_fraction(GM_PERCENT_segment_waste) == 0.05,
	   "segment_waste");
}

static void test_set(void)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);

	is_status(gm_option_set("limit", "3GiB"), GPUMEM_OK, "set");
	is_uint(gm_option_memory(GM_MEMORY_limit, 0), UINT64_C(3) << 30,
		"the new value");
	is_status(gm_option_get("limit", &option), GPUMEM_OK, "get");
	is_str(option.value, "3GiB", "as it was written");
	is_str(option.source, "program", "by the program");
	is_str(option.default_value, "0", "the default stays");

	is_status(gm_option_set("limit", "many"), GPUMEM_INVALID, "no size");
	is_str(last_text(),
	       "option \"limit\": \"many\" is no size such as 4096, 64KiB or "
	       "1.5GiB, nor a part of the device's memory such as 80%",
	       "says what is wrong");
	is_uint(gm_option_memory(GM_MEMORY_limit, 0), UINT64_C(3) << 30,
		"nothing changed");

	is_status(gm_option_set("limit", "80 %"), GPUMEM_OK, "a part");
	is_uint(gm_option_memory(GM_MEMORY_limit, 1000), 800, "of so much");
	is_status(gm_option_set("limit", "2k"), GPUMEM_OK, "a size");
	is_uint(gm_option_memory(GM_MEMORY_limit, 1000), 2048,
		"whatever there is");

	is_status(gm_option_set("limit", NULL), GPUMEM_OK, "back to default");
	is_status(gm_option_get("limit", &option), GPUMEM_OK, "get");
	is_str(option.source, "default", "from the default");
	is_uint(gm_option_memory(GM_MEMORY_limit, 0), 0, "its value");
	is_status(gm_option_set("log", "loud"), GPUMEM_INVALID, "no level");
}

static void test_unknown(void)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	char large[3000];

	is_status(gm_option_set("limti", "1"), GPUMEM_NOT_FOUND, "unknown");
	is_str(last_text(), "unknown option \"limti\", did you mean \"limit\"?",
	       "the nearest is named");
	is_status(gm_option_get("soft-limit", &option), GPUMEM_NOT_FOUND,
		  "unknown to get");
	is_str(last_text(),
	       "unknown option \"soft-limit\", did you mean \"soft_limit\"?",
	       "the nearest again");
	is_ptr(option.key, NULL, "the output is left alone");
	is_status(gm_option_set("zzzzzz", "1"), GPUMEM_NOT_FOUND, "far");
	is_str(last_text(), "unknown option \"zzzzzz\"", "none is near");
	is_status(gm_option_set("limabc", "1"), GPUMEM_NOT_FOUND, "nearly far");
	is_str(last_text(), "unknown option \"limabc\"", "three are too many");
	is_status(gm_option_set("", "1"), GPUMEM_NOT_FOUND, "empty");
	is_str(last_text(), "unknown option \"\"", "none is near to nothing");
	memset(large, 'l', sizeof(large));
	large[sizeof(large) - 1] = '\0';
	is_status(gm_option_set(large, "1"), GPUMEM_NOT_FOUND, "a long key");
	is_status(gm_option_set("limit", large), GPUMEM_INVALID, "long value");
}

static char refusal[1024]; /* the sentence of the last add_one() */

static gpumem_status add_one(const char *key, const char *value,
			     gpumem_option_kind kind, const char *text)
{
	struct gpumem_option_row bad[] = {
		{"u.fine", "1", GPUMEM_OPTION_COUNT, "this one is right"},
		{key, value, kind, text},
		{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
	};
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	gpumem_status status = gm_option_add(bad);

	snprintf(refusal, sizeof(refusal), "%s", last_text());
	is_status(gm_option_get("u.fine", &option), GPUMEM_NOT_FOUND,
		  "all rows or none");
	return status;
}

/* What a plugin gets, however it was written. */
static void plugin_gets(const char *key, const char *value, const char *want)
{
	char got[32] = "";

	is_status(gm_option_set(key, value), GPUMEM_OK, "%s is %s", key, value);
	ok(gm_option_text(key, got, sizeof(got)), "as a plugin");
	is_str(got, want, "comes as %s", want);
	is_status(gm_option_set(key, NULL), GPUMEM_OK, "and back");
}

static void test_plugins(void)
{
	plugin_gets("t.flag", "YES", "on");
	plugin_gets("t.flag", "true", "on");
	plugin_gets("t.flag", "0", "off");
	plugin_gets("t.count", "007", "7");
	plugin_gets("t.percent", "2", "2%");
	plugin_gets("t.percent", "2.5 %", "2.5%");
	plugin_gets("t.percent", "2.5%", "2.5%");
	plugin_gets("t.memory", "80 %", "80%");
	plugin_gets("t.memory", "1 GiB", "1073741824");
	plugin_gets("t.bytes", "64k", "65536");
	plugin_gets("t.text", "2 %", "2 %");
}

static void test_add(void)
{
	static const struct gpumem_option_row none[] = {
		{NULL, NULL, GPUMEM_OPTION_TEXT, NULL}};
	char value[8] = "", size[32], longkey[80];

	is_status(gm_option_add(rows), GPUMEM_OK, "rows of a backend");
	is_status(gm_option_add(rows), GPUMEM_OK, "the same again");
	is_status(gm_option_add(rows + 1), GPUMEM_OK, "and a part of them");
	is_status(gm_option_add(none), GPUMEM_OK, "no rows at all");
	is_status(gm_option_set("t.bytes", "1.5 GB"), GPUMEM_OK, "a size");
	ok(gm_option_text("t.bytes", size, sizeof(size)), "as a plugin");
	is_str(size, "1610612736", "comes in digits");
	is_status(gm_option_set("t.bytes", NULL), GPUMEM_OK, "and back");
	is_status(gm_option_set("t.memory", "80 %"), GPUMEM_OK, "a part");
	ok(gm_option_text("t.memory", size, sizeof(size)), "as a plugin");
	is_str(size, "80%", "is not a number before there is a device");
	is_status(gm_option_set("t.memory", "2k"), GPUMEM_OK, "a size");
	ok(gm_option_text("t.memory", size, sizeof(size)), "as a plugin");
	is_str(size, "2048", "comes in digits");
	is_status(gm_option_set("t.text", "abcdefghij"), GPUMEM_OK, "set one");
	ok(gm_option_text("t.text", value, sizeof(value)), "as a plugin");
	is_str(value, "abcdefg", "cut to the plugin's room");
	ok(!gm_option_text("t.none", value, sizeof(value)), "unknown");
	is_str(value, "abcdefg", "leaves the output alone");
	ok(gm_option_text("t.text", NULL, 0), "without room: is it there?");
	is_status(gm_option_set("t.count", "3.5"), GPUMEM_INVALID, "a kind");

	is_status(add_one("t.flag", "on", GPUMEM_OPTION_BOOL, "x"),
		  GPUMEM_INVALID, "taken");
	is_status(add_one("limit", "1", GPUMEM_OPTION_BYTES, "x"),
		  GPUMEM_INVALID, "taken by the core");
	is_status(add_one("u.fine", "1", GPUMEM_OPTION_COUNT, "x"),
		  GPUMEM_INVALID, "twice");
	is_status(add_one("u.x", "big", GPUMEM_OPTION_BYTES, "x"),
		  GPUMEM_INVALID, "a bad default");
	is_str(refusal,
	       "option \"u.x\": its default \"big\" is no size such as 4096, "
	       "64KiB or 1.5GiB",
	       "said so");
	is_status(add_one("u.x", NULL, GPUMEM_OPTION_TEXT, "x"), GPUMEM_INVALID,
		  "no default");
	is_status(add_one("u.x", "1", GPUMEM_OPTION_TEXT, NULL), GPUMEM_INVALID,
		  "no text");
	is_status(add_one("u.x", "1", (gpumem_option_kind)17, "x"),
		  GPUMEM_INVALID, "no kind");
	is_status(add_one("u:x", "1", GPUMEM_OPTION_TEXT, "x"), GPUMEM_INVALID,
		  "a key that GPUMEM_CONF could not name");
	is_status(add_one("", "1", GPUMEM_OPTION_TEXT, "x"), GPUMEM_INVALID,
		  "an empty key");
	memset(longkey, 'u', sizeof(longkey));
	longkey[sizeof(longkey) - 1] = '\0';
	is_status(add_one(longkey, "1", GPUMEM_OPTION_TEXT, "x"),
		  GPUMEM_INVALID, "a long key");
}

struct walk {
	int count, stop_at;
	bool ordered;
};

static bool walk(const struct gpumem_option *option, void *user)
{
	struct walk *state = user;

	if (state->count == 0)
		state->ordered = strcmp(option->key, "log") == 0;
	/* A visitor may use the table. */
	if (gm_option_set(option->key, option->value) != GPUMEM_OK)
		state->ordered = false;
	return ++state->count != state->stop_at;
}

/* What is visited stays as it was, even when the visitor changes it. */
static bool change(const struct gpumem_option *option, void *user)
{
	if (strcmp(option->key, "cache") != 0)
		return true;
	if (gm_option_set("cache", "7KiB") == GPUMEM_OK)
		snprintf(user, 16, "%s", option->value);
	return false;
}

static void test_visit(void)
{
	char value[16] = "";
	struct walk all = {0, -1, false}, some = {0, 4, false};
	int core = 0;

#define COUNT_ONE(key, value, kind, text) core++;
	GM_OPTION_LIST(COUNT_ONE)
#undef COUNT_ONE
	gm_option_visit(walk, &all);
	is_int(all.count, core + 6, "every option once");
	ok(all.ordered, "the core's first, and settable from the visit");
	gm_option_visit(walk, &some);
	is_int(some.count, 4, "until the visitor has enough");
	gm_option_visit(change, value);
	is_str(value, "256KiB", "a value lives as long as the visit");
	is_uint(gm_option_bytes(GM_BYTES_cache), 7168, "and was changed");
}

static _Atomic bool wrong;

static void *set_and_get(void *user)
{
	const char *value = user;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		uint64_t bytes;

		if (gm_option_set("limit", value) != GPUMEM_OK)
			wrong = true;
		bytes = gm_option_memory(GM_MEMORY_limit, 0);
		if (bytes != 1024 && bytes != 2097152)
			wrong = true;
	}
	return NULL;
}

static void test_threads(void)
{
	char values[2][8] = {"1KiB", "2MiB"};
	pthread_t ids[4];
	int i;

	for (i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, set_and_get, values[i % 2]);
	for (i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	ok(!wrong, "threads read whole values only");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	test_core();
	test_set();
	test_unknown();
	test_add();
	test_plugins();
	test_visit();
	test_threads();
	return done_testing();
}
