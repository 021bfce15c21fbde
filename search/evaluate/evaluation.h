/*
 * evaluation: the state of one candidate's trial in an evaluator. Private to evaluate/: evaluator.c
 * runs the gates, correctness.c and final_checks.c verify, timing.c times, duel_gate.c runs duels
 * (opponent.h).
 *
 * Gates return 0 to continue, 1 when the candidate has its verdict, -1 with the error.
 */
#ifndef EVOTILE_EVALUATE_EVALUATION_H
#define EVOTILE_EVALUATE_EVALUATION_H

#include "evaluate/energy.h"
#include "evaluate/evaluator.h"
#include "evaluate/measure.h"
#include "evaluate/sampled_blocks.h"

/* A second evaluator on the same device, for a duel against a kernel of another run. */
struct other_evaluator {
    const struct evaluation_settings *settings; /* NULL: none */
    struct compiler *compiler;
    struct evaluator *evaluator;
};

/* The baseline process of the last duel; it is kept for the next one. */
struct baseline_process {
    struct baseline_command command;
    struct baseline *baseline; /* NULL: not running */
};

/* The opponent of the last duel as machine code in host memory. */
struct cached_champion {
    bool valid; /* `images` belong to this goal and genome */
    int goal;
    struct genome genome;
    struct device_image images[CASES_MAX];
};

/* How the timings of a champion with long calls differ: so would those of a candidate that is as
   fast. 0: not known. */
struct champion_timings {
    double load_ratio; /* time under steady load, as a multiple of that before; at least 1 */
    double race_ratio; /* the score, as a multiple of the time before the load */
    double full_ratio; /* the score, as a multiple of a full timing under load */
};

struct evaluator {
    bool shares_device;        /* the monitors are another evaluator's */
    struct evaluator *problem; /* an evaluator of the same problem, whose the kernels below are that
                                  are not the solution's; it must outlive this one. NULL: they are
                                  its own */
    const struct evaluation_settings *settings;
    struct device *device;
    struct compiler *compiler;
    struct comparator *comparator;
    struct device_module *reference, *plain; /* kernels of the template; NULL: it has none */
    struct device_module
        *defaults[GOALS_MAX][CASES_MAX]; /* of the default genome, if that is the reference: by goal
                                            and a variant's first case */
    bool default_checked[GOALS_MAX];     /* by goal */
    struct reference_program *program;   /* NULL: the reference is kernels */
    struct sampled_blocks sampled;       /* the same, some blocks of them; if a case is large */
    struct template *held_out;           /* loaded for the held-out cases; NULL: not loaded yet,
                                            or none */
    struct template *probes[GOALS_MAX];
    bool probes_loaded[GOALS_MAX];              /* by goal */
    bool references_compared[GOALS_MAX];        /* by goal; of its own kernels */
    struct clock_monitor *clock_monitor;        /* NULL if the device cannot be monitored */
    struct champion_timings timings[GOALS_MAX]; /* by goal: of its last champion */
    struct energy_meter *energy_meter;          /* NULL if the device counts no energy */
    double started_s;                           /* when it was made */
    double energy_s, settled_s; /* how long it has measured energy since, and run settled duels */
    struct other_evaluator other_evaluator;
    struct baseline_process baseline_process;
    struct cached_champion champion;
    uint64_t self_test_hash; /* of evotile's own kernels, before any candidate ran */
};

void evaluator_clear_champion(struct evaluator *evaluator);
void evaluator_close_baseline(struct evaluator *evaluator);
/* Loads the template for the goal's probe cases; evaluator->probes[goal] stays NULL if it has
   none. */
int evaluator_load_probes(struct evaluator *evaluator, int goal, const struct template *template,
                          struct error *error);
/* Loads the default genome's kernels for a goal, if it is the reference; once. And the kernels that
   compute the reference of a case of `template`, which has the goal's variants. */
int evaluator_load_default(struct evaluator *evaluator, int goal, struct error *error);
struct device_module *evaluator_reference(const struct evaluator *evaluator, int goal,
                                          const struct template *own,
                                          const struct template *template, int case_index);
/* Checks the default genome of a goal as a candidate is, if it is the reference; once. What it
   fails is an error of the template. */
int evaluator_check_default(struct evaluator *evaluator, int goal, struct error *error);
void evaluator_unload_defaults(struct evaluator *evaluator);
/* A stray write that is not trapped may have hit the evaluator's own kernels. */
bool evaluator_needs_self_test(const struct evaluator *evaluator);
/* Computes the self-test hash of the evaluator's own kernels (verify_self_test). */
int evaluator_self_test(struct evaluator *evaluator, uint64_t *self_test_hash, struct error *error);
/* Compares the template's references (c_reference.h) for a goal's specialised dimensions, at small
   cases and at thin shapes that the genome is valid for; once. */
int evaluator_compare_references(struct evaluator *evaluator, int goal, const struct genome *genome,
                                 struct error *error);

struct evaluation {
    struct evaluator *evaluator;
    const struct trial_request *request;
    const struct template *template;
    struct trial_result *result;
    struct error *error;
    const struct device_image *images;        /* of the modules */
    struct device_image rebuilt[CASES_MAX];   /* what `images` is after a compilation without the
                                                 cache */
    struct device_module *modules[CASES_MAX]; /* at the index of the variant's first case */
    double full_us;            /* score by the full timing; 0: none yet, or calls are short */
    bool full_loaded;          /* it came after load */
    struct measurement *raced; /* of the race, kept for the full timing; NULL: none */
    double call_us[CASES_MAX]; /* of the quickest call of a case so far, as the host saw it; 0: none
                                */
    double deadline_s;         /* of one call */
    int inputs;                /* that were verified so far */
    double cost;               /* of that, in operations (gate_run.h) */
};

/* Loads the images of every variant and reads the genome mark back. If it is another genome's,
   the cache is damaged: compiles once more without the cache. */
int evaluation_load(struct evaluation *evaluation, const struct device_image images[CASES_MAX]);
/* Reads the actual resources from the device, records those of the launch with the most shared
   memory, and checks them against the limits. Returns 1, with the verdict, if one is exceeded. */
int evaluation_check_resources(struct evaluation *evaluation);
/* Runs the gates before timing: resources, probe cases, cases. */
int evaluation_verify(struct evaluation *evaluation);
/* The correctness part of evaluation_verify: probe cases and cases, on random inputs and on
   stress inputs. */
int evaluation_check_correctness(struct evaluation *evaluation);
/* Replaces evaluation_check_correctness under a tool: each small case (with `profiled`, each of
   the goal's own cases) once. */
int evaluation_run_under_tool(struct evaluation *evaluation);
/* Final checks of a candidate that would become champion or that was requested with `promote`:
   held-out cases, fresh seeds, tensors flush against unmapped memory. Runs after timing and
   duel. */
int evaluation_run_final_checks(struct evaluation *evaluation);
/* Returns whether a case takes too long to run on the device, which interprets. */
bool evaluation_case_is_long(const struct evaluation *evaluation, const struct launch_plan *plan);
/* Runs blocks of such cases, and compares what they write; one of the final checks. */
int evaluation_check_long_cases(struct evaluation *evaluation);
/* Runs the candidate's small cases under the emulated device's race checker (ptx/racecheck.h), on
   every device; the last of the final checks. */
int evaluation_check_races(struct evaluation *evaluation);
/* The goal's variant that matches a case of another template; -1 if none does. */
int evaluation_matching_variant(const struct template *template,
                                const struct template *other_template, int other_case);
void evaluation_unload(struct evaluation *evaluation);

/* Race and full timing; sets the score. */
int evaluation_time(struct evaluation *evaluation);
/* Final timing of a candidate that would become champion, in several placements, after all other
   gates: the leaderboard's figure, which must be reproducible. Sets the score. */
int evaluation_time_champion(struct evaluation *evaluation);
/* Returns whether long calls of the goal are slower under steady load than without, or may be: the
   GPU reaches its power limit. */
bool evaluation_load_changes(const struct evaluation *evaluation);
/* Returns whether they are so much slower that candidates differ by it, and a full timing needs
   the load. */
bool evaluation_load_matters(const struct evaluation *evaluation);
/* Returns whether the candidate would become champion by its results so far, or its request says
   `promote`. */
bool evaluation_would_be_champion(const struct evaluation *evaluation);
/* The score that results from a timing and the duel, if there was one. */
double evaluation_score(const struct evaluation *evaluation, double timed_us);

/* Energy (evaluate/energy_gate.c). In a search that minimises it, of every candidate after its full
   timing: sets the score. A candidate whose score is not clearly below the champion's gets one
   behind the champion's, as after a duel that was not won. */
int evaluation_score_energy(struct evaluation *evaluation);
/* Else of each final timing, on a GPU that counts energy, of calls that are long enough. */
int evaluation_measure_energy(struct evaluation *evaluation);
/* The score of a candidate that is about to be champion, by its final timing; `accepted` is what
   made it so, and stands if the new one alone would not. */
double evaluation_rescore_energy(const struct evaluation *evaluation, double accepted);
/* What the trial's score is of: a requested trial's is latency. */
enum minimised evaluation_minimises(const struct evaluation *evaluation);

/* call_work.c. The score of a call of a case that takes so long: its microseconds, or what they are
   for each operation or byte. */
double evaluation_call_score(const struct evaluation *evaluation, int case_index, double us);
/* By case, the work of a call of `other` divided by that of a call of this one. NULL: of a
   baseline, whose call counts as one of the default genome. */
int evaluation_work_ratios(const struct evaluation *evaluation, const struct evaluation *other,
                           double ratios[CASES_MAX]);

/* A duel against the request's opponent, if there is one and it is due; sets the score. */
int evaluation_duel(struct evaluation *evaluation);

/* The arguments for verifying and for measuring a case. */
struct verify_case evaluation_verify_case(const struct evaluation *evaluation,
                                          const struct template *template, int case_index,
                                          struct device_module *module);
/* Notes the time of a call, as the host saw it. */
void evaluation_note_call(struct evaluation *evaluation, int case_index, double call_us);
struct measure_settings evaluation_measure_settings(const struct evaluation *evaluation,
                                                    int case_index);
/* A seed that differs for every trial, case and input. */
uint64_t evaluation_seed(const struct evaluation *evaluation, int case_index, int input);
/* Ends the trial at a gate because of one case; returns 1. */
int evaluation_fail(struct evaluation *evaluation, const char *gate,
                    const struct template *template, int case_index, double start,
                    const struct failure *failure);

#endif
