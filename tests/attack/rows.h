/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The public functions: name, how often it is called beside the others, and the
 * statuses that its comment in the header lets it return. OK, INVALID and
 * FORKED need not be said; DRIVER stands for all that the driver may say. "As"
 * another function: its statuses. tests/attack.sh compares the names with the
 * headers, and each status with the function's comment.
 */
#ifndef ATTACK_ROWS_H
#define ATTACK_ROWS_H

#define TAKES (B(NO_MEMORY) | B(DRIVER) | B(LOST) | B(NO_HOST_MEMORY))
#define ASKS (B(DRIVER) | B(LOST))
#define OPENS                                                                  \
	(B(NOT_FOUND) | B(NO_DRIVER) | B(NO_DEVICE) | B(UNSUPPORTED) |         \
	 B(ABI) | TAKES)

#define ROWS(X)                                                                \
	X(gpumem_alloc, 60, TAKES | B(LIMIT))                                  \
	X(gpumem_alloc_aligned, 30, TAKES | B(LIMIT) | B(UNSUPPORTED))         \
	X(gpumem_alloc_with, 40, TAKES | B(LIMIT) | B(UNSUPPORTED))            \
	X(gpumem_backend_load, 1,                                              \
	  B(NOT_FOUND) | B(ABI) | B(UNSUPPORTED) | B(NO_DRIVER) |              \
		  B(NO_DEVICE) | B(NO_HOST_MEMORY) | B(BUSY))                  \
	X(gpumem_backend_register, 1,                                          \
	  B(ABI) | B(UNSUPPORTED) | B(NO_DRIVER) | B(NO_DEVICE) |              \
		  B(NO_HOST_MEMORY) | B(BUSY))                                 \
	X(gpumem_backend_table, 2, B(NOT_FOUND))                               \
	X(gpumem_backend_visit, 1, B(NO_HOST_MEMORY))                          \
	X(gpumem_call_name, 1, 0)                                              \
	X(gpumem_advice_name, 1, 0)                                            \
	X(gpumem_block_state_name, 1, 0)                                       \
	X(gpumem_cap_name, 1, 0)                                               \
	X(gpumem_hook_kind_name, 1, 0)                                         \
	X(gpumem_kind_name, 1, 0)                                              \
	X(gpumem_log_level_name, 1, 0)                                         \
	X(gpumem_pressure_limit_name, 1, 0)                                    \
	X(gpumem_range_kind_name, 1, 0)                                        \
	X(gpumem_record_kind_name, 1, 0)                                       \
	X(gpumem_served_name, 1, 0)                                            \
	X(gpumem_share_name, 1, 0)                                             \
	X(gpumem_sleep_name, 1, 0)                                             \
	X(gpumem_copy, 12,                                                     \
	  B(UNSUPPORTED) | B(BAD_POINTER) | ASKS | B(NO_HOST_MEMORY))          \
	X(gpumem_device_adopt, 2, OPENS)                                       \
	X(gpumem_device_close, 3, B(BUSY) | B(DRIVER))                         \
	X(gpumem_device_get_info, 3, 0)                                        \
	X(gpumem_device_memory, 5, ASKS)                                       \
	X(gpumem_device_native, 2, B(UNSUPPORTED) | ASKS)                      \
	X(gpumem_device_open, 4, OPENS)                                        \
	X(gpumem_device_peer, 3, ASKS)                                         \
	X(gpumem_device_pool, 3, TAKES | B(UNSUPPORTED))                       \
	X(gpumem_device_report, 2, ASKS | B(NO_HOST_MEMORY))                   \
	X(gpumem_device_trim, 3, ASKS | B(NO_HOST_MEMORY))                     \
	X(gpumem_trim, 1, ASKS | B(NO_HOST_MEMORY))                            \
	X(gpumem_process_visit, 1, B(UNSUPPORTED) | ASKS | B(NO_HOST_MEMORY))  \
	X(gpumem_device_visit, 2, B(NOT_FOUND))                                \
	X(gpumem_error_text, 1, 0)                                             \
	X(gpumem_event_create, 4, B(UNSUPPORTED) | ASKS | B(NO_HOST_MEMORY))   \
	X(gpumem_event_destroy, 3, ASKS)                                       \
	X(gpumem_event_import, 3, B(UNSUPPORTED) | B(CAPTURING) | TAKES)       \
	X(gpumem_event_native, 3, B(UNSUPPORTED) | ASKS)                       \
	X(gpumem_event_query, 6, B(NOT_READY) | ASKS)                          \
	X(gpumem_event_record, 8, B(CAPTURING) | ASKS | B(NO_HOST_MEMORY))     \
	X(gpumem_event_sync, 3, ASKS)                                          \
	X(gpumem_export, 12,                                                   \
	  B(BAD_POINTER) | B(UNSUPPORTED) | ASKS | B(NO_HOST_MEMORY))          \
	X(gpumem_fill, 15,                                                     \
	  B(UNSUPPORTED) | B(BAD_POINTER) | ASKS | B(NO_HOST_MEMORY))          \
	X(gpumem_free, 70, B(BAD_POINTER) | B(NO_HOST_MEMORY))                 \
	X(gpumem_free_after, 15,                                               \
	  B(BAD_POINTER) | B(UNSUPPORTED) | B(NO_HOST_MEMORY))                 \
	X(gpumem_free_own, 25, B(BAD_POINTER) | B(NO_HOST_MEMORY))             \
	X(gpumem_free_sized, 25, B(BAD_POINTER) | B(NO_HOST_MEMORY))           \
	X(gpumem_graph_begin, 6, B(BUSY) | B(NO_HOST_MEMORY))                  \
	X(gpumem_graph_create, 3, B(NO_HOST_MEMORY))                           \
	X(gpumem_graph_destroy, 3,                                             \
	  B(BUSY) | B(CAPTURING) | ASKS | B(NO_HOST_MEMORY))                   \
	X(gpumem_graph_end, 6, 0)                                              \
	X(gpumem_host_calls, 1, 0)                                             \
	X(gpumem_host_capture, 6, 0)                                           \
	X(gpumem_host_capture_violations, 1, 0)                                \
	X(gpumem_host_faults, 6, 0)                                            \
	X(gpumem_host_hold, 3, B(NO_HOST_MEMORY))                              \
	X(gpumem_host_kind_bytes, 2, 0)                                        \
	X(gpumem_host_launch, 8, B(NO_HOST_MEMORY) | B(LOST))                  \
	X(gpumem_host_object_memory, 2, 0)                                     \
	X(gpumem_host_object_release, 4, 0)                                    \
	X(gpumem_host_object_retain, 3, 0)                                     \
	X(gpumem_host_outside, 2, 0)                                           \
	X(gpumem_host_queued, 2, 0)                                            \
	X(gpumem_host_step, 4, 0)                                              \
	X(gpumem_host_used_bytes, 2, 0)                                        \
	X(gpumem_host_views, 2, 0)                                             \
	X(gpumem_import, 8, B(UNSUPPORTED) | TAKES)                            \
	X(gpumem_import_close, 6, B(BAD_POINTER) | ASKS)                       \
	X(gpumem_last_error, 3, 0)                                             \
	X(gpumem_leak_mark, 1, 0)                                              \
	X(gpumem_oom_set, 1, 0)                                                \
	X(gpumem_log_set, 1, 0)                                                \
	X(gpumem_object, 5, B(BAD_POINTER) | B(UNSUPPORTED) | ASKS)            \
	X(gpumem_option_check, 1, B(NO_HOST_MEMORY))                           \
	X(gpumem_option_get, 4, B(NOT_FOUND))                                  \
	X(gpumem_option_set, 6, B(NOT_FOUND) | B(NO_HOST_MEMORY))              \
	X(gpumem_option_visit, 1, 0)                                           \
	X(gpumem_pool_calls, 3, 0)                                             \
	X(gpumem_pool_capacity, 3, ASKS)                                       \
	X(gpumem_pool_check, 4, B(CORRUPT))                                    \
	X(gpumem_pool_create, 6, B(UNSUPPORTED) | TAKES)                       \
	X(gpumem_pool_destroy, 4, B(BUSY) | B(DRIVER))                         \
	X(gpumem_pool_add_peer, 2, ASKS | B(NO_HOST_MEMORY) | B(UNSUPPORTED))  \
	X(gpumem_pool_device, 1, 0)                                            \
	X(gpumem_pool_drop_stream, 3,                                          \
	  B(CAPTURING) | B(BUSY) | ASKS | B(NO_HOST_MEMORY))                   \
	X(gpumem_pool_visit, 2, 0)                                             \
	X(gpumem_pool_hook_set, 2, 0)                                          \
	X(gpumem_pool_name, 1, 0)                                              \
	X(gpumem_pool_pressure_add, 3, B(NO_HOST_MEMORY))                      \
	X(gpumem_pool_pressure_remove, 2, B(NOT_FOUND))                        \
	X(gpumem_pool_print, 2, 0)                                             \
	X(gpumem_pool_print_leaks, 2, B(NO_HOST_MEMORY))                       \
	X(gpumem_pool_reset_stats, 2, 0)                                       \
	X(gpumem_pool_set_limit, 6, B(BUSY) | ASKS | B(NO_HOST_MEMORY))        \
	X(gpumem_pool_set_limit_percent, 3,                                    \
	  B(BUSY) | ASKS | B(NO_HOST_MEMORY))                                  \
	X(gpumem_pool_set_soft_limit, 3, 0)                                    \
	X(gpumem_pool_set_soft_limit_percent, 2, 0)                            \
	X(gpumem_pool_sleep, 3,                                                \
	  B(BUSY) | B(UNSUPPORTED) | B(LIMIT) | TAKES)                         \
	X(gpumem_pool_stats, 5, 0)                                             \
	X(gpumem_pool_track_begin, 2, 0)                                       \
	X(gpumem_pool_track_end, 1, 0)                                         \
	X(gpumem_pool_trim, 8, ASKS | B(NO_HOST_MEMORY))                       \
	X(gpumem_pool_wake, 4, B(BUSY) | B(LIMIT) | TAKES)                     \
	X(gpumem_block_get_user, 10, B(BAD_POINTER))                           \
	X(gpumem_block_set_user, 10, B(BAD_POINTER) | B(NO_HOST_MEMORY))       \
	X(gpumem_block_visit, 2, 0)                                            \
	X(gpumem_query, 10, B(BAD_POINTER))                                    \
	X(gpumem_range_hook_add, 2, B(NO_HOST_MEMORY))                         \
	X(gpumem_range_hook_remove, 2, B(NOT_FOUND))                           \
	X(gpumem_range_pin, 6, B(BAD_POINTER) | B(NO_HOST_MEMORY))             \
	X(gpumem_range_unpin, 2, B(NOT_FOUND))                                 \
	X(gpumem_record_begin, 2, B(BUSY) | B(NO_HOST_MEMORY))                 \
	X(gpumem_record_end, 2, 0)                                             \
	X(gpumem_resize, 30,                                                   \
	  B(BAD_POINTER) | B(BUSY) | ASKS | B(NO_HOST_MEMORY))                 \
	X(gpumem_status_name, 1, 0)                                            \
	X(gpumem_status_text, 1, 0)                                            \
	X(gpumem_stream_create, 4, B(UNSUPPORTED) | ASKS | B(NO_HOST_MEMORY))  \
	X(gpumem_stream_destroy, 2,                                            \
	  B(UNSUPPORTED) | B(CAPTURING) | B(BUSY) | ASKS | B(NO_HOST_MEMORY))  \
	X(gpumem_stream_sync, 6, B(UNSUPPORTED) | B(CAPTURING) | ASKS)         \
	X(gpumem_stream_wait, 6,                                               \
	  B(UNSUPPORTED) | B(CAPTURING) | ASKS | B(NO_HOST_MEMORY))            \
	X(gpumem_tag_get, 1, 0)                                                \
	X(gpumem_tag_intern, 3, B(NO_HOST_MEMORY))                             \
	X(gpumem_tag_path, 1, 0)                                               \
	X(gpumem_tag_pop, 6, 0)                                                \
	X(gpumem_tag_push, 6, B(NO_HOST_MEMORY))                               \
	X(gpumem_tag_set, 4, 0)                                                \
	X(gpumem_tag_set_limit, 3, B(NO_HOST_MEMORY))                          \
	X(gpumem_tag_set_sleep, 2, 0)                                          \
	X(gpumem_tag_visit, 3, 0)                                              \
	X(gpumem_usable_bytes, 10, B(BAD_POINTER))                             \
	X(gpumem_use_on, 12, B(BAD_POINTER) | B(NO_HOST_MEMORY))               \
	X(gpumem_version, 1, 0)                                                \
	X(gpumem_version_number, 1, 0)                                         \
	X(gpumem_view, 5, B(BAD_POINTER) | B(UNSUPPORTED) | TAKES)             \
	X(gpumem_view_block, 5, B(BAD_POINTER) | B(UNSUPPORTED))

#define DECLARE_ROW(name, weight, said) void attack_##name(void);
ROWS(DECLARE_ROW)
#undef DECLARE_ROW

#endif
