/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the opencl backend makes of what a device says of itself. PoCL is made
 * to say it by the layer: that it is a GPU with memory of its own, that it has
 * unified shared memory, who it is and how much is free.
 */
#include "layered.h"
#include <gpumem/backend.h>

enum {
	MAX_MEM_ALLOC_SIZE = 0x1010,
	MEM_BASE_ADDR_ALIGN = 0x1019,
	GLOBAL_MEM_SIZE = 0x101F,
	EXTENSIONS = 0x1030,
	HOST_UNIFIED_MEMORY = 0x1035,
	SVM_CAPABILITIES = 0x1053,
	UUID_KHR = 0x106A,
	NV_PCI_BUS = 0x4008,
	NV_PCI_SLOT = 0x4009,
	NV_PCI_DOMAIN = 0x400A,
	TOPOLOGY_AMD = 0x4037,
	FREE_MEMORY_AMD = 0x4039,
	PCI_BUS_INFO_KHR = 0x410F,
	DEVICE_MEM_INTEL = 0x4191,
};

enum { COARSE = 1, FINE = 2 };

#define USM "cl_intel_unified_shared_memory"

static const struct gpumem_backend *table;
static int adopted;

static struct gpumem_device_info described(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	must(table->device_info(adopted, &info));
	return info;
}

static void is_buffer(bool buffer, bool noted, const char *what)
{
	struct gpumem_device_info info = described();

	is_int((info.caps & GPUMEM_CAP_OBJECTS) != 0, buffer, "%s: %s", what,
	       buffer ? "objects" : "pointers");
	is_int(strstr(info.note, "shadow") != NULL, noted, "%s", info.note);
}

static void test_svm(void)
{
	lie_u32(HOST_UNIFIED_MEMORY, 0);
	lie_u64(SVM_CAPABILITIES, COARSE);
	is_buffer(true, true, "coarse SVM, two memories");
	option("opencl.memory", "svm");
	is_buffer(false, false, "the same, asked for");
	option("opencl.memory", "buffer");
	is_buffer(true, false, "buffers asked for");
	option("opencl.memory", NULL);
	lie_u64(SVM_CAPABILITIES, COARSE | FINE);
	is_buffer(false, false, "fine SVM, two memories");
	lie_u64(SVM_CAPABILITIES, 0);
	is_buffer(true, false, "no SVM, two memories");
	lie("clGetDeviceInfo", SVM_CAPABILITIES, NULL, 0);
	is_buffer(true, false, "nothing said of SVM");
	lie_u32(HOST_UNIFIED_MEMORY, 1);
	lie_u64(SVM_CAPABILITIES, COARSE);
	is_buffer(false, false, "coarse SVM, one memory");
	cl.fakecl_be_honest();
}

/* Alignments above 128 are refused by the layer. */
static void test_memory(const char *what, bool usm)
{
	const char *const functions =
		"clGetExtensionFunctionAddressForPlatform";
	uint64_t calls = cl.fakecl_calls(functions), address[8];
	unsigned char from[1000], to[1000] = {0};
	void *opened = NULL;

	must(table->device_open(adopted, &opened));
	is_int(cl.fakecl_calls(functions) - calls == 4, usm,
	       "%s: by functions of an extension or not", what);
	memset(from, 3, sizeof(from));
	for (int i = 0; i < 8; i++) {
		must(table->alloc(opened, 64 * KIB, &address[i]));
		ok(address[i] % 256 == 0, "it is aligned");
	}
	must(table->fill(opened, address[0], 9, 1000, NULL));
	must(table->copy(opened, address[1], address[0], 1000, NULL));
	must(table->copy(opened, address[1] + 500, (uintptr_t)from, 10, NULL));
	must(table->copy(opened, (uintptr_t)to, address[1], 1000, NULL));
	must(table->stream_sync(opened, NULL));
	ok(to[0] == 9 && to[499] == 9 && to[500] == 3 && to[509] == 3 &&
		   to[510] == 9 && to[999] == 9,
	   "it is filled and copied");
	for (int i = 0; i < 8; i++)
		must(table->free(opened, address[i], 64 * KIB));
	table->device_close(opened);
}

static void test_usm(void)
{
	struct fakecl_held before;
	void *opened = NULL;

	cl.fakecl_audit(&before);
	option("opencl.memory", "svm");
	test_memory("SVM", false);
	option("opencl.memory", NULL);
	lie_u32(HOST_UNIFIED_MEMORY, 0);
	lie_u64(SVM_CAPABILITIES, COARSE);
	test_memory("buffers", false);
	lie_text(EXTENSIONS, "cl_a " USM);
	is_buffer(true, true, "USM that no memory of the device has");
	lie_u64(DEVICE_MEM_INTEL, 1);
	is_buffer(false, false, "USM");
	test_memory("USM", true);
	lie_u64(SVM_CAPABILITIES, COARSE | FINE);
	test_memory("USM before SVM", true);
	if (!cl.fakecl_fault("clGetExtensionFunctionAddressForPlatform", 3,
			     false, -1))
		bail("the layer has no such function");
	is_status(table->device_open(adopted, &opened), GPUMEM_UNSUPPORTED,
		  "USM without its functions");
	is_int(left(&before), 0, "nothing is left");
	cl.fakecl_heal();
	lie_text(EXTENSIONS, USM "_2 x" USM);
	test_memory("other words", false);
	cl.fakecl_be_honest();
}

static void test_identity(void)
{
	static const unsigned char uuid[16] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0,
					       0,    0,	   0,	 0,    0,    0,
					       0,    0,	   0,	 0xff};
	static const uint32_t pci[4] = {1, 0x65, 2, 3};
	unsigned char topology[24] = {1};

	is_str(described().uuid, "", "no UUID of a device that has none");
	is_str(described().pci, "", "nor a place");
	lie("clGetDeviceInfo", UUID_KHR, uuid, sizeof(uuid));
	lie("clGetDeviceInfo", PCI_BUS_INFO_KHR, pci, sizeof(pci));
	is_str(described().uuid, "", "not asked where no extension has it");
	is_str(described().pci, "", "nor the place");
	lie_text(EXTENSIONS, "cl_khr_device_uuid cl_khr_pci_bus_info");
	is_str(described().uuid, "12345678-9a00-0000-0000-0000000000ff",
	       "the UUID");
	is_str(described().pci, "0001:65:02.3", "the place");
	must(gpumem_device_open("opencl:0", &device));
	must(gpumem_device_close(device));
	lie_text(EXTENSIONS, "cl_nv_device_attribute_query");
	lie_u32(NV_PCI_BUS, 0x17);
	lie_u32(NV_PCI_SLOT, 0x21);
	is_str(described().pci, "0000:17:04.1", "NVIDIA's, of old");
	lie_u32(NV_PCI_DOMAIN, 5);
	is_str(described().pci, "0005:17:04.1", "NVIDIA's");
	topology[21] = 0xc1;
	topology[22] = 6;
	topology[23] = 7;
	lie_text(EXTENSIONS, "cl_amd_device_attribute_query");
	lie("clGetDeviceInfo", TOPOLOGY_AMD, topology, sizeof(topology));
	is_str(described().pci, "0000:c1:06.7", "AMD's");
	cl.fakecl_be_honest();
}

static void test_free_memory(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	size_t told_kib[2] = {1024, 512};
	void *opened = NULL;
	uint64_t total;

	is_uint(described().caps & GPUMEM_CAP_MEMORY_INFO, 0,
		"the device does not say what is free");
	lie_text(EXTENSIONS, "cl_amd_device_attribute_query");
	lie("clGetDeviceInfo", FREE_MEMORY_AMD, told_kib, sizeof(told_kib));
	total = described().total_bytes;
	ok(described().caps & GPUMEM_CAP_MEMORY_INFO, "now it does");
	must(table->device_open(adopted, &opened));
	must(table->memory_info(opened, &memory));
	is_uint(memory.free_bytes, MIB, "and so much is free");
	is_uint(memory.total_bytes, total, "of all");
	told_kib[0] = (size_t)1 << 40;
	lie("clGetDeviceInfo", FREE_MEMORY_AMD, told_kib, sizeof(told_kib));
	must(table->memory_info(opened, &memory));
	is_uint(memory.free_bytes, total, "but not more than there is");
	table->device_close(opened);
	cl.fakecl_be_honest();
}

/* Implementations refuse a view that begins elsewhere, or move it. */
static void test_alignment(void)
{
	uint64_t offset = 1, wrong = 0;
	void *ptr[50], *object, *view;
	gpumem_pool *pool;

	option("opencl.memory", "buffer");
	lie_u32(MEM_BASE_ADDR_ALIGN, 4096 * 8);
	is_uint(described().alignment_bytes, 4096, "a view's alignment");
	must(gpumem_device_adopt("opencl", context, native, &device));
	pool = new_pool(0);
	for (int i = 0; i < 50; i++) {
		ptr[i] = new_block(pool, 1 + (size_t)i * 97, queue[0]);
		must(gpumem_object(ptr[i], &object, &offset));
		wrong += offset % 4096 != 0;
		wrong += gpumem_view(ptr[i], &view) != GPUMEM_OK;
	}
	is_uint(wrong, 0, "is that of all blocks");
	for (int i = 0; i < 50; i++)
		must(gpumem_free(ptr[i], queue[0]));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
	option("opencl.memory", NULL);
	cl.fakecl_be_honest();
}

int main(void)
{
	alarm(300);
	layered_start();
	must(gpumem_backend_table("opencl", &table));
	must(table->device_adopt(context, native, &adopted));
	test_svm();
	test_usm();
	test_identity();
	test_free_memory();
	test_alignment();
	return done_testing();
}
