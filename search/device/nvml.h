/*
 * nvml: GPU monitoring: clocks, temperature, power, clock slowdowns and compute processes. NVIDIA's
 * management library is opened at run time; its declarations are repeated here, because not every
 * CUDA Toolkit has nvml.h. It needs no CUDA context, so the parent of workers may use it.
 *
 *     struct nvml *nvml = nvml_open(&error);
 *     struct nvml_gpu gpu;
 *     if (nvml != NULL && nvml_find(nvml, device->info.uuid, &gpu)) {
 *         struct nvml_state state;
 *         nvml_read(nvml, &gpu, &state);
 *     }
 *     nvml_close(nvml);
 *
 * A figure that the driver, the card or the container does not report is unknown, not an error: a
 * negative number or an empty text.
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
    int64_t slowdowns; /* bit mask for nvml_slowdowns */
};

struct nvml_process {
    unsigned pid;         /* in the host's pid namespace */
    int64_t memory_bytes; /* GPU memory */
};

/* Returns NULL with an error if there is no driver, or it does not work. */
struct nvml *nvml_open(struct error *error);
void nvml_close(struct nvml *nvml);

/* "580.65.06" */
const char *nvml_driver(const struct nvml *nvml);
int nvml_count(const struct nvml *nvml);

/* GPUs in PCI bus order, which may differ from CUDA's: match CUDA devices by uuid. */
bool nvml_at(const struct nvml *nvml, int index, struct nvml_gpu *gpu);
bool nvml_find(const struct nvml *nvml, const char *uuid, struct nvml_gpu *gpu);

void nvml_read(const struct nvml *nvml, const struct nvml_gpu *gpu, struct nvml_state *state);
/* Reads only clocks, temperature, power and slowdowns, for frequent polling: each figure is a
   driver call. */
void nvml_read_changing(const struct nvml *nvml, const struct nvml_gpu *gpu,
                        struct nvml_state *state);

/* The energy in millijoules that the GPU has used since its driver was loaded, memory included; the
   driver raises it some 10 to 50 times a second. Negative: not known (GPUs before Volta, MIG). */
int64_t nvml_energy_mj(const struct nvml *nvml, const struct nvml_gpu *gpu);

/* The causes of reduced clocks in words ("power limit, hot"); empty if there is none but idleness.
 */
const char *nvml_slowdowns(int64_t slowdowns, char text[NVML_SLOWDOWN_SIZE]);
/* "SM 345 of 1980 MHz, 41 of 80 C, 120 of 700 W": what is known. `max_temperature_c`: 0 for none;
   `degrees`: the name of the unit. */
void nvml_print_state(const struct nvml_state *state, int max_temperature_c, const char *degrees,
                      char *text, size_t size);

/* Lists the compute processes on the GPU, including this one; fills at most `limit` and returns the
   total (-1: unknown). In a container the driver may hide processes outside. */
int nvml_processes(const struct nvml *nvml, const struct nvml_gpu *gpu,
                   struct nvml_process *processes, int limit);

#endif
