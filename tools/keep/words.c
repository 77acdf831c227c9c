/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See words.h. */
#include "keep/words.h"
#include "common/file.h"
#include "common/tool.h"

#include <errno.h>
#include <string.h>

/* Later versions of a description are longer. */
bool words_block(const struct wire_message *entry,
		 struct gpumem_shared *shared_out)
{
	if (entry->word_bytes < sizeof(*shared_out))
		return false;
	memcpy(shared_out, entry->words, sizeof(*shared_out));
	return shared_out->size >= sizeof(*shared_out) &&
	       shared_out->size <= entry->word_bytes &&
	       shared_out->fd_count == entry->fd_count &&
	       shared_out->bytes <= shared_out->total_bytes &&
	       memchr(shared_out->backend, '\0', sizeof(shared_out->backend)) &&
	       memchr(shared_out->uuid, '\0', sizeof(shared_out->uuid));
}

bool words_read(const char *path, struct wire_message *message)
{
	FILE *file = fopen(path, "re");
	size_t bytes;
	bool ok;

	if (!file) {
		tool_error("%s: %s", path, strerror(errno));
		return false;
	}
	bytes = fread(message->words, 1, WIRE_WORDS, file);
	ok = !ferror(file) && fgetc(file) == EOF;
	if (!ok)
		tool_error("%s: %s", path,
			   ferror(file) ? "cannot be read"
					: "an entry has at most 4096 bytes of "
					  "words");
	(void)fclose(file);
	message->word_bytes = (uint32_t)bytes;
	return ok;
}

static bool write_words(FILE *out, void *user)
{
	const struct wire_message *entry = user;

	return fwrite(entry->words, 1, entry->word_bytes, out) ==
	       entry->word_bytes;
}

bool words_write(const char *path, const struct wire_message *entry)
{
	return file_write(path, write_words, (void *)(uintptr_t)entry);
}
