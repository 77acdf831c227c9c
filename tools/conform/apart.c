/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The process that a plugin is tried in. It is forked before the library or a
 * driver was used, and what it is doing stands in a page that it shares with
 * its parent: so a plugin that crashes, ends its thread or the process, or does
 * not return is reported by the parent, by the slot that was being called. See
 * conform.h.
 *
 *     one writer per entry of slot[], one of run
 */
#include "conform.h"

#include "common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64	/* more are not named */
#define SHOWN_BYTES 512 /* of what was printed at the end */
#define HIGH_FD 100	/* out of the way of everybody who prints */

struct state {
	_Atomic(const char *) slot[THREADS];
	_Atomic unsigned threads;
	_Atomic long run;
	_Atomic bool ended;
};

static struct state *state;
static int printed_fd = -1;
static pthread_key_t exit_key;
static _Thread_local unsigned thread_number; /* from 1 on; 0: none yet */

/* A thread that ends while it calls a slot was ended by it. */
static void thread_exit(void *unused)
{
	(void)unused;
	if (thread_number <= THREADS &&
	    atomic_load(&state->slot[thread_number - 1]))
		_exit(TOOL_FAILED);
}

static void number_thread(void)
{
	thread_number = atomic_fetch_add(&state->threads, 1) + 1;
	(void)pthread_setspecific(exit_key, state);
}

void conform_calls(const char *slot)
{
	if (!thread_number)
		number_thread();
	if (thread_number <= THREADS)
		atomic_store(&state->slot[thread_number - 1], slot);
}

void conform_count(long run)
{
	atomic_store(&state->run, run);
}

void conform_ends(void)
{
	atomic_store(&state->ended, true);
}

uint64_t conform_printed_bytes(void)
{
	struct stat now;

	return fstat(printed_fd, &now) ? 0 : (uint64_t)now.st_size;
}

/* The library's own messages, which option `log` asks for, are not
 * printed by the backend. */
static void show_log(gpumem_log_level level, const char *text, void *user)
{
	(void)level;
	fprintf(user, "gpumem: %s\n", text);
}

static void keep_log(FILE *stream)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);

	if (gpumem_option_get("log", &option) != GPUMEM_OK)
		return;
	for (int i = GPUMEM_LOG_ERROR; i <= GPUMEM_LOG_DEBUG; i++)
		if (!strcmp(option.value,
			    gpumem_log_level_name((gpumem_log_level)i)))
			gpumem_log_set((gpumem_log_level)i, show_log, stream);
}

static FILE *aside(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	return copy < 0 ? NULL : fdopen(copy, "w");
}

/* Descriptors 1 and 2 are the plugin's while it is tried, and a file keeps what
 * comes there. They are back before the end: a sanitizer reports then. */
static int child(int (*run)(void *user), void *user)
{
	FILE *out = aside(STDOUT_FILENO), *error = aside(STDERR_FILENO);
	int code = tool_configured();

	if (code) {
		conform_ends();
		return code;
	}
	if (!out || !error || pthread_key_create(&exit_key, thread_exit) ||
	    dup2(printed_fd, STDOUT_FILENO) < 0 ||
	    dup2(printed_fd, STDERR_FILENO) < 0)
		return TOOL_FAILED;
	setvbuf(stdout, NULL, _IONBF, 0);
	setvbuf(error, NULL, _IOLBF, 0);
	conform_report_to(out);
	keep_log(error);
	code = run(user);
	gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	conform_ends();
	if (dup2(fileno(out), STDOUT_FILENO) < 0 ||
	    dup2(fileno(error), STDERR_FILENO) < 0)
		return TOOL_FAILED;
	if (!fflush(out) && !ferror(out))
		return code;
	tool_error("cannot write the output");
	return TOOL_FAILED;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* False: it is still running. */
static bool await(pid_t pid, unsigned seconds, int *how_out)
{
	int64_t end = now_ns() + seconds * INT64_C(1000000000), left;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (waitpid(pid, how_out, WNOHANG) != pid) {
		struct timespec wait;

		left = end - now_ns();
		if (left <= 0)
			return false;
		wait.tv_sec = left / 1000000000;
		wait.tv_nsec = left % 1000000000;
		(void)sigtimedwait(&set, NULL, &wait);
	}
	return true;
}

/* "alloc", or "alloc and map" of two threads. */
static void name_slots(char *text, size_t bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < THREADS; i++) {
		const char *slot = atomic_load(&state->slot[i]);

		if (slot && used < bytes && !strstr(text, slot))
			used += (size_t)snprintf(text + used, bytes - used,
						 "%s%s", used ? " and " : "",
						 slot);
	}
	if (!used)
		snprintf(text, bytes, "everything between two calls");
}

/* The end of what was printed, without what a terminal would obey. */
static void show_printed(void)
{
	uint64_t bytes = conform_printed_bytes();
	off_t from = bytes > SHOWN_BYTES ? (off_t)(bytes - SHOWN_BYTES) : 0;
	char text[SHOWN_BYTES];
	ssize_t got = pread(printed_fd, text, sizeof(text), from);

	if (got <= 0)
		return;
	printf("# it had printed:\n#   ");
	for (ssize_t i = 0; i < got; i++)
		if (text[i] == '\n' && i + 1 < got)
			printf("\n#   ");
		else
			putchar(text[i] >= ' ' && text[i] <= '~' ? text[i]
								 : ' ');
	putchar('\n');
}

static int failed(const char *how)
{
	char slots[256];

	name_slots(slots, sizeof(slots));
	printf("not ok %ld - %s returns\n# %s\n", atomic_load(&state->run) + 1,
	       slots, how);
	show_printed();
	printf("Bail out! %s: %s\n", slots, how);
	return TOOL_FAILED;
}

static int judge(int how)
{
	char text[96];

	if (WIFSIGNALED(how))
		snprintf(text, sizeof(text),
			 "the process was killed by signal %d (%s)",
			 WTERMSIG(how), strsignal(WTERMSIG(how)));
	else if (!atomic_load(&state->ended))
		snprintf(text, sizeof(text),
			 "the thread or the process was ended, with exit "
			 "status %d",
			 WEXITSTATUS(how));
	else
		return WEXITSTATUS(how);
	return failed(text);
}

/* A file in memory. A system may ask for those that cannot be executed, or be
 * older than Linux 6.3 and not know the flag. */
static int new_file(const char *name)
{
	const unsigned no_exec = 8; /* MFD_NOEXEC_SEAL, where headers have it */
	int fd = memfd_create(name, MFD_CLOEXEC | no_exec);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd;
}

int conform_apart(int (*run)(void *user), void *user, unsigned seconds)
{
	char text[64];
	pid_t pid;
	int how;

	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	printed_fd = new_file("printed");
	fflush(stdout);
	pid = state == MAP_FAILED || printed_fd < 0 ? -1 : fork();
	if (pid < 0) {
		printf("Bail out! no process to try the backend in: %s\n",
		       strerror(errno));
		return TOOL_FAILED;
	}
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exit(child(run, user));
	}
	if (await(pid, seconds, &how))
		return judge(how);
	kill(pid, SIGKILL);
	waitpid(pid, &how, 0);
	snprintf(text, sizeof(text), "it did not come to its end within %u s",
		 seconds);
	return failed(text);
}
