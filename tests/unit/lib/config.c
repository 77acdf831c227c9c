/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * GPUMEM_CONF as a program meets it. What is not understood there keeps every
 * device closed, with a sentence, which is told on standard error once, unless
 * somebody asked for silence; a program can set a bad value aside; and what a
 * backend that is not loaded will say of its keys is waited for. Each case is
 * a child, which has the variable from its beginning, and answers in a pipe.
 */
#include "../../tap.h"
#include <gpumem/host.h>
#include <sys/wait.h>
#include <unistd.h>

#define BAD_LIMIT                                                              \
	"GPUMEM_CONF: option \"limit\": \"1XB\" is no size such as 4096, "     \
	"64KiB or 1.5GiB, nor a part of the device's memory such as 80%"

static struct {
	char said[4096], printed[4096];
} child;

static void answer(const char *what, gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	printf("%s: %s %s\n", what, gpumem_status_name(status),
	       status ? error.text : "");
}

static void take(int fd, char text[4096])
{
	size_t used = 0;
	ssize_t bytes;

	while ((bytes = read(fd, text + used, 4095 - used)) > 0)
		used += (size_t)bytes;
	text[used] = '\0';
	close(fd);
}

/* Runs the case in a child with that variable; what it said and printed is in
 * `child`. */
static void run(const char *conf, void (*act)(void))
{
	int said[2], printed[2], status = 0;
	pid_t pid;

	fflush(stdout);
	if (pipe(said) || pipe(printed) || (pid = fork()) < 0)
		bail("no child");
	if (!pid) {
		dup2(said[1], STDOUT_FILENO);
		dup2(printed[1], STDERR_FILENO);
		setenv("GPUMEM_CONF", conf, 1);
		act();
		fflush(stdout);
		_exit(0);
	}
	close(said[1]);
	close(printed[1]);
	take(said[0], child.said);
	take(printed[0], child.printed);
	waitpid(pid, &status, 0);
	is_int(status, 0, "%s", conf);
}

static void open_device(const char *name)
{
	gpumem_device *device = NULL;
	gpumem_status status = gpumem_device_open(name, &device);

	answer(name, status);
	if (!device != (status != GPUMEM_OK))
		printf("the output is wrong\n");
}

static void adopt(void)
{
	gpumem_device *device = NULL;
	static char context, native;

	answer("adopted",
	       gpumem_device_adopt("host", &context, &native, &device));
}

static void open_twice(void)
{
	open_device("host:0");
	open_device("host:0");
	adopt();
}

static void test_told(void)
{
	run("limit:1XB", open_twice);
	is_str(child.said,
	       "host:0: GPUMEM_INVALID " BAD_LIMIT "\n"
	       "host:0: GPUMEM_INVALID " BAD_LIMIT "\n"
	       "adopted: GPUMEM_INVALID " BAD_LIMIT "\n",
	       "every open fails");
	is_str(child.printed, "gpumem: error: " BAD_LIMIT "\n", "told once");
	run("hsot.capacity:1GiB,wait=off,limit:1XB", open_twice);
	is_str(child.printed,
	       "gpumem: error: GPUMEM_CONF: unknown option \"hsot.capacity\", "
	       "did you mean \"host.capacity\"?\n"
	       "gpumem: error: GPUMEM_CONF: \"wait=off\" has no colon: it has "
	       "to be like \"vm:off\"\n"
	       "gpumem: error: " BAD_LIMIT "\n",
	       "and so is each of several");
	ok(strstr(child.said, "host:0: GPUMEM_INVALID GPUMEM_CONF: unknown "
			      "option \"hsot.capacity\", did you mean "
			      "\"host.capacity\"?\n") == child.said,
	   "the first of them is the error's");
	run("opnecl.capacity:1GiB", open_twice);
	ok(strstr(child.printed, "did you mean \"opencl.capacity\"?\n") != NULL,
	   "also of a backend that is not loaded");
	run(" , limit : 1GB,,vm:off, ,", open_twice);
	is_str(child.said,
	       "host:0: GPUMEM_OK \nhost:0: GPUMEM_OK \nadopted: GPUMEM_OK \n",
	       "what is right is passed over");
	is_str(child.printed, "", "in silence");
}

static void keep(gpumem_log_level level, const char *text, void *user)
{
	(void)user;
	printf("log %d: %s\n", (int)level, text);
}

static void open_with_function(void)
{
	gpumem_log_set(GPUMEM_LOG_ERROR, keep, NULL);
	open_device("host:0");
	gpumem_log_set(GPUMEM_LOG_NONE, keep, NULL);
	open_device("host:0");
}

static void open_quietly(void)
{
	if (gpumem_option_set("log", "none"))
		printf("no silence\n");
	open_device("host:0");
}

static void test_silence(void)
{
	run("log:none,limit:1XB", open_twice);
	is_str(child.printed, "", "log:none is silence");
	ok(strstr(child.said, "INVALID") != NULL, "but no success");
	run("limit:1XB", open_quietly);
	is_str(child.printed, "", "from the program as well");
	run("limit:1XB", open_with_function);
	is_str(child.printed, "", "a function takes the message");
	is_str(child.said,
	       "log 1: " BAD_LIMIT "\n"
	       "host:0: GPUMEM_INVALID " BAD_LIMIT "\n"
	       "host:0: GPUMEM_INVALID " BAD_LIMIT "\n",
	       "once, as an error");
}

static void set_value(void)
{
	answer("set", gpumem_option_set("limit", "1XB"));
	open_device("host:0");
	answer("set", gpumem_option_set("limit", "1GB"));
	open_device("host:0");
}

static void set_default(void)
{
	answer("set", gpumem_option_set("limit", NULL));
	open_device("host:0");
}

static void test_set_aside(void)
{
	run("limit:2XB,log:none", set_value);
	ok(strstr(child.said, "set: GPUMEM_INVALID") == child.said &&
		   strstr(child.said, "host:0: GPUMEM_INVALID") &&
		   strstr(child.said, "set: GPUMEM_OK \nhost:0: GPUMEM_OK \n"),
	   "a value that is set takes the place of a bad one");
	run("limit:2XB", set_default);
	is_str(child.said, "set: GPUMEM_OK \nhost:0: GPUMEM_OK \n",
	       "so does the default");
	is_str(child.printed, "", "and nothing is told");
	run("limti:1GB,log:none", set_default);
	ok(strstr(child.said, "unknown option \"limti\"") != NULL,
	   "a key that does not exist stays one");
}

static void check(void)
{
	answer("check", gpumem_option_check());
	answer("check", gpumem_option_check());
}

static void wait_for_plugin(void)
{
	open_device("host:0");
	open_device("good");
	open_device("host:0");
}

static void test_waiting(void)
{
	const char *build = getenv("top_builddir");
	char folder[4096];

	run("cuda.libary:x", open_twice);
	ok(strstr(child.said, "host:0: GPUMEM_OK ") == child.said,
	   "a key of a backend that is not here is waited for");
	run("cuda.libary:x", check);
	is_str(child.said, "check: GPUMEM_OK \ncheck: GPUMEM_OK \n",
	       "by who only asks too");
	snprintf(folder, sizeof(folder), "%s/tests/plugins/.libs",
		 build ? build : ".");
	setenv("GPUMEM_PLUGIN_PATH", folder, 1);
	run("good.devises:2", wait_for_plugin);
	is_str(child.said,
	       "host:0: GPUMEM_OK \n"
	       "good: GPUMEM_INVALID GPUMEM_CONF: unknown option "
	       "\"good.devises\", did you mean \"good.devices\"?\n"
	       "host:0: GPUMEM_INVALID GPUMEM_CONF: unknown option "
	       "\"good.devises\", did you mean \"good.devices\"?\n",
	       "until it is loaded");
	run("good.devices:two", wait_for_plugin);
	ok(strstr(child.said, "good: GPUMEM_INVALID GPUMEM_CONF: option "
			      "\"good.devices\": \"two\" is no whole number"),
	   "its values too, before what they do to it");
	run("good.devices:2", wait_for_plugin);
	is_str(child.said,
	       "host:0: GPUMEM_OK \ngood: GPUMEM_OK \nhost:0: GPUMEM_OK \n",
	       "and what is right is right");
	run("good.devises:2", check);
	ok(strstr(child.said, "check: GPUMEM_INVALID GPUMEM_CONF: unknown "
			      "option \"good.devises\"") == child.said,
	   "who asks for a judgement gets it at once");
	is_str(child.printed, "", "for himself alone");
}

static void show_limits(void)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	gpumem_device *device;
	gpumem_pool *pool;

	answer("open", gpumem_device_open("host:0", &device));
	answer("pool", gpumem_device_pool(device, &pool));
	answer("stats", gpumem_pool_stats(pool, &stats));
	printf("%llu %llu\n", (unsigned long long)stats.soft_limit_bytes,
	       (unsigned long long)stats.limit_bytes);
}

static void test_part(void)
{
	run("host.capacity:64MiB,limit:50%,soft_limit:25 %", show_limits);
	is_str(child.said,
	       "open: GPUMEM_OK \npool: GPUMEM_OK \nstats: GPUMEM_OK \n"
	       "16777216 33554432\n",
	       "limits that are parts of the device's memory");
	run("vm:off,host.capacity:1GB,limit:12.5%", show_limits);
	ok(strstr(child.said, "\n0 134217728\n") != NULL,
	   "without virtual memory as well");
}

int main(void)
{
	alarm(120);
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	test_told();
	test_silence();
	test_set_aside();
	test_waiting();
	test_part();
	return done_testing();
}
