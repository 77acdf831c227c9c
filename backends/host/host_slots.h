/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The slots of the table, each as backend.h has it; NULL handles are default
 * streams. What is static in host_backend.c is not here.
 */
#ifndef GM_HOST_SLOTS_H
#define GM_HOST_SLOTS_H

#include <gpumem/backend.h>

gpumem_status gm_host_device_open(int index, void **device_out);
void gm_host_device_close(void *device);
gpumem_status gm_host_memory_info(void *device, struct gpumem_memory *memory);
gpumem_status gm_host_alloc(void *device, uint64_t bytes, uint64_t *address);
gpumem_status gm_host_free(void *device, uint64_t address, uint64_t bytes);
gpumem_status gm_host_va_reserve(void *device, uint64_t bytes,
				 uint64_t alignment, uint64_t *address_out);
gpumem_status gm_host_va_release(void *device, uint64_t address,
				 uint64_t bytes);
gpumem_status gm_host_page_create(void *device, uint64_t bytes,
				  gpumem_page *page_out);
gpumem_status gm_host_page_destroy(void *device, gpumem_page page,
				   uint64_t bytes);
gpumem_status gm_host_map(void *device, uint64_t address,
			  const gpumem_page *pages, size_t count,
			  uint64_t page_bytes);
gpumem_status gm_host_unmap(void *device, uint64_t address, size_t count,
			    uint64_t page_bytes);
gpumem_status gm_host_stream_create(void *device, gpumem_stream *stream_out);
gpumem_status gm_host_stream_destroy(void *device, gpumem_stream stream);
gpumem_status gm_host_stream_sync(void *device, gpumem_stream stream);
gpumem_status gm_host_stream_query(void *device, gpumem_stream stream);
gpumem_status gm_host_stream_wait(void *device, gpumem_stream stream,
				  gpumem_event event);
gpumem_status gm_host_event_create(void *device, gpumem_event *event_out);
gpumem_status gm_host_event_destroy(void *device, gpumem_event event);
gpumem_status gm_host_event_record(void *device, gpumem_event event,
				   gpumem_stream stream);
gpumem_status gm_host_event_query(void *device, gpumem_event event);
gpumem_status gm_host_event_sync(void *device, gpumem_event event);
gpumem_status gm_host_fill(void *device, uint64_t address, uint8_t value,
			   uint64_t bytes, gpumem_stream stream);
gpumem_status gm_host_copy(void *device, uint64_t to, uint64_t from,
			   uint64_t bytes, gpumem_stream stream);
gpumem_status gm_host_capture_id(void *device, gpumem_stream stream,
				 uint64_t *id_out);
gpumem_status gm_host_ipc_export(void *device, uint64_t address, uint64_t bytes,
				 void *handle_out);
gpumem_status gm_host_ipc_open(void *device, const void *handle, uint64_t bytes,
			       uint64_t *address_out);
gpumem_status gm_host_ipc_close(void *device, uint64_t address);
gpumem_status gm_host_page_create_shared(void *device, uint64_t bytes,
					 gpumem_page *page_out);
gpumem_status gm_host_page_export(void *device, gpumem_page page,
				  uint64_t bytes, int *fd_out);
gpumem_status gm_host_page_import(void *device, int fd, uint64_t bytes,
				  gpumem_page *page_out);
gpumem_status gm_host_object_of(void *device, uint64_t address,
				void **object_out, uint64_t *offset_out);
gpumem_status gm_host_view_create(void *device, uint64_t address,
				  uint64_t bytes, void **view_out);
gpumem_status gm_host_view_destroy(void *device, void *view);
gpumem_status gm_host_device_adopt(void *context, void *native_device,
				   int *index_out);
gpumem_status gm_host_kind_alloc(void *device, gpumem_kind kind, uint64_t bytes,
				 uint64_t *address_out);
gpumem_status gm_host_kind_free(void *device, gpumem_kind kind,
				uint64_t address, uint64_t bytes);
gpumem_status gm_host_peer_query(void *device, void *peer, bool *can_out);
gpumem_status gm_host_peer_enable(void *device, void *peer);
gpumem_status gm_host_map_peers(void *device, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes, void *const *peers,
				size_t peer_count);
gpumem_status gm_host_device_processes(
	void *device,
	bool (*fn)(const struct gpumem_process *process, void *user),
	void *user);

#endif
