#include "evaluate/energy.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/nvml.h"

#include <math.h>
#include <time.h>

/* A point more than blocks: each has a step at least. */
enum { BLOCKS = 5, POINTS_MIN = BLOCKS + 1, POINTS_MAX = 1024 };

/* Before the first point of a load, and of idleness: clocks and the sensors' averages follow the
   load only after some time. */
static const double settle_s = 0.2;
static const double idle_window_s = 0.5;

/* Where the counter changed, and the figures of the last point; all relative to the first one. */
struct points {
    int count;
    int64_t first_calls;
    double first_s, first_mj;
    double time_s, calls, mj;
    double x[POINTS_MAX]; /* calls, or seconds if nothing runs */
    double y[POINTS_MAX]; /* energy above the idle power's */
};

struct energy_meter {
    struct energy_counter counter;
    bool idle_known; /* measured, maybe in vain */
    double idle_watts, idle_error_watts;
    struct points points; /* of the last measurement */
    struct nvml *nvml;    /* NULL: another counter */
    struct nvml_gpu gpu;
};

static bool read_nvml(void *context, double *time_s, double *total_mj) {
    const struct energy_meter *meter = context;
    int64_t mj = nvml_energy_mj(meter->nvml, &meter->gpu);
    *time_s = clock_seconds();
    *total_mj = (double)mj;
    return mj >= 0;
}

static void wait_a_millisecond(void *context) {
    (void)context;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

struct energy_meter *energy_meter_new_with_counter(const struct energy_counter *counter) {
    struct energy_meter *meter = xcalloc(1, sizeof *meter);
    meter->counter = *counter;
    return meter;
}

struct energy_meter *energy_meter_new(const struct device_info *info) {
    struct error ignored = {0};
    struct nvml *nvml = info->predicts ? NULL : nvml_open(&ignored);
    if (nvml == NULL)
        return NULL;
    struct energy_meter *meter = energy_meter_new_with_counter(
        &(struct energy_counter){.read = read_nvml, .wait = wait_a_millisecond});
    meter->counter.context = meter;
    meter->nvml = nvml;
    if (nvml_find(nvml, info->uuid, &meter->gpu) && nvml_energy_mj(nvml, &meter->gpu) >= 0)
        return meter;
    energy_meter_free(meter);
    return NULL;
}

void energy_meter_free(struct energy_meter *meter) {
    if (meter == NULL)
        return;
    nvml_close(meter->nvml);
    free(meter);
}

/* ---- points ---- */

/* Adds a point where the counter changed; returns false once there is room for no other. */
static bool add_point(struct points *points, double time_s, int64_t calls, double mj,
                      double idle_watts) {
    if (points->count == 0) {
        points->first_s = time_s;
        points->first_calls = calls;
        points->first_mj = mj;
    }
    points->time_s = time_s - points->first_s;
    points->calls = (double)(calls - points->first_calls);
    points->mj = mj - points->first_mj;
    points->x[points->count] = calls > 0 ? points->calls : points->time_s;
    points->y[points->count] = points->mj - 1000 * idle_watts * points->time_s;
    return ++points->count < POINTS_MAX;
}

/* The rate from the first point to the last, and its standard error: that of the mean of the rates
   within BLOCKS parts. Parts of several steps, because a step that is seen late takes from the next
   one, which says nothing of the whole. */
static double rate_of(const struct points *points, double *error) {
    const int steps = points->count - 1;
    const double rate = points->y[steps] / points->x[steps];
    double square = 0;
    for (int b = 0; b < BLOCKS; b++) {
        const int from = steps * b / BLOCKS, to = steps * (b + 1) / BLOCKS;
        square +=
            pow((points->y[to] - points->y[from]) / (points->x[to] - points->x[from]) - rate, 2);
    }
    *error = sqrt(square / (BLOCKS - 1) / BLOCKS);
    return rate;
}

/* Collects points while `load` runs (NULL: nothing runs): after settle_s, over window_s. Returns 0,
   or the load's result; without enough points their count is 0. */
static int collect(struct energy_meter *meter, const struct energy_load *load, double window_s) {
    const struct energy_counter *counter = &meter->counter;
    struct points *points = &meter->points;
    double start_s, time_s, mj, last_mj;
    int64_t calls = 0;
    bool room = true;
    points->count = 0;
    if (!counter->read(counter->context, &start_s, &last_mj))
        return 0;
    do {
        int status = load != NULL ? load->run(load->context, &calls) : 0;
        if (status != 0)
            return status;
        if (load == NULL)
            counter->wait(counter->context);
        if (!counter->read(counter->context, &time_s, &mj) || mj < last_mj) {
            points->count = 0; /* a counter falls if the driver is loaded again */
            return 0;
        }
        if (mj > last_mj && time_s - start_s >= settle_s)
            room = add_point(points, time_s, calls, mj, meter->idle_watts);
        last_mj = mj;
    } while (room && time_s - start_s < settle_s + ENERGY_LIMIT_S &&
             !(points->count >= POINTS_MIN && points->time_s >= window_s));
    if (points->count < POINTS_MIN)
        points->count = 0;
    return 0;
}

/* ---- measuring ---- */

static void measure_idle(struct energy_meter *meter) {
    double error;
    meter->idle_known = true;
    meter->idle_watts = 0; /* nothing is subtracted from the idle power itself */
    collect(meter, NULL, idle_window_s);
    if (meter->points.count == 0)
        return;
    meter->idle_watts = rate_of(&meter->points, &error) / 1000;
    meter->idle_error_watts = error / 1000;
}

int energy_measure(struct energy_meter *meter, const struct energy_load *load, double window_ms,
                   struct energy *energy) {
    const struct points *points = &meter->points;
    double error;
    *energy = (struct energy){0};
    if (!meter->idle_known)
        measure_idle(meter);
    if (!(meter->idle_watts > 0))
        return 0;
    int status = collect(meter, load, window_ms / 1000);
    if (status != 0 || points->count == 0 || !(points->calls > 0))
        return status;
    double mj = rate_of(points, &error);
    if (!(mj > 0))
        return 0; /* no more than the idle GPU */
    double idle_mj = 1000 * meter->idle_error_watts * points->time_s / points->calls;
    *energy = (struct energy){.mj = mj,
                              .error = hypot(error, idle_mj) / mj,
                              .watts = points->mj / points->time_s / 1000,
                              .idle_watts = meter->idle_watts};
    return 0;
}
