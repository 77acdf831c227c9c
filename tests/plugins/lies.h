/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The lies of liar.c, one a row: its name, the slot that tells it, and the
 * function there. gpumem-conform finds each (tests/tool_conform_lies.sh), and
 * the library outlives each (tests/unit/lib/lies.c).
 */
#ifndef LIES_H
#define LIES_H

#define LIES(X)                                                                \
	X("count", device_count, count_grows)                                  \
	X("uuid", device_info, bad_uuid)                                       \
	X("product", device_info, no_product)                                  \
	X("info", device_info, other_info)                                     \
	X("granularity", device_info, odd_granularity)                         \
	X("coarse", device_info, coarse_granularity)                           \
	X("empty", device_info, no_total)                                      \
	X("endless", device_info, endless_total)                               \
	X("alignment", device_info, no_alignment_at_all)                       \
	X("largest", device_info, no_largest)                                  \
	X("info-beyond", device_info, info_beyond)                             \
	X("late", device_info, says_late)                                      \
	X("reopen", device_open, opens_once)                                   \
	X("open-unset", device_open, opens_nothing)                            \
	X("account", memory_info, same_memory)                                 \
	X("total", memory_info, more_free)                                     \
	X("memory-unset", memory_info, no_memory_info)                         \
	X("output", alloc, touches_output)                                     \
	X("status", alloc, wrong_status)                                       \
	X("status-unknown", alloc, unknown_status)                             \
	X("status-limit", alloc, limit_status)                                 \
	X("status-one", free, frees_with_one)                                  \
	X("status-not-ready", free, free_not_ready)                            \
	X("silent", alloc, silent_alloc)                                       \
	X("unset", alloc, sets_no_address)                                     \
	X("zero", alloc, gives_zero)                                           \
	X("odd", alloc, gives_odd)                                             \
	X("address", alloc, above_48_bits)                                     \
	X("overlap", alloc, overlaps)                                          \
	X("overlap-half", alloc, overlaps_half)                                \
	X("repeat", alloc, repeats)                                            \
	X("free", free, forgets_free)                                          \
	X("free-refused", free, refuses_free)                                  \
	X("free-mapped", free, keeps_mapping)                                  \
	X("print", alloc, prints)                                              \
	X("print-error", alloc, prints_error)                                  \
	X("hang", alloc, hangs)                                                \
	X("exit", free, ends_process)                                          \
	X("version", driver_version, no_version)                               \
	X("reserve-odd", va_reserve, no_alignment)                             \
	X("reserve-unset", va_reserve, reserves_nothing)                       \
	X("reserve-zero", va_reserve, reserves_zero)                           \
	X("reserve-above", va_reserve, reserves_above)                         \
	X("reserve-again", va_reserve, reserves_again)                         \
	X("reserve-output", va_reserve, reserve_touches)                       \
	X("reserve-silent", va_reserve, silent_reserve)                        \
	X("page", page_destroy, page_stays)                                    \
	X("page-refused", page_destroy, refuses_destroy)                       \
	X("page-zero", page_create, page_zero)                                 \
	X("page-unset", page_create, page_unset)                               \
	X("page-again", page_create, page_again)                               \
	X("page-output", page_create, page_touches)                            \
	X("mask", page_create, page_masks)                                     \
	X("content", unmap, loses_content)                                     \
	X("unmap-refused", unmap, refuses_unmap)                               \
	X("some", map, maps_some)                                              \
	X("half", map, maps_half)                                              \
	X("tear", map, map_tears)                                              \
	X("map-print", map, map_prints)                                        \
	X("map-refused", map, refuses_map)                                     \
	X("crash", map, map_crashes)                                           \
	X("query", event_query, never_ready)                                   \
	X("sync", event_sync, does_not_wait)                                   \
	X("wait", event_wait, ends_at_once)                                    \
	X("order", stream_wait, no_order)                                      \
	X("excuse", event_query, excuses)                                      \
	X("thread", event_sync, ends_thread)                                   \
	X("event-null", event_create, event_null)                              \
	X("event-unset", event_create, event_unset)                            \
	X("event-again", event_create, event_again)                            \
	X("stream-null", stream_create, stream_null)                           \
	X("stream-unset", stream_create, stream_unset)                         \
	X("stream-again", stream_create, stream_again)                         \
	X("fill", fill, fills_more)                                            \
	X("fill-silent", fill, silent_fill)                                    \
	X("copy", copy, copies_less)                                           \
	X("abort", copy, copy_aborts)                                          \
	X("capture", capture_id, captures)                                     \
	X("capture-unset", capture_id, capture_unset)                          \
	X("kind", kind_alloc, kind_remembers)                                  \
	X("kind-absent", kind_alloc, kind_absent)                              \
	X("kind-zero", kind_alloc, kind_zero)                                  \
	X("kind-unset", kind_alloc, kind_unset)                                \
	X("kind-any", kind_alloc, kind_any)                                    \
	X("peer-unset", peer_query, peer_unset)                                \
	X("peer-once", peer_enable, peer_once)                                 \
	X("process-null", device_processes, process_null)                      \
	X("process-endless", device_processes, process_endless)                \
	X("process-short", device_processes, process_short)                    \
	X("process-more", device_processes, process_more)                      \
	X("import", page_import, imports_other)                                \
	X("import-any", page_import, import_any)                               \
	X("import-output", page_import, import_touches)                        \
	X("import-silent", page_import, silent_import)                         \
	X("import-unset", page_import, import_unset)                           \
	X("export-unset", page_export, export_unset)                           \
	X("export-exec", page_export, export_stays)                            \
	X("name", ipc_export, renames)                                         \
	X("name-none", ipc_export, names_nothing)                              \
	X("open-any", ipc_open, opens_any)                                     \
	X("open-output", ipc_open, open_touches)                               \
	X("open-silent", ipc_open, silent_open)                                \
	X("object", object_of, moves_object)                                   \
	X("object-unset", object_of, object_unset)                             \
	X("view", view_create, same_view)                                      \
	X("view-unset", view_create, view_unset)                               \
	X("group", unmap, NULL)                                                \
	X("required", alloc, NULL)

#endif
