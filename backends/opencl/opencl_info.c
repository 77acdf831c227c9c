/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device described, without a context. Keeps nothing; no locks.
 */
#include "opencl_plugin.h"

#include <stdio.h>
#include <string.h>

/* As NVIDIA's header has them, which Khronos' has not. */
#define NV_PCI_BUS_ID 0x4008
#define NV_PCI_SLOT_ID 0x4009
#define NV_PCI_DOMAIN_ID 0x400A

#define PCIE_AMD 1

/* What AMD answers to CL_DEVICE_TOPOLOGY_AMD, of that type: Khronos' headers
 * have the question only. */
struct topology {
	cl_uint type;
	cl_uchar unused[17], bus, device, function;
};
_Static_assert(sizeof(struct topology) == 24, "as AMD has it");

static void read_uuid(const struct opencl_unit *unit, char *text, size_t bytes)
{
	cl_uchar uuid[CL_UUID_SIZE_KHR] = {0};
	size_t i, used = 0;

	if (!gm_opencl_extends(unit, "cl_khr_device_uuid") ||
	    !gm_opencl_ask(unit, CL_DEVICE_UUID_KHR, uuid, sizeof(uuid)))
		return;
	for (i = 0; i < sizeof(uuid); i++)
		used += (size_t)snprintf(
			text + used, bytes - used, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			uuid[i]);
}

static bool read_khr(const struct opencl_unit *unit,
		     cl_device_pci_bus_info_khr *pci)
{
	return gm_opencl_extends(unit, "cl_khr_pci_bus_info") &&
	       gm_opencl_ask(unit, CL_DEVICE_PCI_BUS_INFO_KHR, pci,
			     sizeof(*pci));
}

/* Older drivers do not know of domains. */
static bool read_nv(const struct opencl_unit *unit,
		    cl_device_pci_bus_info_khr *pci)
{
	cl_uint slot = 0;

	if (!gm_opencl_extends(unit, "cl_nv_device_attribute_query") ||
	    !gm_opencl_ask(unit, NV_PCI_BUS_ID, &pci->pci_bus,
			   sizeof(pci->pci_bus)) ||
	    !gm_opencl_ask(unit, NV_PCI_SLOT_ID, &slot, sizeof(slot)))
		return false;
	if (!gm_opencl_ask(unit, NV_PCI_DOMAIN_ID, &pci->pci_domain,
			   sizeof(pci->pci_domain)))
		pci->pci_domain = 0;
	pci->pci_device = slot >> 3;
	pci->pci_function = slot & 7;
	return true;
}

static bool read_amd(const struct opencl_unit *unit,
		     cl_device_pci_bus_info_khr *pci)
{
	struct topology topology = {0};

	if (!gm_opencl_extends(unit, "cl_amd_device_attribute_query") ||
	    !gm_opencl_ask(unit, CL_DEVICE_TOPOLOGY_AMD, &topology,
			   sizeof(topology)) ||
	    topology.type != PCIE_AMD)
		return false;
	pci->pci_bus = topology.bus;
	pci->pci_device = topology.device;
	pci->pci_function = topology.function;
	return true;
}

static void read_pci(const struct opencl_unit *unit, char *text, size_t bytes)
{
	cl_device_pci_bus_info_khr pci = {0};

	if (read_khr(unit, &pci) || read_nv(unit, &pci) || read_amd(unit, &pci))
		snprintf(text, bytes, "%04x:%02x:%02x.%x",
			 pci.pci_domain & 0xffff, pci.pci_bus & 0xff,
			 pci.pci_device & 0x1f, pci.pci_function & 7);
}

/* Two platforms may have the same device. */
static void read_product(const struct opencl_unit *unit, char *text,
			 size_t bytes)
{
	char name[256] = "";

	if (!gm_opencl_ask(unit, CL_DEVICE_NAME, name, sizeof(name) - 1))
		snprintf(name, sizeof(name), "unnamed device");
	snprintf(text, bytes, "%.*s, %.30s", (int)bytes - 33, name,
		 unit->platform_name);
}

static void read_note(const struct opencl_traits *traits, char *text,
		      size_t bytes)
{
	if (traits->shadowed_svm)
		snprintf(text, bytes,
			 "blocks are cl_mem objects: SVM here would have a "
			 "shadow in host memory; option opencl.memory:svm "
			 "takes it");
}

/* Claimed where it was seen: how much larger an untouched block of 512 MiB
 * makes the process. PoCL 1.2 to 3.1 and Clover 22.3: not at all, of either
 * kind; rusticl 22.3 and oclgrind 21.10: 512 MiB. To a GPU alloc moves the
 * memory, as far as the implementation does what it is asked. */
static bool commits_late(const struct opencl_unit *unit)
{
	return unit->cpu &&
	       (strcmp(unit->platform_name, "Portable Computing Language") ==
			0 ||
		strcmp(unit->platform_name, "Clover") == 0);
}

static uint32_t caps_of(const struct opencl_unit *unit,
			const struct opencl_traits *traits)
{
	bool buffer = traits->memory == OPENCL_BUFFER;

	return GPUMEM_CAP_STREAMS | GPUMEM_CAP_COPY |
	       (commits_late(unit) ? GPUMEM_CAP_LATE_COMMIT : 0) |
	       (traits->tells_free ? GPUMEM_CAP_MEMORY_INFO : 0) |
	       (buffer ? GPUMEM_CAP_OBJECTS : 0) |
	       (unit->cpu ? GPUMEM_CAP_CPU : 0);
}

gpumem_status gm_opencl_device_info(int index, struct gpumem_device_info *info)
{
	struct gpumem_device_info found = {.size = info->size};
	struct opencl_traits traits;
	struct opencl_place place;
	gpumem_status status;

	status = gm_opencl_place(index, &place);
	if (status == GPUMEM_OK)
		status = gm_opencl_read_traits(place.unit, &traits);
	if (status != GPUMEM_OK)
		return status;
	read_product(place.unit, found.product, sizeof(found.product));
	read_uuid(place.unit, found.uuid, sizeof(found.uuid));
	read_pci(place.unit, found.pci, sizeof(found.pci));
	read_note(&traits, found.note, sizeof(found.note));
	found.total_bytes = traits.capacity_bytes;
	found.granularity_bytes = OPENCL_GRANULARITY_BYTES;
	found.alignment_bytes = traits.alignment_bytes;
	found.max_alloc_bytes = traits.max_alloc_bytes;
	found.caps = caps_of(place.unit, &traits);
	memcpy(info, &found,
	       found.size < sizeof(found) ? found.size : sizeof(found));
	return GPUMEM_OK;
}
