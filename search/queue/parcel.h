/*
 * parcel: the files that a run is made of, config.json and what lies below template/, as chunks in
 * the key-value store. A worker writes what the description lists, where sizes and hashes are
 * right, and nothing else.
 *
 *     parcel_list(&description, "results/night", &error);            // the coordinator
 *     parcel_put(link, &description, "results/night", &error);
 *     parcel_get(link, &description, "/tmp/evotile.x", &error);      // a worker
 *
 * The hashes find damage; that nobody else puts other files there, the server's permissions see to
 * (configs/queue).
 */
#ifndef EVOTILE_QUEUE_PARCEL_H
#define EVOTILE_QUEUE_PARCEL_H

#include "queue/notice.h"

int parcel_list(struct description *description, const char *folder, struct error *error);
int parcel_put(struct link *link, const struct description *description, const char *folder,
               struct error *error);
/* 1: the server did not answer; try again. */
int parcel_get(struct link *link, const struct description *description, const char *folder,
               struct error *error);
#endif
