/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The daemon: one thread, which sleeps until a client says something, a lease
 * ends or a signal ends it. It stays in the foreground. A lock beside the
 * socket, which the kernel takes back from whoever ends, says that one is
 * there: so the socket of one that was killed is in nobody's way.
 */
#include "keep/keep.h"
#include "keep/talk.h"
#include "common/clock.h"
#include "common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	TALKS = 64,
	FDS_MOST = 65536, /* of all entries */
	FDS_OURS = 16	  /* that are no client's and no entry's */
};

struct serve {
	struct sockaddr_un place;
	int lock, listener, signals;
	bool root;
	struct entries entries;
	struct talk talks[TALKS];
};

static bool fail(const struct serve *serve, const char *what)
{
	tool_error("%s: %s: %s", serve->place.sun_path, what, strerror(errno));
	return false;
}

static bool take_lock(struct serve *serve)
{
	char path[sizeof(serve->place.sun_path) + 8];

	snprintf(path, sizeof(path), "%s.lock", serve->place.sun_path);
	serve->lock =
		open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (serve->lock < 0)
		return fail(serve, "cannot make the lock beside it");
	if (flock(serve->lock, LOCK_EX | LOCK_NB) == 0)
		return true;
	if (errno == EWOULDBLOCK)
		tool_error("%s: another one serves there",
			   serve->place.sun_path);
	else
		fail(serve, "cannot lock it");
	return false;
}

/* What stands there is the socket of one that was killed, or none of ours. */
static bool make_way(const struct serve *serve)
{
	struct stat before;

	if (lstat(serve->place.sun_path, &before) < 0)
		return errno == ENOENT || fail(serve, "cannot look at it");
	if (!S_ISSOCK(before.st_mode)) {
		tool_error("%s: there is something else",
			   serve->place.sun_path);
		return false;
	}
	return unlink(serve->place.sun_path) == 0 ||
	       fail(serve, "cannot remove the old one");
}

static bool listen_there(struct serve *serve)
{
	mode_t mask;
	bool ok;

	if (!make_way(serve))
		return false;
	serve->listener = socket(
		AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (serve->listener < 0)
		return fail(serve, "cannot make a socket");
	mask = umask(0177);
	ok = bind(serve->listener, (const struct sockaddr *)&serve->place,
		  sizeof(serve->place)) == 0;
	umask(mask);
	if (!ok)
		return fail(serve, "cannot make it");
	return listen(serve->listener, TALKS) == 0 ||
	       fail(serve, "cannot listen");
}

/* TERM and INT end it; HUP, when a terminal goes, does not: what it keeps is to
 * outlive others. */
static bool take_signals(struct serve *serve)
{
	sigset_t set;

	(void)signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	serve->signals = signalfd(-1, &set, SFD_CLOEXEC);
	return serve->signals >= 0 || fail(serve, "cannot wait for signals");
}

/* As many descriptors as the system lets it have. */
static void take_room(struct serve *serve)
{
	struct rlimit limit;
	rlim_t room = 1024;
	const rlim_t ours = FDS_OURS + TALKS + WIRE_FDS;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		room = limit.rlim_cur;
		limit.rlim_cur = limit.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
			room = limit.rlim_max;
	}
	room = room > ours ? room - ours : 0;
	serve->entries.fd_most = room < FDS_MOST ? (size_t)room : FDS_MOST;
}

static struct talk *free_talk(struct serve *serve)
{
	for (size_t i = 0; i < TALKS; i++)
		if (serve->talks[i].socket < 0)
			return &serve->talks[i];
	return NULL;
}

static void welcome(struct serve *serve)
{
	struct talk *talk = free_talk(serve);
	int socket = talk ? accept4(serve->listener, NULL, NULL,
				    SOCK_CLOEXEC | SOCK_NONBLOCK)
			  : -1;

	if (socket < 0)
		return;
	talk_begin(talk, socket, serve->root);
	if (talk_sends(talk))
		talk_go_on(talk, &serve->entries);
}

/* Who gets no further goes. When the next one would; 0: there is none. */
static uint64_t show_out(struct serve *serve, uint64_t now_ns)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < TALKS; i++) {
		struct talk *talk = &serve->talks[i];

		if (talk->socket < 0)
			continue;
		if (talk->end_ns <= now_ns)
			talk_end(talk, &serve->entries);
		else if (!end_ns || talk->end_ns < end_ns)
			end_ns = talk->end_ns;
	}
	return end_ns;
}

/* Milliseconds for poll(), until something ends. */
static int patience(struct serve *serve)
{
	uint64_t now = clock_ns(), ms;
	uint64_t lease = entries_expire(&serve->entries, now);
	uint64_t talk = show_out(serve, now);
	uint64_t end = talk && (!lease || talk < lease) ? talk : lease;

	if (!end)
		return -1;
	ms = (end - now) / 1000000 + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void go_on(struct serve *serve)
{
	struct pollfd polls[2 + TALKS];

	for (;;) {
		int wait_ms = patience(serve);

		polls[0] = (struct pollfd){.fd = serve->signals,
					   .events = POLLIN};
		polls[1] = (struct pollfd){
			.fd = free_talk(serve) ? serve->listener : -1,
			.events = POLLIN};
		for (size_t i = 0; i < TALKS; i++)
			polls[2 + i] = (struct pollfd){
				.fd = serve->talks[i].socket,
				.events = talk_sends(&serve->talks[i])
						  ? POLLOUT
						  : POLLIN};
		if (poll(polls, 2 + TALKS, wait_ms) < 0)
			continue;
		if (polls[0].revents)
			return;
		for (size_t i = 0; i < TALKS; i++)
			if (polls[2 + i].revents)
				talk_go_on(&serve->talks[i], &serve->entries);
		if (polls[1].revents)
			welcome(serve);
	}
}

static void end(struct serve *serve)
{
	for (size_t i = 0; i < TALKS; i++)
		if (serve->talks[i].socket >= 0)
			talk_end(&serve->talks[i], &serve->entries);
	entries_free(&serve->entries);
	(void)unlink(serve->place.sun_path);
}

int keep_serve(const struct keep_config *config)
{
	static struct serve serve;
	bool ok;

	serve.root = config->root;
	for (size_t i = 0; i < TALKS; i++)
		serve.talks[i].socket = -1;
	if (!keep_place(config->socket, &serve.place))
		return TOOL_ABSENT;
	take_room(&serve);
	/* Before there is a socket to be left behind. */
	ok = take_signals(&serve) && take_lock(&serve) && listen_there(&serve);
	if (!ok)
		return TOOL_FAILED;
	go_on(&serve);
	end(&serve);
	return TOOL_OK;
}
