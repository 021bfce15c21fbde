#include "evaluate/energy.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/nvml.h"

#include <math.h>
#include <pthread.h>

/* A point more than blocks: each has a step at least. */
enum { BLOCKS = 5, POINTS_MIN = BLOCKS + 1, POINTS_MAX = 1024 };

/* Before the first point of a load, and of idleness: clocks and the sensors' averages follow the
   load only after some time. */
static const double settle_s = 0.2;
static const double idle_window_s = 0.5;

/* Where the counter changed, and the figures of the last point; all relative to the first one. */
struct points {
    int count;
    double first_s, first_calls, first_mj;
    double time_s, calls, mj;
    double x[POINTS_MAX]; /* calls, or seconds if nothing runs */
    double y[POINTS_MAX]; /* energy above the idle power's */
};

/* What the thread that reads the counter has seen. */
struct watch {
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows */
    bool ends, readable;
    double changed_s, total_mj;
};

struct energy_meter {
    struct energy_counter counter;
    bool idle_known; /* measured, maybe in vain */
    double idle_watts, idle_error_watts;
    struct points points; /* of the last measurement */
    struct nvml *nvml;    /* NULL: another counter */
    struct nvml_gpu gpu;
    struct watch watch;
};

static void wait_a_millisecond(void *context) {
    (void)context;
    clock_wait(0.001);
}

/* ---- NVML's counter ---- */

/* Reads the counter; a change lies in the middle of the reading that first shows it. */
static bool read_once(struct energy_meter *meter) {
    struct watch *watch = &meter->watch;
    double before_s = clock_seconds();
    double mj = (double)nvml_energy_mj(meter->nvml, &meter->gpu);
    double middle_s = (before_s + clock_seconds()) / 2;
    pthread_mutex_lock(&watch->lock);
    if (mj != watch->total_mj)
        watch->changed_s = middle_s;
    watch->total_mj = mj;
    watch->readable = mj >= 0;
    bool goes_on = watch->readable && !watch->ends;
    pthread_mutex_unlock(&watch->lock);
    return goes_on;
}

static void *watch_counter(void *context) {
    while (read_once(context))
        clock_wait(0.0005);
    return NULL;
}

static bool begin_watch(void *context) {
    struct energy_meter *meter = context;
    meter->watch.ends = false;
    return read_once(meter) &&
           pthread_create(&meter->watch.thread, NULL, watch_counter, meter) == 0;
}

static void end_watch(void *context) {
    struct energy_meter *meter = context;
    pthread_mutex_lock(&meter->watch.lock);
    meter->watch.ends = true;
    pthread_mutex_unlock(&meter->watch.lock);
    pthread_join(meter->watch.thread, NULL);
}

static bool read_watch(void *context, double *now_s, double *changed_s, double *total_mj) {
    struct energy_meter *meter = context;
    pthread_mutex_lock(&meter->watch.lock);
    bool readable = meter->watch.readable;
    *changed_s = meter->watch.changed_s;
    *total_mj = meter->watch.total_mj;
    pthread_mutex_unlock(&meter->watch.lock);
    *now_s = clock_seconds();
    return readable;
}

/* ---- meters ---- */

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
    struct energy_meter *meter = energy_meter_new_with_counter(&(struct energy_counter){
        .read = read_watch, .begin = begin_watch, .end = end_watch, .wait = wait_a_millisecond});
    meter->counter.context = meter;
    meter->nvml = nvml;
    pthread_mutex_init(&meter->watch.lock, NULL);
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
static bool add_point(struct points *points, double time_s, double calls, double mj,
                      double idle_watts) {
    if (points->count == 0) {
        points->first_s = time_s;
        points->first_calls = calls;
        points->first_mj = mj;
    }
    points->time_s = time_s - points->first_s;
    points->calls = calls - points->first_calls;
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

/* What was known after the last batch. */
struct progress {
    double start_s, now_s, total_mj;
    int64_t calls;
};

/* Runs a batch and reads the counter: if that changed, a point. The calls of a batch follow one
   another evenly. Returns whether to go on; `*status` is the load's result. */
static bool step(struct energy_meter *meter, const struct energy_load *load, double window_s,
                 struct progress *it, int *status) {
    const struct energy_counter *counter = &meter->counter;
    struct points *points = &meter->points;
    const struct progress last = *it;
    double changed_s;
    bool room = true;
    *status = load != NULL ? load->run(load->context, &it->calls) : 0;
    if (*status != 0)
        return false;
    if (load == NULL)
        counter->wait(counter->context);
    if (!counter->read(counter->context, &it->now_s, &changed_s, &it->total_mj) ||
        it->total_mj < last.total_mj) {
        points->count = 0; /* a counter falls if the driver is loaded again */
        return false;
    }
    if (it->total_mj > last.total_mj && changed_s - it->start_s >= settle_s) {
        double share = (changed_s - last.now_s) / fmax(it->now_s - last.now_s, 1e-9);
        double calls =
            (double)last.calls + (double)(it->calls - last.calls) * fmin(fmax(share, 0), 1);
        room = add_point(points, changed_s, calls, it->total_mj, meter->idle_watts);
    }
    bool enough = points->count >= POINTS_MIN && points->time_s >= window_s;
    return room && !enough && it->now_s - it->start_s < settle_s + ENERGY_LIMIT_S;
}

/* Collects points while `load` runs (NULL: nothing runs): after settle_s, over window_s. Returns 0,
   or the load's result; without enough points their count is 0. */
static int collect(struct energy_meter *meter, const struct energy_load *load, double window_s) {
    const struct energy_counter *counter = &meter->counter;
    struct progress progress = {0};
    double changed_s;
    int status = 0;
    meter->points.count = 0;
    if (counter->begin != NULL && !counter->begin(counter->context))
        return 0;
    if (counter->read(counter->context, &progress.now_s, &changed_s, &progress.total_mj)) {
        progress.start_s = progress.now_s;
        while (step(meter, load, window_s, &progress, &status))
            ;
    }
    if (counter->end != NULL)
        counter->end(counter->context);
    if (meter->points.count < POINTS_MIN)
        meter->points.count = 0;
    return status;
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
