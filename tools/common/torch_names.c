/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a snapshot says of a block in words: the metadata, which is its tag, and
 * the frames of its stack.
 */
#include "torch_device.h"

#include <string.h>

/* A recording's tags are names of parts of the program; metadata is any text.
 * What is longer is cut, and what would be one too many is left out: it is no
 * reason to refuse the file. */
enum { METADATA_BYTES = 1000 };

/* NULL: there is none, or an empty one. */
static const struct unpickled *text_of(const struct unpickled *text)
{
	return text && text->kind == UNPICKLED_TEXT && text->bytes ? text
								   : NULL;
}

/* PyTorch says in internal_metadata what it allocates for itself, such as the
 * memory in front of an address at which it wants a block. That counts as all
 * it allocates, and has this name if the program gave none. */
bool torch_read_tag(struct torch_device *device, const struct unpickled *user,
		    const struct unpickled *internal, uint16_t *tag_out)
{
	const struct unpickled *text = text_of(user);
	char path[METADATA_BYTES + 1];
	size_t bytes;

	*tag_out = 0;
	if (!text)
		text = text_of(internal);
	if (!text)
		return true;
	bytes = text->bytes < METADATA_BYTES ? text->bytes : METADATA_BYTES;
	/* Not within a character. */
	while (bytes && bytes < text->bytes &&
	       ((unsigned char)text->text[bytes] & 0xc0) == 0x80)
		bytes--;
	memcpy(path, text->text, bytes);
	path[bytes] = '\0';
	return tag_names_number(&device->history->tags, path, tag_out) !=
		       TAG_NAMES_NO_MEMORY ||
	       torch_fail(device->history, "out of host memory");
}

bool torch_read_stack(struct torch_device *device,
		      const struct unpickled *frames, uint32_t *stack_out)
{
	return torch_stacks_number(&device->history->stacks, device->unpickle,
				   frames, stack_out) ||
	       torch_fail(device->history, "out of host memory");
}
