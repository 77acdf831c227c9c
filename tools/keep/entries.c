/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See entries.h. */
#include "keep/entries.h"
#include "common/clock.h"
#include "keep/owner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEASE_MOST = 30 * 86400 };

#define SECOND UINT64_C(1000000000)

static const struct answer done = {0, NULL};

static struct answer refuse(enum wire_why why, const char *sentence)
{
	return (struct answer){(int)why, sentence};
}

static bool is_name(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if (*name <= ' ' || *name > '~')
			return false;
	return true;
}

static bool is_lease(uint32_t seconds)
{
	return seconds && seconds <= LEASE_MOST;
}

static struct answer check(const struct entries *entries,
			   const struct wire_message *message)
{
	if (!is_name(message->name))
		return refuse(WIRE_WRONG, "a name has 1 to 63 printable "
					  "characters of ASCII, and no blanks");
	if (!is_lease(message->lease_seconds))
		return refuse(WIRE_WRONG, "a lease has 1 second to 30 days");
	if (!message->fd_count)
		return refuse(WIRE_WRONG,
			      "there is no descriptor to keep: memory that is "
			      "shared by name (IPC) ends with its process");
	if (message->replace > 1)
		return refuse(WIRE_WRONG, "the request is of a later version");
	if (entries->count == ENTRIES_MOST)
		return refuse(WIRE_FULL, "so many entries are kept already "
					 "that there is no room for another");
	if (message->fd_count > entries->fd_most - entries->fd_count)
		return refuse(WIRE_FULL,
			      "there is no room for so many descriptors: raise "
			      "the daemon's limit (ulimit -Hn), or allocate "
			      "from a pool with larger pages (page_bytes)");
	return done;
}

struct answer entries_begin(struct entries *entries,
			    const struct wire_message *message, uid_t uid,
			    pid_t pid, struct entry **entry_out)
{
	struct answer answer = check(entries, message);
	size_t fds = message->fd_count * sizeof(int);
	struct entry *entry;

	if (answer.why)
		return answer;
	entry = calloc(1, sizeof(*entry) + fds + message->word_bytes);
	if (!entry)
		return refuse(WIRE_FULL, "the daemon is out of memory");
	entry->uses = 1;
	entry->uid = uid;
	entry->pid = pid;
	entry->started = owner_started(pid);
	entry->replaces = message->replace;
	entry->lease_ns = message->lease_seconds * SECOND;
	entry->fd_count = message->fd_count;
	entry->word_bytes = message->word_bytes;
	strcpy(entry->name, message->name);
	entry->words = (unsigned char *)entry->fds + fds;
	memcpy(entry->words, message->words, message->word_bytes);
	entries->count++;
	entries->fd_count += entry->fd_count;
	*entry_out = entry;
	return done;
}

static void end(struct entries *entries, struct entry *entry)
{
	while (entry->fd_have)
		close(entry->fds[--entry->fd_have]);
	entries->count--;
	entries->fd_count -= entry->fd_count;
	free(entry);
}

void entries_let(struct entries *entries, struct entry *entry)
{
	if (--entry->uses == 0 && !entry->listed)
		end(entries, entry);
}

void entries_drop(struct entries *entries, struct entry *entry)
{
	struct entry **link = &entries->first;

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	entry->listed = false;
	if (!entry->uses)
		end(entries, entry);
}

static struct entry *named(const struct entries *entries, const char *name)
{
	struct entry *entry = entries->first;

	while (entry && strcmp(entry->name, name))
		entry = entry->next;
	return entry;
}

static bool may(const struct entry *entry, uid_t uid)
{
	return entry->uid == uid || uid == 0;
}

struct answer entries_find(struct entries *entries, const char *name, uid_t uid,
			   struct entry **entry_out)
{
	struct entry *entry = named(entries, name);

	if (!entry)
		return refuse(WIRE_ABSENT, "there is no entry of that name");
	if (!may(entry, uid))
		return refuse(WIRE_OTHERS, "the entry is another user's");
	*entry_out = entry;
	return done;
}

struct answer entries_put(struct entries *entries, struct entry *entry)
{
	struct entry *before = named(entries, entry->name);
	struct entry **link = &entries->first;

	if (before && !may(before, entry->uid))
		return refuse(WIRE_OTHERS,
			      "there is an entry of that name, another user's");
	if (before && !entry->replaces)
		return refuse(WIRE_TAKEN, "there is an entry of that name: "
					  "drop it first, or replace it");
	if (before)
		entries_drop(entries, before);
	while (*link)
		link = &(*link)->next;
	*link = entry;
	entry->number = ++entries->number;
	entry->listed = true;
	entry->put_ns = clock_ns();
	entry->end_ns = entry->put_ns + entry->lease_ns;
	return done;
}

struct entry *entries_after(struct entries *entries, uint64_t number)
{
	struct entry *entry = entries->first;

	while (entry && entry->number <= number)
		entry = entry->next;
	return entry;
}

struct answer entries_renew(struct entry *entry, uint32_t lease_seconds)
{
	if (!is_lease(lease_seconds))
		return refuse(WIRE_WRONG, "a lease has 1 second to 30 days");
	entry->lease_ns = lease_seconds * SECOND;
	entry->end_ns = clock_ns() + entry->lease_ns;
	return done;
}

uint64_t entries_expire(struct entries *entries, uint64_t now_ns)
{
	struct entry *entry = entries->first, *next;
	uint64_t end_ns = 0;

	for (; entry; entry = next) {
		next = entry->next;
		if (entry->end_ns <= now_ns)
			entries_drop(entries, entry);
		else if (!end_ns || entry->end_ns < end_ns)
			end_ns = entry->end_ns;
	}
	return end_ns;
}

void entries_free(struct entries *entries)
{
	while (entries->first)
		entries_drop(entries, entries->first);
}

void entries_describe(const struct entry *entry, struct wire_message *message)
{
	uint64_t now = clock_ns();

	message->what = WIRE_ENTRY;
	message->fd_count = entry->fd_count;
	message->word_bytes = entry->word_bytes;
	message->lease_seconds =
		entry->end_ns > now
			? (uint32_t)((entry->end_ns - now + SECOND - 1) /
				     SECOND)
			: 0;
	message->alive = entry->started &&
			 owner_started(entry->pid) == entry->started;
	message->uid = entry->uid;
	message->pid = (uint32_t)entry->pid;
	message->age_seconds = (now - entry->put_ns) / SECOND;
	memcpy(message->name, entry->name, sizeof(message->name));
	memcpy(message->words, entry->words, entry->word_bytes);
}
