#include "evaluate/clock_monitor.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/statistics.h"

#include <string.h>

/* NVML's clocks event reasons: hardware slowdown, software thermal slowdown, hardware thermal
   slowdown, hardware power brake. */
static const int64_t throttle_reasons = 0x8 | 0x20 | 0x40 | 0x80;

/* A reading takes longer than a race's samples, and the driver updates its figures some ten
   times a second, so that a reading of at most this age counts as the beginning of the next
   block. */
static const double reading_valid_s = 0.1;

/* So many readings of a trial have a share in its median clock, the last ones. */
enum { READINGS_MAX = 256 };

struct clock_monitor {
    clock_monitor_reader *read;
    void *context;
    struct nvml *nvml;
    struct nvml_gpu gpu;
    pid_t run;
    bool was_unthrottled; /* at the last reading, which also stands for the beginning of the next
                             block */
    double read_at_s;
    int readings;
    double sm_mhz[READINGS_MAX]; /* of the last ones */
    struct conditions conditions;
    bool has_state;
    struct nvml_state last_state;
};

static void read_nvml(void *context, struct nvml_state *state) {
    const struct clock_monitor *clock_monitor = context;
    nvml_read_changing(clock_monitor->nvml, &clock_monitor->gpu, state);
}

struct clock_monitor *clock_monitor_new_with_reader(clock_monitor_reader *read, void *context) {
    struct clock_monitor *clock_monitor = xcalloc(1, sizeof *clock_monitor);
    clock_monitor->read = read;
    clock_monitor->context = context;
    return clock_monitor;
}

struct clock_monitor *clock_monitor_new(const struct device_info *info, pid_t run) {
    struct error ignored = {0};
    struct nvml *nvml = info->predicts ? NULL : nvml_open(&ignored);
    if (nvml == NULL)
        return NULL;
    struct clock_monitor *clock_monitor = clock_monitor_new_with_reader(read_nvml, NULL);
    clock_monitor->context = clock_monitor;
    clock_monitor->nvml = nvml;
    clock_monitor->run = run;
    if (nvml_find(nvml, info->uuid, &clock_monitor->gpu))
        return clock_monitor;
    clock_monitor_free(clock_monitor);
    return NULL;
}

void clock_monitor_free(struct clock_monitor *clock_monitor) {
    if (clock_monitor == NULL)
        return;
    nvml_close(clock_monitor->nvml);
    free(clock_monitor);
}

void clock_monitor_reset(struct clock_monitor *clock_monitor) {
    if (clock_monitor == NULL)
        return;
    clock_monitor->readings = 0;
    clock_monitor->conditions = (struct conditions){0};
}

/* Records a reading; returns whether the GPU was not throttled. */
static bool record_reading(struct clock_monitor *clock_monitor) {
    struct nvml_state state = {.sm_mhz = -1, .memory_mhz = -1, .temperature_c = -1, .power_w = -1};
    struct conditions *it = &clock_monitor->conditions;
    clock_monitor->read(clock_monitor->context, &state);
    int64_t slowdowns = state.slowdowns > 0 ? state.slowdowns : 0;
    clock_monitor->sm_mhz[clock_monitor->readings % READINGS_MAX] = state.sm_mhz;
    bool first = clock_monitor->readings++ == 0;
    it->sm_mhz_low = first || state.sm_mhz < it->sm_mhz_low ? state.sm_mhz : it->sm_mhz_low;
    it->sm_mhz_high = first || state.sm_mhz > it->sm_mhz_high ? state.sm_mhz : it->sm_mhz_high;
    it->memory_mhz = state.memory_mhz;
    it->temperature_c =
        first || state.temperature_c > it->temperature_c ? state.temperature_c : it->temperature_c;
    it->power_w = first || state.power_w > it->power_w ? state.power_w : it->power_w;
    it->slowdowns |= slowdowns;
    clock_monitor->read_at_s = clock_seconds();
    return (slowdowns & throttle_reasons) == 0;
}

void clock_monitor_begin_block(struct clock_monitor *clock_monitor) {
    if (clock_monitor != NULL && clock_seconds() - clock_monitor->read_at_s > reading_valid_s)
        clock_monitor->was_unthrottled = record_reading(clock_monitor);
}

bool clock_monitor_end_block(struct clock_monitor *clock_monitor) {
    if (clock_monitor == NULL)
        return true;
    bool unthrottled_before = clock_monitor->was_unthrottled;
    clock_monitor->was_unthrottled = record_reading(clock_monitor);
    clock_monitor->conditions.discarded += !(clock_monitor->was_unthrottled && unthrottled_before);
    return clock_monitor->was_unthrottled && unthrottled_before;
}

struct conditions clock_monitor_conditions(const struct clock_monitor *clock_monitor) {
    if (clock_monitor == NULL || clock_monitor->readings == 0)
        return (struct conditions){0};
    struct conditions conditions = clock_monitor->conditions;
    int count = clock_monitor->readings < READINGS_MAX ? clock_monitor->readings : READINGS_MAX;
    conditions.sm_mhz = (int)statistics_median(clock_monitor->sm_mhz, count);
    return conditions;
}

bool clock_monitor_read_state(struct clock_monitor *clock_monitor, struct nvml_state *state) {
    if (clock_monitor == NULL || clock_monitor->nvml == NULL)
        return false;
    if (clock_monitor->has_state)
        nvml_read_changing(clock_monitor->nvml, &clock_monitor->gpu, &clock_monitor->last_state);
    else
        nvml_read(clock_monitor->nvml, &clock_monitor->gpu, &clock_monitor->last_state);
    clock_monitor->has_state = true;
    *state = clock_monitor->last_state;
    return true;
}

int clock_monitor_other_processes(const struct clock_monitor *clock_monitor) {
    struct nvml_process processes[64];
    if (clock_monitor == NULL || clock_monitor->nvml == NULL)
        return 0;
    int count = nvml_processes(clock_monitor->nvml, &clock_monitor->gpu, processes, 64);
    int own_count = 0;
    for (int i = 0; i < count && i < 64; i++)
        own_count += (pid_t)processes[i].pid == clock_monitor->run ||
                     process_parent((pid_t)processes[i].pid) == clock_monitor->run;
    /* In a container our process may be listed under another number, or not at all. */
    int others = count - (own_count > 0 ? own_count : 1);
    return others > 0 ? others : 0;
}
