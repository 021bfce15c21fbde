/*
 * device_slots: the devices of a local pool, all of one model, and whether each is in service.
 * Private to pool/local_pool.c.
 *
 *     device_slots_init(&slots, &list);
 *     device_slots_describe(&slots, 0, &info, &error);             // its worker opened it
 *     if (device_slots_record_trial(&slots, 0, verdict, &error) < 0)
 *         log_warn("the device fails: %s", error.text);            // a trial ended there
 */
#ifndef EVOTILE_TRIAL_POSTS_H
#define EVOTILE_TRIAL_POSTS_H

#include "device/device.h"

/* A GPU with its worker, or an emulated device with one worker per core. */
struct post {
    struct device_info info; /* the spec from the start, the rest once `described` */
    bool known, set_aside, paused;
    int deaths;     /* of its workers in a row, without one that became ready */
    int done, lost; /* trials; trials that crashed or hung */
    int lost_in_a_row;
};

struct posts {
    int count;
    struct post items[DEVICES_MAX];
};

void posts_init(struct posts *posts, const struct device_list *list);
/* Number of slots that are not quarantined. */
int posts_left(const struct posts *posts);
/* The first slot that is described and not quarantined; -1 if none. */
int posts_first(const struct posts *posts);
bool posts_all_known(const struct posts *posts);

/* Sets the description of a slot's device. -1: it is of another model than the others. */
int posts_take(struct posts *posts, int post, const struct device_info *info, struct error *error);

/* Records a trial's verdict. A crash counts against the candidate, until a device has more lost
   trials in a row than the candidates' crash rate on the other devices explains: then -1. */
int posts_note(struct posts *posts, int post, enum verdict verdict, struct error *error);

#endif
