/*
 * space_file: exports a run's trials as a recorded tuning space for other tools: T4 results or a
 * Kernel Tuner cache, gzip-compressed if the file name ends in .gz. device/recorded.h reads both
 * formats: the same rows in the order in which they were observed, with the same times.
 *
 *     const struct space_file file = {.format = SPACE_FILE_T4, .goal = 0, .device = "NVIDIA H200",
 *                                     .kernel = "row_scale"};
 *     int64_t rows = space_file_write(store, &file, "space.json.gz", &error);
 *
 * A row is a trial that was observed and is not outdated. Its time is the geometric mean of its
 * cases' warm medians, in milliseconds, rounded to a picosecond; samples are written for a single
 * case only. A failed trial keeps its kind of failure as far as the format can express it.
 *
 * Formats: T4 1.0.0 of github.com/AutoTuningAssociation/autotuning_methodology; Kernel Tuner 1.4.
 */
#ifndef EVOTILE_STORE_SPACE_FILE_H
#define EVOTILE_STORE_SPACE_FILE_H

#include "space/genome.h"
#include "store/store.h"

enum space_file_format { SPACE_FILE_T4, SPACE_FILE_KERNEL_TUNER, SPACE_FILE_FORMAT_COUNT };

struct space_file {
    enum space_file_format format;
    int goal;
    const char *device, *kernel; /* names */
    const char *default_genome;  /* its text, for T4's metadata; NULL: unknown */
};

/* "t4", "kernel-tuner"; parse returns the format, or -1. */
const char *space_file_format_name(enum space_file_format format);
int space_file_format_parse(const char *name);

/* Writes the file atomically and returns the number of rows, or -1. No rows is an error. */
int64_t space_file_write(struct store *store, const struct space_file *file, const char *path,
                         struct error *error);

#endif
