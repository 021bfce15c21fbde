#include "trial/watch.h"

#include "base/clock.h"
#include "base/process.h"

#include <string.h>

/* NVML's clocks event reasons: hardware slowdown, software thermal slowdown, hardware thermal
   slowdown, hardware power brake. */
static const int64_t throttled = 0x8 | 0x20 | 0x40 | 0x80;

/* A reading takes longer than a race's samples, and the driver updates its figures some ten
   times a second, so that a reading of at most this age counts as the beginning of the next
   block. */
static const double fresh_s = 0.1;

struct watch {
    watch_read *read;
    void *context;
    struct nvml *nvml;
    struct nvml_gpu gpu;
    pid_t run;
    bool fit; /* at the last reading, which also stands for the beginning of the next block */
    double read_at_s;
    int readings;
    struct conditions conditions;
    bool looked;
    struct nvml_state last_look;
};

static void read_nvml(void *context, struct nvml_state *state) {
    const struct watch *watch = context;
    nvml_read_changing(watch->nvml, &watch->gpu, state);
}

struct watch *watch_over(watch_read *read, void *context) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL)
        BUG("out of memory");
    watch->read = read;
    watch->context = context;
    return watch;
}

struct watch *watch_new(const struct device_info *info, pid_t run) {
    struct error unheard = {0};
    struct nvml *nvml = info->predicts ? NULL : nvml_open(&unheard);
    if (nvml == NULL)
        return NULL;
    struct watch *watch = watch_over(read_nvml, NULL);
    watch->context = watch;
    watch->nvml = nvml;
    watch->run = run;
    if (nvml_find(nvml, info->uuid, &watch->gpu))
        return watch;
    watch_free(watch);
    return NULL;
}

void watch_free(struct watch *watch) {
    if (watch == NULL)
        return;
    nvml_close(watch->nvml);
    free(watch);
}

void watch_begin(struct watch *watch) {
    if (watch == NULL)
        return;
    watch->readings = 0;
    watch->conditions = (struct conditions){0};
}

/* Records a reading; returns whether the GPU was not throttled. */
static bool note(struct watch *watch) {
    struct nvml_state state = {.sm_mhz = -1, .memory_mhz = -1, .temperature_c = -1, .power_w = -1};
    struct conditions *it = &watch->conditions;
    watch->read(watch->context, &state);
    int64_t slowdowns = state.slowdowns > 0 ? state.slowdowns : 0;
    bool first = watch->readings++ == 0;
    it->sm_mhz_low = first || state.sm_mhz < it->sm_mhz_low ? state.sm_mhz : it->sm_mhz_low;
    it->sm_mhz_high = first || state.sm_mhz > it->sm_mhz_high ? state.sm_mhz : it->sm_mhz_high;
    it->memory_mhz = state.memory_mhz;
    it->temperature_c =
        first || state.temperature_c > it->temperature_c ? state.temperature_c : it->temperature_c;
    it->power_w = first || state.power_w > it->power_w ? state.power_w : it->power_w;
    it->slowdowns |= slowdowns;
    watch->read_at_s = clock_seconds();
    return (slowdowns & throttled) == 0;
}

void watch_before(struct watch *watch) {
    if (watch != NULL && clock_seconds() - watch->read_at_s > fresh_s)
        watch->fit = note(watch);
}

bool watch_after(struct watch *watch) {
    if (watch == NULL)
        return true;
    bool fit_before = watch->fit;
    watch->fit = note(watch);
    watch->conditions.discarded += !(watch->fit && fit_before);
    return watch->fit && fit_before;
}

struct conditions watch_conditions(const struct watch *watch) {
    return watch != NULL ? watch->conditions : (struct conditions){0};
}

bool watch_look(struct watch *watch, struct nvml_state *state) {
    if (watch == NULL || watch->nvml == NULL)
        return false;
    if (watch->looked)
        nvml_read_changing(watch->nvml, &watch->gpu, &watch->last_look);
    else
        nvml_read(watch->nvml, &watch->gpu, &watch->last_look);
    watch->looked = true;
    *state = watch->last_look;
    return true;
}

int watch_others(const struct watch *watch) {
    struct nvml_process processes[64];
    if (watch == NULL || watch->nvml == NULL)
        return 0;
    int count = nvml_processes(watch->nvml, &watch->gpu, processes, 64);
    int ours = 0;
    for (int i = 0; i < count && i < 64; i++)
        ours += (pid_t)processes[i].pid == watch->run ||
                process_parent((pid_t)processes[i].pid) == watch->run;
    /* In a container our process may be listed under another number, or not at all. */
    int others = count - (ours > 0 ? ours : 1);
    return others > 0 ? others : 0;
}
