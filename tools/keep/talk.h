/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One client of gpumem-keep, from the daemon's side. It is read from only when
 * nothing is on its way to it, and nothing waits for it: what it does not take
 * now is sent when it can. Who gets no further for TALK_SECONDS is cut off.
 * No locks: for one thread.
 */
#ifndef GPUMEM_TOOLS_KEEP_TALK_H
#define GPUMEM_TOOLS_KEEP_TALK_H

#include "keep/entries.h"

enum { TALK_SECONDS = 10 };

struct talk {
	int socket; /* -1: nobody */
	uid_t uid;
	pid_t pid;
	uint64_t end_ns;      /* unless it gets further before */
	struct entry *coming; /* is being put */
	struct entry *going;  /* is being sent, */
	uint32_t sent;	      /* so many descriptors of it */
	bool begun;	      /* its words, too */
	bool listing;
	uint64_t listed; /* the newest that was sent */
	bool answers;	 /* with this: */
	struct answer answer;
	bool last; /* and then it is over */
};

/* A client, or somebody else, who is told so. */
void talk_begin(struct talk *talk, int socket, bool root);
/* Is something on its way to it? */
bool talk_sends(const struct talk *talk);
/* It can be read from, or written to. */
void talk_go_on(struct talk *talk, struct entries *entries);
void talk_end(struct talk *talk, struct entries *entries);

#endif
