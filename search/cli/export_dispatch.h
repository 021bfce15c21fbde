/*
 * export_dispatch: makes the dispatcher of an export from measurements. Every champion of a
 * per_case run is timed at every case and at shapes between them, and so are genomes that were
 * nearly as fast at several cases: between the cases they may win. The fewest genomes are chosen
 * that are within a fraction of the fastest at the shapes to fit, and a decision tree that says
 * which one a shape gets. The regret is stated at the other shapes, which fitted nothing.
 *
 *     struct measured_dispatch *dispatch = export_dispatch_measure(&run, &options, &error);
 *     for (int u = 0; u < dispatch->unit_count; u++)
 *         ...;                                   // the variants to export, in this order
 *     export_dispatch_print(dispatch, &run);
 *     export_dispatch_free(dispatch);
 *
 * Cases, the ends of the ranges and two of three of the drawn shapes are fitted to. A genome
 * that fails a trial at any of the shapes is left out, with a warning.
 */
#ifndef EVOTILE_CLI_EXPORT_DISPATCH_H
#define EVOTILE_CLI_EXPORT_DISPATCH_H

#include "cli/export_run.h"
#include "export/export.h"

struct dispatch_options {
    bool given;          /* --within */
    double within;       /* per cent */
    const char *shapes;  /* --dispatch-cases: a number or a file; NULL: DISPATCH_SHAPES */
    const char *devices; /* --device: a list of the run's model; NULL: its device */
    int64_t most;        /* genomes; 0: no limit */
    int64_t candidates;  /* genomes that are timed; 0: DISPATCH_CANDIDATES */
    int64_t rounds;      /* 0: the default of case_times.h */
};
/* DISPATCH_FURTHER: shapes that are not timed, and that the tree is fitted to, too (smooth.h). */
enum { DISPATCH_SHAPES = 64, DISPATCH_CANDIDATES = 24, DISPATCH_DEPTH = 8, DISPATCH_FURTHER = 500 };

/* A genome, compiled for the specialised dimensions of a case. */
struct dispatch_unit {
    int kernel; /* private */
    int goal;   /* of the genome's solution */
    const struct genome *genome;
    int case_index;          /* the first case that gets it; else one with its specialised
                                dimensions */
    struct outcome *outcome; /* of its final checks at that case; NULL: the case's champion's */
    struct key key;          /* of that trial; empty without an outcome */
};

struct measured_dispatch {
    struct export_dispatch exported;
    struct tree tree;
    int unit_count;
    struct dispatch_unit units[CASES_MAX];
    int case_units[CASES_MAX];  /* which one a case gets */
    struct dispatch_work *work; /* private */
};

/* Measures on devices of the run's model, and replaces in `run` the champion of each case that gets
   another genome, by a trial of that one with the final checks. NULL after an error. */
struct measured_dispatch *export_dispatch_measure(struct export_run *run,
                                                  const struct dispatch_options *options,
                                                  struct error *error);
void export_dispatch_free(struct measured_dispatch *dispatch);

/* What was chosen, and its regret, on standard output. */
void export_dispatch_print(const struct measured_dispatch *dispatch, const struct export_run *run);

/* Whether the text is a number of shapes to draw, and not the name of a file. */
bool dispatch_draws(const char *text);
/* Reads "200" or the name of a file into shapes, which the caller frees. Returns their number, or
   -1. */
int dispatch_read_shapes(const struct config *config, const char *text, uint64_t seed,
                         struct shape **shapes, struct error *error);
/* "median 1.2 % (95 % interval 0.4 to 2.0), 95th percentile ..., worst 9.0 %": what regret_json
   has, for a reader. */
void dispatch_print_regret(const struct regret *regret, const char *worst);

#endif
