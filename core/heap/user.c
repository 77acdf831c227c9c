/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One word of the caller's for each live block: of a large one in its extent,
 * of a small one beside the chunk that has its mark (cache/metadata.h). That it
 * is set is a bit of what the block has more, so a new block has none and
 * nobody clears it. No lock: the word is its owner's, who tells no other thread
 * meanwhile that the block has ended.
 */
#include "block.h"
#include "cache/local.h"
#include "extent/map.h"
#include "base/error.h"
#include "base/fork.h"

/* The mark of the live slot that begins at the address, or NULL. The slab may
 * be gone by now. */
static gm_mark *live_mark(uintptr_t entry, uintptr_t address,
			  const struct gm_class **class_out)
{
	const struct gm_class *class = gm_entry_slots(entry);
	uint32_t offset = gm_entry_offset(entry, address);
	uint32_t slot = gm_class_slot(class, offset);
	gm_mark *mark;

	if (slot >= class->slots || slot * class->bytes != offset)
		return NULL;
	mark = gm_entry_mark(entry, class, slot);
	*class_out = class;
	return gm_mark_live(atomic_load_explicit(mark, memory_order_relaxed))
		       ? mark
		       : NULL;
}

static struct gm_extent *live_extent(uintptr_t entry, uintptr_t address)
{
	struct gm_extent *extent = (struct gm_extent *)entry;

	return extent->address == address &&
			       gm_extent_is(extent, GM_EXTENT_LARGE)
		       ? extent
		       : NULL;
}

/* ---- what it is ---- */

static bool get_small(uintptr_t entry, uintptr_t address, void **user_out)
{
	const struct gm_class *class;
	gm_mark *mark = live_mark(entry, address, &class);
	gm_word *word;

	if (!mark)
		return false;
	word = gm_mark_has(class, mark) & GM_MORE_USER ? gm_metadata_word(mark)
						       : NULL;
	*user_out =
		word ? atomic_load_explicit(word, memory_order_relaxed) : NULL;
	return true;
}

static bool get_large(uintptr_t entry, uintptr_t address, void **user_out)
{
	const struct gm_extent *extent = live_extent(entry, address);

	if (!extent)
		return false;
	*user_out = gm_extent_more(extent) & GM_MORE_USER
			    ? atomic_load_explicit(&extent->user,
						   memory_order_relaxed)
			    : NULL;
	return true;
}

bool gm_block_peek_user(const void *ptr, void **user_out)
{
	uintptr_t address = (uintptr_t)ptr, entry = gm_map_get(address);

	if (!entry || gm_forked())
		return false;
	return entry & 1 ? get_small(entry, address, user_out)
			 : get_large(entry, address, user_out);
}

gpumem_status gm_heap_get_user(const void *ptr, void **user_out)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);

	if (status != GPUMEM_OK)
		return status;
	(void)gm_block_peek_user(ptr, user_out);
	pthread_mutex_unlock(&block.heap->mutex);
	return GPUMEM_OK;
}

/* ---- what it will be ---- */

static void use_words(void)
{
	if (!atomic_load_explicit(&gm_words_used, memory_order_relaxed))
		atomic_store(&gm_words_used, true);
}

/* False: the slot has ended meanwhile. */
static bool note(const struct gm_class *class, gm_mark *mark)
{
	uint16_t value = atomic_load(mark);

	atomic_fetch_or(gm_mark_more(class, mark), GM_MORE_USER);
	while (gm_mark_live(value))
		if (value & GM_MARK_MORE ||
		    atomic_compare_exchange_weak(mark, &value,
						 value | GM_MARK_MORE))
			return true;
	atomic_fetch_and(gm_mark_more(class, mark), (uint16_t)~GM_MORE_USER);
	return false;
}

static gpumem_status set_small(uintptr_t entry, uintptr_t address, void *user)
{
	const struct gm_class *class;
	gm_mark *mark = live_mark(entry, address, &class);
	gm_word *word;
	bool has;

	if (!mark)
		return GPUMEM_NOT_READY;
	has = gm_mark_has(class, mark) & GM_MORE_USER;
	if (!has && !user)
		return GPUMEM_OK;
	word = gm_metadata_make_word(mark);
	if (!word)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the words of small blocks");
	atomic_store_explicit(word, user, memory_order_relaxed);
	use_words();
	return has || note(class, mark) ? GPUMEM_OK : GPUMEM_NOT_READY;
}

static gpumem_status set_large(uintptr_t entry, uintptr_t address, void *user)
{
	struct gm_extent *extent = live_extent(entry, address);
	bool has;

	if (!extent)
		return GPUMEM_NOT_READY;
	has = gm_extent_more(extent) & GM_MORE_USER;
	if (has || user)
		atomic_store_explicit(&extent->user, user,
				      memory_order_relaxed);
	if (!has && user) {
		use_words();
		gm_extent_add_more(extent, GM_MORE_USER);
	}
	return GPUMEM_OK;
}

gpumem_status gm_block_poke_user(const void *ptr, void *user)
{
	uintptr_t address = (uintptr_t)ptr, entry = gm_map_get(address);

	if (!entry || gm_forked())
		return GPUMEM_NOT_READY;
	return entry & 1 ? set_small(entry, address, user)
			 : set_large(entry, address, user);
}

gpumem_status gm_heap_set_user(const void *ptr, void *user)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);

	if (status != GPUMEM_OK)
		return status;
	status = gm_block_poke_user(ptr, user);
	pthread_mutex_unlock(&block.heap->mutex);
	return status;
}
