/* Stands in for libnvidia-ml.so.1: the functions that the probe calls through pynvml. */
#include "answers.h"

#define NO_PERMISSION 4
#define GPU_IS_LOST 15
#define UNKNOWN_ERROR 999

const char *nvmlErrorString(int code) { return code ? "an error of the stub" : "Success"; }

/* What old drivers call the functions whose names a later form has taken. */
#ifdef OLD_NAMES
#define INIT nvmlInit(void)
#define COUNT nvmlDeviceGetCount
#define HANDLE nvmlDeviceGetHandleByIndex
#else
#define INIT nvmlInitWithFlags(unsigned int flags __attribute__((unused)))
#define COUNT nvmlDeviceGetCount_v2
#define HANDLE nvmlDeviceGetHandleByIndex_v2
#endif

int INIT {
    note("nvml");
    misbehave(text("nvml.behaviour", ""));
    return number("nvml.init", 0);
}

int nvmlShutdown(void) { return 0; }

int nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    snprintf(version, length, "%s", text("nvml.driver", "570.86.15"));
    return 0;
}

int nvmlSystemGetCudaDriverVersion(int *version) {
    *version = number("nvml.cuda", 0);
    return *version ? 0 : UNKNOWN_ERROR;
}

#ifndef OLD_NAMES
int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    *version = number("nvml.cuda_v2", 0);
    return *version ? 0 : UNKNOWN_ERROR;
}
#endif

int COUNT(unsigned int *devices) {
    *devices = (unsigned int)count("nvml.devices");
    return 0;
}

int HANDLE(unsigned int index, void **device) {
    char capability[64];
    item(text("nvml.devices", ""), (int)index, capability, sizeof capability);
    *device = (void *)(size_t)(index + 1);
    return strcmp(capability, "lost") == 0 ? GPU_IS_LOST : 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned int length) {
    snprintf(name, length, "Stub GPU %d", (int)(size_t)device - 1);
    return 0;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    char capability[64];
    item(text("nvml.devices", ""), (int)(size_t)device - 1, capability, sizeof capability);
    return sscanf(capability, "%d.%d", major, minor) == 2 ? 0 : NO_PERMISSION;
}
