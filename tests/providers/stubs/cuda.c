/* Stands in for libcuda.so.1: the functions that the probe calls through ctypes. */
#include "answers.h"

#define NO_DEVICE 100
#define NOT_PERMITTED 800
#define MAJOR_ATTRIBUTE 75

int cuInit(unsigned int flags) {
    (void)flags;
    note("cuda");
    misbehave(text("cuda.behaviour", ""));
    return number("cuda.init", count("cuda.devices") ? 0 : NO_DEVICE);
}

int cuDriverGetVersion(int *version) {
    *version = number("cuda.cuda", 0);
    return *version ? 0 : 1;
}

int cuDeviceGetCount(int *devices) {
    *devices = count("cuda.devices");
    return 0;
}

int cuDeviceGet(int *device, int index) {
    *device = index;
    return 0;
}

int cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, (size_t)length, "Stub device %d", device);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    char capability[64];
    int major, minor;
    item(text("cuda.devices", ""), device, capability, sizeof capability);
    if (sscanf(capability, "%d.%d", &major, &minor) != 2) return NOT_PERMITTED;
    *value = attribute == MAJOR_ATTRIBUTE ? major : minor;
    return 0;
}
