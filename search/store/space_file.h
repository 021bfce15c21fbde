/*
 * space_file: a run's trials as a recorded tuning space that others' tools read: T4 results or a
 * Kernel Tuner cache, gzip where the file is named .gz. device/recorded.h reads both back: the same
 * rows in the order in which they were told, with the same times.
 *
 *     const struct space_file file = {.format = SPACE_FILE_T4, .goal = 0, .device = "NVIDIA H200",
 *                                     .kernel = "row_scale"};
 *     int64_t rows = space_file_write(store, &file, "space.json.gz", &error);
 *
 * A row is a trial that was told and is not outdated. Its time is the geometric mean of its cases'
 * warm medians, in milliseconds to the picosecond; its samples are given where there is one case.
 * What failed keeps the kind of its failure, as far as the format has a word for it.
 *
 * Formats: T4 1.0.0 of github.com/AutoTuningAssociation/autotuning_methodology; Kernel Tuner 1.4.
 */
#ifndef EVOTILE_STORE_SPACE_FILE_H
#define EVOTILE_STORE_SPACE_FILE_H

#include "genome/genome.h"
#include "store/store.h"

enum space_file_format { SPACE_FILE_T4, SPACE_FILE_KERNEL_TUNER, SPACE_FILE_FORMAT_COUNT };

struct space_file {
    enum space_file_format format;
    int goal;
    const char *device, *kernel; /* names */
    const char *default_genome;  /* its text, for T4's metadata; NULL: not known */
};

/* "t4", "kernel-tuner"; and the format of that name, or -1. */
const char *space_file_format_name(enum space_file_format format);
int space_file_format_parse(const char *name);

/* Puts the file in place whole and returns the number of rows, of which there must be one; or -1.
 */
int64_t space_file_write(struct store *store, const struct space_file *file, const char *path,
                         struct error *error);

#endif
