/* Stands in for librocm-core.so.1. */
#include "answers.h"

int getROCmVersion(unsigned int *major, unsigned int *minor, unsigned int *patch) {
    return sscanf(text("rocm.version", ""), "%u.%u.%u", major, minor, patch) == 3 ? 0 : 1;
}
