/* doctor: what the files of this verb share: a report that grows a line a check. */
#ifndef EVOTILE_CMD_DOCTOR_H
#define EVOTILE_CMD_DOCTOR_H

#include "cmd/table.h"
#include "device/nvrtc.h"

enum { DOCTOR_LINE_SIZE = 512 };

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_MISSING };

struct doctor {
    struct table *table;
    struct nvrtc *nvrtc; /* NULL: there is none */
    char torch[64];      /* its version; empty: not there */
    char device[64];     /* the first that ran a kernel, which is what `auto` takes; or empty */
};

/* Adds a line. `remedy` says what to do about it; NULL where there is nothing to do, or the text
   itself says it. */
void doctor_say(struct doctor *doctor, enum doctor_state state, const char *check,
                const char *remedy, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The GPUs and their driver, then the emulated devices: each runs a kernel. */
void doctor_check_gpus(struct doctor *doctor);
void doctor_check_emulated(struct doctor *doctor);

#endif
