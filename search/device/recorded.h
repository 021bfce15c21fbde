/*
 * recorded: a recorded tuning space, read from a file: a Kernel Tuner cache or T4 results, plain or
 * gzip. The rows are the space: the genes are the parameters that vary, with the values that occur
 * as domains (numbers in numeric order, other values alphabetically); exactly the rows are valid
 * genomes, including failed ones.
 *
 *     struct recorded *recorded = recorded_read("space.json.gz", &error);
 *     int64_t row = recorded_find(recorded, &genome);        // rows are numbered as in the file
 *     if (row >= 0 && recorded->verdicts[row] == VERDICT_OK)
 *         printf("%g us\n", recorded->times_us[row]);
 *     recorded_free(recorded);
 *
 * The parameters, the time and the kind of failure of a row are stored, but not its samples. A
 * Kernel Tuner cache may lack its closing braces, because a tuner that was interrupted leaves it
 * so.
 *
 * Formats: Kernel Tuner 1.4's cache files ("tune_params_keys", "cache"; times in ms; a failure is
 * the name of its class in place of the time), and T4 1.0.0 of
 * github.com/AutoTuningAssociation/autotuning_methodology.
 */
#ifndef EVOTILE_DEVICE_RECORDED_H
#define EVOTILE_DEVICE_RECORDED_H

#include "base/error.h"
#include "outcome/outcome.h"
#include "space/space.h"

struct json_stream;

struct recorded {
    char device_name[128], kernel_name[128]; /* empty if the file does not name them */
    /* The template's default genome as text, with all genes, including those that do not vary here;
       empty if the file does not name it (files that evotile wrote do). */
    char default_genome[GENOME_TEXT_SIZE];
    struct space *space;
    int64_t row_count, ok_count;
    struct genome *genomes; /* arrays by row */
    uint8_t *verdicts;      /* enum verdict */
    double *times_us;       /* INFINITY unless ok */
    double best_us;         /* the minimum; there is always an ok row */
    uint32_t *row_of_rank;  /* indexed by space_rank */
    int references;         /* number of owners besides the first (recorded_retain) */
};

/* Reads a file. A malformed file, or one in neither format, is an error with line and column. */
struct recorded *recorded_read(const char *path, struct error *error);
/* Reads a stream, which the caller closes; errors go to the stream's `error`. */
struct recorded *recorded_read_stream(struct json_stream *stream);
/* Adds an owner: the data is freed when every owner has called recorded_free. Not thread-safe. */
struct recorded *recorded_retain(struct recorded *recorded);
void recorded_free(struct recorded *recorded);

/* Returns the row of a genome, or -1. */
int64_t recorded_find(const struct recorded *recorded, const struct genome *genome);

/* Returns the row of a genome's text, which may also name genes that do not vary. An unknown row or
   a missing gene is an error. */
int64_t recorded_find_text(const struct recorded *recorded, const char *text, struct error *error);

#endif
