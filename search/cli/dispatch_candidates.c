/* Which genomes of a run are timed for a dispatcher. */
#include "base/memory.h"
#include "cli/dispatch_work.h"

#include <stdlib.h>
#include <string.h>

/* Of the board of a case. */
enum { ROWS_MAX = 128 };
#define NEAR_CHAMPION 1.1

/* A genome that was nearly as fast as a case's champion. */
struct candidate {
    int goal; /* of the trial in which it came closest */
    int64_t trial;
    double ratio;   /* of that trial's time to the champion's */
    int case_count; /* at which it was near */
    int last_case;  /* of these */
    char genome[GENOME_TEXT_SIZE];
};

struct candidates {
    const struct export_run *run;
    int case_index; /* whose board is read */
    int count;
    struct candidate *items;
};

/* ---- reading the boards ---- */

static struct candidate *find(struct candidates *candidates, const struct store_trial *trial) {
    const int solution = export_run_rival(candidates->run, trial->goal);
    for (int i = 0; i < candidates->count; i++) {
        struct candidate *known = &candidates->items[i];
        if (export_run_rival(candidates->run, known->goal) == solution &&
            strcmp(known->genome, trial->genome) == 0)
            return known;
    }
    candidates->items =
        xgrow(candidates->items, (size_t)candidates->count, sizeof *candidates->items);
    struct candidate *added = &candidates->items[candidates->count++];
    *added = (struct candidate){.ratio = NEAR_CHAMPION, .last_case = -1};
    snprintf(added->genome, sizeof added->genome, "%s", trial->genome);
    added->goal = trial->goal;
    added->trial = trial->number;
    return added;
}

static int add_row(void *context, const struct store_trial *trial, struct error *error) {
    struct candidates *candidates = context;
    const struct export_run *run = candidates->run;
    const int goal = run->goals[candidates->case_index];
    const double ratio = trial->outcome->score_us / run->champions[goal]->outcome->score_us;
    (void)error;
    if (ratio > NEAR_CHAMPION)
        return 1; /* and so are those that follow */
    if (run->templates[export_run_rival(run, trial->goal)] == NULL)
        return 0; /* of a solution that is champion nowhere */
    struct candidate *candidate = find(candidates, trial);
    candidate->case_count += candidate->last_case != candidates->case_index;
    candidate->last_case = candidates->case_index;
    if (ratio < candidate->ratio) {
        candidate->ratio = ratio;
        candidate->goal = trial->goal;
        candidate->trial = trial->number;
    }
    return 0;
}

static int read_boards(struct candidates *candidates, struct error *error) {
    const struct export_run *run = candidates->run;
    const int solutions = run->solutions.count;
    int status = 0;
    for (int c = 0; c < run->config->case_count && status == 0; c++) {
        const struct goal_range goals = {c * solutions, (c + 1) * solutions - 1};
        candidates->case_index = c;
        status = store_shared_board(run->store, goals, ROWS_MAX, 0, add_row, candidates, error);
    }
    return status;
}

/* Those that are near at most cases first: they are the likeliest to be fast between the cases. */
static int compare(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->case_count != b->case_count)
        return b->case_count - a->case_count;
    return a->ratio != b->ratio ? (a->ratio > b->ratio) - (a->ratio < b->ratio)
                                : (a->trial > b->trial) - (a->trial < b->trial);
}

/* ---- the kernels ---- */

static void add_kernel(struct dispatch_work *work, int goal, int64_t trial,
                       const struct genome *genome) {
    const struct export_run *run = work->run;
    for (int k = 0; k < work->kernel_count; k++)
        if (export_run_rival(run, work->kernel_goals[k]) == export_run_rival(run, goal) &&
            genome_equal(&work->genomes[k], genome))
            return;
    const int k = work->kernel_count++;
    work->kernel_goals[k] = goal;
    work->kernel_trials[k] = trial;
    work->genomes[k] = *genome;
    genome_print(genome, export_run_template(run, goal)->space, work->texts[k]);
}

static int add_candidates(struct dispatch_work *work, const struct candidates *candidates, int most,
                          struct error *error) {
    for (int i = 0; i < candidates->count && work->kernel_count < most; i++) {
        const struct candidate *candidate = &candidates->items[i];
        const struct template *template = export_run_template(work->run, candidate->goal);
        struct genome genome;
        if (genome_parse(&genome, template->space, candidate->genome, error) < 0)
            return -1;
        add_kernel(work, candidate->goal, candidate->trial, &genome);
    }
    return 0;
}

int dispatch_add_kernels(struct dispatch_work *work, const struct dispatch_options *options,
                         struct error *error) {
    const struct export_run *run = work->run;
    const int most = options->candidates > 0 ? (int)options->candidates : DISPATCH_CANDIDATES;
    struct candidates candidates = {.run = run};
    for (int i = 0; i < run->goal_count; i++) {
        const int goal = run->goals[i];
        add_kernel(work, goal, run->champions[goal]->number, &run->genomes[goal]);
    }
    int status = read_boards(&candidates, error);
    if (candidates.count > 0)
        qsort(candidates.items, (size_t)candidates.count, sizeof *candidates.items, compare);
    if (status == 0)
        status = add_candidates(work, &candidates, most, error);
    free(candidates.items);
    return status;
}
