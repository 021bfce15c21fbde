/*
 * device_slots: the devices of a local pool, all of one model, and whether each is in service.
 * Private to the local pool.
 *
 *     device_slots_init(&slots, &list);
 *     device_slots_describe(&slots, 0, &info, &error);             // its worker opened it
 *     if (device_slots_record_trial(&slots, 0, verdict, &error) < 0)
 *         log_warn("the device fails: %s", error.text);            // a trial ended there
 */
#ifndef EVOTILE_POOL_DEVICE_SLOTS_H
#define EVOTILE_POOL_DEVICE_SLOTS_H

#include "device/device.h"

/* A GPU with its worker, or an emulated device with one worker per core. */
struct device_slot {
    struct device_info info; /* the spec from the start, the rest once `described` */
    bool described, quarantined, paused;
    int failed_starts;           /* of its workers in a row, without one that became ready */
    int trial_count, lost_count; /* trials; trials that crashed or hung */
    int consecutive_lost;
};

struct device_slots {
    int count;
    struct device_slot items[DEVICES_MAX];
};

void device_slots_init(struct device_slots *slots, const struct device_list *list);
/* Number of slots that are not quarantined. */
int device_slots_active_count(const struct device_slots *slots);
/* The first slot that is described and not quarantined; -1 if none. */
int device_slots_first_active(const struct device_slots *slots);
bool device_slots_all_described(const struct device_slots *slots);

/* Sets the description of a slot's device. -1: it is of another model than the others. */
int device_slots_describe(struct device_slots *slots, int slot, const struct device_info *info,
                          struct error *error);

/* Records a trial's verdict. A crash counts against the candidate, until a device has more lost
   trials in a row than the candidates' crash rate on the other devices explains: then -1. */
int device_slots_record_trial(struct device_slots *slots, int slot, enum verdict verdict,
                              struct error *error);

#endif
