/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * cuGetProcAddress(): of a name without suffix the newest ABI that the version
 * asked for has, and with the flag for it that of the default stream of each
 * thread. NVIDIA's types say of which version and default stream an ABI is.
 * What is not found is an error only where there is no place for a status
 * (seen).
 */
#include "cuda_fake.h"

#include <stdlib.h>

enum { FOUND, NO_SYMBOL, TOO_OLD }; /* CUdriverProcAddressQueryResult */
enum { PER_THREAD = 2 };

static const struct entry {
	const char *type;
	void (*function)(void);
} entries[] = {
#define ENTRY(name, type, age) {#type, (void (*)(void))name},
	FAKE_SYMBOLS(ENTRY)
#undef ENTRY
};

/* "PFN_cuMemAllocAsync_v11020_ptsz" is of cuMemAllocAsync, 11020, PER_THREAD.
 * 0: of another name. */
static int version_of(const struct entry *entry, const char *symbol,
		      bool *per_thread_out)
{
	const char *base = entry->type + strlen("PFN_");
	size_t length = strlen(symbol);
	char *end;
	long version;

	if (strncmp(base, symbol, length) || strncmp(base + length, "_v", 2))
		return 0;
	version = strtol(base + length + 2, &end, 10);
	*per_thread_out = !strcmp(end, "_ptsz");
	return (int)version;
}

static int resolve(const char *symbol, void **pfn, int version,
		   cuuint64_t flags)
{
	bool per_thread, best_per_thread = false, known = false;
	int best = 0;

	*pfn = NULL;
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		int has = version_of(&entries[i], symbol, &per_thread);

		known = known || has;
		if (!has || has > version ||
		    (per_thread && flags != PER_THREAD) || has < best ||
		    (has == best && best_per_thread))
			continue;
		best = has;
		best_per_thread = per_thread;
		memcpy(pfn, &entries[i].function, sizeof(*pfn));
	}
	return best ? FOUND : known ? TOO_OLD : NO_SYMBOL;
}

static CUresult get(const char *symbol, void **pfn, int version,
		    cuuint64_t flags, int *status_out)
{
	int status;

	if (!symbol || !pfn || flags > PER_THREAD)
		return CUDA_ERROR_INVALID_VALUE;
	status = resolve(symbol, pfn, version, flags);
	if (status_out)
		*status_out = status;
	return status == FOUND || status_out ? CUDA_SUCCESS
					     : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version,
			  cuuint64_t flags)
{
	FAKE_CALL(cuGetProcAddress, get(symbol, pfn, version, flags, NULL));
}

#if CUDA_VERSION < 12000
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			     cuuint64_t flags, int *status_out)
{
	FAKE_CALL(cuGetProcAddress_v2,
		  get(symbol, pfn, version, flags, status_out));
}
#else
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status_out)
{
	int status = NO_SYMBOL;
	CUresult result;

	result = fake_enter(FAKE_cuGetProcAddress_v2);
	if (result == CUDA_SUCCESS)
		result = get(symbol, pfn, version, flags, &status);
	if (status_out)
		*status_out = (CUdriverProcAddressQueryResult)status;
	return fake_leave(result);
}
#endif
