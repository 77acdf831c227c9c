/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls that want no device: names, errors, the log, options and backends. */
#include "attack.h"
#include "rows.h"

static const int numbers[] = {0, -1, -17, -18,	     1,
			      7, 99, -99, INT32_MIN, INT32_MAX};

void attack_gpumem_status_name(void)
{
	int number = numbers[random_below(COUNT(numbers))];
	const char *name = gpumem_status_name((gpumem_status)number);

	expect(name && !strncmp(name, "GPUMEM_", 7), "%d has no name", number);
}

void attack_gpumem_status_text(void)
{
	int number = numbers[random_below(COUNT(numbers))];
	const char *text = gpumem_status_text((gpumem_status)number);

	expect(text && *text, "%d has no text", number);
}

void attack_gpumem_call_name(void)
{
	unsigned call = (unsigned)random_below(64);

	if (one_in(4))
		call = UINT32_MAX - call;
	expect(!gpumem_call_name(call) == (call >= GPUMEM_CALL_COUNT),
	       "the name of call %u", call);
}

/* Of any number there is a word. */
#define ATTACK_NAME(name, type)                                                \
	void attack_gpumem_##name##_name(void)                                 \
	{                                                                      \
		int number = one_in(2)                                         \
				     ? (int)random_below(24)                   \
				     : numbers[random_below(COUNT(numbers))];  \
		const char *word = gpumem_##name##_name((type)number);         \
                                                                               \
		expect(word &&*word, "%d has no " #name, number);              \
	}

ATTACK_NAME(advice, gpumem_advice)
ATTACK_NAME(block_state, gpumem_block_state)
ATTACK_NAME(cap, uint32_t)
ATTACK_NAME(hook_kind, gpumem_hook_kind)
ATTACK_NAME(kind, gpumem_kind)
ATTACK_NAME(log_level, gpumem_log_level)
ATTACK_NAME(pressure_limit, gpumem_pressure_limit)
ATTACK_NAME(range_kind, gpumem_range_kind)
ATTACK_NAME(record_kind, unsigned)
ATTACK_NAME(served, unsigned)
ATTACK_NAME(share, gpumem_share)
ATTACK_NAME(sleep, gpumem_sleep)

void attack_gpumem_version(void)
{
	expect(!strcmp(gpumem_version(), GPUMEM_VERSION_STRING), "version %s",
	       gpumem_version());
}

void attack_gpumem_version_number(void)
{
	expect(gpumem_version_number() == GPUMEM_VERSION_NUMBER, "version %u",
	       gpumem_version_number());
}

void attack_gpumem_error_text(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	expect(!strcmp(gpumem_error_text(), error.text),
	       "two texts of one error");
}

void attack_gpumem_last_error(void)
{
	struct gpumem_error *out = out_struct(sizeof(*out));
	struct gpumem_error after = GPUMEM_INIT(struct gpumem_error);
	gpumem_status status = step.wrong ? GPUMEM_INVALID : GPUMEM_OK;

	gpumem_last_error(out);
	gpumem_last_error(&after);
	if (!status)
		expect(out->status == after.status &&
			       !strcmp(out->text, after.text),
		       "two looks at one error differ");
	/* It has no status, and nothing to say about itself. */
	if (after.status == GPUMEM_INVALID || !status)
		(void)judge(status);
}

/* Its text may be of any name that the program gave. */
static void hear(gpumem_log_level level, const char *text, void *user)
{
	expect(level > GPUMEM_LOG_NONE && level <= GPUMEM_LOG_DEBUG &&
		       user == &world,
	       "log level %d", (int)level);
	judge_string(text);
}

void attack_gpumem_log_set(void)
{
	static const int levels[] = {0, 1, 2, 3, 4, 4, 4, 5, -1, INT32_MAX};
	int level = levels[random_below(COUNT(levels))];

	gpumem_log_set((gpumem_log_level)level, one_in(3) ? NULL : hear,
		       &world);
}

/* In the thread whose allocation failed; it may call gpumem. */
static void mourn(const struct gpumem_oom *oom, void *user)
{
	expect(user == &world && oom->size == sizeof(*oom) && oom->bytes &&
		       (oom->status == GPUMEM_NO_MEMORY ||
			oom->status == GPUMEM_LIMIT) &&
		       oom->advice >= GPUMEM_ADVICE_LESS &&
		       oom->advice <= GPUMEM_ADVICE_TAG_LIMIT,
	       "an out of memory with status %d, advice %d", oom->status,
	       (int)oom->advice);
	expect(oom->json[0] == '{' && oom->json[strlen(oom->json) - 1] == '}',
	       "JSON that ends as %s", oom->json);
	judge_string(oom->text);
	judge_string(oom->json);
	if (one_in(4))
		GPUMEM_IGNORE(gpumem_pool_check(oom->pool));
}

void attack_gpumem_oom_set(void)
{
	gpumem_oom_set(one_in(3) ? NULL : mourn, &world);
}

/* Options that a world may change while it is running, with a right value. */
static const char *const settings[][2] = {
	{"wait", "on"},
	{"wait", "off"},
	{"waste", "0"},
	{"waste", "20%"},
	{"waste_max", "20%"},
	{"stream_waste", "0"},
	{"cache", "0"},
	{"cache", "16KiB"},
	{"decay_ms", "1"},
	{"decay_ms", "0"},
	{"handle_max", "0"},
	{"limit", "0"},
	{"device_limit", "16MiB"},
	{"soft_limit", "8MiB"},
	{"page", "2MiB"},
	{"host.latency", ""},
	{"host.copy_rate", "0"},
	{"oom", "/tmp/gpumem-attack.%p"},
	{"track", "on"},
	{"track_frames", "3"},
	{"leaks", "/tmp/gpumem-attack.%p"},
	{"oom_snapshot", "/tmp/gpumem-attack.%p.snapshot"}};

void attack_gpumem_option_set(void)
{
	unsigned pick = (unsigned)random_below(COUNT(settings));
	const char *key = settings[pick][0], *value = settings[pick][1];

	if (one_in(3))
		value = NULL;
	if (rarely()) {
		key = one_in(4) ? NULL : pick_text();
		wrong(key ? B(NOT_FOUND) | B(INVALID) : B(INVALID));
	} else if (one_in(4) && strncmp(key, "host.", 5) != 0 &&
		   settings[pick][1][0] != '/') {
		/* But for a file's name: any text is one, and it would be
		 * written where the test runs. */
		value = pick_bad_text();
		step.perhaps |= B(INVALID);
	}
	(void)judge(gpumem_option_set(key, value));
}

void attack_gpumem_option_get(void)
{
	const char *key = settings[random_below(COUNT(settings))][0];
	struct gpumem_option *out = out_struct(sizeof(*out));

	if (rarely()) {
		key = one_in(4) ? NULL : pick_text();
		wrong(B(NOT_FOUND) | B(INVALID));
	}
	if (judge(gpumem_option_get(key, out)))
		expect(!strcmp(out->key, key) && out->value &&
			       out->default_value && out->source && out->text,
		       "option %s comes as %s", key, out->key);
}

static bool stops; /* a callback has said so */

static bool option(const struct gpumem_option *one, void *user)
{
	expect(!stops && one->size == sizeof(*one) && user == &world,
	       "an option after the last");
	stops = one_in(16);
	return !stops;
}

void attack_gpumem_option_visit(void)
{
	stops = false;
	gpumem_option_visit(rarely() ? NULL : option, &world);
}

void attack_gpumem_option_check(void)
{
	(void)judge(gpumem_option_check());
}

static bool backend(const struct gpumem_backend_info *one, void *user)
{
	expect(!stops && one->size == sizeof(*one) && user == &world,
	       "a backend after the last");
	stops = one_in(3);
	return !stops;
}

void attack_gpumem_backend_visit(void)
{
	bool none = rarely();

	stops = false;
	if (none)
		wrong(B(INVALID));
	(void)judge(gpumem_backend_visit(none ? NULL : backend, &world));
}

/* Files that are no plugins. */
void attack_gpumem_backend_load(void)
{
	static const char *const paths[] = {
		"/nonexistent/%s.so", "/", "/dev/null", "/proc/self/exe",
		"/proc/self/status",  ".", "libc.so.6"};
	const char *path =
		one_in(3) ? pick_text() : paths[random_below(COUNT(paths))];
	char *out = out_plain(16);

	wrong(B(NOT_FOUND) | B(ABI) | B(UNSUPPORTED) | B(INVALID));
	(void)judge(gpumem_backend_load(rarely() ? NULL : path, out));
}

void attack_gpumem_backend_register(void)
{
	static const struct gpumem_backend empty;
	static struct gpumem_backend none[2] = {
		{.abi = 99, .name = "none"},
		{.abi = GPUMEM_BACKEND_ABI, .name = "none", .size = 8}};
	const struct gpumem_backend *table = &none[random_below(2)];

	if (one_in(3))
		table = one_in(2) ? NULL : &empty;
	wrong(B(ABI) | B(INVALID));
	(void)judge(gpumem_backend_register(table));
}

void attack_gpumem_backend_table(void)
{
	const char *name = one_in(2) ? NULL : "host";
	const struct gpumem_backend **out = out_plain(sizeof(*out));

	if (rarely()) {
		name = pick_text();
		wrong(B(NOT_FOUND) | B(INVALID));
	}
	if (judge(gpumem_backend_table(name, out)))
		expect(!strcmp((*out)->name, "host"), "backend %s",
		       (*out)->name);
}
