/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Names of devices, one handle for each, and what backends may say of them. */
#include "base/error.h"
#include "device/device.h"
#include "loader/loader.h"
#include "../../tap.h"
#include "../loader/fake.h"
#include <unistd.h>

#define THREADS 4
#define ROUNDS 500

static const char *last_text(void)
{
	static struct gpumem_error error;

	error.size = sizeof(error);
	gm_error_get(&error);
	return error.text;
}

static void opens(const char *name, int index)
{
	struct gpumem_device *device = NULL;

	if (!is_status(gm_device_open(name, &device), GPUMEM_OK, "\"%s\"",
		       name)) {
		diag("%s", last_text());
		return;
	}
	is_int(device->index, index, "is device %d", index);
	ok(gm_device_release(device), "and can be closed");
}

static void refuses(const char *name, gpumem_status status)
{
	struct gpumem_device *device = NULL;

	is_status(gm_device_open(name, &device), status, "refused: \"%s\"",
		  name ? name : "NULL");
	is_ptr(device, NULL, "output left alone");
}

static void test_names(void)
{
	static const char *const invalid[] = {
		"",
		":",
		":0",
		"fake:",
		"fake:x",
		"fake:-1",
		"fake:+1",
		"fake: 1",
		"fake:1 ",
		"fake:0x1",
		"fake:0:1",
		"fake:1234567",
		"fake:99999999999999999999",
		"a-name-that-is-too-long:0",
		"fake:0123abcd-0000-0000-0000-0000000000",
		"fake:0000:3b:00.8",
		"fake:0000:3b:00",
		"fake:0000-3b:00.0",
		"fake:000g:3b:00.0",
		"fake:3b:00.0",
	};
	size_t i;

	opens("fake", 0);
	opens("fake:0", 0);
	opens("fake:1", 1);
	opens("fake:01", 1);
	opens("fake:0123abcd-0000-0000-0000-000000000001", 1);
	opens("fake:0123ABCD-0000-0000-0000-000000000001", 1);
	opens("fake:0000:3b:00.1", 1);
	opens("fake:0000:3B:00.0", 0);
	opens("fake:GPU-0123abcd-0000-0000-0000-000000000000", 0);
	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		refuses(invalid[i], GPUMEM_INVALID);
	refuses("fake:2", GPUMEM_NO_DEVICE);
	is_str(last_text(), "fake:2: there are 2 devices, fake:0 to fake:1",
	       "says how many there are");
	refuses("fake:999999", GPUMEM_NO_DEVICE);
	refuses("fake:0123abcd-0000-0000-0000-000000000007", GPUMEM_NO_DEVICE);
	is_str(last_text(),
	       "fake has no device with the UUID "
	       "0123abcd-0000-0000-0000-000000000007",
	       "says which");
	refuses("fake:0000:3b:00.7", GPUMEM_NO_DEVICE);
	is_str(last_text(),
	       "fake has no device with the PCI place 0000:3b:00.7",
	       "says which");
	refuses("nowhere:0", GPUMEM_NOT_FOUND);
	refuses("Fake:0", GPUMEM_NOT_FOUND);
	refuses("../fake:0", GPUMEM_NOT_FOUND);
}

static void test_handles(void)
{
	struct gpumem_device *one, *same, *other;
	int opened = fake.opened, closed = fake.closed;

	is_status(gm_device_open("fake:0", &one), GPUMEM_OK, "open");
	is_status(gm_device_open("fake", &same), GPUMEM_OK, "open again");
	is_status(gm_device_open("fake:1", &other), GPUMEM_OK, "another");
	is_ptr(one, same, "the same device is the same handle");
	ok(one != other, "another is not");
	is_int(fake.opened, opened + 2, "each is opened once");
	gm_device_hold(one, GM_HOLD_POOL);
	gm_device_hold(one, GM_HOLD_IMPORT);
	is_int(gm_device_holds(one, GM_HOLD_POOL), 1, "a pool's hold");
	ok(gm_device_release_other(one), "of two opens one goes");
	ok(!gm_device_release_other(one), "and the last does not so");
	ok(!gm_device_release(one), "held, it stays without an open");
	gm_device_drop(one, GM_HOLD_POOL);
	is_int(gm_device_holds(one, GM_HOLD_POOL), 0, "no pool is left");
	is_int(fake.closed, closed, "nothing is closed yet");
	gm_device_drop(one, GM_HOLD_IMPORT);
	is_int(fake.closed, closed + 1, "the last hold closes the device");
	ok(gm_device_release(other), "and the other");
	is_status(gm_device_open("fake:0", &one), GPUMEM_OK, "open anew");
	is_int(fake.opened, opened + 3, "really");
	ok(one->pools.next == &one->pools && one->pools.prev == &one->pools,
	   "no pools yet");
	ok(!one->lost && !one->reserved_bytes && !one->default_pool, "clean");
	gm_device_release(one);
}

static void test_info(void)
{
	const uint32_t known = 0
#define CAP_BIT(name, bit, word, text) | 1u << (bit)
		GPUMEM_CAP_LIST(CAP_BIT)
#undef CAP_BIT
		;
	struct gpumem_device *device;
	const uint32_t said = fake.caps;

	fake.caps = UINT32_MAX;
	is_status(gm_device_open("fake:1", &device), GPUMEM_OK, "open");
	fake.caps = said;
	is_str(device->info.name, "fake:1", "name");
	is_uint(device->info.size, sizeof(device->info), "size");
	is_uint(strlen(device->info.product), sizeof(device->info.product) - 1,
		"a product that was not ended is");
	is_uint(device->info.alignment_bytes, 512,
		"alignment is the backend's");
	ok(gm_device_has(device, GPUMEM_CAP_VM) &&
		   gm_device_has(device, GPUMEM_CAP_STREAMS) &&
		   gm_device_has(device, GPUMEM_CAP_COPY) &&
		   gm_device_has(device, GPUMEM_CAP_CAPTURE),
	   "groups that are there");
	is_uint(device->info.caps, known, "bits that nobody knows are dropped");
	gm_device_release(device);
	fake.alignment_bytes = 16;
	is_status(gm_device_open("fake:1", &device), GPUMEM_OK, "open");
	is_uint(device->info.alignment_bytes, 256, "256 at least is promised");
	gm_device_release(device);
	fake.alignment_bytes = 512;
}

#define MENDED                                                                 \
	": look at the plugin's options (gpumem-probe --options), or have it " \
	"mended"

/* What a backend may not claim of a device, one number at a time. */
static void test_claims(void)
{
	static const struct {
		uint64_t *number, value;
		const char *text;
	} claims[] = {
		{&fake.granularity_bytes, 0,
		 "granularity of 0 bytes is no power of two"},
		{&fake.granularity_bytes, 3 << 20,
		 "granularity of 3145728 bytes is no power of two"},
		{&fake.granularity_bytes, 1ull << 40,
		 "granularity of 1099511627776 bytes is more than 4 GiB"},
		{&fake.granularity_bytes, 1ull << 63,
		 "granularity of 9223372036854775808 bytes is more than 4 GiB"},
		{&fake.granularity_bytes, 1ull << 31,
		 "memory of 1073741824 bytes is less than one granule"},
		{&fake.alignment_bytes, 0,
		 "alignment of 0 bytes is no power of two"},
		{&fake.alignment_bytes, UINT64_MAX,
		 "alignment of 18446744073709551615 bytes is no power of two"},
		{&fake.total_bytes, 0, "memory is 0 bytes"},
		{&fake.total_bytes, 4095,
		 "memory of 4095 bytes is less than one granule"},
		{&fake.total_bytes, (1ull << 48) + 1,
		 "memory of 281474976710657 bytes is more than addresses of 48 "
		 "bits reach"},
		{&fake.total_bytes, UINT64_MAX,
		 "memory of 18446744073709551615 bytes is more than addresses "
		 "of 48 bits reach"},
		{&fake.max_alloc_bytes, 0, "largest allocation is 0 bytes"},
		{&fake.max_alloc_bytes, UINT64_MAX,
		 "largest allocation of 18446744073709551615 bytes is more "
		 "than addresses of 48 bits reach"},
	};

	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		uint64_t before = *claims[i].number;
		char text[512];

		*claims[i].number = claims[i].value;
		refuses("fake:0", GPUMEM_DRIVER);
		snprintf(text, sizeof(text), "fake:0: its %s" MENDED,
			 claims[i].text);
		is_str(last_text(), text, "says so");
		*claims[i].number = before;
	}
	opens("fake:0", 0);
}

static void test_insane(void)
{
	fake.info_status = GPUMEM_LOST;
	refuses("fake:0", GPUMEM_LOST);
	is_str(last_text(), "fake:0: the device was lost", "its own status");
	fake.info_status = (gpumem_status)99;
	refuses("fake:0", GPUMEM_DRIVER);
	fake.info_status = GPUMEM_OK;
	fake.open_status = GPUMEM_NO_MEMORY;
	refuses("fake:0", GPUMEM_NO_MEMORY);
	is_str(last_text(), "fake:0: device out of memory", "of device_open");
	fake.open_status = (gpumem_status)99;
	refuses("fake:0", GPUMEM_DRIVER);
	fake.open_status = GPUMEM_OK;
	opens("fake:0", 0);
}

/* The same backend without any group: the device can do none of them. */
static void test_no_groups(void)
{
	static struct gpumem_backend bare;
	struct gpumem_device *device;

	bare = fake_table;
	bare.name = "bare";
	bare.size = offsetof(struct gpumem_backend, stream_create);
	is_status(gm_backend_register(&bare), GPUMEM_OK, "register");
	is_status(gm_device_open("bare", &device), GPUMEM_OK, "open");
	ok(!gm_device_has(device, GPUMEM_CAP_VM) &&
		   !gm_device_has(device, GPUMEM_CAP_STREAMS) &&
		   !gm_device_has(device, GPUMEM_CAP_COPY) &&
		   !gm_device_has(device, GPUMEM_CAP_CAPTURE) &&
		   !gm_device_has(device, GPUMEM_CAP_SHARE_IPC) &&
		   !gm_device_has(device, GPUMEM_CAP_SHARE_FD) &&
		   !gm_device_has(device, GPUMEM_CAP_OBJECTS),
	   "whatever it says");
	ok(gm_device_has(device, GPUMEM_CAP_MEMORY_INFO), "facts stay");
	ok(!device->ops->stream_create && !device->ops->capture_id &&
		   !device->ops->page_import,
	   "slots beyond its size are NULL");
	gm_device_release(device);
}

static int visits;
static char visited[16][32];

static bool keep(const struct gpumem_device_info *info, void *user)
{
	int *enough = user;

	if (visits < 16)
		memcpy(visited[visits], info->name, sizeof(visited[0]));
	return ++visits != *enough;
}

static void test_visit(void)
{
	int all = -1, one = 1, opened = fake.opened;

	is_status(gm_device_visit("fake", keep, &all), GPUMEM_OK, "visit");
	is_int(visits, 2, "both devices");
	is_str(visited[0], "fake:0", "first");
	is_str(visited[1], "fake:1", "second");
	visits = 0;
	is_status(gm_device_visit("fake", keep, &one), GPUMEM_OK, "visit");
	is_int(visits, 1, "until the visitor has enough");
	visits = 0;
	is_status(gm_device_visit(NULL, keep, &one), GPUMEM_OK, "of all");
	is_int(visits, 1, "likewise");
	visits = 0;
	is_status(gm_device_visit(NULL, keep, &all), GPUMEM_OK, "of all");
	ok(visits >= 5, "fake, bare and host");
	is_str(visited[visits - 1 < 15 ? visits - 1 : 15], "host:0",
	       "host comes last");
	visits = 0;
	is_status(gm_device_visit("nowhere", keep, &all), GPUMEM_NOT_FOUND,
		  "no such backend");
	fake.info_status = GPUMEM_DRIVER;
	is_status(gm_device_visit("fake", keep, &all), GPUMEM_DRIVER,
		  "of one backend, a failure is told");
	is_int(visits, 0, "and nothing shown");
	gm_fail(GPUMEM_BUSY, "before");
	is_status(gm_device_visit(NULL, keep, &all), GPUMEM_OK,
		  "of all, it is passed over");
	is_str(last_text(), "before", "and no failure");
	ok(visits >= 1, "and the rest shown");
	fake.info_status = GPUMEM_OK;
	is_int(fake.opened, opened, "a visit opens nothing");
}

static void *open_and_close(void *user)
{
	struct gpumem_device *device;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (gm_device_open(i % 2 ? "fake:0" : "fake:1", &device) !=
		    GPUMEM_OK)
			return user;
		gm_device_release(device);
	}
	return NULL;
}

static void test_threads(void)
{
	void *failed, *any = NULL;
	pthread_t ids[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, open_and_close, ids);
	for (i = 0; i < THREADS; i++) {
		pthread_join(ids[i], &failed);
		any = failed ? failed : any;
	}
	is_ptr(any, NULL, "threads open and close");
	is_int(fake.opened, fake.closed, "as often as each other");
}

static void test_default(void)
{
	struct gpumem_device *device;

	setenv("GPUMEM_BACKEND", "fake", 1);
	is_status(gm_device_open(NULL, &device), GPUMEM_OK, "NULL");
	is_str(device->info.name, "fake:0", "is what GPUMEM_BACKEND picks");
	gm_device_release(device);
	setenv("GPUMEM_BACKEND", "nowhere", 1);
	refuses(NULL, GPUMEM_NOT_FOUND);
}

/* A backend whose only devices are those of contexts that programs bring. */
static void test_adopted(void)
{
	static struct gpumem_backend table;
	struct gpumem_device *device = NULL;

	table = fake_table;
	table.name = "adopter";
	fake.count_status = GPUMEM_NO_DEVICE;
	is_status(gm_backend_register(&table), GPUMEM_OK, "no device yet");
	fake.count_status = GPUMEM_OK;
	is_status(gm_device_open("adopter:0", &device), GPUMEM_NO_DEVICE,
		  "none to open");
	is_status(gm_device_adopt("adopter", NULL, NULL, &device), GPUMEM_OK,
		  "a context makes one");
	is_str(device->info.name, "adopter:0", "with its name");
	ok(gm_device_release(device), "and it ends");
}

int main(void)
{
	alarm(60);
	unsetenv("GPUMEM_CONF");
	setenv("GPUMEM_PLUGIN_PATH", "/nowhere", 1);
	if (gm_backend_register(&fake_table) != GPUMEM_OK)
		bail("no fake: %s", last_text());
	test_names();
	test_handles();
	test_info();
	test_claims();
	test_insane();
	test_no_groups();
	test_visit();
	test_threads();
	test_default();
	test_adopted();
	return done_testing();
}
