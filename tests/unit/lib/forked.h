/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a forked child calls: all that touches devices, which has to be FORKED
 * and leave a sentence, and the rest, which has to work. Its test makes what
 * the parent had. The child says what is wrong by its exit status: the number
 * of the first check that failed, from 1. Any one thread of the child.
 */
#ifndef LIB_FORKED_H
#define LIB_FORKED_H

#include "callbacks.h"
#include "fixture.h"
#include <gpumem/backend.h>
#include <pthread.h>

enum { SMALL = 50, LARGE = 6 };

/* The parent's. */
static gpumem_pool *pool;
static gpumem_stream stream;
static gpumem_event *event;
static uint32_t tag; /* of the main thread */
static unsigned char *small[SMALL], *large[LARGE];

static int checks;

static void child_must(bool right)
{
	checks++;
	if (!right)
		_exit(checks < 200 ? checks : 200);
}

static void forked(gpumem_status status)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	gpumem_last_error(&error);
	child_must(status == GPUMEM_FORKED && error.status == GPUMEM_FORKED &&
		   strstr(error.text, "fork") != NULL);
}

static void child_blocks(void)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	uint64_t usable = 7;
	void *ptr = &found;

	forked(gpumem_alloc(pool, 1000, NULL, &ptr));
	forked(gpumem_alloc(pool, 1000, stream, &ptr));
	forked(gpumem_alloc(pool, 3 * MIB, NULL, &ptr));
	forked(gpumem_alloc_aligned(pool, 1, 512, NULL, &ptr));
	forked(gpumem_alloc_with(pool, 1000, NULL, NULL, &ptr, NULL));
	forked(gpumem_usable_bytes(small[0], &usable));
	forked(gpumem_usable_bytes(large[0], &usable));
	forked(gpumem_block_set_user(small[0], &usable));
	forked(gpumem_block_set_user(large[0], &usable));
	forked(gpumem_block_get_user(small[0], &ptr));
	forked(gpumem_block_get_user(large[0], &ptr));
	forked(gpumem_free_own(small[0]));
	forked(gpumem_free_own(large[0]));
	forked(gpumem_free_sized(small[0], 1, NULL));
	forked(gpumem_free_sized(large[0], 1, NULL));
	forked(gpumem_view_block(device, &found, &found));
	forked(gpumem_free(small[0], NULL));
	forked(gpumem_free(small[0] + 1, NULL));
	forked(gpumem_free(large[0], NULL));
	forked(gpumem_free(large[0], stream));
	forked(gpumem_free(&found, NULL));
	forked(gpumem_resize(small[0], 100, NULL, NULL));
	forked(gpumem_resize(small[0], 1 * MIB, NULL, NULL));
	forked(gpumem_resize(large[0], 100, NULL, NULL));
	forked(gpumem_use_on(small[0], stream));
	forked(gpumem_free_after(small[0], event));
	forked(gpumem_query(small[0], &found));
	child_must(ptr == &found && usable == 7);
	child_must(gpumem_free(NULL, NULL) == GPUMEM_OK);
	child_must(gpumem_free_own(NULL) == GPUMEM_OK);
}

static void child_pools(void)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	struct gpumem_call_stats calls = GPUMEM_INIT(struct gpumem_call_stats);
	struct gpumem_capacity capacity = GPUMEM_INIT(struct gpumem_capacity);
	gpumem_pool *made = NULL;
	uint64_t released = 1;
	uint32_t made_tag = 0;

	forked(gpumem_pool_trim(pool, 0, &released));
	child_must(released == 0);
	forked(gpumem_pool_stats(pool, &stats));
	forked(gpumem_pool_calls(pool, GPUMEM_CALL_MAP, &calls));
	forked(gpumem_pool_reset_stats(pool, GPUMEM_RESET_TOTALS));
	forked(gpumem_block_visit(pool, any_block, NULL));
	forked(gpumem_pool_check(pool));
	forked(gpumem_pool_capacity(pool, stream, &capacity));
	forked(gpumem_pool_print(pool, 0, any_text, NULL));
	forked(gpumem_device_report(device, 0, any_text, NULL));
	forked(gpumem_pool_hook_set(pool, NULL, NULL));
	forked(gpumem_range_hook_add(pool, any_range, NULL));
	forked(gpumem_range_hook_remove(pool, any_range, NULL));
	forked(gpumem_range_pin(pool, &made, 1, "child"));
	forked(gpumem_range_unpin(pool, &made, 1, "child"));
	forked(gpumem_pool_track_begin(pool, 0));
	forked(gpumem_pool_track_end(pool));
	forked(gpumem_pool_print_leaks(pool, 0, 0, 0, any_text, NULL));
	child_must(gpumem_leak_mark() > 0);
	forked(gpumem_record_begin("/nowhere/at/all", 0));
	forked(gpumem_record_end());
	forked(gpumem_tag_push("child"));
	forked(gpumem_tag_pop());
	forked(gpumem_tag_intern("child", &made_tag));
	forked(gpumem_tag_set(0));
	forked(gpumem_tag_visit(pool, any_tag, NULL));
	forked(gpumem_tag_set_limit(pool, 1, MIB));
	forked(gpumem_tag_set_sleep(1, GPUMEM_SLEEP_DROP));
	forked(gpumem_pool_sleep(pool, NULL, NULL));
	forked(gpumem_pool_wake(pool, 0, NULL));
	child_must(!gpumem_tag_get() || gpumem_tag_get() == tag);
	child_must(!strcmp(gpumem_tag_path(tag), "fork"));
	child_must(strstr(gpumem_error_text(), "fork") != NULL);
	child_must(!strcmp(gpumem_pool_name(pool), "fork"));
	child_must(gpumem_pool_device(pool) == device);
	forked(gpumem_pool_visit(device, any_pool, NULL));
	forked(gpumem_pool_add_peer(pool, device));
	forked(gpumem_pool_set_limit(pool, MIB));
	forked(gpumem_pool_set_soft_limit(pool, MIB));
	forked(gpumem_pool_set_limit_percent(pool, 50));
	forked(gpumem_pool_set_soft_limit_percent(pool, 50));
	forked(gpumem_device_trim(device, 0, &released));
	forked(gpumem_trim(&released));
	forked(gpumem_pool_pressure_add(pool, press, NULL));
	forked(gpumem_pool_drop_stream(pool, stream));
	forked(gpumem_pool_create(device, NULL, &made));
	forked(gpumem_device_pool(device, &made));
	forked(gpumem_pool_destroy(pool, 0));
	forked(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	child_must(made == NULL && !made_tag);
}

static void child_devices(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	const struct gpumem_backend *table = NULL;
	gpumem_device *opened = NULL;
	void *native = NULL;
	gpumem_stream made = NULL;
	char byte = 0;

	forked(gpumem_device_open("host:0", &opened));
	forked(gpumem_device_close(device));
	forked(gpumem_device_memory(device, &memory));
	forked(gpumem_device_visit(NULL, any_device, NULL));
	forked(gpumem_backend_visit(any_backend, NULL));
	forked(gpumem_backend_load("/nonexistent.so", NULL));
	forked(gpumem_backend_table("host", &table));
	forked(gpumem_device_native(device, &native, &native));
	forked(gpumem_stream_create(device, &made));
	forked(gpumem_stream_destroy(device, stream));
	forked(gpumem_stream_sync(device, stream));
	forked(gpumem_stream_wait(device, stream, event));
	forked(gpumem_event_create(device, &event));
	forked(gpumem_event_import(device, &byte, &event));
	forked(gpumem_event_record(event, stream));
	forked(gpumem_event_query(event));
	forked(gpumem_event_sync(event));
	forked(gpumem_event_native(event, &native));
	forked(gpumem_event_destroy(event));
	forked(gpumem_fill(device, small[0], 1, 1, stream));
	forked(gpumem_copy(device, small[0], &byte, 1, stream));
	child_must(!opened && !made && !table);
	child_must(gpumem_host_launch(0, NULL, gate_wait, NULL) ==
		   GPUMEM_FORKED);
	child_must(gpumem_host_capture(0, NULL, true) == GPUMEM_FORKED);
	child_must(gpumem_host_hold(0, NULL, true) == GPUMEM_FORKED);
	child_must(gpumem_host_step(0, NULL, 1) == GPUMEM_FORKED);
	child_must(gpumem_host_queued(0, NULL) == 0);
}

static bool any_option(const struct gpumem_option *one, void *user)
{
	(void)one;
	*(unsigned *)user += 1;
	return true;
}

static void child_options(void)
{
	struct gpumem_option option = GPUMEM_INIT(struct gpumem_option);
	unsigned seen = 0;

	forked(gpumem_option_set("wait", "on"));
	forked(gpumem_option_get("wait", &option));
	forked(gpumem_option_check());
	gpumem_log_set(GPUMEM_LOG_NONE, NULL, NULL);
	gpumem_oom_set(NULL, NULL);
	gpumem_option_visit(any_option, &seen);
	child_must(option.value == NULL && seen == 0);
}

static void child_names(void)
{
	child_must(!strcmp(gpumem_status_name(GPUMEM_FORKED), "GPUMEM_FORKED"));
	child_must(strstr(gpumem_status_text(GPUMEM_FORKED), "fork") != NULL);
	child_must(!strcmp(gpumem_version(), GPUMEM_VERSION_STRING));
	child_must(gpumem_version_number() == GPUMEM_VERSION_NUMBER);
	child_must(!strcmp(gpumem_call_name(0), "alloc"));
	child_must(!strcmp(gpumem_kind_name(GPUMEM_KIND_PINNED), "pinned"));
}

static void everything(void)
{
	checks = 0;
	child_blocks();
	child_pools();
	child_devices();
	child_options();
	child_names();
}

static void *in_a_thread(void *unused)
{
	(void)unused;
	everything();
	return NULL;
}

static void child(void)
{
	pthread_t thread;

	alarm(60);
	everything();
	/* ThreadSanitizer ends a forked process that starts threads. */
	if (!THREAD_SANITIZER &&
	    (pthread_create(&thread, NULL, in_a_thread, NULL) ||
	     pthread_join(thread, NULL)))
		_exit(210);
	exit(0);
}

#endif
