/*
 * energy: the energy of a candidate's calls, from the counter of the whole GPU that NVML reads. The
 * driver raises the counter in steps, some 20 to 100 ms apart, so that a figure needs many calls:
 * they run in batches, while a thread reads the counter again and again (a reading takes 3.5 ms on
 * an H200, in which the GPU must not be idle). Where the counter changed, the time, the calls so
 * far and the counter are a point; from the first point to the last, energy less the idle power's
 * part, divided by the calls, is the energy of a call. The rates within parts of that window state
 * its error.
 *
 * What the idle GPU uses is subtracted, so that host time between batches costs nothing. Idle power
 * is measured once for a meter, before its first measurement.
 *
 *     struct energy_meter *meter = energy_meter_new(&device->info); // NULL: no such counter
 *     struct energy energy;
 *     int status = energy_measure(meter, &load, 300, &energy);
 *     if (status == 0 && energy.mj > 0)
 *         printf("%.2f mJ a call, +- %.1f %%\n", energy.mj, 100 * energy.error);
 *     energy_meter_free(meter);
 *
 * The figure is of the whole board: other processes on the GPU count, too. Its error is that of one
 * measurement; temperature and the placement in memory change it between two.
 */
#ifndef EVOTILE_EVALUATE_ENERGY_H
#define EVOTILE_EVALUATE_ENERGY_H

#include "device/device.h"

struct energy_meter;

/* A counter of energy and the clock that belongs to it. */
struct energy_counter {
    /* The time, when the counter changed last, both in seconds from any start, and the counter, in
       millijoules from any start. False: it cannot be read. */
    bool (*read)(void *context, double *now_s, double *changed_s, double *total_mj);
    /* Before the first reading of a measurement, and after the last one. NULL: nothing to do. */
    bool (*begin)(void *context);
    void (*end)(void *context);
    /* Lets some time pass before the next reading; about a millisecond. */
    void (*wait)(void *context);
    void *context;
};

/* Calls whose energy is measured. */
struct energy_load {
    /* Runs some milliseconds of calls and adds their number to `*calls`. Another result than 0 ends
       the measurement. */
    int (*run)(void *context, int64_t *calls);
    void *context;
};

/* Returns NULL for a device that predicts, without NVML, and for a GPU without the counter. */
struct energy_meter *energy_meter_new(const struct device_info *info);
/* The same with another counter. Never NULL. */
struct energy_meter *energy_meter_new_with_counter(const struct energy_counter *counter);
/* Accepts NULL. */
void energy_meter_free(struct energy_meter *meter);

/* The longest that a measurement's points are collected, in seconds. */
#define ENERGY_LIMIT_S 2.0

/* Measures over `window_ms` (at most ENERGY_LIMIT_S) or longer, until there are enough points.
   Returns 0, or the load's result. `*energy` is all 0 if the counter fell, stood still or changed
   too rarely for a figure within ENERGY_LIMIT_S. */
int energy_measure(struct energy_meter *meter, const struct energy_load *load, double window_ms,
                   struct energy *energy);

#endif
