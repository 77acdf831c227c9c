/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See device.h. The list of open devices, and their life. A backend's
 * device_open and device_close run under the list's mutex, so that a device is
 * opened once however many threads ask.
 */
#include "claim.h"
#include "device_info.h"
#include "loader/answer.h"
#include "loader/describe.h"
#include "base/error.h"
#include "live.h"
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct gpumem_device *devices; /* open ones; under the mutex */

static struct gpumem_device *find_open(const struct gpumem_backend *ops,
				       int index)
{
	struct gpumem_device *device = devices;

	while (device && (device->ops != ops || device->index != index))
		device = device->next;
	return device;
}

/* What a slot said against it, as the thread's last error. */
static gpumem_status refused(gpumem_status status, enum gpumem_slot slot,
			     const struct gpumem_backend *ops,
			     const char *where)
{
	return gm_fail_native(gm_answer(slot, status), ops->name, where);
}

static gpumem_status open_handle(struct gpumem_device *device)
{
	static char unset; /* no handle is its address */
	void *handle = &unset;
	gpumem_status status;

	gm_native_clear();
	status = device->ops->device_open(device->index, &handle);
	if (status == GPUMEM_OK && handle == &unset) {
		gm_native_error(0, "",
				"device_open returned success and no "
				"device");
		status = GPUMEM_DRIVER;
	}
	if (status != GPUMEM_OK)
		return refused(status, GPUMEM_SLOT_device_open, device->ops,
			       device->info.name);
	device->handle = handle;
	return GPUMEM_OK;
}

/* Recursive: the function that gpumem_pool_visit() calls may allocate, which
 * may trim the device's other pools. */
static void init_mutex(pthread_mutex_t *device_mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(device_mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static struct gpumem_device *new_device(const struct gm_backend *backend,
					int index)
{
	struct gm_gate *gate = gm_gate_of(&backend->ops);
	struct gpumem_device *device = gate ? calloc(1, sizeof(*device)) : NULL;

	if (!device)
		return NULL;
	device->ops = &backend->ops;
	device->index = index;
	device->gate = gate;
	return device;
}

/* A new device, open once, on the list; under the mutex. */
static gpumem_status open_new(const struct gm_backend *backend, int index,
			      struct gpumem_device **device_out)
{
	struct gpumem_device *device;
	gpumem_status status;

	device = new_device(backend, index);
	if (!device)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no memory for device %s:%d", backend->info.name,
			       index);
	status = gm_device_describe(backend, index, &device->info,
				    &device->raw_alignment);
	if (status != GPUMEM_OK)
		goto free_device;
	status = open_handle(device);
	if (status != GPUMEM_OK)
		goto free_device;
	/* Opening it may have shown more: see backend.h. */
	status = gm_device_describe(backend, index, &device->info,
				    &device->raw_alignment);
	if (status != GPUMEM_OK)
		goto close;
	gm_claim_init(device);
	init_mutex(&device->mutex);
	pthread_cond_init(&device->unvisited, NULL);
	device->pools.next = device->pools.prev = &device->pools;
	device->opens = 1;
	device->next = devices;
	devices = device;
	*device_out = device;
	return GPUMEM_OK;

close:
	device->ops->device_close(device->handle);
free_device:
	free(device);
	return status;
}

static gpumem_status open_index(const struct gm_backend *backend, int index,
				struct gpumem_device **device_out)
{
	gpumem_status status = GPUMEM_OK;
	struct gpumem_device *device;

	pthread_mutex_lock(&mutex);
	device = find_open(&backend->ops, index);
	if (device)
		device->opens++;
	else
		status = open_new(backend, index, &device);
	pthread_mutex_unlock(&mutex);
	if (status == GPUMEM_OK)
		*device_out = device;
	return status;
}

/* A search for a device may load backends, and then more of GPUMEM_CONF
 * can be judged. A mistake there is the cause of all else that went wrong. */
static gpumem_status judge_again(gpumem_status found)
{
	struct gm_first first = {0};
	gpumem_status status;

	gm_first_keep(&first, found);
	status = gm_backend_conf(false, true);
	return status != GPUMEM_OK ? status : gm_first_end(&first);
}

gpumem_status gm_device_open(const char *name,
			     struct gpumem_device **device_out)
{
	const struct gm_backend *backend;
	gpumem_status status;
	int index;

	status = gm_backend_conf(false, true);
	if (status != GPUMEM_OK)
		return status;
	status = gm_device_find(name, &backend, &index);
	status = judge_again(status);
	return status == GPUMEM_OK ? open_index(backend, index, device_out)
				   : status;
}

gpumem_status gm_device_adopt(const char *name, void *context,
			      void *native_device,
			      struct gpumem_device **device_out)
{
	const struct gm_backend *backend;
	gpumem_status status;
	int index = 0;

	status = gm_backend_conf(false, true);
	if (status != GPUMEM_OK)
		return status;
	status = gm_backend_find_adopting(name, &backend);
	status = judge_again(status);
	if (status != GPUMEM_OK)
		return status;
	if (!backend->ops.device_adopt)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "backend %s cannot adopt a context: open a "
			       "device of it by name",
			       backend->info.name);
	gm_native_clear();
	status = backend->ops.device_adopt(context, native_device, &index);
	if (status != GPUMEM_OK)
		return refused(status, GPUMEM_SLOT_device_adopt, &backend->ops,
			       "device_adopt");
	if (index < 0)
		return gm_fail(GPUMEM_DRIVER,
			       "device_adopt of %s gave device %d, which is "
			       "none",
			       backend->info.name, index);
	return open_index(backend, index, device_out);
}

/* Under the mutex: nobody has the device open any more. */
static void close_last(struct gpumem_device *device)
{
	struct gpumem_device **at = &devices;

	while (*at != device)
		at = &(*at)->next;
	*at = device->next;
	gm_live_forget(device);
	device->ops->device_close(device->handle);
	pthread_cond_destroy(&device->unvisited);
	pthread_mutex_destroy(&device->mutex);
	free(device);
}

/* Under the mutex: true when that was so. */
static bool close_unneeded(struct gpumem_device *device)
{
	if (device->opens)
		return false;
	for (int hold = 0; hold < GM_HOLD_COUNT; hold++)
		if (device->holds[hold])
			return false;
	close_last(device);
	return true;
}

bool gm_device_release(struct gpumem_device *device)
{
	bool last;

	pthread_mutex_lock(&mutex);
	device->opens--;
	last = close_unneeded(device);
	pthread_mutex_unlock(&mutex);
	return last;
}

bool gm_device_release_other(struct gpumem_device *device)
{
	bool other;

	pthread_mutex_lock(&mutex);
	other = device->opens > 1;
	device->opens -= other;
	pthread_mutex_unlock(&mutex);
	return other;
}

void gm_device_hold(struct gpumem_device *device, enum gm_hold hold)
{
	pthread_mutex_lock(&mutex);
	device->holds[hold]++;
	pthread_mutex_unlock(&mutex);
}

void gm_device_drop(struct gpumem_device *device, enum gm_hold hold)
{
	pthread_mutex_lock(&mutex);
	device->holds[hold]--;
	(void)close_unneeded(device);
	pthread_mutex_unlock(&mutex);
}

struct gpumem_device *gm_device_next(struct gpumem_device *after)
{
	struct gpumem_device *next;

	pthread_mutex_lock(&mutex);
	next = after ? after->next : devices;
	if (next)
		next->holds[GM_HOLD_VISIT]++;
	if (after) {
		after->holds[GM_HOLD_VISIT]--;
		(void)close_unneeded(after);
	}
	pthread_mutex_unlock(&mutex);
	return next;
}

int gm_device_holds(struct gpumem_device *device, enum gm_hold hold)
{
	int count;

	pthread_mutex_lock(&mutex);
	count = device->holds[hold];
	pthread_mutex_unlock(&mutex);
	return count;
}
