/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a pool says of itself: its name and device, its summary for people and
 * as JSON, whatever its name is and whatever the locale; what is said of it
 * when it keeps its device open; and what the library says of itself.
 */
#include "fixture.h"

struct text {
	char buffer[32768];
	size_t used, pieces;
	gpumem_pool *pool; /* that is used meanwhile; NULL: none */
};

static struct text text;

static void append(const char *piece, void *user)
{
	size_t length = strlen(piece);

	if (user != &text || text.used + length >= sizeof(text.buffer))
		bail("a summary of %zu bytes", text.used + length);
	memcpy(text.buffer + text.used, piece, length + 1);
	text.used += length;
	text.pieces++;
	if (text.pool)
		must(gpumem_free(new_block(text.pool, 3 * MIB, NULL), NULL));
}

static void print(gpumem_pool *pool, unsigned flags)
{
	text.used = text.pieces = 0;
	is_status(gpumem_pool_print(pool, flags, append, &text), GPUMEM_OK,
		  "printed");
}

static bool has(const char *part)
{
	return strstr(text.buffer, part) != NULL;
}

/* Each statistic and call by its name, once. */
static void all_keys(void)
{
#define KEY(name, type, unit) ok(has("\"" #name "\": "), "%s is there", #name);
	GPUMEM_STATS_LIST(KEY)
#undef KEY
	for (unsigned i = 0; i < GPUMEM_CALL_COUNT; i++) {
		char key[64];

		snprintf(key, sizeof(key),
			 "\"%s\": {\"count\": ", gpumem_call_name(i));
		ok(has(key), "%s is there", gpumem_call_name(i));
	}
}

static void test_json(void)
{
	gpumem_pool *pool = named_pool("weights", 0);
	void *ptr = new_block(pool, 3 * MIB, NULL);
	char part[100];

	print(pool, GPUMEM_PRINT_JSON);
	all_keys();
	ok(!strncmp(text.buffer,
		    "{\"pool\": \"weights\", \"device\": \"host:0\", "
		    "\"kind\": \"device\", \"requested\": {",
		    60),
	   "it begins with what the pool is: %.80s", text.buffer);
	snprintf(part, sizeof(part),
		 "\"requested\": {\"current\": %zu, \"peak\": %zu, \"total\": "
		 "%zu}, ",
		 3 * MIB, 3 * MIB, 3 * MIB);
	ok(has(part), "a gauge: %s", part);
	ok(has("\"misses\": 1, "), "a counter");
	ok(text.used > 2 && !strcmp(text.buffer + text.used - 3, "}}\n"),
	   "it ends");
	is_ptr(strchr(text.buffer, '\n'), text.buffer + text.used - 1,
	       "and is one line");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* A name may be any bytes. */
static void test_names(void)
{
	static const struct {
		const char *name, *json, *line;
	} names[] = {
		{"a \"b\" \\", "\"a \\\"b\\\" \\\\\"", "a \"b\" \\"},
		{"\x1b[1m\n", "\"\\\\x1b[1m\"", "\\x1b[1m"},
		{"\xc3\xa9\xff", "\"\xc3\xa9\\\\xff\"", "\xc3\xa9\\xff"},
		{"", "\"\"", ""},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		gpumem_pool *pool = named_pool(names[i].name, 0);
		char want[100];

		print(pool, GPUMEM_PRINT_JSON);
		snprintf(want, sizeof(want), "{\"pool\": %s, ", names[i].json);
		ok(!strncmp(text.buffer, want, strlen(want)), "as JSON: %.40s",
		   text.buffer);
		print(pool, 0);
		snprintf(want, sizeof(want), "pool: %s\n", names[i].line);
		ok(!strncmp(text.buffer, want, strlen(want)), "as text");
		is_str(gpumem_pool_name(pool), names[i].name, "as it is");
		must(gpumem_pool_destroy(pool, 0));
	}
}

static void test_text(void)
{
	gpumem_pool *pool = named_pool("text", 0);
	void *ptr = new_block(pool, 1536 * KIB, NULL);

	print(pool, 0);
	ok(has("\nrequested: current 1.50 MiB, peak 1.50 MiB, total 1.50 "
	       "MiB\n"),
	   "sizes have units");
	ok(has("\nblocks: current 1, peak 1, total 1\n"), "counts have none");
	ok(has("\ncalls:\n  alloc: count "), "calls have lines of their own");
	ok(has("\npending_bytes: 0 bytes\n"), "a value");
	ok(!strstr(text.buffer, "  \n") && !strstr(text.buffer, " \n"),
	   "no line ends with a blank");
	diag("%s", text.buffer);
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(pool, 0));
}

/* No lock is held: the function may use the pool. */
static void test_reentered(void)
{
	gpumem_pool *pool = text.pool = named_pool("reentered", 0);

	print(pool, GPUMEM_PRINT_JSON);
	print(pool, 0);
	text.pool = NULL;
	ok(text.pieces > 10, "in %zu pieces", text.pieces);
	sound(pool, "the pool is sound");
	must(gpumem_pool_destroy(pool, 0));
}

static void test_device(void)
{
	gpumem_pool *pool = named_pool(NULL, 0), *usual = NULL;

	must(gpumem_device_pool(device, &usual));
	is_str(gpumem_pool_name(pool), "pool", "no name");
	is_str(gpumem_pool_name(usual), "default", "the device's own");
	is_ptr(gpumem_pool_device(pool), device, "its device");
	is_ptr(gpumem_pool_device(usual), device, "the default one's");
	must(gpumem_pool_destroy(pool, 0));
}

/* A device that cannot be closed says what is in the way. */
static void test_holders(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	gpumem_pool *first = named_pool("first", 0), *other = NULL;
	gpumem_device *second = NULL;
	void *ptr = new_block(first, 5000, NULL);

	is_status(gpumem_device_close(device), GPUMEM_BUSY, "a pool");
	is_str(gpumem_error_text(),
	       "1 pool of host:0 is left: \"first\" (1 live block, 5120 "
	       "bytes)",
	       "which");
	must(gpumem_device_open("host:1", &second));
	config.name = "far";
	config.peers = &device;
	config.peer_count = 1;
	must(gpumem_pool_create(second, &config, &other));
	is_status(gpumem_device_close(device), GPUMEM_BUSY, "a peer's pool");
	is_str(gpumem_error_text(),
	       "2 pools of host:0 are left: \"far\" of host:1, with it as a "
	       "peer (0 live blocks, "
	       "0 bytes), \"first\" (1 live block, 5120 bytes)",
	       "of which device");
	is_status(gpumem_device_close(second), GPUMEM_BUSY, "the other");
	is_str(gpumem_error_text(),
	       "1 pool of host:1 is left: \"far\" (0 live blocks, 0 bytes)",
	       "only its own");
	must(gpumem_free(ptr, NULL));
	must(gpumem_pool_destroy(other, 0));
	must(gpumem_device_close(second));
	must(gpumem_pool_destroy(first, 0));
}

static void test_many_holders(void)
{
	gpumem_pool *pool[20];
	char name[64];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (int i = 0; i < 20; i++)
		pool[i] = named_pool(name, 0);
	is_status(gpumem_device_close(device), GPUMEM_BUSY, "many pools");
	ok(strstr(gpumem_error_text(), "20 pools of host:0 are left: \"xxx"),
	   "are counted");
	ok(strstr(gpumem_error_text(), "bytes), and more"), "%s",
	   gpumem_error_text());
	for (int i = 0; i < 20; i++)
		must(gpumem_pool_destroy(pool[i], 0));
}

static void test_library(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	char version[32];

	is_str(gpumem_error_text(), "", "nothing failed yet");
	is_status(gpumem_free(&error, NULL), GPUMEM_BAD_POINTER, "a failure");
	gpumem_last_error(&error);
	is_str(gpumem_error_text(), error.text, "is told in one call");
	is_uint(gpumem_version_number(), GPUMEM_VERSION_NUMBER,
		"the version as a number");
	snprintf(version, sizeof(version), "%u.%u.%u",
		 gpumem_version_number() / 1000000,
		 gpumem_version_number() / 1000 % 1000,
		 gpumem_version_number() % 1000);
	is_str(gpumem_version(), version, "as the text has it");
#if GPUMEM_VERSION_NUMBER < 1000
	ok(false, "the preprocessor compares it");
#endif
}

int main(void)
{
	alarm(60);
	test_library();
	option("host.devices", "2");
	device_start("64MiB", true);
	test_json();
	test_names();
	test_text();
	test_reentered();
	test_device();
	test_holders();
	test_many_holders();
	ok(device_end(), "nothing is left");
	return done_testing();
}
