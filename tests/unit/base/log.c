/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Levels, the program's function, and standard error by option. */
#include "base/log.h"
#include "base/name.h"
#include "base/option.h"
#include "../../tap.h"
#include <pthread.h>
#include <unistd.h>

#define THREADS 4
#define MESSAGES 2000

static struct {
	unsigned count;
	gpumem_log_level level;
	char text[2048];
	void *user;
} seen;

static void keep(gpumem_log_level level, const char *text, void *user)
{
	seen.count++;
	seen.level = level;
	seen.user = user;
	snprintf(seen.text, sizeof(seen.text), "%s", text);
}

static void test_levels(void)
{
	int wanted, level, marker;

	for (wanted = GPUMEM_LOG_NONE; wanted <= GPUMEM_LOG_DEBUG; wanted++) {
		gm_log_set((gpumem_log_level)wanted, keep, &marker);
		seen.count = 0;
		for (level = GPUMEM_LOG_ERROR; level <= GPUMEM_LOG_DEBUG;
		     level++) {
			gm_log((gpumem_log_level)level, "level %d", level);
			is_int((int)seen.count,
			       level <= wanted ? level : wanted, "%d of %d",
			       level, wanted);
		}
		is_uint(seen.count, (unsigned)wanted, "so many are seen");
		if (wanted)
			is_int(seen.level, wanted, "with their level");
	}
	is_ptr(seen.user, &marker, "user comes along");
	is_str(seen.text, "level 4", "and the text");

	seen.count = 0;
	gm_log(GPUMEM_LOG_NONE, "none");
	gm_log((gpumem_log_level)5, "beyond");
	gm_log((gpumem_log_level)-1, "below");
	is_uint(seen.count, 0, "levels that are none are never wanted");
}

static void test_lines(void)
{
	char large[5000];

	gm_log(GPUMEM_LOG_INFO, "two\nlines\r\n");
	is_str(seen.text, "two lines", "a message is one line");
	gm_log(GPUMEM_LOG_INFO, "%s", "\033[2J\302\233A \377 M\303\274ller");
	is_str(seen.text, "\\x1b[2J\\xc2\\x9bA \\xff M\303\274ller",
	       "in which nothing commands a terminal");
	memset(large, 'y', sizeof(large));
	large[sizeof(large) - 1] = '\0';
	gm_log(GPUMEM_LOG_INFO, "%s", large);
	ok(strlen(seen.text) > 1000 && strlen(seen.text) < sizeof(large) - 1,
	   "a long one is cut");
	gm_log(GPUMEM_LOG_INFO, "%s", "");
	is_str(seen.text, "", "an empty one stays empty");
}

static void say_three(const char *format, ...)
{
	(void)format;
	gm_log(GPUMEM_LOG_ERROR, "an error");
	gm_log(GPUMEM_LOG_WARN, "a warning");
	gm_log(GPUMEM_LOG_DEBUG, "a detail");
}

/* What is written to standard error by that function. */
static const char *on_stderr(void (*say)(const char *format, ...))
{
	static char text[4096];
	int saved = dup(STDERR_FILENO), ends[2];
	ssize_t bytes;

	if (saved < 0 || pipe(ends) != 0)
		bail("no pipe");
	dup2(ends[1], STDERR_FILENO);
	say("%d bytes", 5);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	bytes = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	text[bytes > 0 ? bytes : 0] = '\0';
	return text;
}

static void test_stderr(void)
{
	gm_log_set(GPUMEM_LOG_DEBUG, NULL, NULL);
	is_str(on_stderr(say_three), "",
	       "without option log nothing is printed");
	is_status(gm_option_set("log", "warn"), GPUMEM_OK, "log:warn");
	is_str(on_stderr(say_three),
	       "gpumem: error: an error\ngpumem: warn: a warning\n",
	       "option log prints up to its level");
	gm_log_set(GPUMEM_LOG_NONE, keep, NULL);
	is_str(on_stderr(say_three), "",
	       "a function takes all, also to drop it");
	gm_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	is_status(gm_option_set("log", "DEBUG"), GPUMEM_OK, "in any case");
	is_str(on_stderr(say_three),
	       "gpumem: error: an error\ngpumem: warn: a warning\n"
	       "gpumem: debug: a detail\n",
	       "back to standard error");
	is_status(gm_option_set("log", NULL), GPUMEM_OK, "log: default");
	is_str(on_stderr(say_three), "", "quiet again");
}

/* What nobody asked for, but must not be passed over either. */
static void test_unasked(void)
{
	gm_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	is_str(on_stderr(gm_log_unasked), "gpumem: error: 5 bytes\n",
	       "is heard");
	is_status(gm_option_set("log", "error"), GPUMEM_OK, "log:error");
	is_str(on_stderr(gm_log_unasked), "gpumem: error: 5 bytes\n",
	       "is heard once");
	is_status(gm_option_set("log", "none"), GPUMEM_OK, "log:none");
	is_str(on_stderr(gm_log_unasked), "", "unless silence was asked for");
	is_status(gm_option_set("log", NULL), GPUMEM_OK, "log: default");
	gm_log_set(GPUMEM_LOG_ERROR, keep, NULL);
	is_str(on_stderr(gm_log_unasked), "", "a function takes it");
	is_str(seen.text, "5 bytes", "as it is");
	is_int(seen.level, GPUMEM_LOG_ERROR, "as an error");
	gm_log_set(GPUMEM_LOG_NONE, keep, NULL);
	seen.text[0] = '\0';
	is_str(on_stderr(gm_log_unasked), "", "or drops it");
	is_str(seen.text, "", "by its level");
	gm_log_set(GPUMEM_LOG_NONE, NULL, NULL);
}

static void test_debugs(void)
{
	is_int(gm_log_debugs(), false, "nobody wants debug");
	is_status(gm_option_set("log", "Debug"), GPUMEM_OK, "log:debug");
	is_int(gm_log_debugs(), true, "an option does");
	gm_log_set(GPUMEM_LOG_INFO, keep, NULL);
	is_int(gm_log_debugs(), false, "a function that does not counts more");
	gm_log_set(GPUMEM_LOG_DEBUG, keep, NULL);
	is_status(gm_option_set("log", "info"), GPUMEM_OK, "log:info");
	is_int(gm_log_debugs(), true, "and one that does");
	gm_log_set(GPUMEM_LOG_DEBUG, NULL, NULL);
	is_int(gm_log_debugs(), false, "without it the option is asked");
	is_status(gm_option_set("log", NULL), GPUMEM_OK, "log: default");
	is_int(gm_log_debugs(), false, "and nobody again");
}

static void test_parse(void)
{
	const char *const none[] = {"", "nonee", "warning", "4", " warn"};
	gpumem_log_level level = GPUMEM_LOG_INFO;
	size_t i;

	ok(gm_log_level_parse("Error", &level) && level == GPUMEM_LOG_ERROR,
	   "error");
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ok(!gm_log_level_parse(none[i], &level), "\"%s\"", none[i]);
	is_int(level, GPUMEM_LOG_ERROR, "and the output is left alone");
}

static _Atomic unsigned total;

static void add(gpumem_log_level level, const char *text, void *user)
{
	(void)level;
	(void)user;
	if (strcmp(text, "a message of a thread") == 0)
		total++;
}

/* The sink changes while others log: no message may tear or go to a function
 * with another one's user. */
static void *log_many(void *user)
{
	int i;

	for (i = 0; i < MESSAGES; i++) {
		gm_log(GPUMEM_LOG_INFO, "a message of %s", "a thread");
		if (i % 100 == 0)
			gm_log_set(GPUMEM_LOG_INFO, add, user);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t ids[THREADS];
	int i;

	gm_log_set(GPUMEM_LOG_INFO, add, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, log_many, ids);
	for (i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	is_uint(total, THREADS * MESSAGES, "every message of every thread");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	test_levels();
	test_lines();
	test_stderr();
	test_unasked();
	test_debugs();
	test_parse();
	test_threads();
	return done_testing();
}
