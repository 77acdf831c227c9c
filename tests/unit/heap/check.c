/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The check of a heap: whatever is spoiled in a heap that is in order, it
 * finds. All other tests of the heap rest on it. */
#include "fixture.h"
#include "extent/ring.h"

static struct gm_arena *arena;
static struct gm_local *local;
static struct gm_extent *live, *ready, *freed, *wide;
static struct gm_slab *slab;
static struct gm_bin *bin;
static struct gm_slot slot[2];

/* The check finds something, and says what. */
static void finds(const char *what)
{
	gpumem_status status = heap_check();

	if (!ok(status == GPUMEM_CORRUPT && strstr(last_text(), what), "%s",
		what))
		diag("%d: %s", (int)status, last_text());
}

/* One value is wrong for as long as the check takes. */
#define spoil(place, value, what)                                              \
	do {                                                                   \
		__typeof__(place) kept = (place);                              \
		(place) = (value);                                             \
		finds(what);                                                   \
		(place) = kept;                                                \
		if (heap_check())                                              \
			bail("it cannot be mended: %s", last_text());          \
	} while (0)

static void spoil_entry(uintptr_t address, uintptr_t entry, const char *what)
{
	uintptr_t kept = gm_map_get(address);

	gm_map_set(address, entry);
	finds(what);
	gm_map_set(address, kept);
}

/* Something of everything. */
static void make(bool vm)
{
	unsigned index;

	option("vm", vm ? "on" : "off");
	heap_start();
	index = heap.classes.count - 1;
	arena = arena_of(NULL);
	must(gm_local_of(&heap, arena, &local));
	live = block(arena, 3 * MIB);
	freed = block(arena, MIB);
	ready = block(arena, MIB);
	block(arena, 6 * MIB);
	wide = block(arena, 5 * MIB);
	block(arena, MIB);
	slab_new(arena, index);
	block_give(arena, freed);
	block_give(arena, wide);
	gm_local_push_large(local, ready);
	slab = partial_of(arena, index);
	bin = &local->bin[index];
	gm_slab_take(arena, index, slot, 2);
	slot_use(&slot[0]);
	bin->slot[bin->count++] = slot[1];
	sound("the heap is in order");
}

static void test_counters(void)
{
	struct gm_counters *counters = &heap.counters;

	spoil(counters->requested.current, 1, "the counters say");
	spoil(counters->allocated.current, 1, "the counters say");
	spoil(counters->blocks.current, 1, "the counters say");
	spoil(counters->active.current, 1, "allocated, but 1 active");
	spoil(heap.order->pending.bytes, 1, "bytes pending");
	spoil(counters->reserved.current, 1, "but 1 reserved");
	spoil(heap.space->budget.limit_bytes, MIB, "more than the limit");
}

static void test_extents(void)
{
	spoil(live->bytes, live->bytes - 256, "a gap follows");
	spoil(live->bytes, 0, "is empty");
	spoil(next_of(live)->prev, 0, "not linked both ways");
	spoil(live->next, heap.nodes.fresh, "nodes that were never taken");
	spoil(live->prev, heap.nodes.fresh, "nodes that were never taken");
	spoil(live->requested, live->bytes + 1, "is too small");
	spoil(live->state, GM_EXTENT_FREE, "were not merged");
	spoil(live->state, GM_EXTENT_PENDING, "the counters say");
	spoil(live->state, GM_EXTENT_FILLING, "has state");
	spoil(ready->state, GM_EXTENT_LARGE, "the counters say");
	spoil(freed->state, GM_EXTENT_PENDING, "not free there");
	spoil(freed->arena, arena_of(&slab), "freed in the future");
	spoil(freed->seqno, arena->seqno + 1, "freed in the future");
	spoil(freed->heap, &heap, "where its number stands");
	spoil_entry(live->address, 0, "does not lead to the block");
	spoil_entry(live->address, (uintptr_t)freed, "does not lead to");
	spoil_entry(ready->address, 0, "does not lead to the ready block");
}

static void test_nodes(void)
{
	struct gm_extent *lost;

	spoil(heap.nodes.free_count, heap.nodes.free_count + 1,
	      "said to be free");
	must(gm_nodes_reserve(&heap.nodes, 1));
	lost = gm_nodes_take(&heap.nodes);
	finds("given back, for");
	gm_nodes_give(&heap.nodes, lost);
	sound("mended");
	spoil(lost->next, gm_node_number(&heap.nodes, lost), "said to be free");
}

/* Two free extents side by side, though the index has both. */
static void test_merge(void)
{
	struct gm_extent *rest;

	must(gm_nodes_reserve(&heap.nodes, 1));
	gm_index_remove(&arena->index, freed);
	rest = gm_extent_split(&heap.nodes, freed, 256 * KIB);
	gm_index_insert(&arena->index, freed);
	gm_index_insert(&arena->index, rest);
	finds("were not merged");
	gm_index_remove(&arena->index, freed);
	gm_index_remove(&arena->index, rest);
	gm_extent_join(&heap.nodes, freed);
	gm_index_insert(&arena->index, freed);
	sound("mended");
}

static void test_slabs(void)
{
	uint64_t first = 1ull << gm_slab_slot(slab, slot[0].mark);
	uint32_t bytes = class_of(slab)->bytes;

	spoil(slab->free_count, slab->free_count + 1, "free slots, not");
	spoil(slab->free[0], slab->free[0] | first, "is free and in use");
	spoil(slab->free[0], slab->free[0] & (slab->free[0] - 1),
	      "free slots, not");
	spoil(*slot[0].mark, 0, "the counters say");
	spoil(*slot[0].mark, bytes + 1, "has mark");
	spoil(*slot[0].mark, GM_MARK_MORE, "what its mark says");
	spoil(*slot[0].mark, bytes - 1, "the counters say");
	spoil(*slot[0].mark, GM_MARK_PENDING, "the counters say");
	spoil(*slot[1].mark, 1, "the counters say");
	spoil(slab->extent, live, "does not lead to the run");
	spoil(slab->arena, arena_of(&slab), "is not what its extent says");
	spoil_entry(slab->address, 0, "does not lead to the run");
	spoil_entry(slab->address + GM_RUN_UNIT, 0, "misses part of the run");
}

/* An extent in one bin more than it belongs in, and its bit with it. */
static void spoil_bin(uint32_t *bins, uint64_t *map, unsigned right,
		      const struct gm_extent *extent, const char *what)
{
	unsigned wrong = right + 1;

	if (bins[wrong] || bins[right] != gm_node_number(&heap.nodes, extent))
		bail("the bins are not as this test wants them");
	bins[wrong] = bins[right];
	bins[right] = 0;
	gm_bins_set(map, wrong);
	gm_bins_clear(map, right);
	finds(what);
	bins[right] = bins[wrong];
	bins[wrong] = 0;
	gm_bins_set(map, right);
	gm_bins_clear(map, wrong);
	sound("mended");
}

static void test_indexes(void)
{
	struct gm_index *index = &arena->index;
	unsigned at = gm_index_size_bin(freed->bytes);
	uint32_t self = gm_node_number(&heap.nodes, freed);

	spoil(index->bytes, index->bytes + 256, "an index counts");
	spoil(index->count, index->count - 1, "an index counts");
	spoil(index->whole_pages, index->whole_pages + 1, "an index counts");
	spoil(index->size_map[0], index->size_map[0] ^ 2, "and its bit differ");
	spoil(index->page_map[0], index->page_map[0] ^ 8, "and its bit differ");
	spoil(index->tree[at], 0, "and its bit differ");
	spoil(freed->left, self, "is out of order");
	spoil(freed->right, self, "is out of order");
	spoil(freed->right, heap.nodes.fresh, "a tree leads to node");
	spoil_bin(index->tree, index->size_map, at, freed,
		  "wrong bin of sizes");
	gm_index_remove(index, freed);
	finds("but the indexes have");
	gm_index_insert(index, freed);
	sound("mended");
}

/* Two extents of one size: the one whose priority is lower on top. */
static void test_priority(void)
{
	struct gm_extent *twin[2], *last, *top;
	uint32_t *root, kept;

	for (int i = 0; i < 2; i++) {
		twin[i] = block(arena, 300 * KIB);
		last = block(arena, 20 * KIB);
	}
	root = &arena->index.tree[gm_index_size_bin(twin[0]->bytes)];
	if (*root)
		bail("the bin of the twins is in use");
	block_give(arena, twin[0]);
	block_give(arena, twin[1]);
	sound("two of one size");
	kept = *root;
	top = gm_node(&heap.nodes, kept);
	last = top == twin[0] ? twin[1] : twin[0];
	*root = gm_node_number(&heap.nodes, last);
	top->left = top->right = 0;
	*(last == twin[0] ? &last->right : &last->left) = kept;
	finds("is too high in its tree");
	*root = kept;
	*(last == twin[0] ? &top->left : &top->right) =
		gm_node_number(&heap.nodes, last);
	last->left = last->right = 0;
	sound("mended");
}

static void test_page_bins(void)
{
	struct gm_index *index = &arena->index;
	size_t pages = gm_index_pages(index, wide);
	unsigned at = gm_index_page_bin(pages);

	spoil(index->ring[at], 0, "and its bit differ");
	spoil(wide->ring_next, gm_node_number(&heap.nodes, live),
	      "not linked both ways");
	spoil(wide->ring_next, heap.nodes.fresh, "not linked both ways");
	spoil(wide->ring_prev, gm_node_number(&heap.nodes, live),
	      "not linked both ways");
	spoil_bin(index->ring, index->page_map, at, wide, "wrong bin of pages");
	gm_ring_remove(&heap.nodes, &index->ring[at], wide);
	gm_bins_clear(index->page_map, at);
	finds("have whole pages, but");
	gm_ring_add(&heap.nodes, &index->ring[at], wide);
	gm_bins_set(index->page_map, at);
	sound("mended");
}

static void test_arenas(void)
{
	spoil(arena->completed, arena->seqno + 1, "a stream completed");
	spoil(arena->seqno, heap.seqno + 1, "a stream completed");
}

static void test_locals(void)
{
	spoil(bin->count, 0, "slots and");
	spoil(bin->count, 2, "slots and");
	spoil(local->cached.bytes, 2 * MIB, "a cache holds");
	spoil(local->cached.huge_bytes, MIB, "huge bytes and says");
	spoil(gm_cached_set_of(&local->cached, MIB)->count, 0, "a cache holds");
	spoil(local->cached.last, GM_CACHED_HUGE,
	      "the last set is not that of");
	spoil(local->cached.last_bytes, 0x123400,
	      "the last set is not that of");
}

static void test_pages(void)
{
	struct gm_space *space = heap.space;
	struct gm_spans *spans = &heap.spans;
	struct gm_extent *hole = gm_node(&heap.nodes, space->holes);

	spoil(spans->page[0].handle, 0, "are holes, of");
	spoil(spans->page[spans->high_page - 1].handle, 0, "are holes, of");
	spoil(spans->high_page, spans->high_page - 1, "are holes, of");
	spoil(space->spare_pages, space->spare_pages + 1, "spare handles");
	spoil(space->holes, 0, "holes are listed");
	spoil(space->holes, gm_node_number(&heap.nodes, wide),
	      "in a ring of state");
	spoil(hole->ring_prev, 0, "not linked both ways");
	spoil(hole->bytes, hole->bytes - 256, "is no whole pages");
	spans->page[spans->high_page].handle = 1;
	spoil(spans->high_page, spans->high_page + 1, "is in a hole");
	spans->page[spans->high_page].handle = 0;
	must(gm_nodes_reserve(&heap.nodes, 1));
	gm_hole_add(&heap, gm_extent_split(&heap.nodes, hole, 4 * MIB));
	finds("two holes meet");
	gm_hole_remove(&heap, next_of(hole));
	gm_extent_join(&heap.nodes, hole);
	sound("mended");
}

static void test_spans(void)
{
	spoil(heap.spans.first->bytes, heap.spans.first->bytes - 4096,
	      "segments of");
}

int main(void)
{
	alarm(60);
	device_start();
	for (int vm = 1; vm >= 0; vm--) {
		make(vm);
		test_counters();
		test_extents();
		test_nodes();
		test_merge();
		test_slabs();
		test_indexes();
		test_priority();
		test_arenas();
		test_locals();
		if (vm) {
			test_page_bins();
			test_pages();
		} else {
			test_spans();
		}
		heap_end();
	}
	device_end();
	return done_testing();
}
