/*
 * enlist: `evotile worker --queue`: this host's devices put at the service of the runs on a queue,
 * one run at a time.
 *
 *     const struct enlistment how = {.link = {.url = "nats://localhost:4222"}, .devices = "auto"};
 *     int status = enlist(&how, &error);          // until a signal, or idle for too long
 *
 * A run whose coordinator is silent for a minute, and one whose population is from another device
 * model, driver, NVRTC or method, is left to others.
 */
#ifndef EVOTILE_CMD_ENLIST_H
#define EVOTILE_CMD_ENLIST_H

#include "queue/link.h"

struct enlistment {
    struct link_settings link;
    const char *devices;     /* as of `run --device` */
    int64_t compile_workers; /* -1: as many as there are cores for */
    int64_t device_workers;  /* a device; 0: one */
    double idle_s;           /* leave after so long without work; 0: never */
};

/* 0: told to leave, or idle; -1 with the error. */
int enlist(const struct enlistment *how, struct error *error);

#endif
