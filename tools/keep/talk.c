/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See talk.h. */
#include "keep/talk.h"
#include "common/clock.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void get_further(struct talk *talk)
{
	talk->end_ns = clock_ns() + TALK_SECONDS * UINT64_C(1000000000);
}

static void answer_with(struct talk *talk, struct answer answer)
{
	talk->answers = true;
	talk->answer = answer;
}

static void show_out(struct talk *talk, enum wire_why why, const char *sentence)
{
	answer_with(talk, (struct answer){(int)why, sentence});
	talk->last = true;
}

void talk_begin(struct talk *talk, int socket, bool root)
{
	struct ucred who = {0};
	socklen_t bytes = sizeof(who);
	bool known = !getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes);

	*talk = (struct talk){
		.socket = socket, .uid = who.uid, .pid = who.pid};
	get_further(talk);
	if (!known || (who.uid != geteuid() && !(root && who.uid == 0)))
		show_out(talk, WIRE_OTHERS, "the daemon is another user's");
}

bool talk_sends(const struct talk *talk)
{
	return talk->going || talk->listing || talk->answers;
}

void talk_end(struct talk *talk, struct entries *entries)
{
	if (talk->coming)
		entries_let(entries, talk->coming);
	if (talk->going)
		entries_let(entries, talk->going);
	close(talk->socket);
	*talk = (struct talk){.socket = -1};
}

/* ---- to the client ---- */

/* The next message, and how many descriptors go with it. */
static size_t next(const struct talk *talk, struct entries *entries,
		   struct wire_message *message, const struct entry **shown)
{
	size_t fds = 0;

	*message = (struct wire_message){.magic = WIRE_MAGIC,
					 .what = WIRE_END};
	*shown = NULL;
	if (talk->going) {
		fds = talk->going->fd_count - talk->sent;
		message->what = WIRE_MORE;
		if (!talk->begun)
			entries_describe(talk->going, message);
	} else if (talk->listing) {
		*shown = entries_after(entries, talk->listed);
		if (*shown)
			entries_describe(*shown, message);
	} else if (talk->answer.why) {
		wire_fail(message, (enum wire_why)talk->answer.why,
			  talk->answer.sentence);
	}
	return fds < WIRE_FDS ? fds : WIRE_FDS;
}

/* It was sent. */
static void advance(struct talk *talk, struct entries *entries, size_t fds,
		    const struct entry *shown)
{
	if (talk->going) {
		talk->begun = true;
		talk->sent += (uint32_t)fds;
		if (talk->sent < talk->going->fd_count)
			return;
		entries_let(entries, talk->going);
		talk->going = NULL;
	} else if (shown) {
		talk->listed = shown->number;
	} else {
		talk->listing = false;
		talk->answers = false;
	}
}

/* False: the client is gone. */
static bool send_all(struct talk *talk, struct entries *entries)
{
	while (talk_sends(talk)) {
		const int *from = talk->going ? talk->going->fds + talk->sent
					      : NULL;
		const struct entry *shown;
		struct wire_message message;
		size_t fds = next(talk, entries, &message, &shown);
		int sent = wire_send(talk->socket, &message, from, fds);

		if (sent <= 0)
			return sent == 0;
		advance(talk, entries, fds, shown);
		get_further(talk);
	}
	return !talk->last;
}

/* ---- from the client ---- */

static void put_on(struct talk *talk, struct entries *entries,
		   const struct wire_fds *fds)
{
	struct entry *entry = talk->coming;

	memcpy(entry->fds + entry->fd_have, fds->fd, fds->count * sizeof(int));
	entry->fd_have += (uint32_t)fds->count;
	if (entry->fd_have < entry->fd_count)
		return;
	answer_with(talk, entries_put(entries, entry));
	entries_let(entries, entry);
	talk->coming = NULL;
}

/* The descriptors are the entry's from here on, or closed. */
static void put(struct talk *talk, struct entries *entries,
		const struct wire_message *message, struct wire_fds *fds)
{
	struct answer answer = {0, NULL};

	if (message->what == WIRE_PUT)
		answer = entries_begin(entries, message, talk->uid, talk->pid,
				       &talk->coming);
	if (answer.why) {
		/* More may be on their way. */
		show_out(talk, (enum wire_why)answer.why, answer.sentence);
	} else if (!fds->count ||
		   fds->count >
			   talk->coming->fd_count - talk->coming->fd_have) {
		show_out(talk, WIRE_WRONG,
			 "other descriptors came than were said");
	} else {
		put_on(talk, entries, fds);
		return;
	}
	wire_close(fds);
}

static void get(struct talk *talk, struct entry *entry)
{
	entry->uses++;
	talk->going = entry;
	talk->sent = 0;
	talk->begun = false;
}

/* Of an entry that is there. */
static void about(struct talk *talk, struct entries *entries,
		  const struct wire_message *message)
{
	struct entry *entry = NULL;
	struct answer answer =
		entries_find(entries, message->name, talk->uid, &entry);

	if (!answer.why && message->what == WIRE_GET) {
		get(talk, entry);
		return;
	}
	if (!answer.why && message->what == WIRE_DROP)
		entries_drop(entries, entry);
	else if (!answer.why)
		answer = entries_renew(entry, message->lease_seconds);
	answer_with(talk, answer);
}

static void handle(struct talk *talk, struct entries *entries,
		   const struct wire_message *message, struct wire_fds *fds)
{
	bool more = message->what == WIRE_MORE;

	if (more == (talk->coming != NULL) &&
	    (more || message->what == WIRE_PUT)) {
		put(talk, entries, message, fds);
		return;
	}
	if (fds->count || talk->coming || message->what < WIRE_GET ||
	    message->what > WIRE_LIST)
		show_out(talk, WIRE_WRONG, "that is no request");
	else if (message->what == WIRE_LIST)
		talk->listing = true;
	else
		about(talk, entries, message);
	talk->listed = 0;
	wire_close(fds);
}

/* False: the client is gone. */
static bool receive(struct talk *talk, struct entries *entries)
{
	struct wire_message message;
	struct wire_fds fds;

	switch (wire_receive(talk->socket, &message, &fds)) {
	case WIRE_GOT:
		get_further(talk);
		handle(talk, entries, &message, &fds);
		return true;
	case WIRE_NOTHING:
		return true;
	case WIRE_MALFORMED:
		show_out(talk, WIRE_WRONG,
			 "that is no message of this version of gpumem-keep");
		return true;
	case WIRE_CUT:
		show_out(talk, WIRE_FULL,
			 "the daemon has no room for the descriptors");
		return true;
	default:
		return false;
	}
}

void talk_go_on(struct talk *talk, struct entries *entries)
{
	bool there = talk_sends(talk) || receive(talk, entries);

	if (!there || !send_all(talk, entries))
		talk_end(talk, entries);
}
