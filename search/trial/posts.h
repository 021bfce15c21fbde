/*
 * posts: the devices of a crew, all of one model, and which of them still serve. Private to
 * trial/crew.c.
 *
 *     posts_init(&posts, &list);
 *     posts_take(&posts, 0, &info, &error);             // its worker has opened it
 *     if (posts_note(&posts, 0, verdict, &error) < 0)   // a trial ended there
 *         ... the device fails, for the reason in error ...
 */
#ifndef EVOTILE_TRIAL_POSTS_H
#define EVOTILE_TRIAL_POSTS_H

#include "device/device.h"

/* A GPU with its worker, or an emulated device with as many as there are cores. */
struct post {
    struct device_info info; /* its spec from the beginning, the rest once `known` */
    bool known, set_aside, paused;
    int deaths;     /* of its workers in a row, before one was ready */
    int done, lost; /* trials; those that ended in a crash or a hang */
    int lost_in_a_row;
};

struct posts {
    int count;
    struct post items[DEVICES_MAX];
};

void posts_init(struct posts *posts, const struct device_list *list);
/* That serve, or may yet. */
int posts_left(const struct posts *posts);
/* One that is known and serves, -1 where there is none. */
int posts_first(const struct posts *posts);
bool posts_all_known(const struct posts *posts);

/* What a device is. -1: of another model than those before it. */
int posts_take(struct posts *posts, int post, const struct device_info *info, struct error *error);

/* What a trial came to. A crash is the candidate's, until a device has so many in a row as the
   candidates, going by the other devices, do not explain: then -1. */
int posts_note(struct posts *posts, int post, enum verdict verdict, struct error *error);

#endif
