/* Stands in for libze_loader.so.1: the functions that the probe calls through ctypes. */
#include "answers.h"
#include <stdint.h>

#define DEVICE_LOST 0x70000001u
#define NO_DRIVER 0x78000001u
#define IP_VERSION 0x1000f

/* Devices are "vendor/type/ip", as strtoul reads them; each driver has as many as any other. */

struct extension {
    uint32_t kind;
    struct extension *next;
    uint32_t version;
};

struct properties {
    uint32_t kind;
    struct extension *next;
    uint32_t type, vendor, device, flags, subdevice, clock_rate;
    uint64_t max_allocation;
    uint32_t contexts, priorities, threads, width, units, subslices, slices;
    uint64_t timer_resolution;
    uint32_t timestamp_bits, kernel_timestamp_bits;
    uint8_t uuid[16];
    char name[256];
};

static uint32_t list(uint32_t *size, void **handles, uint32_t found, size_t base) {
    if (handles != NULL) {
        for (uint32_t i = 0; i < found && i < *size; i++) handles[i] = (void *)(base + i + 1);
    }
    *size = found;
    return 0;
}

static uint32_t drivers(uint32_t *size, void **handles) {
    uint32_t failed = (uint32_t)strtoul(text("ze.init", "0"), NULL, 0);
    if (failed) return failed;
    uint32_t found = (uint32_t)count("ze.devices") ? (uint32_t)number("ze.drivers", 1) : 0;
    return found ? list(size, handles, found, 0) : NO_DRIVER;
}

#ifdef OLD_NAMES
uint32_t zeInit(uint32_t flags) {
    note(flags == 1 ? "ze-old" : "ze-old-not-only-gpus");
    return (uint32_t)strtoul(text("ze.init", "0"), NULL, 0);
}

uint32_t zeDriverGet(uint32_t *size, void **handles) { return drivers(size, handles); }
#else
uint32_t zeInitDrivers(uint32_t *size, void **handles, const uint32_t *wanted) {
    if (wanted[0] != 0x20021 || wanted[4] != 1) return 0x78000004u;
    if (handles == NULL) {
        note("ze");
        misbehave(text("ze.behaviour", ""));
    }
    return drivers(size, handles);
}
#endif

uint32_t zeDeviceGet(void *driver, uint32_t *size, void **handles) {
    int each = count("ze.devices") / number("ze.drivers", 1);
    return list(size, handles, (uint32_t)each, ((size_t)driver - 1) * (size_t)each);
}

uint32_t zeDeviceGetProperties(void *device, struct properties *told) {
    char entry[64];
    char *rest;
    item(text("ze.devices", ""), (int)(size_t)device - 1, entry, sizeof entry);
    if (strcmp(entry, "lost") == 0) return DEVICE_LOST;
    told->vendor = (uint32_t)strtoul(entry, &rest, 0);
    told->type = (uint32_t)strtoul(rest + 1, &rest, 0);
    uint32_t version = (uint32_t)strtoul(rest + 1, NULL, 0);
    snprintf(told->name, sizeof told->name, "Stub GPU %d", (int)(size_t)device - 1);
    if (told->next != NULL && told->next->kind == IP_VERSION) told->next->version = version;
    return 0;
}
