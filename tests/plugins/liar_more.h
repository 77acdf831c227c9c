/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Lies about what not every device has: kinds of memory, peers, processes,
 * sharing and objects. Included by liar.c.
 */
#ifndef LIAR_MORE_H
#define LIAR_MORE_H

#include "liar.h"

#include <fcntl.h>

/* Memory of a kind that the device has a copy of: what it writes there the host
 * does not see. */
static uint64_t copied[8];

static gpumem_status kind_remembers(void *device, gpumem_kind kind,
				    uint64_t bytes, uint64_t *address_out)
{
	static int calls;
	gpumem_status status =
		honest()->kind_alloc(device, kind, bytes, address_out);

	if (status == GPUMEM_OK)
		copied[calls++ % 8] = *address_out;
	return status;
}

static gpumem_status kind_forgets(void *device, gpumem_kind kind,
				  uint64_t address, uint64_t bytes)
{
	for (int i = 0; i < 8; i++)
		if (copied[i] == address)
			copied[i] = 0;
	return honest()->kind_free(device, kind, address, bytes);
}

static gpumem_status fills_device_only(void *device, uint64_t address,
				       uint8_t value, uint64_t bytes,
				       gpumem_stream stream)
{
	for (int i = 0; i < 8; i++)
		if (copied[i] == address)
			return GPUMEM_OK;
	return honest()->fill(device, address, value, bytes, stream);
}

/* Addresses without memory. */
static gpumem_status kind_absent(void *device, gpumem_kind kind, uint64_t bytes,
				 uint64_t *address_out)
{
	(void)kind;
	return honest()->va_reserve(device, bytes, 2 << 20, address_out);
}

static gpumem_status kind_unfree(void *device, gpumem_kind kind,
				 uint64_t address, uint64_t bytes)
{
	(void)kind;
	return honest()->va_release(device, address, bytes);
}

static gpumem_status kind_zero(void *device, gpumem_kind kind, uint64_t bytes,
			       uint64_t *address_out)
{
	(void)device;
	(void)kind;
	(void)bytes;
	*address_out = 0;
	return GPUMEM_OK;
}

static gpumem_status kind_unset(void *device, gpumem_kind kind, uint64_t bytes,
				uint64_t *address_out)
{
	(void)device;
	(void)kind;
	(void)bytes;
	(void)address_out;
	return GPUMEM_OK;
}

static gpumem_status kind_any(void *device, gpumem_kind kind, uint64_t bytes,
			      uint64_t *address_out)
{
	if (kind == GPUMEM_KIND_DEVICE)
		kind = GPUMEM_KIND_PINNED;
	return honest()->kind_alloc(device, kind, bytes, address_out);
}

/* ---- peers and processes ------------------------------------------------ */

static gpumem_status peer_unset(void *device, void *peer, bool *can_out)
{
	(void)device;
	(void)peer;
	(void)can_out;
	return GPUMEM_OK;
}

static gpumem_status peer_once(void *device, void *peer)
{
	static int calls;

	if (!calls++)
		return honest()->peer_enable(device, peer);
	services.error(704, "LIAR_ALREADY", "it is enabled already");
	return GPUMEM_DRIVER;
}

static gpumem_status
process_null(void *device,
	     bool (*fn)(const struct gpumem_process *process, void *user),
	     void *user)
{
	(void)device;
	(void)fn(NULL, user);
	return GPUMEM_OK;
}

/* Its name has no end, and it is as long as the struct. */
static gpumem_status
process_endless(void *device,
		bool (*fn)(const struct gpumem_process *process, void *user),
		void *user)
{
	struct gpumem_process process = GPUMEM_INIT(struct gpumem_process);

	(void)device;
	process.pid = 1;
	memset(process.name, 'x', sizeof(process.name));
	(void)fn(&process, user);
	return GPUMEM_OK;
}

static gpumem_status
process_short(void *device,
	      bool (*fn)(const struct gpumem_process *process, void *user),
	      void *user)
{
	struct gpumem_process process = {.size = 0, .pid = 1};

	(void)device;
	(void)fn(&process, user);
	return GPUMEM_OK;
}

static gpumem_status
process_more(void *device,
	     bool (*fn)(const struct gpumem_process *process, void *user),
	     void *user)
{
	struct gpumem_process process = GPUMEM_INIT(struct gpumem_process);

	(void)device;
	for (process.pid = 1; process.pid < 4; process.pid++)
		(void)fn(&process, user);
	return GPUMEM_OK;
}

/* ---- sharing ------------------------------------------------------------ */

/* A page of its own for each that it imports. */
static gpumem_status imports_other(void *device, int fd, uint64_t bytes,
				   gpumem_page *page_out)
{
	gpumem_page page;
	gpumem_status status = honest()->page_import(device, fd, bytes, &page);

	if (status == GPUMEM_OK)
		status = honest()->page_create(device, bytes, page_out);
	return status;
}

static gpumem_status renames(void *device, uint64_t address, uint64_t bytes,
			     void *handle_out)
{
	static unsigned char calls;
	gpumem_status status =
		honest()->ipc_export(device, address, bytes, handle_out);

	((unsigned char *)handle_out)[GPUMEM_SHARE_HANDLE_BYTES - 1] = ++calls;
	return status;
}

static gpumem_status import_any(void *device, int fd, uint64_t bytes,
				gpumem_page *page_out)
{
	gpumem_status status =
		honest()->page_import(device, fd, bytes, page_out);

	return status == GPUMEM_OK
		       ? status
		       : honest()->page_create(device, bytes, page_out);
}

static gpumem_status import_touches(void *device, int fd, uint64_t bytes,
				    gpumem_page *page_out)
{
	gpumem_status status =
		honest()->page_import(device, fd, bytes, page_out);

	if (status != GPUMEM_OK)
		*page_out = 1;
	return status;
}

static gpumem_status silent_import(void *device, int fd, uint64_t bytes,
				   gpumem_page *page_out)
{
	gpumem_status status;

	is_mute = true;
	status = honest()->page_import(device, fd, bytes, page_out);
	is_mute = false;
	return status;
}

static gpumem_status import_unset(void *device, int fd, uint64_t bytes,
				  gpumem_page *page_out)
{
	gpumem_page page;

	(void)page_out;
	return honest()->page_import(device, fd, bytes, &page);
}

static gpumem_status export_unset(void *device, gpumem_page page,
				  uint64_t bytes, int *fd_out)
{
	(void)device;
	(void)page;
	(void)bytes;
	(void)fd_out;
	return GPUMEM_OK;
}

static gpumem_status export_stays(void *device, gpumem_page page,
				  uint64_t bytes, int *fd_out)
{
	gpumem_status status =
		honest()->page_export(device, page, bytes, fd_out);

	if (status == GPUMEM_OK)
		(void)fcntl(*fd_out, F_SETFD, 0);
	return status;
}

static gpumem_status names_nothing(void *device, uint64_t address,
				   uint64_t bytes, void *handle_out)
{
	(void)device;
	(void)address;
	(void)bytes;
	(void)handle_out;
	return GPUMEM_OK;
}

static gpumem_status opens_any(void *device, const void *handle, uint64_t bytes,
			       uint64_t *address_out)
{
	(void)handle;
	return honest()->alloc(device, bytes, address_out);
}

static gpumem_status open_touches(void *device, const void *handle,
				  uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status =
		honest()->ipc_open(device, handle, bytes, address_out);

	if (status != GPUMEM_OK)
		*address_out = 4096;
	return status;
}

static gpumem_status silent_open(void *device, const void *handle,
				 uint64_t bytes, uint64_t *address_out)
{
	gpumem_status status;

	is_mute = true;
	status = honest()->ipc_open(device, handle, bytes, address_out);
	is_mute = false;
	return status;
}

/* ---- allowed: they are no lies ------------------------------------------ */

/* Capabilities whose slots are not there: the core clears them. */
static gpumem_status claims_all(int index, struct gpumem_device_info *info_out)
{
	gpumem_status status = honest()->device_info(index, info_out);

	if (status == GPUMEM_OK)
		info_out->caps |= GPUMEM_CAP_CAPTURE | GPUMEM_CAP_PINNED |
				  GPUMEM_CAP_MANAGED | GPUMEM_CAP_PEER |
				  GPUMEM_CAP_SHARE_IPC | GPUMEM_CAP_SHARE_FD |
				  GPUMEM_CAP_OBJECTS;
	return status;
}

/* What is mapped already is replaced: the core never asks for that. */
static gpumem_status maps_over(void *device, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes)
{
	for (size_t i = 0; i < count; i++)
		(void)honest()->unmap(device, address + i * page_bytes, 1,
				      page_bytes);
	return honest()->map(device, address, pages, count, page_bytes);
}

/* ---- objects ------------------------------------------------------------ */

static gpumem_status moves_object(void *device, uint64_t address,
				  void **object_out, uint64_t *offset_out)
{
	static char calls;
	gpumem_status status =
		honest()->object_of(device, address, object_out, offset_out);

	*offset_out += (uint64_t)calls++;
	return status;
}

static gpumem_status same_view(void *device, uint64_t address, uint64_t bytes,
			       void **view_out)
{
	static void *view;
	gpumem_status status = GPUMEM_OK;

	if (!view)
		status = honest()->view_create(device, address, bytes, &view);
	*view_out = view;
	return status;
}

static gpumem_status object_unset(void *device, uint64_t address,
				  void **object_out, uint64_t *offset_out)
{
	(void)device;
	(void)address;
	(void)object_out;
	(void)offset_out;
	return GPUMEM_OK;
}

static gpumem_status view_unset(void *device, uint64_t address, uint64_t bytes,
				void **view_out)
{
	(void)device;
	(void)address;
	(void)bytes;
	(void)view_out;
	return GPUMEM_OK;
}

#endif
