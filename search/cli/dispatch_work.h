/*
 * dispatch_work: what is measured for an exported dispatcher, and what follows from it. Private to
 * the files that implement cli/export_dispatch.h.
 *
 *     if (dispatch_measure_times(work, &options, &predicted, &error) < 0)
 *         return -1;
 *     double within = dispatch_fit(work, &options);
 *     if (dispatch_add_units(dispatch, &error) < 0 || dispatch_check_units(dispatch, &error) < 0)
 *         return -1;
 *     dispatch->exported.held_out = dispatch_find_regret(dispatch, false, &worst);
 */
#ifndef EVOTILE_CLI_DISPATCH_WORK_H
#define EVOTILE_CLI_DISPATCH_WORK_H

#include "cli/export_dispatch.h"
#include "dispatch/cover.h"

/* A kernel that has passed the final checks at a case where it was no champion. */
struct checked_kernel {
    int kernel, case_index;
    struct outcome outcome;
    struct key key;
};

/* What is measured, and what follows from it. Kernels are genomes of a solution. */
struct dispatch_work {
    struct export_run *run;
    struct device_list devices;                           /* of the run's model */
    int kernel_count, kernel_goals[DISPATCH_KERNELS_MAX]; /* a goal that each was tried for */
    int64_t kernel_trials[DISPATCH_KERNELS_MAX];          /* that trial */
    bool failed[DISPATCH_KERNELS_MAX];
    struct genome genomes[DISPATCH_KERNELS_MAX];
    char texts[DISPATCH_KERNELS_MAX][GENOME_TEXT_SIZE];
    int shape_count;
    struct shape *shapes; /* the cases, then the others */
    bool *fitted;
    int64_t *inputs; /* [shape][input of the tree] */
    double *us;      /* [shape][kernel] */
    bool *verified;  /* the same */
    double *unit_us; /* [shape][unit] */
    bool *unit_verified;
    double *least_us; /* of a shape */
    char *ranges;     /* of the config, as JSON */
    struct checked_kernel *checked;
    int checked_count;
    struct cover cover;
    struct tree kernel_tree; /* its kernels are those of the cover */
};

/* Fills kernels: every champion, and further ones of the boards. */
int dispatch_add_kernels(struct dispatch_work *work, const struct dispatch_options *options,
                         struct error *error);
/* Fills kernels, shapes and times. */
int dispatch_measure_times(struct dispatch_work *work, const struct dispatch_options *options,
                           bool *predicted, struct error *error);
/* The kernel has failed a trial: it fits no shape. */
void dispatch_leave_out(struct dispatch_work *work, int kernel);
/* The first case of the run with the shape's specialised dimensions, as the kernel's solution
   specialises them; -1: there is none. */
int dispatch_compiled_case(const struct dispatch_work *work, int kernel, const struct shape *shape);

/* Chooses the genomes and fits their tree. Returns the fraction that they are within. */
double dispatch_fit(struct dispatch_work *work, const struct dispatch_options *options);
/* Fills the units, their tree and their times. */
int dispatch_add_units(struct measured_dispatch *dispatch, struct error *error);
/* Says which unit each case gets, and runs the final checks of a champion on what was none there:
   each unit at each case that it serves, and at one case if it serves none. The devices share the
   checks. Returns 0; 1 if genomes failed, which are left out now, so that the others are to be
   fitted again; or -1. What has passed is not checked again then. */
int dispatch_check_units(struct measured_dispatch *dispatch, struct error *error);
/* The regret at the shapes that were fitted to, or at the others; `worst` is the index of the worst
   shape. */
struct regret dispatch_find_regret(const struct measured_dispatch *dispatch, bool fitted,
                                   int *worst);

#endif
