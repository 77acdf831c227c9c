/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem-probe --list: one line for each device, as `nvidia-smi -L` has them.
 * It is never broken, so that other programs can read it.
 */
#include "probe.h"

#include "common/clean.h"
#include "common/human.h"
#include "common/tool.h"

#include <stdlib.h>

static bool print_line(const struct gpumem_device_info *info)
{
	char *product = clean_copy(info->product),
	     *uuid = clean_copy(info->uuid);
	char *pci = clean_copy(info->pci), bytes[HUMAN_BYTES];
	bool ok = product && uuid && pci;

	if (ok)
		printf("%s: %s, %s (UUID %s%s%s)\n", info->name, product,
		       human_bytes(bytes, info->total_bytes),
		       *uuid ? uuid : "unknown", *pci ? ", PCI " : "", pci);
	free(product);
	free(uuid);
	free(pci);
	return ok;
}

bool probe_print_list(const struct probe *probe)
{
	bool ok = true;

	for (int i = 0; i < probe->backend_count; i++) {
		const struct probe_backend *backend = &probe->backends[i];

		for (int j = 0; j < backend->device_count && ok; j++)
			ok = print_line(&backend->devices[j].info);
	}
	if (!ok)
		tool_error("out of memory");
	return ok;
}
