#include "device/nvml.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <dlfcn.h>
#include <string.h>

/* Constants and structs from NVIDIA's NVML API Reference. */
enum { SUCCESS = 0 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0, PROCESSES_MAX = 256 };

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_process_info {
    unsigned pid;
    unsigned long long used_memory; /* all ones: not available */
    unsigned gpu_instance, compute_instance;
};

typedef void *handle;

/* X(our name, arguments, symbol names from the newest to the oldest). */
#define NVML_FUNCTIONS(X)                                                                          \
    X(init, (void), "nvmlInit_v2", "nvmlInit")                                                     \
    X(shutdown, (void), "nvmlShutdown", NULL)                                                      \
    X(driver_version, (char *, unsigned), "nvmlSystemGetDriverVersion", NULL)                      \
    X(device_count, (unsigned *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount")                   \
    X(by_index, (unsigned, handle *), "nvmlDeviceGetHandleByIndex_v2",                             \
      "nvmlDeviceGetHandleByIndex")                                                                \
    X(name, (handle, char *, unsigned), "nvmlDeviceGetName", NULL)                                 \
    X(uuid, (handle, char *, unsigned), "nvmlDeviceGetUUID", NULL)                                 \
    X(clock, (handle, int, unsigned *), "nvmlDeviceGetClockInfo", NULL)                            \
    X(max_clock, (handle, int, unsigned *), "nvmlDeviceGetMaxClockInfo", NULL)                     \
    X(temperature, (handle, int, unsigned *), "nvmlDeviceGetTemperature", NULL)                    \
    X(power, (handle, unsigned *), "nvmlDeviceGetPowerUsage", NULL)                                \
    X(power_limit, (handle, unsigned *), "nvmlDeviceGetEnforcedPowerLimit", NULL)                  \
    X(energy, (handle, unsigned long long *), "nvmlDeviceGetTotalEnergyConsumption", NULL)         \
    X(memory, (handle, struct nvml_memory *), "nvmlDeviceGetMemoryInfo", NULL)                     \
    X(slowdowns, (handle, unsigned long long *), "nvmlDeviceGetCurrentClocksEventReasons",         \
      "nvmlDeviceGetCurrentClocksThrottleReasons")                                                 \
    X(processes, (handle, unsigned *, struct nvml_process_info *),                                 \
      "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")

struct nvml {
    void *library;
    char driver[NVML_TEXT_SIZE];
#define X(name, arguments, newest, older) int(*name) arguments;
    NVML_FUNCTIONS(X)
#undef X
};

/* Looks up a function by either name; returns NULL if both are missing. */
static void *find_symbol(void *library, const char *newest, const char *older) {
    void *function = dlsym(library, newest);
    return function == NULL && older != NULL ? dlsym(library, older) : function;
}

struct nvml *nvml_open(struct error *error) {
    struct nvml *nvml = xcalloc(1, sizeof *nvml);
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml->library == NULL) {
        error_set(error, "no libnvidia-ml.so.1: it comes with the NVIDIA driver; in a container, "
                         "allow the driver's capability \"utility\"");
        free(nvml);
        return NULL;
    }
#define X(name, arguments, newest, older)                                                          \
    nvml->name = (__typeof__(nvml->name))find_symbol(nvml->library, newest, older);
    NVML_FUNCTIONS(X)
#undef X
    if (nvml->init == NULL || nvml->init() != SUCCESS) {
        error_set(error, "the NVIDIA driver does not answer: check that its kernel module is "
                         "loaded and of the same version as its libraries");
        dlclose(nvml->library);
        free(nvml);
        return NULL;
    }
    if (nvml->driver_version == NULL ||
        nvml->driver_version(nvml->driver, sizeof nvml->driver) != SUCCESS)
        nvml->driver[0] = '\0';
    return nvml;
}

void nvml_close(struct nvml *nvml) {
    if (nvml == NULL)
        return;
    if (nvml->shutdown != NULL)
        nvml->shutdown();
    dlclose(nvml->library);
    free(nvml);
}

const char *nvml_driver(const struct nvml *nvml) {
    return nvml->driver;
}

int nvml_count(const struct nvml *nvml) {
    unsigned count = 0;
    return nvml->device_count != NULL && nvml->device_count(&count) == SUCCESS ? (int)count : 0;
}

/* Converts "GPU-8c2e...-..." to CUDA's form, the digits alone. */
static void normalise_uuid(char *uuid) {
    const char *from = strncmp(uuid, "GPU-", 4) == 0 ? uuid + 4 : uuid;
    char *to = uuid;
    for (; *from != '\0'; from++)
        if (*from != '-')
            *to++ = (char)tolower((unsigned char)*from);
    *to = '\0';
}

bool nvml_at(const struct nvml *nvml, int index, struct nvml_gpu *gpu) {
    *gpu = (struct nvml_gpu){0};
    if (nvml->by_index == NULL || nvml->by_index((unsigned)index, &gpu->handle) != SUCCESS)
        return false;
    if (nvml->name == NULL || nvml->name(gpu->handle, gpu->name, sizeof gpu->name) != SUCCESS)
        gpu->name[0] = '\0';
    if (nvml->uuid == NULL || nvml->uuid(gpu->handle, gpu->uuid, sizeof gpu->uuid) != SUCCESS)
        gpu->uuid[0] = '\0';
    normalise_uuid(gpu->uuid);
    return true;
}

bool nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_gpu *gpu) {
    for (int i = 0; *uuid != '\0' && i < nvml_count(nvml); i++)
        if (nvml_at(nvml, i, gpu) && strcmp(gpu->uuid, uuid) == 0)
            return true;
    return false;
}

#define READ(function, ...) (nvml->function != NULL && nvml->function(__VA_ARGS__) == SUCCESS)

void nvml_read_changing(const struct nvml *nvml, const struct nvml_gpu *gpu,
                        struct nvml_state *state) {
    unsigned value;
    unsigned long long bits;
    state->sm_mhz = READ(clock, gpu->handle, CLOCK_SM, &value) ? (int)value : -1;
    state->memory_mhz = READ(clock, gpu->handle, CLOCK_MEMORY, &value) ? (int)value : -1;
    state->temperature_c =
        READ(temperature, gpu->handle, TEMPERATURE_GPU, &value) ? (int)value : -1;
    state->power_w = READ(power, gpu->handle, &value) ? value / 1000.0 : -1;
    state->slowdowns = READ(slowdowns, gpu->handle, &bits) ? (int64_t)bits : -1;
}

void nvml_read(const struct nvml *nvml, const struct nvml_gpu *gpu, struct nvml_state *state) {
    unsigned value;
    struct nvml_memory memory;
    nvml_read_changing(nvml, gpu, state);
    state->sm_max_mhz = READ(max_clock, gpu->handle, CLOCK_SM, &value) ? (int)value : -1;
    state->memory_max_mhz = READ(max_clock, gpu->handle, CLOCK_MEMORY, &value) ? (int)value : -1;
    state->power_limit_w = READ(power_limit, gpu->handle, &value) ? value / 1000.0 : -1;
    bool known = READ(memory, gpu->handle, &memory);
    state->memory_used_bytes = known ? (int64_t)memory.used : -1;
    state->memory_bytes = known ? (int64_t)memory.total : -1;
}

int64_t nvml_energy_mj(const struct nvml *nvml, const struct nvml_gpu *gpu) {
    unsigned long long mj;
    return READ(energy, gpu->handle, &mj) ? (int64_t)mj : -1;
}

#undef READ

const char *nvml_slowdowns(int64_t slowdowns, char text[NVML_SLOWDOWN_SIZE]) {
    /* nvmlClocksEventReasons without bit 0, GPU idle, which is not a slowdown. */
    static const struct {
        int64_t bit;
        const char *words;
    } reasons[] = {
        {0x002, "clocks set by hand"},
        {0x004, "power limit"},
        {0x008, "slowed by hardware"},
        {0x010, "synchronised with another GPU"},
        {0x020, "hot"},
        {0x040, "hot (hardware)"},
        {0x080, "external power brake"},
        {0x100, "clocks set for the display"},
    };
    text[0] = '\0';
    for (size_t i = 0; slowdowns > 0 && i < sizeof reasons / sizeof *reasons; i++)
        if (slowdowns & reasons[i].bit)
            text_append(text, NVML_SLOWDOWN_SIZE, "%s%s", *text != '\0' ? ", " : "",
                        reasons[i].words);
    return text;
}

/* Nothing if the figure is unknown, which is negative. */
static void add_figure(char *text, size_t size, const char *name, double figure, double most,
                       const char *unit) {
    if (figure < 0)
        return;
    text_append(text, size, "%s%s%.0f", *text != '\0' ? ", " : "", name, figure);
    if (most > 0)
        text_append(text, size, " of %.0f", most);
    text_append(text, size, " %s", unit);
}

void nvml_print_state(const struct nvml_state *state, int max_temperature_c, const char *degrees,
                      char *text, size_t size) {
    text[0] = '\0';
    add_figure(text, size, "SM ", state->sm_mhz, state->sm_max_mhz, "MHz");
    add_figure(text, size, "memory ", state->memory_mhz, state->memory_max_mhz, "MHz");
    add_figure(text, size, "", state->temperature_c, max_temperature_c, degrees);
    add_figure(text, size, "", state->power_w, state->power_limit_w, "W");
}

int nvml_processes(const struct nvml *nvml, const struct nvml_gpu *gpu,
                   struct nvml_process *processes, int limit) {
    struct nvml_process_info found[PROCESSES_MAX];
    unsigned count = PROCESSES_MAX;
    if (nvml->processes == NULL)
        return -1;
    int status = nvml->processes(gpu->handle, &count, found);
    if (status != SUCCESS)
        return -1;
    for (int i = 0; i < (int)count && i < limit; i++)
        processes[i] = (struct nvml_process){
            .pid = found[i].pid,
            .memory_bytes = found[i].used_memory + 1 == 0 ? -1 : (int64_t)found[i].used_memory,
        };
    return (int)count;
}
