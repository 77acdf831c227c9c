/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See torch.h. */
#include "torch.h"

static void put_word(struct gm_torch *torch, enum gm_torch_word word)
{
	static const char *const words[] = {
#define WORD_TEXT(name) #name,
		GM_TORCH_WORD_LIST(WORD_TEXT)
#undef WORD_TEXT
	};

	gm_pickle_word(&torch->pickle, (uint8_t)word, words[word]);
}

/* A key and its number. */
static void put(struct gm_torch *torch, enum gm_torch_word key, uint64_t value)
{
	put_word(torch, key);
	gm_pickle_u64(&torch->pickle, value);
}

static void put_frames(struct gm_torch *torch, uint64_t stack)
{
	put_word(torch, GM_TORCH_frames);
	torch->frames(torch, stack, torch->user);
}

void gm_torch_frame(struct gm_torch *torch, const char *name, const char *file,
		    uint64_t line)
{
	gm_pickle_dict(&torch->pickle);
	put_word(torch, GM_TORCH_name);
	gm_pickle_text(&torch->pickle, name);
	put_word(torch, GM_TORCH_filename);
	gm_pickle_text(&torch->pickle, file);
	put(torch, GM_TORCH_line, line);
	gm_pickle_dict_end(&torch->pickle);
}

void gm_torch_begin(struct gm_torch *torch)
{
	torch->in_traces = torch->in_device = false;
	torch->in_segments = torch->in_segment = false;
	gm_pickle_begin(&torch->pickle, torch->pickle.write,
			torch->pickle.user);
	gm_pickle_dict(&torch->pickle);
}

/* ---- what happened ---- */

static void end_device(struct gm_torch *torch)
{
	if (torch->in_device)
		gm_pickle_list_end(&torch->pickle, &torch->entries);
	torch->in_device = false;
}

static void end_traces(struct gm_torch *torch)
{
	end_device(torch);
	if (torch->in_traces)
		gm_pickle_list_end(&torch->pickle, &torch->devices);
	torch->in_traces = false;
}

static void end_segments(struct gm_torch *torch);

void gm_torch_traces(struct gm_torch *torch, bool host)
{
	end_segments(torch);
	gm_pickle_text(&torch->pickle, host ? "host_traces" : "device_traces");
	gm_pickle_list(&torch->pickle, &torch->devices);
	torch->in_traces = true;
}

void gm_torch_device(struct gm_torch *torch)
{
	end_device(torch);
	gm_pickle_item(&torch->pickle, &torch->devices);
	gm_pickle_list(&torch->pickle, &torch->entries);
	torch->in_device = true;
}

void gm_torch_put(struct gm_torch *torch, const struct gm_torch_entry *entry)
{
	gm_pickle_item(&torch->pickle, &torch->entries);
	gm_pickle_dict(&torch->pickle);
	put_word(torch, GM_TORCH_action);
	put_word(torch, entry->action);
	if (entry->action == GM_TORCH_oom)
		put(torch, GM_TORCH_device_free, entry->free_bytes);
	put(torch, GM_TORCH_addr, entry->address);
	put(torch, GM_TORCH_size, entry->bytes);
	put(torch, GM_TORCH_stream, entry->stream);
	put(torch, GM_TORCH_time_us, entry->time_us);
	put_frames(torch, entry->stack);
	if (entry->tag) {
		put_word(torch, GM_TORCH_user_metadata);
		gm_pickle_text(&torch->pickle, entry->tag);
	}
	gm_pickle_dict_end(&torch->pickle);
}

/* ---- what lies where ---- */

static void end_segment(struct gm_torch *torch)
{
	if (!torch->in_segment)
		return;
	gm_pickle_list_end(&torch->pickle, &torch->blocks);
	gm_pickle_dict_end(&torch->pickle);
	torch->in_segment = false;
}

static void end_segments(struct gm_torch *torch)
{
	end_segment(torch);
	if (torch->in_segments)
		gm_pickle_list_end(&torch->pickle, &torch->segments);
	torch->in_segments = false;
}

void gm_torch_segments(struct gm_torch *torch, bool host)
{
	end_traces(torch);
	gm_pickle_text(&torch->pickle, host ? "host_segments" : "segments");
	gm_pickle_list(&torch->pickle, &torch->segments);
	torch->in_segments = true;
}

void gm_torch_segment(struct gm_torch *torch,
		      const struct gm_torch_segment *segment)
{
	end_segment(torch);
	gm_pickle_item(&torch->pickle, &torch->segments);
	gm_pickle_dict(&torch->pickle);
	put(torch, GM_TORCH_device, segment->device);
	put(torch, GM_TORCH_address, segment->begin);
	put(torch, GM_TORCH_total_size, segment->bytes);
	put(torch, GM_TORCH_allocated_size, segment->allocated_bytes);
	put(torch, GM_TORCH_active_size, segment->active_bytes);
	put(torch, GM_TORCH_requested_size, segment->requested_bytes);
	put(torch, GM_TORCH_stream, 0);
	put_word(torch, GM_TORCH_segment_type);
	put_word(torch, GM_TORCH_large);
	put_word(torch, GM_TORCH_segment_pool_id);
	gm_pickle_two(&torch->pickle, 0, 0);
	put_word(torch, GM_TORCH_is_expandable);
	gm_pickle_bool(&torch->pickle, true);
	put_frames(torch, 0);
	put_word(torch, GM_TORCH_blocks);
	gm_pickle_list(&torch->pickle, &torch->blocks);
	torch->in_segment = true;
}

void gm_torch_block(struct gm_torch *torch, const struct gm_torch_block *block)
{
	if (!block->bytes)
		return;
	gm_pickle_item(&torch->pickle, &torch->blocks);
	gm_pickle_dict(&torch->pickle);
	put(torch, GM_TORCH_address, block->address);
	put(torch, GM_TORCH_size, block->bytes);
	put(torch, GM_TORCH_requested_size, block->requested_bytes);
	put_word(torch, GM_TORCH_state);
	put_word(torch, block->state);
	put_frames(torch, block->stack);
	gm_pickle_dict_end(&torch->pickle);
}

/* ---- the end ---- */

void gm_torch_end(struct gm_torch *torch, const char *library)
{
	struct gm_pickle *pickle = &torch->pickle;
	struct gm_pickle_list annotations;

	end_segments(torch);
	gm_pickle_text(pickle, "allocator_settings");
	gm_pickle_dict(pickle);
	gm_pickle_text(pickle, "backend");
	gm_pickle_text(pickle, "gpumem");
	gm_pickle_text(pickle, "gpumem");
	gm_pickle_text(pickle, library);
	gm_pickle_dict_end(pickle);
	gm_pickle_text(pickle, "external_annotations");
	gm_pickle_list(pickle, &annotations);
	gm_pickle_list_end(pickle, &annotations);
	gm_pickle_dict_end(pickle);
	gm_pickle_end(pickle);
}
