/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Processes that end while the library is in use: with live blocks, with work
 * on streams, with threads in the middle of a call. They end with the status
 * that they chose, and nothing is printed. Each is this program, run again with
 * the name of a case.
 */
#include "fixture.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

static gpumem_pool *pool;
static gpumem_stream stream;
static struct gate gate;

/* ---- the cases ---- */

static void use_much(void)
{
	(void)new_block(pool, 1000, NULL);
	(void)new_block(pool, 50 * MIB, stream);
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	must(gpumem_free(new_block(pool, MIB, stream), stream));
	must(gpumem_free(new_block(pool, 1000, stream), NULL));
}

static void *use_for_ever(void *at)
{
	gpumem_stream own = new_stream();

	for (;;) {
		must(gpumem_free(new_block(pool, 1000, own), own));
		must(gpumem_free(new_block(pool, 3 * MIB, own), NULL));
		must(gpumem_pool_trim(pool, 0, NULL));
		atomic_fetch_add((atomic_int *)at, 1);
	}
	return NULL;
}

static void start_threads(void)
{
	static atomic_int rounds;
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, use_for_ever, &rounds))
			_Exit(99);
	while (rounds < 30)
		usleep(100);
}

static void use_at_exit(void)
{
	use_much();
	must(gpumem_pool_check(pool));
}

/* Main ends as a thread; the process with the last of them. */
static _Atomic bool main_ended;

static void note_the_end(void *unused)
{
	(void)unused;
	main_ended = true;
}

static void *last_thread(void *unused)
{
	while (!main_ended)
		usleep(100);
	use_much();
	return unused;
}

static void main_ends_first(void)
{
	pthread_key_t key;
	pthread_t thread;

	if (pthread_key_create(&key, note_the_end) ||
	    pthread_setspecific(key, &pool) ||
	    pthread_create(&thread, NULL, last_thread, NULL))
		_Exit(99);
	pthread_exit(NULL);
}

static int run_case(const char *name)
{
	open_device(60);
	pool = new_pool(0);
	stream = new_stream();
	use_much();
	if (!strcmp(name, "live"))
		exit(7);
	if (!strcmp(name, "quick"))
		_Exit(7);
	if (!strcmp(name, "main"))
		main_ends_first();
	if (!strcmp(name, "handler") && atexit(use_at_exit))
		return 99;
	if (!strcmp(name, "stream") || !strcmp(name, "both"))
		gate_launch(&gate, stream, NULL, 0);
	if (!strcmp(name, "threads") || !strcmp(name, "both"))
		start_threads();
	if (!strcmp(name, "closed")) {
		must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
		must(gpumem_stream_destroy(device, stream));
		must(gpumem_device_close(device));
	}
	return 7;
}

/* ---- the test ---- */

static void run_again(int output, const char *name)
{
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	/* A process that ends with live blocks leaks their metadata, of course.
	 */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	execl("/proc/self/exe", "lib_exit", name, (char *)NULL);
	_exit(98);
}

static void ends(const char *name, int want, const char *what)
{
	char said_there[2000] = "";
	size_t length = 0;
	int pipe_fd[2], status = -1;
	pid_t pid = pipe(pipe_fd) ? -1 : fork();
	ssize_t n;

	if (pid < 0)
		bail("no pipe or no process");
	if (!pid)
		run_again(pipe_fd[1], name);
	close(pipe_fd[1]);
	while ((n = read(pipe_fd[0], said_there + length,
			 sizeof(said_there) - 1 - length)) > 0)
		length += (size_t)n;
	close(pipe_fd[0]);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status), "%s: the process ends", what);
	is_int(WEXITSTATUS(status), want, "%s: as it wants to", what);
	is_str(said_there, "", "%s: nothing is printed", what);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_case(argv[1]);
	alarm(120);
	ends("live", 7, "exit() with live blocks");
	ends("return", 7, "return from main() with live blocks");
	ends("quick", 7, "_Exit()");
	ends("closed", 7, "everything was closed");
	ends("stream", 7, "a stream's work never ends");
	ends("handler", 7, "a handler of atexit() goes on using it");
	for (long i = scaled(10, 2); i > 0; i--) {
		ends("threads", 7, "threads are in the middle of calls");
		ends("both", 7, "threads, and a stream that never ends");
		if (THREAD_SANITIZER)
			skip("ThreadSanitizer's own thread never ends", 3);
		else
			ends("main", 0, "main ends before another thread");
	}
	return done_testing();
}
