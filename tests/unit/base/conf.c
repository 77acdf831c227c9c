/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * GPUMEM_CONF: read once at first use, what is not understood told once and an
 * error each time that it is judged, keys of backends kept until their rows
 * come, nothing of it in a set-user-id program.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/option_table.h"
#include "../../tap.h"
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define EXIT_HIDDEN 10	 /* the child saw no environment, as it should */
#define EXIT_SEEN 11	 /* it did, although it was set-user-id */
#define EXIT_ORDINARY 12 /* it was not made set-user-id */

#define CONF                                                                   \
	"limit:1GiB, soft_limit : 512MiB ,,vm:maybe,limti:3,nocolon,:5,"       \
	"page:1MiB,page:2MiB,cache:64KiB,cache:wide,t.text:a:b;c d,"           \
	"t.size:bad,t.sise:1,t.size:7,other.key:1,othre.key:1,space:"

static const struct gpumem_option_row rows[] = {
	{"t.text", "none", GPUMEM_OPTION_TEXT, "a text"},
	{"t.size", "5", GPUMEM_OPTION_BYTES, "a size"},
	{"t.unset", "4", GPUMEM_OPTION_COUNT, "a count"},
	{NULL, NULL, GPUMEM_OPTION_TEXT, NULL},
};

static struct {
	int count;
	char text[16][600];
} seen;

static void keep(gpumem_log_level level, const char *text, void *user)
{
	(void)user;
	if (level != GPUMEM_LOG_ERROR || seen.count == 16)
		bail("unexpected message: %s", text);
	snprintf(seen.text[seen.count++], sizeof(seen.text[0]), "%s", text);
}

/* Backend "t" comes late; "other" is one that is not loaded. */
static bool waits(const char *key, char meant_out[16])
{
	if (strncmp(key, "othre.", 6) == 0)
		strcpy(meant_out, "other");
	return strncmp(key, "other.", 6) == 0 ||
	       (strncmp(key, "t.", 2) == 0 &&
		!gm_option_text("t.text", NULL, 0));
}

static void is_judged(bool tell, const char *sentence)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	is_status(gm_conf_check(waits, tell),
		  sentence ? GPUMEM_INVALID : GPUMEM_OK, "judged");
	gm_error_get(&error);
	if (sentence)
		is_str(error.text, sentence, "the first mistake");
}

static void is_option(const char *key, const char *value, const char *source)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);

	is_status(gm_option_get(key, &option), GPUMEM_OK, "%s", key);
	is_str(option.value, value, "%s: value", key);
	is_str(option.source, source, "%s: source", key);
}

#define SIZE "is no size such as 4096, 64KiB or 1.5GiB"

static const char *const said[] = {
	"GPUMEM_CONF: option \"vm\": \"maybe\" is not on or off",
	"GPUMEM_CONF: unknown option \"limti\", did you mean \"limit\"?",
	"GPUMEM_CONF: \"nocolon\" has no colon: it has to be like \"vm:off\"",
	"GPUMEM_CONF: \":5\" has no key: it has to be like \"vm:off\"",
	"GPUMEM_CONF: option \"cache\": \"wide\" " SIZE,
	"GPUMEM_CONF: unknown option \"othre.key\", did you mean "
	"\"other.key\"?",
	"GPUMEM_CONF: option \"space\": \"\" " SIZE,
};

static void test_core(void)
{
	int i, count = (int)(sizeof(said) / sizeof(said[0]));

	is_option("limit", "1GiB", "environment");
	is_option("soft_limit", "512MiB", "environment");
	is_option("vm", "on", "default");
	is_option("page", "2MiB", "environment");
	is_option("cache", "64KiB", "environment");
	is_option("space", "0", "default");
	is_option("wait", "on", "default");
	is_int(seen.count, 0, "nothing is told before somebody judges");
	is_judged(false, said[0]);
	is_int(seen.count, 0, "nor to who only wants to know");
	is_judged(true, said[0]);
	is_judged(true, said[0]);
	is_int(seen.count, count, "each mistake is told once");
	for (i = 0; i < count && i < seen.count; i++)
		is_str(seen.text[i], said[i], "what %d says", i);

	is_status(gm_option_set("limit", "2GiB"), GPUMEM_OK, "set");
	is_option("limit", "2GiB", "program");
	is_status(gm_option_set("limit", NULL), GPUMEM_OK, "reset");
	is_option("limit", "0", "default");
	setenv("GPUMEM_CONF", "limit:9", 1);
	is_option("limit", "0", "default");
}

static void test_set_aside(void)
{
	is_status(gm_option_set("vm", "maybe"), GPUMEM_INVALID, "not so");
	is_judged(false, said[0]);
	is_status(gm_option_set("vm", "off"), GPUMEM_OK, "set");
	is_judged(false, said[1]);
	is_status(gm_option_set("vm", NULL), GPUMEM_OK, "back to the default");
	is_judged(false, said[1]);
}

static void test_late(void)
{
	seen.count = 0;
	is_status(gm_option_add(rows), GPUMEM_OK, "a backend comes");
	is_option("t.text", "a:b;c d", "environment");
	is_option("t.size", "7", "environment");
	is_option("t.unset", "4", "default");
	is_option("page", "2MiB", "environment");
	is_option("limit", "0", "default");
	is_judged(true, said[1]);
	is_int(seen.count, 2, "its mistakes are told now");
	is_str(seen.text[0], "GPUMEM_CONF: option \"t.size\": \"bad\" " SIZE,
	       "a bad value");
	is_str(seen.text[1],
	       "GPUMEM_CONF: unknown option \"t.sise\", did you mean "
	       "\"t.size\"?",
	       "a bad key");
	seen.count = 0;
	is_status(gm_option_add(rows), GPUMEM_OK, "it comes again");
	is_judged(true, said[1]);
	is_int(seen.count, 0, "and nothing is told twice");
}

static void test_pairs(void)
{
	char large[1200];
	const char *at = large;
	struct gm_pair pair;

	memset(large, 'k', sizeof(large));
	large[700] = ':';
	large[sizeof(large) - 1] = '\0';
	ok(gm_conf_next(&at, &pair), "a pair");
	is_str(pair.fault, "has too long a key", "with a long key");
	ok(!gm_conf_next(&at, &pair), "and no more");
	large[1] = ':';
	at = large;
	ok(gm_conf_next(&at, &pair), "a pair");
	is_str(pair.fault, "has too long a value", "with a long value");
	is_str(pair.key, "k", "its key");
	at = NULL;
	ok(!gm_conf_next(&at, &pair), "no text");
	at = " , ,\t,";
	ok(!gm_conf_next(&at, &pair), "only blanks");
}

static void *first_use(void *user)
{
	(void)user;
	(void)gm_option_memory(GM_MEMORY_limit, 0);
	return NULL;
}

/* In the set-user-id copy: does it see what it must not? */
static int see_environment(void)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);

	if (!getauxval(AT_SECURE))
		return EXIT_ORDINARY;
	if (gm_environment("GPUMEM_CONF") || gm_environment("GPUMEM_BACKEND") ||
	    gm_environment("GPUMEM_PLUGIN_PATH") ||
	    gm_option_get("limit", &option) != GPUMEM_OK ||
	    strcmp(option.source, "default") != 0)
		return EXIT_SEEN;
	return EXIT_HIDDEN;
}

/* A copy of this program that belongs to nobody and runs as nobody. */
static bool copy_self(const char *path)
{
	char command[8300], self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return false;
	self[length] = '\0';
	snprintf(command, sizeof(command), "cp '%s' '%s'", self, path);
	return system(command) == 0 && chown(path, NOBODY, NOBODY) == 0 &&
	       chmod(path, 04755) == 0;
}

static void test_setuid(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd, status = 0;
	pid_t child;

	snprintf(path, sizeof(path), "%s/gpumem-setuid-XXXXXX",
		 folder ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd >= 0)
		close(fd);
	if (fd < 0 || geteuid() != 0 || !copy_self(path)) {
		unlink(path);
		skip("making a set-user-id program takes root", 1);
		return;
	}
	setenv("GPUMEM_CONF", "limit:1GiB", 1);
	setenv("GPUMEM_BACKEND", "cuda", 1);
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	child = fork();
	if (child == 0) {
		execl(path, path, "setuid", (char *)NULL);
		_exit(EXIT_ORDINARY);
	}
	waitpid(child, &status, 0);
	unlink(path);
	if (!WIFEXITED(status) || WEXITSTATUS(status) == EXIT_ORDINARY)
		skip("set-user-id programs do not run or gain nothing here", 1);
	else
		is_int(WEXITSTATUS(status), EXIT_HIDDEN,
		       "a set-user-id program ignores the environment");
}

int main(int argc, char **argv)
{
	pthread_t ids[4];
	int i;

	if (argc > 1 && strcmp(argv[1], "setuid") == 0)
		_exit(see_environment()); /* no leak check: it cannot look */
	alarm(60);
	setenv("GPUMEM_CONF", CONF, 1);
	gm_log_set(GPUMEM_LOG_ERROR, keep, NULL);
	for (i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, first_use, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	test_core();
	test_set_aside();
	test_late();
	test_pairs();
	test_setuid();
	return done_testing();
}
