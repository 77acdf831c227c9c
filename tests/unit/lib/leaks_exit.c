/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `leaks`: a program that ends with live blocks leaves a report, with
 * the line of this file that has allocated them; one that gave all back leaves
 * none, nor does a forked child, or one that ends inside a call. Threads that
 * go on meanwhile change nothing. Each case is this program, run again.
 */
#include "fixture.h"
#include <fcntl.h>
#include <sys/wait.h>

static gpumem_pool *pool;
static char folder[] = "/tmp/gpumem-leaks-XXXXXX";
static char found[1 << 16]; /* the report */

/* ---- the cases ---- */

enum { PLANTED_LINE = __LINE__ + 6 };
static __attribute__((noinline)) void *plant(void)
{
	void *ptr = NULL;

	must(gpumem_tag_push("planted"));
	must(gpumem_alloc(pool, 12345, NULL, &ptr));
	must(gpumem_tag_pop());
	return ptr;
}

static void *use_for_ever(void *begun)
{
	for (;;) {
		must(gpumem_free(new_block(pool, 1000, NULL), NULL));
		atomic_store((_Atomic bool *)begun, true);
	}
	return NULL;
}

static void start_thread(void)
{
	static _Atomic bool begun;
	pthread_t thread;

	if (pthread_create(&thread, NULL, use_for_ever, &begun))
		_Exit(99);
	while (!atomic_load(&begun))
		usleep(100);
}

static bool end_here(const struct gpumem_block *block, void *user)
{
	(void)block;
	(void)user;
	exit(7);
}

static int run_case(const char *name)
{
	alarm(60);
	device_start("256MiB", true);
	pool = new_pool(0);
	(void)plant();
	if (!strcmp(name, "destroyed")) {
		must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
		must(gpumem_device_close(device));
	}
	if (!strcmp(name, "child")) {
		int status = 0;
		pid_t pid = fork();

		if (pid <= 0)
			exit(7);
		(void)waitpid(pid, &status, 0);
		_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
	}
	if (!strcmp(name, "inside"))
		(void)GPUMEM_IGNORE(gpumem_block_visit(pool, end_here, NULL));
	if (!strcmp(name, "thread"))
		start_thread();
	return 7;
}

/* ---- the test ---- */

static void run_again(const char *name, const char *file)
{
	char conf[200];

	snprintf(conf, sizeof(conf), "leaks:%s/%s", folder, file);
	setenv("GPUMEM_CONF", conf, 1);
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	execl("/proc/self/exe", "leaks_exit", name, (char *)NULL);
	_exit(98);
}

/* Runs a case; its report is in `found`, "" if it has left none. */
static void run(const char *name, const char *file)
{
	char path[160] = "";
	int status = 0, fd;
	ssize_t length;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bail("no process");
	if (!pid)
		run_again(name, file);
	(void)waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: ends with %#x",
	   name, (unsigned)status);
	if (strstr(file, "%p"))
		snprintf(path, sizeof(path), "%s/%ld.json", folder, (long)pid);
	else
		snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_RDONLY);
	length = fd < 0 ? 0 : read(fd, found, sizeof(found) - 1);
	found[length > 0 ? length : 0] = '\0';
	if (fd >= 0)
		close(fd);
	(void)unlink(path);
}

/* The place in this program of the innermost frame, by addr2line; "" if it
 * cannot be told. */
static void told_line(char *to, size_t room)
{
	const char *module = strstr(found, "    /"), *plus;
	char command[1200], answer[1200] = "";
	const char *name;
	FILE *pipe;

	*to = '\0';
	plus = module ? strchr(module, '+') : NULL;
	if (!plus)
		return;
	snprintf(command, sizeof(command), "addr2line -e '%.*s' %.*s 2>&1",
		 (int)(plus - module - 4), module + 4,
		 (int)strcspn(plus + 1, " \n"), plus + 1);
	pipe = popen(command, "r");
	name = pipe && fgets(answer, sizeof(answer), pipe)
		       ? strstr(answer, "leaks_exit.c:")
		       : NULL;
	if (name)
		snprintf(to, room, "%.*s", (int)strcspn(name, " \n"), name);
	if (pipe)
		pclose(pipe);
}

static void test_line(void)
{
	char told[1200], want[64];

	told_line(told, sizeof(told));
	if (!*told) {
		skip("no addr2line, or the program has no lines", 1);
		return;
	}
	snprintf(want, sizeof(want), "leaks_exit.c:%d", PLANTED_LINE);
	is_str(told, want, "with its line");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_case(argv[1]);
	alarm(240);
	if (!mkdtemp(folder))
		bail("no folder in /tmp");
	run("live", "a");
	ok(strstr(found, "12.05 KiB in 1 block, tag \"planted\""),
	   "what is left is reported: %s", found);
	ok(!strstr(found, "not tracked"), "of a pool that is tracked");
	test_line();
	run("thread", "b");
	ok(strstr(found, "tag \"planted\""), "and while a thread goes on");
	run("live", "%p.json");
	ok(!strncmp(found, "{\"pool\": ", 9) && strstr(found, "\"planted\""),
	   "as JSON in a file of the process's number");
	run("destroyed", "c");
	is_str(found, "", "nothing of a program that has given all back");
	run("child", "d");
	is_str(found, "", "nor of a forked child");
	run("inside", "e");
	is_str(found, "", "nor from inside a call");
	is_int(rmdir(folder), 0, "no other file is left");
	return done_testing();
}
