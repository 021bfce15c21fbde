/*
 * doctor: the state shared by the files of the verb `doctor`: a report with one line per check.
 *
 *     struct doctor doctor = {.table = table_new(columns, 5)};
 *     doctor_add(&doctor, DOCTOR_MISSING, "ncu", "install Nsight Compute", "optional");
 *     doctor_check_gpus(&doctor);
 *     doctor_check_emulated(&doctor);
 *     table_print(doctor.table, TABLE_TEXT, stdout);
 */
#ifndef EVOTILE_CLI_DOCTOR_H
#define EVOTILE_CLI_DOCTOR_H

#include "device/nvrtc.h"
#include "render/table.h"

enum { DOCTOR_LINE_SIZE = 512 };

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_MISSING };

struct doctor {
    struct table *table;
    struct nvrtc *nvrtc; /* NULL if it cannot be loaded */
    char torch[64];      /* version of PyTorch; empty if it is not installed */
    char device[64];     /* the first that ran a kernel, which `auto` selects; or empty */
};

/* Adds a line. `remedy` is NULL if nothing needs to be done or the finding names the remedy. */
void doctor_add(struct doctor *doctor, enum doctor_state state, const char *check,
                const char *remedy, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Check the GPUs and their driver, and the emulated devices. Each device runs a kernel. */
void doctor_check_gpus(struct doctor *doctor);
void doctor_check_emulated(struct doctor *doctor);

#endif
