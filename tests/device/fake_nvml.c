/* A fake libnvidia-ml.so.1 for tests: one GPU, whose state is read from the file $FAKE_NVML each
   time: "TEMPERATURE_C OTHERS SLOWDOWNS", three numbers.

       gcc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o libnvidia-ml.so.1 tests/device/fake_nvml.c

   It is found through LD_LIBRARY_PATH, or because the test opened it by its path before. The
   compute processes on the GPU are the calling process and OTHERS more, all of these with pid 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, NOT_FOUND = 6 };

struct state {
    int temperature_c, others, slowdowns;
};

static struct state now(void) {
    struct state state = {0};
    const char *path = getenv("FAKE_NVML");
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%d %d %d", &state.temperature_c, &state.others, &state.slowdowns) != 3)
            state = (struct state){0};
        fclose(file);
    }
    return state;
}

int nvmlInit_v2(void) {
    return SUCCESS;
}

int nvmlShutdown(void) {
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size) {
    snprintf(text, size, "599.99.01");
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = 1;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) {
    static int gpu;
    *handle = &gpu;
    return index == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetName(void *handle, char *text, unsigned size) {
    (void)handle;
    snprintf(text, size, "NVIDIA Fake");
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *handle, char *text, unsigned size) {
    (void)handle;
    snprintf(text, size, "GPU-01234567-89AB-cdef-0123-456789abcdef");
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *handle, int which, unsigned *mhz) {
    (void)handle;
    *mhz = which == 1 ? 1755 : 2619;
    return SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(void *handle, int which, unsigned *mhz) {
    (void)handle;
    *mhz = which == 1 ? 1980 : 2619;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *handle, int which, unsigned *celsius) {
    (void)handle;
    (void)which;
    *celsius = (unsigned)now().temperature_c;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts) {
    (void)handle;
    *milliwatts = 412000;
    return SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *handle, unsigned *milliwatts) {
    (void)handle;
    *milliwatts = 700000;
    return SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *handle, unsigned long long *reasons) {
    (void)handle;
    *reasons = (unsigned long long)now().slowdowns;
    return SUCCESS;
}

struct process {
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void *handle, unsigned *count, struct process *list) {
    (void)handle;
    int others = now().others;
    for (int i = 0; i <= others && i < (int)*count; i++)
        list[i] = (struct process){.pid = i == 0 ? (unsigned)getpid() : 1, .used_memory = ~0ull};
    *count = (unsigned)others + 1;
    return SUCCESS;
}
