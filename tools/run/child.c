/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The program as a child that cannot tell: it has the signal mask, the
 * dispositions and the terminal that gpumem-run was started with, gets the
 * signals that gpumem-run gets, stops and goes on with it, and gpumem-run ends
 * as it ended.
 */
#include "common/tool.h"
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

static void execute(char **command)
{
	int code;

	execvp(command[0], command);
	code = errno == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
	tool_error("%s: %s", command[0], strerror(errno));
	_exit(code);
}

static void child(char **command, const sigset_t *mask,
		  const struct sigaction *on_child, pid_t parent)
{
	/* Who kills gpumem-run means the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_EXECUTABLE);
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execute(command);
}

/* True: it is over. */
static bool reap(pid_t pid, struct run_end *end_out)
{
	int status;

	while (waitpid(pid, &status, WNOHANG | WUNTRACED) == pid) {
		if (WIFSTOPPED(status)) {
			/* The shell sees its job stop, and continues it. */
			raise(SIGSTOP);
			kill(pid, SIGCONT);
			continue;
		}
		end_out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		end_out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		return true;
	}
	return false;
}

/* What the terminal sends reaches the whole group, and so the program too. */
static bool came_to_both(const siginfo_t *info)
{
	return info->si_code == SI_KERNEL &&
	       (info->si_signo == SIGINT || info->si_signo == SIGQUIT ||
		info->si_signo == SIGTSTP || info->si_signo == SIGTTIN ||
		info->si_signo == SIGTTOU || info->si_signo == SIGWINCH ||
		info->si_signo == SIGHUP);
}

bool run_child(char **command, struct run_end *end_out)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, on_child;
	pid_t parent = getpid(), pid;
	sigset_t set, mask;
	siginfo_t info;

	/* All that can be sent. What the kernel sends for a fault of this
	 * process's own ends it all the same. */
	sigfillset(&set);
	sigaction(SIGCHLD, &standard, &on_child);
	sigprocmask(SIG_BLOCK, &set, &mask);
	pid = fork();
	if (pid < 0) {
		tool_error("cannot start %s: %s", command[0], strerror(errno));
		return false;
	}
	if (!pid)
		child(command, &mask, &on_child, parent);
	for (;;) {
		if (sigwaitinfo(&set, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD) {
			if (!came_to_both(&info))
				kill(pid, info.si_signo);
		} else if (reap(pid, end_out)) {
			return true;
		}
	}
}

void run_listen(void)
{
	static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void run_end_alike(const struct run_end *end)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	struct rlimit none = {0, 0};
	sigset_t set;

	if (!end->signal)
		exit(end->status);
	/* The program has left its core already. */
	setrlimit(RLIMIT_CORE, &none);
	sigemptyset(&set);
	sigaddset(&set, end->signal);
	sigaction(end->signal, &standard, NULL);
	fflush(stdout);
	kill(getpid(), end->signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	exit(128 + end->signal);
}
