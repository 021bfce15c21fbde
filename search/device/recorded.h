/*
 * recorded: a tuning space that somebody measured, read from a file: Kernel Tuner's cache or the
 * community's T4 results, plain or gzip. Its rows are the space: the genes are the parameters that
 * vary, with the values that occur as domains (numbers in numeric order, other values in
 * alphabetic), and exactly the rows are valid genomes, those that failed too.
 *
 *     struct recorded *recorded = recorded_read("space.json.gz", &error);
 *     int64_t row = recorded_find(recorded, &genome);        // rows are numbered as in the file
 *     if (row >= 0 && recorded->verdicts[row] == VERDICT_OK) use(recorded->times_us[row]);
 *     recorded_free(recorded);
 *
 * Of a row the parameters, the time and the kind of failure are kept, not its samples. A Kernel
 * Tuner cache may lack its closing braces, as a tuner that was stopped leaves it.
 *
 * Formats: Kernel Tuner 1.4's cache files ("tune_params_keys", "cache"; times in ms; a failure is
 * the name of its class in place of the time), and T4 1.0.0 of
 * github.com/AutoTuningAssociation/autotuning_methodology.
 */
#ifndef EVOTILE_DEVICE_RECORDED_H
#define EVOTILE_DEVICE_RECORDED_H

#include "base/error.h"
#include "genome/space.h"
#include "outcome/outcome.h"

struct json_stream;

struct recorded {
    char device_name[128], kernel_name[128]; /* empty where the file does not say */
    /* The genome that its kernel's template calls the default, as text with all its genes, those
       that do not vary here too; empty where the file (one that evotile wrote) does not say. */
    char default_genome[GENOME_TEXT_SIZE];
    struct space *space;
    int64_t row_count, ok_count;
    struct genome *genomes; /* by row, all three */
    uint8_t *verdicts;      /* enum verdict */
    double *times_us;       /* INFINITY unless ok */
    double best_us;         /* the least of them: there is always one */
    uint32_t *row_of_rank;  /* by space_rank */
    int shares;             /* recorded_share */
};

/* A file that is malformed, or of neither format, is an error with line and column. */
struct recorded *recorded_read(const char *path, struct error *error);
/* From a stream, which the caller closes; errors go where the stream puts them. */
struct recorded *recorded_read_stream(struct json_stream *stream);
/* The same once more, for an owner of its own: it is gone when each has freed it. Not for two
   threads at once. */
struct recorded *recorded_share(struct recorded *recorded);
void recorded_free(struct recorded *recorded);

/* The row of a genome, or -1. */
int64_t recorded_find(const struct recorded *recorded, const struct genome *genome);

/* The row of a genome's text, in which genes that do not vary may be named too. That there is none,
   or that a gene is not given, is an error. */
int64_t recorded_find_text(const struct recorded *recorded, const char *text, struct error *error);

#endif
