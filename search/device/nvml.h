/*
 * nvml: how a GPU is doing, without touching it: clocks, temperature, power, what slows it down and
 * who else computes on it. NVIDIA's management library is opened at run time; its declarations are
 * our own, for the CUDA Toolkit has no nvml.h everywhere. Needs no CUDA context, so that the parent
 * of workers may use it.
 *
 *     struct nvml *nvml = nvml_open(&error);
 *     struct nvml_gpu gpu;
 *     if (nvml != NULL && nvml_find(nvml, device->info.uuid, &gpu)) {
 *         struct nvml_state state;
 *         nvml_read(nvml, &gpu, &state);
 *     }
 *     nvml_close(nvml);
 *
 * Whatever a driver, a card or a container does not tell is unknown, never an error: a negative
 * number or an empty text.
 */
#ifndef EVOTILE_DEVICE_NVML_H
#define EVOTILE_DEVICE_NVML_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct nvml;

enum { NVML_TEXT_SIZE = 96, NVML_SLOWDOWN_SIZE = 256 };

struct nvml_gpu {
    void *handle;
    char name[NVML_TEXT_SIZE];
    char uuid[NVML_TEXT_SIZE]; /* 32 hexadecimal digits, as struct device_info has them */
};

struct nvml_state {
    int sm_mhz, sm_max_mhz;
    int memory_mhz, memory_max_mhz;
    int temperature_c;
    double power_w, power_limit_w;
    int64_t memory_used_bytes, memory_bytes;
    int64_t slowdowns; /* bits, for nvml_slowdowns */
};

struct nvml_process {
    unsigned pid;         /* as the host numbers it */
    int64_t memory_bytes; /* of the GPU */
};

/* NULL and one line where there is no driver, or one that does not work. */
struct nvml *nvml_open(struct error *error);
void nvml_close(struct nvml *nvml);

/* "580.65.06" */
const char *nvml_driver(const struct nvml *nvml);
int nvml_count(const struct nvml *nvml);

/* In the order of the PCI bus, which need not be CUDA's: find by uuid what CUDA numbered. */
bool nvml_at(const struct nvml *nvml, int index, struct nvml_gpu *gpu);
bool nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_gpu *gpu);

void nvml_read(const struct nvml *nvml, const struct nvml_gpu *gpu, struct nvml_state *state);
/* Only clocks, temperature, power and slowdowns, for whoever reads often: each figure is a call
   into the driver. */
void nvml_read_changing(const struct nvml *nvml, const struct nvml_gpu *gpu,
                        struct nvml_state *state);

/* What holds the clocks down, in words ("power limit, hot"); empty where nothing does but idleness.
 */
const char *nvml_slowdowns(int64_t slowdowns, char text[NVML_SLOWDOWN_SIZE]);

/* Processes that compute on the GPU, our own among them; fills at most `limit`, returns how many
   there are (-1: unknown). In a container the driver may hide those outside. */
int nvml_processes(const struct nvml *nvml, const struct nvml_gpu *gpu,
                   struct nvml_process *processes, int limit);

#endif
