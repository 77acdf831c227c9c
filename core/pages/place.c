/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Growth with virtual memory: where to map. What, is pages.c's business. See
 * space.h. */
#include "handle.h"
#include "extent/ring.h"

static size_t divide_up(size_t bytes, size_t page_bytes)
{
	return (bytes + page_bytes - 1) / page_bytes;
}

/* The arena's; or shared, what it could have of another's. What is long enough
 * by itself needs no pages beside it. */
static struct gm_extent *usable(struct gm_extent *extent,
				const struct gm_arena *arena, size_t bytes,
				bool shared)
{
	bool own = extent && gm_extent_is(extent, GM_EXTENT_FREE) &&
		   extent->arena == arena;

	return (own ||
		(shared && gm_transfer_terms(arena, extent, GM_TERMS_NOW))) &&
			       extent->bytes < bytes
		       ? extent
		       : NULL;
}

/* The cheapest way to place `bytes` at one end of the hole, or over all of it.
 * Neighbours count only where any address will do. False: it does not fit. */
static bool plan_hole(const struct gm_heap *heap, const struct gm_arena *arena,
		      struct gm_extent *hole, size_t bytes, bool shared,
		      struct gm_plan *plan)
{
	size_t page = heap->page_bytes, pages = hole->bytes / page;
	struct gm_extent *left = usable(gm_extent_prev(&heap->nodes, hole),
					arena, bytes, shared);
	struct gm_extent *right = usable(gm_extent_next(&heap->nodes, hole),
					 arena, bytes, shared);
	size_t left_bytes = left ? left->bytes : 0;
	size_t right_bytes = right ? right->bytes : 0;

	*plan = (struct gm_plan){.hole = hole, .start = hole->address};
	if (right_bytes <= left_bytes &&
	    divide_up(bytes - left_bytes, page) <= pages) {
		plan->left = left;
		plan->count = divide_up(bytes - left_bytes, page);
		return true;
	}
	if (divide_up(bytes - right_bytes, page) <= pages) {
		plan->right = right;
		plan->count = divide_up(bytes - right_bytes, page);
		plan->start = gm_extent_end(hole) - plan->count * page;
		return true;
	}
	plan->left = left;
	plan->right = right;
	plan->count = pages;
	return left_bytes + hole->bytes + right_bytes >= bytes;
}

static bool plan_aligned(const struct gm_heap *heap, struct gm_extent *hole,
			 size_t bytes, size_t alignment, struct gm_plan *plan)
{
	size_t page = heap->page_bytes;
	uintptr_t start;

	if (alignment < page)
		alignment = page;
	start = (hole->address + alignment - 1) & ~(uintptr_t)(alignment - 1);
	*plan = (struct gm_plan){
		.hole = hole, .start = start, .count = divide_up(bytes, page)};
	return start + plan->count * page <= gm_extent_end(hole);
}

/* Pages that are to be mapped, and those that are and are free: none of them
 * can be moved elsewhere then. */
static size_t pages_of(const struct gm_heap *heap, const struct gm_plan *plan)
{
	size_t pages = plan->count;

	if (plan->left)
		pages += gm_extent_pages(plan->left, heap->page_bytes);
	if (plan->right)
		pages += gm_extent_pages(plan->right, heap->page_bytes);
	return pages;
}

static size_t joined_bytes(const struct gm_plan *plan)
{
	return (plan->left ? plan->left->bytes : 0) +
	       (plan->right ? plan->right->bytes : 0);
}

/* What counts where a growth has a choice. */
struct choice {
	bool moves; /* pages have to be moved */
	bool joins; /* so that fewer parts of pages are left */
};

/* Where pages have to be moved, the plan that takes fewer of them, free ones
 * included; then the one that maps fewer, and of those the one that joins most
 * free memory, since two parts of pages are of less use than one. Then the one
 * at the lower address. */
static bool is_better(const struct gm_heap *heap, const struct gm_plan *plan,
		      const struct gm_plan *than, struct choice choice)
{
	size_t pages = choice.moves ? pages_of(heap, plan) : 0;
	size_t than_pages = choice.moves ? pages_of(heap, than) : 0;

	if (pages != than_pages)
		return pages < than_pages;
	if (plan->count != than->count)
		return plan->count < than->count;
	if (choice.joins && joined_bytes(plan) != joined_bytes(than))
		return joined_bytes(plan) > joined_bytes(than);
	return plan->start < than->start;
}

/* The best of all holes. Where pages have to be moved, what other streams have
 * free beside one serves as the arena's own. */
static bool choose(const struct gm_heap *heap, const struct gm_attempt *attempt,
		   const struct gm_arena *arena, size_t bytes, size_t alignment,
		   struct gm_plan *best)
{
	uint32_t holes = heap->space->holes;
	struct gm_extent *hole = gm_node(&heap->nodes, holes);
	bool moves = gm_price_new(heap, attempt, bytes) > GM_PRICE_MOVE;
	bool shared = moves && !arena->graph;
	/* At a limit the lowest address fails least (decision 45). */
	const struct choice choice = {
		.moves = moves,
		.joins = moves &&
			 gm_price_part(heap, attempt, bytes) <= GM_PRICE_TIGHT};

	*best = (struct gm_plan){0};
	for (; hole; hole = gm_ring_next(&heap->nodes, holes, hole)) {
		struct gm_plan plan;
		bool fits = alignment > heap->unit
				    ? plan_aligned(heap, hole, bytes, alignment,
						   &plan)
				    : plan_hole(heap, arena, hole, bytes,
						shared, &plan);

		if (fits &&
		    (!best->hole || is_better(heap, &plan, best, choice)))
			*best = plan;
	}
	return best->hole != NULL;
}

/* The same; where there are no addresses, also those of stale places that are
 * over, a few at a time. */
static bool choose_or_retire(struct gm_heap *heap, struct gm_attempt *attempt,
			     const struct gm_arena *arena, size_t bytes,
			     size_t alignment, struct gm_plan *plan)
{
	bool found = choose(heap, attempt, arena, bytes, alignment, plan);

	if (found || gm_capture_forbids(heap, attempt))
		return found;
	while (!found && gm_stale_retire_apart(heap, attempt))
		found = choose(heap, attempt, arena, bytes, alignment, plan);
	return found;
}

size_t gm_place_growth(const struct gm_arena *arena,
		       const struct gm_attempt *attempt, size_t bytes)
{
	const struct gm_heap *heap = arena->heap;
	struct gm_plan plan;

	return choose(heap, attempt, arena, bytes, heap->unit, &plan)
		       ? pages_of(heap, &plan)
		       : SIZE_MAX;
}

/* Pages of a free extent that are taken with its front. */
static size_t pages_at_front(const struct gm_extent *extent, size_t bytes,
			     size_t page_bytes)
{
	const struct gm_extent rest = {.address = extent->address + bytes,
				       .bytes = extent->bytes - bytes};

	return gm_extent_pages(extent, page_bytes) -
	       gm_extent_pages(&rest, page_bytes);
}

size_t gm_place_least(const struct gm_heap *heap, size_t bytes)
{
	size_t most_in_part = heap->page_bytes - heap->unit;

	return bytes > most_in_part
		       ? divide_up(bytes - most_in_part, heap->page_bytes)
		       : 0;
}

/* So many extents that fit are looked at. */
enum { LOOKS = 16 };

struct gm_extent *gm_place_free(const struct gm_arena *arena, size_t bytes,
				size_t *pages_out)
{
	size_t least = gm_place_least(arena->heap, bytes);
	struct gm_extent *extent = gm_index_fit(&arena->index, bytes);
	struct gm_extent *best = NULL;

	*pages_out = SIZE_MAX;
	for (unsigned i = 0; extent && i < LOOKS; i++) {
		size_t pages =
			pages_at_front(extent, bytes, arena->heap->page_bytes);

		if (pages < *pages_out) {
			*pages_out = pages;
			best = extent;
		}
		if (pages <= least)
			break;
		extent = gm_index_next(&arena->index, extent);
	}
	return best;
}

/* What the plan needs of other streams' becomes the arena's before anything is
 * mapped. */
static void make_own(struct gm_arena *arena, struct gm_plan *plan)
{
	const struct gm_nodes *nodes = &arena->heap->nodes;

	if (plan->left && plan->left->arena != arena) {
		(void)gm_transfer_extent(arena, plan->left);
		plan->left = gm_extent_prev(nodes, plan->hole);
	}
	if (plan->right && plan->right->arena != arena) {
		(void)gm_transfer_extent(arena, plan->right);
		plan->right = gm_extent_next(nodes, plan->hole);
	}
}

/* Where nothing of the heap moves the block's last handle is a large one, too,
 * and the next blocks take what is left of it. What other streams do not free a
 * graph would keep. */
static void look_ahead(const struct gm_attempt *attempt,
		       const struct gm_arena *arena, size_t bytes,
		       struct gm_plan *plan)
{
	const struct gm_heap *heap = arena->heap;
	size_t pages = gm_price_ahead_pages(arena, attempt, plan->count, bytes);
	size_t count;

	if (!pages || arena->graph || plan->start != plan->hole->address)
		return;
	count = divide_up(plan->count, pages) * pages;
	if (count > plan->hole->bytes / heap->page_bytes)
		return;
	plan->count = count;
	plan->handle_pages = pages;
}

/* *plan is where, and whether for the blocks to come as well. */
static gpumem_status grow(struct gm_heap *heap, struct gm_attempt *attempt,
			  struct gm_arena *arena, size_t bytes,
			  size_t alignment, bool ahead, struct gm_plan *plan,
			  struct gm_extent **extent_out)
{
	if (!choose_or_retire(heap, attempt, arena, bytes, alignment, plan)) {
		gpumem_status status = gm_range_extend(heap, bytes, alignment);

		if (status != GPUMEM_OK)
			return status;
		(void)choose(heap, attempt, arena, bytes, alignment, plan);
	}
	if (plan->count * heap->page_bytes > gm_limit_room(heap, attempt))
		heap->space->budget.met_limit = true;
	make_own(arena, plan);
	if (ahead)
		look_ahead(attempt, arena, bytes, plan);
	plan->in_order = true;
	plan->lets_go = !heap->space->growth.let_go;
	return gm_plan_map(heap, attempt, arena, plan, bytes, extent_out);
}

gpumem_status gm_pages_grow(struct gm_heap *heap, struct gm_attempt *attempt,
			    struct gm_arena *arena, size_t bytes,
			    size_t alignment, struct gm_extent **extent_out)
{
	struct gm_plan plan = {0};
	gpumem_status status = grow(heap, attempt, arena, bytes, alignment,
				    true, &plan, extent_out);

	/* The block alone may be had. */
	if (status == GPUMEM_NO_MEMORY && plan.handle_pages && !*extent_out)
		status = grow(heap, attempt, arena, bytes, alignment, false,
			      &plan, extent_out);
	return status;
}
