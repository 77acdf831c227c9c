/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every public call with arguments that it must refuse: NULL, numbers that are
 * no alignment, sizes, options and names that are none, and what is still in
 * use. Each leaves its outputs alone and a sentence behind.
 */
#include "callbacks.h"
#include "fixture.h"
#include <gpumem/backend.h>

#define invalid(call) said((call), GPUMEM_INVALID, #call)

static gpumem_pool *pool;

static void null_blocks(void)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	void *ptr = NULL;
	uint64_t offset;

	invalid(gpumem_alloc(NULL, 100, NULL, &ptr));
	invalid(gpumem_alloc(NULL, 0, NULL, &ptr));
	invalid(gpumem_alloc(pool, 100, NULL, NULL));
	invalid(gpumem_alloc(pool, 0, NULL, NULL));
	invalid(gpumem_alloc_aligned(NULL, 100, 512, NULL, &ptr));
	invalid(gpumem_alloc_aligned(pool, 100, 512, NULL, NULL));
	invalid(gpumem_alloc_with(NULL, 100, NULL, NULL, &ptr, NULL));
	invalid(gpumem_alloc_with(NULL, 0, NULL, NULL, &ptr, NULL));
	invalid(gpumem_alloc_with(pool, 100, NULL, NULL, NULL, &offset));
	invalid(gpumem_alloc_with(pool, 0, NULL, NULL, NULL, NULL));
	invalid(gpumem_usable_bytes(NULL, NULL));
	invalid(gpumem_usable_bytes(&ptr, NULL));
	said(gpumem_usable_bytes(&ptr, &offset), GPUMEM_BAD_POINTER,
	     "what no block holds");
	invalid(gpumem_block_set_user(NULL, NULL));
	invalid(gpumem_block_get_user(NULL, &ptr));
	invalid(gpumem_block_get_user(&ptr, NULL));
	said(gpumem_block_set_user(&ptr, NULL), GPUMEM_BAD_POINTER,
	     "the word of no block");
	said(gpumem_block_get_user(&offset, &ptr), GPUMEM_BAD_POINTER,
	     "the word of no block");
	said(gpumem_free_own(&ptr), GPUMEM_BAD_POINTER, "freed without stream");
	said(gpumem_free_sized(&ptr, sizeof(ptr), NULL), GPUMEM_BAD_POINTER,
	     "freed with a size");
	invalid(gpumem_use_on(NULL, NULL));
	invalid(gpumem_free_after(NULL, NULL));
	invalid(gpumem_free_after(&ptr, NULL));
	invalid(gpumem_resize(NULL, 100, NULL, &offset));
	invalid(gpumem_resize(NULL, 0, NULL, &offset));
	invalid(gpumem_resize(&ptr, 0, NULL, NULL));
	said(gpumem_resize(&ptr, 100, NULL, &offset), GPUMEM_BAD_POINTER,
	     "a resize of no block");
	invalid(gpumem_query(NULL, NULL));
	invalid(gpumem_query(&ptr, NULL));
	invalid(gpumem_object(&ptr, NULL, &offset));
	invalid(gpumem_object(&ptr, &ptr, NULL));
	invalid(gpumem_view(&ptr, NULL));
	invalid(gpumem_view_block(NULL, &ptr, &block));
	invalid(gpumem_view_block(device, NULL, &block));
	invalid(gpumem_view_block(device, &ptr, NULL));
	said(gpumem_object(NULL, &ptr, &offset), GPUMEM_BAD_POINTER,
	     "an object of NULL");
	said(gpumem_view(NULL, &ptr), GPUMEM_BAD_POINTER, "a view of NULL");
	is_ptr(ptr, NULL, "no output is touched");
}

static void test_sleep(void)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);
	struct gpumem_slept slept = {.size = 1};

	invalid(gpumem_tag_set_sleep(0, GPUMEM_SLEEP_KEEP));
	invalid(gpumem_tag_set_sleep(4000, GPUMEM_SLEEP_KEEP));
	invalid(gpumem_tag_set_sleep(UINT32_MAX, GPUMEM_SLEEP_KEEP));
	invalid(gpumem_tag_set_sleep(1, (gpumem_sleep)5));
	invalid(gpumem_pool_sleep(NULL, NULL, NULL));
	invalid(gpumem_pool_sleep(pool, &options, &slept));
	options.tag = 4000;
	invalid(gpumem_pool_sleep(pool, &options, NULL));
	options.tag = 0;
	options.flags = 4;
	invalid(gpumem_pool_sleep(pool, &options, NULL));
	options.size = 1;
	invalid(gpumem_pool_sleep(pool, &options, NULL));
	invalid(gpumem_pool_wake(NULL, 0, NULL));
	invalid(gpumem_pool_wake(pool, 4000, NULL));
	invalid(gpumem_pool_wake(pool, 0, &slept));
}

static void null_pools(void)
{
	struct gpumem_call_stats calls = GPUMEM_INIT(struct gpumem_call_stats);
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	gpumem_pool *made = NULL;
	uint64_t released = 1;
	uint32_t tag = 77;

	invalid(gpumem_pool_create(NULL, NULL, &made));
	invalid(gpumem_pool_create(device, NULL, NULL));
	invalid(gpumem_pool_destroy(NULL, 0));
	invalid(gpumem_pool_destroy(NULL, GPUMEM_DESTROY_FORCE));
	invalid(gpumem_device_pool(NULL, &made));
	invalid(gpumem_device_pool(device, NULL));
	invalid(gpumem_pool_add_peer(NULL, device));
	invalid(gpumem_pool_add_peer(pool, NULL));
	invalid(gpumem_pool_set_limit(NULL, 0));
	invalid(gpumem_pool_set_soft_limit(NULL, 0));
	invalid(gpumem_pool_set_limit_percent(NULL, 0));
	invalid(gpumem_pool_set_limit_percent(pool, 101));
	invalid(gpumem_pool_set_soft_limit_percent(NULL, 0));
	invalid(gpumem_pool_set_soft_limit_percent(pool, 101));
	invalid(gpumem_device_trim(NULL, 0, &released));
	invalid(gpumem_pool_pressure_add(NULL, press, NULL));
	invalid(gpumem_pool_pressure_add(pool, NULL, NULL));
	invalid(gpumem_pool_pressure_remove(pool, NULL, NULL));
	invalid(gpumem_pool_trim(NULL, 0, &released));
	is_uint(released, 0, "released_bytes_out is written on every return");
	invalid(gpumem_pool_trim(NULL, 0, NULL));
	invalid(gpumem_pool_drop_stream(NULL, NULL));
	invalid(gpumem_pool_stats(NULL, &stats));
	invalid(gpumem_pool_stats(pool, NULL));
	invalid(gpumem_pool_calls(NULL, GPUMEM_CALL_MAP, &calls));
	invalid(gpumem_pool_calls(pool, GPUMEM_CALL_MAP, NULL));
	invalid(gpumem_pool_calls(pool, GPUMEM_CALL_COUNT, &calls));
	invalid(gpumem_pool_destroy(pool, 2));
	invalid(gpumem_pool_reset_stats(pool, 3));
	invalid(gpumem_pool_reset_stats(NULL, GPUMEM_RESET_TOTALS));
	invalid(gpumem_block_visit(NULL, any_block, NULL));
	invalid(gpumem_block_visit(pool, NULL, NULL));
	invalid(gpumem_pool_check(NULL));
	invalid(gpumem_pool_capacity(NULL, NULL, &capacity));
	invalid(gpumem_pool_hook_set(NULL, NULL, NULL));
	invalid(gpumem_range_hook_add(NULL, any_range, NULL));
	invalid(gpumem_range_hook_add(pool, NULL, NULL));
	invalid(gpumem_range_hook_remove(NULL, any_range, NULL));
	invalid(gpumem_range_hook_remove(pool, NULL, NULL));
	invalid(gpumem_range_pin(NULL, &stats, 1, "a"));
	invalid(gpumem_range_pin(pool, NULL, 1, "a"));
	invalid(gpumem_range_pin(pool, &stats, 0, "a"));
	invalid(gpumem_range_pin(pool, &stats, 1, NULL));
	invalid(gpumem_range_pin(pool, &stats, 1, ""));
	invalid(gpumem_range_unpin(NULL, &stats, 1, "a"));
	invalid(gpumem_range_unpin(pool, NULL, 1, "a"));
	invalid(gpumem_range_unpin(pool, &stats, 0, "a"));
	invalid(gpumem_range_unpin(pool, &stats, 1, NULL));
	invalid(gpumem_pool_track_begin(NULL, 0));
	invalid(gpumem_pool_track_begin(pool, GPUMEM_FRAMES_MAX + 1));
	invalid(gpumem_pool_track_end(NULL));
	invalid(gpumem_pool_print_leaks(NULL, 0, 0, 0, any_text, NULL));
	invalid(gpumem_pool_print_leaks(pool, 0, 0, 0, NULL, NULL));
	invalid(gpumem_pool_print_leaks(pool, 0, 0, 2, any_text, NULL));
	invalid(gpumem_pool_print_leaks(pool, 1, 0, 0, any_text, NULL));
	invalid(gpumem_record_begin(NULL, 0));
	invalid(gpumem_record_end());
	invalid(gpumem_tag_push(NULL));
	invalid(gpumem_tag_push(""));
	invalid(gpumem_tag_push("a/b"));
	invalid(gpumem_tag_pop());
	invalid(gpumem_tag_intern(NULL, &tag));
	invalid(gpumem_tag_intern("a", NULL));
	invalid(gpumem_tag_intern("", &tag));
	invalid(gpumem_tag_intern("/a", &tag));
	invalid(gpumem_tag_intern("a/", &tag));
	invalid(gpumem_tag_intern("a//b", &tag));
	is_uint(tag, 77, "no tag is given");
	invalid(gpumem_tag_set(4000));
	invalid(gpumem_tag_set(UINT32_MAX));
	is_uint(gpumem_tag_get(), 0, "nor has the thread one");
	is_ptr(gpumem_tag_path(4000), NULL, "which has no path");
	invalid(gpumem_tag_visit(NULL, any_tag, NULL));
	invalid(gpumem_tag_visit(pool, NULL, NULL));
	invalid(gpumem_tag_set_limit(NULL, 1, MIB));
	invalid(gpumem_tag_set_limit(pool, 0, MIB));
	invalid(gpumem_tag_set_limit(pool, 4000, MIB));
	invalid(gpumem_tag_set_limit(pool, UINT32_MAX, 0));
	test_sleep();
	invalid(gpumem_pool_capacity(pool, NULL, NULL));
	invalid(gpumem_pool_print(NULL, 0, any_text, NULL));
	invalid(gpumem_device_report(NULL, 0, any_text, NULL));
	invalid(gpumem_device_report(device, 0, NULL, NULL));
	invalid(gpumem_device_report(device, 2, any_text, NULL));
	invalid(gpumem_pool_print(pool, 0, NULL, NULL));
	invalid(gpumem_pool_print(pool, 2, any_text, NULL));
	is_ptr(gpumem_pool_name(NULL), NULL, "no name of NULL");
	is_ptr(gpumem_pool_device(NULL), NULL, "no device of NULL");
	invalid(gpumem_pool_visit(NULL, any_pool, NULL));
	invalid(gpumem_pool_visit(device, NULL, NULL));
	is_ptr(made, NULL, "no output is touched");
}

static void null_devices(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	const struct gpumem_backend *table = NULL;
	gpumem_stream stream = NULL;
	gpumem_event *event = NULL;
	void *native;
	char byte;

	invalid(gpumem_device_open("host:0", NULL));
	invalid(gpumem_device_close(NULL));
	invalid(gpumem_device_get_info(NULL, &info));
	invalid(gpumem_device_get_info(device, NULL));
	invalid(gpumem_device_memory(NULL, &memory));
	invalid(gpumem_device_memory(device, NULL));
	invalid(gpumem_device_visit(NULL, NULL, NULL));
	invalid(gpumem_device_native(NULL, &native, &native));
	invalid(gpumem_device_native(device, NULL, &native));
	invalid(gpumem_device_native(device, &native, NULL));
	invalid(gpumem_stream_create(NULL, &stream));
	invalid(gpumem_stream_create(device, NULL));
	invalid(gpumem_stream_destroy(NULL, NULL));
	invalid(gpumem_stream_destroy(device, NULL));
	invalid(gpumem_stream_sync(NULL, NULL));
	invalid(gpumem_event_create(NULL, &event));
	invalid(gpumem_event_create(device, NULL));
	invalid(gpumem_event_import(NULL, &byte, &event));
	invalid(gpumem_event_import(device, NULL, &event));
	invalid(gpumem_event_import(device, &byte, NULL));
	invalid(gpumem_event_destroy(NULL));
	invalid(gpumem_event_record(NULL, NULL));
	invalid(gpumem_event_query(NULL));
	invalid(gpumem_event_sync(NULL));
	invalid(gpumem_event_native(NULL, &native));
	must(gpumem_event_create(device, &event));
	invalid(gpumem_event_native(event, NULL));
	invalid(gpumem_stream_wait(NULL, NULL, event));
	must(gpumem_event_destroy(event));
	invalid(gpumem_stream_wait(device, NULL, NULL));
	invalid(gpumem_fill(NULL, &byte, 0, 1, NULL));
	invalid(gpumem_fill(device, NULL, 0, 1, NULL));
	invalid(gpumem_copy(NULL, &byte, &byte, 1, NULL));
	invalid(gpumem_copy(device, NULL, &byte, 1, NULL));
	invalid(gpumem_copy(device, &byte, NULL, 1, NULL));
	invalid(gpumem_backend_visit(NULL, NULL));
	invalid(gpumem_backend_load(NULL, NULL));
	invalid(gpumem_backend_register(NULL));
	invalid(gpumem_backend_table(NULL, NULL));
	must(gpumem_backend_table(NULL, &table));
	is_str(table->name, "host", "NULL is what GPUMEM_BACKEND picks");
	invalid(gpumem_backend_table("host", NULL));
	gpumem_option_visit(NULL, NULL);
	gpumem_last_error(NULL);
}

static void alignments(void)
{
	void *ptr = NULL;

	invalid(gpumem_alloc_aligned(pool, 100, 3, NULL, &ptr));
	invalid(gpumem_alloc_aligned(pool, 100, 768, NULL, &ptr));
	invalid(gpumem_alloc_aligned(pool, 0, 768, NULL, &ptr));
	invalid(gpumem_alloc_aligned(pool, 100, SIZE_MAX, NULL, &ptr));
	invalid(gpumem_alloc_aligned(pool, 100, (size_t)1 << 31, NULL, &ptr));
	invalid(gpumem_alloc_aligned(pool, 100, (size_t)1 << 63, NULL, &ptr));
	is_ptr(ptr, NULL, "no output is touched");
	for (size_t alignment = 1; alignment <= (size_t)1 << 30;
	     alignment *= 2) {
		size_t least = alignment > 256 ? alignment : 256;

		must(gpumem_alloc_aligned(pool, 100, alignment, NULL, &ptr));
		if ((uintptr_t)ptr % least)
			ok(false, "aligned to %zu", alignment);
		must(gpumem_free(ptr, NULL));
	}
	must(gpumem_alloc_aligned(pool, 100, 0, NULL, &ptr));
	is_uint((uintptr_t)ptr % 256, 0, "0 is the default");
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
}

static void options(void)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	gpumem_pool *made = NULL;
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);

	invalid(gpumem_option_set(NULL, "1"));
	invalid(gpumem_option_get(NULL, &option));
	invalid(gpumem_option_get("wait", NULL));
	said(gpumem_option_set("wiat", "on"), GPUMEM_NOT_FOUND, "no option");
	said(gpumem_option_get("wiat", &option), GPUMEM_NOT_FOUND, "no option");
	said(gpumem_option_set("host.wait", "on"), GPUMEM_NOT_FOUND,
	     "no option of the backend");
	invalid(gpumem_option_set("wait", "maybe"));
	invalid(gpumem_option_set("wait", ""));
	invalid(gpumem_option_set("limit", "-1"));
	invalid(gpumem_option_set("limit", "lots"));
	invalid(gpumem_option_set("limit", "99999999999TiB"));
	invalid(gpumem_option_set("waste", "x%"));
	must(gpumem_option_get("wait", &option));
	is_str(option.value, "on", "the value stays");
	config.page_bytes = 3 * MIB;
	invalid(gpumem_pool_create(device, &config, &made));
	config.page_bytes = 4096;
	invalid(gpumem_pool_create(device, &config, &made));
	is_ptr(made, NULL, "no output is touched");
}

static void names(void)
{
	gpumem_device *other = NULL;
	const struct gpumem_backend *table = NULL;

	said(gpumem_device_open("nothing:0", &other), GPUMEM_NOT_FOUND,
	     "no such backend");
	said(gpumem_device_open("host:7", &other), GPUMEM_NO_DEVICE,
	     "no such device");
	invalid(gpumem_device_open("host:", &other));
	invalid(gpumem_device_open("host:-1", &other));
	invalid(gpumem_device_open("", &other));
	said(gpumem_device_visit("nothing", any_device, NULL), GPUMEM_NOT_FOUND,
	     "no such backend");
	said(gpumem_backend_table("nothing", &table), GPUMEM_NOT_FOUND,
	     "no such backend");
	said(gpumem_backend_load("/nonexistent/x.so", NULL), GPUMEM_NOT_FOUND,
	     "no such file");
	is_status(gpumem_host_launch(0, NULL, NULL, NULL), GPUMEM_INVALID,
		  "nothing to launch");
	is_status(gpumem_host_hold(63, NULL, true), GPUMEM_INVALID,
		  "nothing to hold");
	is_status(gpumem_host_step(63, NULL, 1), GPUMEM_INVALID,
		  "nothing to do");
	is_uint(gpumem_host_queued(63, NULL), 0, "nothing queued");
	is_status(gpumem_host_faults("no_slot@1"), GPUMEM_INVALID, "no slot");
	is_status(gpumem_host_outside(-1, 0), GPUMEM_INVALID, "no device");
	is_ptr(other, NULL, "no output is touched");
}

/* What is in use stays in use. */
static void busy(void)
{
	gpumem_device *again = NULL;
	gpumem_pool *usual = NULL, *same = NULL;
	void *ptr;

	must(gpumem_device_open("host", &again));
	is_ptr(again, device, "the same device is the same handle");
	is_status(gpumem_device_close(again), GPUMEM_OK, "counted");
	said(gpumem_device_close(device), GPUMEM_BUSY, "a pool is left");
	must(gpumem_device_pool(device, &usual));
	must(gpumem_device_pool(device, &same));
	is_ptr(usual, same, "the default pool is one");
	ptr = new_block(usual, 1000, NULL);
	must(gpumem_pool_destroy(pool, 0));
	said(gpumem_device_close(device), GPUMEM_BUSY,
	     "the default pool has a live block");
	must(gpumem_free(ptr, NULL));
	ptr = new_block(usual, 100, NULL);
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_device_close(device), GPUMEM_OK, "nothing is left");
	said(gpumem_free(ptr, NULL), GPUMEM_BAD_POINTER, "nor a block");
	is_uint(gpumem_host_used_bytes(0), 0, "nor a byte");
}

int main(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	is_status(error.status, GPUMEM_OK, "nothing failed yet");
	open_device(120);
	pool = new_pool(0);
	null_blocks();
	null_pools();
	null_devices();
	alignments();
	options();
	names();
	busy();
	return done_testing();
}
