/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The calling thread's last error: the only place where sentences for people
 * are kept. It has nothing to do with devices. Thread-local: no locks.
 */
#ifndef GM_BASE_ERROR_H
#define GM_BASE_ERROR_H

#include <gpumem/backend.h>

/* Records status with its sentence (no driver involved) and returns it, so
 * that failing reads `return gm_fail(GPUMEM_INVALID, "...")`. The sentence
 * begins in lower case and has no full stop. */
gpumem_status gm_fail(gpumem_status status, const char *format, ...)
	GPUMEM_PRINTF(2, 3);

/* The same for a refusal that is no surprise, and has to be cheap: the sentence
 * is constant, and copied when it is asked for. */
gpumem_status gm_refuse(gpumem_status status, const char *text);

/* What a plugin says through services->error: kept until gm_fail_native()
 * of the same thread takes it. */
void gm_native_error(int64_t code, const char *name, const char *format, ...)
	GPUMEM_PRINTF(3, 4);

/* Forgets what gm_native_error() kept; called before each driver call. */
void gm_native_clear(void);

/* Records a failure of `where` ("cuda:0: map") with what the plugin said:
 * "WHERE: TEXT (NAME, CODE)", and returns status. */
gpumem_status gm_fail_native(gpumem_status status, const char *backend,
			     const char *where);

/* Puts "CONTEXT: " before the sentence of the last error; keeps the rest. */
void gm_error_context(const char *format, ...) GPUMEM_PRINTF(1, 2);

void gm_error_get(struct gpumem_error *error_out);
/* Its text, in place: until the thread fails again, gm_error_set() or end. */
const char *gm_error_text(void);

/* Copies back an error saved by gm_error_get(), so that cleaning up does not
 * hide the cause. */
void gm_error_set(const struct gpumem_error *error);

/* The first failure of several things that are all to be done. */
struct gm_first {
	gpumem_status status;
	struct gpumem_error error;
};

/* Remembers a failure, with its sentence, if it is the first. */
void gm_first_keep(struct gm_first *first, gpumem_status status);
/* Its status, and its sentence is the thread's last again; or OK. */
gpumem_status gm_first_end(const struct gm_first *first);

#endif
