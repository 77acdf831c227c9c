/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of the host backend share: the services that the core would
 * give it, options held in a small array, and a kernel that waits to be let go.
 * Options are set by the main thread while no other uses the backend; errors
 * are each thread's own.
 */
#ifndef HOST_FAKE_H
#define HOST_FAKE_H

#include "../../tap.h"
#include <gpumem/backend.h>
#include <gpumem/host.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define FAKE_USE __attribute__((unused)) static
#define PAGE (UINT64_C(2) << 20)

extern const struct gpumem_backend gm_host_backend;
static const struct gpumem_backend *const host = &gm_host_backend;

static struct {
	const char *key;
	char value[512];
} fake_options[32];

/* What the backend said last in this thread. */
static _Thread_local struct {
	int64_t code;
	char name[64];
	char text[1024];
	unsigned count;
} fake_error;

__attribute__((format(printf, 2, 3))) static void
fake_log(gpumem_log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

__attribute__((format(printf, 3, 4))) static void
fake_fail(int64_t code, const char *name, const char *format, ...)
{
	va_list args;

	fake_error.code = code;
	fake_error.count++;
	snprintf(fake_error.name, sizeof(fake_error.name), "%s", name);
	va_start(args, format);
	vsnprintf(fake_error.text, sizeof(fake_error.text), format, args);
	va_end(args);
}

/* Sets an option that the backend declares; NULL: back to its default. */
static void option(const char *key, const char *value)
{
	const struct gpumem_option_row *row = gm_host_backend.options;
	size_t i = 0;

	while (row->key && strcmp(row->key, key) != 0)
		row++;
	if (!row->key)
		bail("the backend has no option %s", key);
	while (fake_options[i].key && strcmp(fake_options[i].key, key) != 0)
		i++;
	fake_options[i].key = row->key;
	snprintf(fake_options[i].value, sizeof(fake_options[i].value), "%s",
		 value ? value : row->default_value);
}

static bool fake_option(const char *key, char *value_out, size_t bytes)
{
	for (size_t i = 0; fake_options[i].key; i++) {
		if (strcmp(fake_options[i].key, key) == 0) {
			snprintf(value_out, bytes, "%s", fake_options[i].value);
			return true;
		}
	}
	return false;
}

static const struct gpumem_services fake_services = {
	.abi = GPUMEM_BACKEND_ABI,
	.size = sizeof(struct gpumem_services),
	.log = fake_log,
	.error = fake_fail,
	.option = fake_option,
};

/* All options as declared. A stuck test dies. */
FAKE_USE void fake_start(void)
{
	const struct gpumem_option_row *row = gm_host_backend.options;

	alarm(300);
	for (; row->key; row++)
		option(row->key, NULL);
	if (gm_host_backend.init(&fake_services) != GPUMEM_OK)
		bail("init: %s", fake_error.text);
}

FAKE_USE void *open_device(int index)
{
	void *device = NULL;

	if (gm_host_backend.device_open(index, &device) != GPUMEM_OK)
		bail("device_open: %s", fake_error.text);
	return device;
}

FAKE_USE gpumem_stream new_stream(void *device)
{
	gpumem_stream stream = NULL;

	if (gm_host_backend.stream_create(device, &stream) != GPUMEM_OK)
		bail("stream_create: %s", fake_error.text);
	return stream;
}

FAKE_USE void *new_event(void *device)
{
	void *event = NULL;

	if (gm_host_backend.event_create(device, &event) != GPUMEM_OK)
		bail("event_create: %s", fake_error.text);
	return event;
}

/* A kernel that begins, then waits until it is let go. */
struct door {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool begun, open;
};

#define DOOR                                                                   \
	{                                                                      \
		.mutex = PTHREAD_MUTEX_INITIALIZER,                            \
		.cond = PTHREAD_COND_INITIALIZER,                              \
	}

FAKE_USE void door_kernel(void *arg)
{
	struct door *door = arg;

	pthread_mutex_lock(&door->mutex);
	door->begun = true;
	pthread_cond_broadcast(&door->cond);
	while (!door->open)
		pthread_cond_wait(&door->cond, &door->mutex);
	pthread_mutex_unlock(&door->mutex);
}

FAKE_USE void door_await(struct door *door)
{
	pthread_mutex_lock(&door->mutex);
	while (!door->begun)
		pthread_cond_wait(&door->cond, &door->mutex);
	pthread_mutex_unlock(&door->mutex);
}

FAKE_USE void door_open(struct door *door)
{
	pthread_mutex_lock(&door->mutex);
	door->open = true;
	pthread_cond_broadcast(&door->cond);
	pthread_mutex_unlock(&door->mutex);
}

FAKE_USE void must_launch(int index, gpumem_stream stream, void (*fn)(void *),
			  void *arg)
{
	if (gpumem_host_launch(index, stream, fn, arg) != GPUMEM_OK)
		bail("gpumem_host_launch: %s", fake_error.text);
}

#endif
