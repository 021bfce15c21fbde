/*
 * config: the user's request for a run, read from JSON: the template, the cases, the limits, the
 * search, the timing and the budget. configs/README.md documents every key.
 *
 *     struct config *config = config_load("configs/demo.json", NULL, &error);
 *     for (int goal = 0; goal < config_goal_count(config); goal++)
 *         goals[goal] = config_load_template(config, goal, &device_info, &error);
 *     config_free(config);
 *
 * A *goal* is a solution and the set of cases for which one of its genomes is optimised: all cases
 * when the objective is joint, one case each when it is per_case. Goals of the same cases and other
 * solutions are *rivals*: consecutive goals, in the order of the config's "solutions". Unknown keys
 * are errors that suggest the closest known one.
 */
#ifndef EVOTILE_CONFIG_CONFIG_H
#define EVOTILE_CONFIG_CONFIG_H

#include "device/device.h"
#include "outcome/minimised.h"
#include "outcome/timing.h"
#include "template/template.h"

enum objective { OBJECTIVE_JOINT, OBJECTIVE_PER_CASE };

enum { TEMPERATURE_MAX_C = 150 }; /* a higher limit is a typing error */

/* How the sources of a run evolve: "evolve". */
enum evolve_strategy { EVOLVE_FREE, EVOLVE_INSIGHT, EVOLVE_FULL };
enum { EVOLVE_STRATEGIES = 3, EVOLVE_AHEAD_MAX = 16, PROPOSER_SIZE = 2048 };
const char *evolve_strategy_name(enum evolve_strategy strategy);

struct evolve_settings {
    char proposer[PROPOSER_SIZE]; /* a command of the shell; empty: sources do not evolve */
    enum evolve_strategy strategy;
    int64_t proposals; /* 0: no limit */
    int tune;          /* trials that a solution gets after its first one */
    int ahead;         /* proposals that are asked for and not yet decided on */
    double timeout_s;  /* of an answer */
};

/* Which values of a dimension a caller may have: "ranges" (config/ranges.h). */
enum { RANGE_VALUES_MAX = 64 };
struct range {
    bool given;
    int value_count; /* 0: the other members count */
    int64_t values[RANGE_VALUES_MAX];
    int divides;                           /* the dimension whose divisors they are; -1: */
    int64_t minimum, maximum, multiple_of; /* the limits are multiples */
    bool logarithmic;                      /* drawn evenly on a logarithmic scale */
};

struct config {
    char *path, *text;     /* file name and text as read */
    char *template_folder; /* of the problem, if its solutions are apart */
    int solution_count;    /* of those that are searched; 0: the template has one, nameless */
    char solutions[SOLUTIONS_MAX][NAME_SIZE];
    int default_solution; /* of these: the problem's if it is searched, else the first */
    struct template
        *shapes; /* the template loaded without a device: only its dimensions are known */
    enum objective objective;
    enum minimised minimise; /* latency; scores and budgets are in its unit */
    int case_count;
    struct shape cases[CASES_MAX];
    double weights[CASES_MAX]; /* of the cases: 1 each */
    bool weighted;             /* a case has a "weight" */
    int held_out_count;        /* cases on which only champions are verified */
    struct shape held_out[CASES_MAX];
    bool has_ranges;
    struct range ranges[DIMENSIONS_MAX]; /* by dimension; not given: its default */
    int smem_limit_bytes;                /* bytes a block: SMEM_DEFAULT_LIMIT */
    bool limited_range;                  /* genomes with a limited input range are valid: true */
    int restriction_count;
    struct gene_restriction restrictions[GENES_MAX];
    char device[1024]; /* auto, or a list of devices */
    uint64_t seed;
    int64_t trials;      /* 0: no limit */
    double seconds;      /* 0: no limit */
    int64_t patience;    /* a goal ends after this many trials without a gain of 1 %; 0: never */
    double target_us;    /* a goal ends when its champion's score is at most this; 0: never */
    double target_ratio; /* or when the champion is this many times as fast as the baseline, or as
                            the default genome if the run has no baseline; 0: never */
    char strategy[32];
    char learn_from[PATH_SIZE]; /* earlier runs (session/learn_from.h): paths, "none", or "index",
                                   which is those that the index of runs lists */
    int population, initial;
    double exploration;
    const char *removed_key; /* a key of "search" that has no effect any more; NULL: none */
    int sanitize_every; /* champions between two that are run under compute-sanitizer during the
                           search; 0: only the last one, when the search ends; -1: none */
    bool share_goals;   /* the goals of the run learn from each other (session/share.h): true */
    bool goals_by_gain; /* the next trial is that of the goal that is expected to gain most a second
                           (session/goal_choice.h): true; false, they take turns */
    bool keep_profiles; /* of champions, by ncu, when the search ends: false */
    bool nice;          /* yield the GPU to other processes: false */
    int max_temperature_c; /* of the GPU, above which the search pauses; 0: no limit */
    struct timing timing;
    struct evolve_settings evolve;
    struct baseline_command baseline; /* from the config if given, else from the template */
};

/* Reads a config file. A path "recorded:FILE" instead (which is also allowed as the config's
   "template") searches a recorded tuning space with default settings: it needs no cases, and the
   device is the recording. `templates` is the first folder in which template names are looked up,
   or NULL (template_find). */
struct config *config_load(const char *path, const char *templates, struct error *error);
bool config_path_is_recorded_space(const char *path);
/* Reads the config of a run, whose template is in `folder`: a file, or a text under a name. */
struct config *config_from_file(const char *path, const char *folder, struct error *error);
struct config *config_from_text(const char *name, const char *text, const char *folder,
                                struct error *error);
void config_free(struct config *config);

int config_goal_count(const struct config *config);
/* The number of goals that share their cases, at least 1; and the first of the goal's rivals. */
int config_rivals(const struct config *config);
int config_first_rival(const struct config *config, int goal);
/* The solution of a goal; NULL: the template's only one. */
const char *config_goal_solution(const struct config *config, int goal);
/* The number of a searched solution. */
int config_find_solution(const struct config *config, const char *name, int *solution,
                         struct error *error);
/* Splits "vector: THREADS=64" into the number of a searched solution and genes. `*solution` is
   ANY_SOLUTION if the text names none. */
enum { ANY_SOLUTION = -1 };
int config_split_genome(const struct config *config, const char *text, const char **genes,
                        int *solution, struct error *error);
/* The goal for which a genome that the user gives is meant, for a device: that of the solution that
   its text or `named` (or NULL) names; else `goal`, or, without one (-1), the first solution into
   whose space it fits, if there is one, of those that can do the cases. `*genes` loses the name. An
   error if it fits none. */
int config_genome_goal(const struct config *config, const struct device_info *device, int64_t goal,
                       const char *named, const char **genes, int *chosen, struct error *error);
/* The cases of a goal: `*count` of them, starting with index `*first`. */
void config_goal_cases(const struct config *config, int goal, int *first, int *count);
/* The weights in scores over several cases, of a joint goal; NULL: all are equal, as without a
   "weight". */
const double *config_weights(const struct config *config);
/* Whether a search leaves out a goal of this space: its solution has rivals and no valid genome for
   the cases. `why`, which may be NULL, gets what space_is_empty says. That a rival can do the cases
   is the caller's to see: else nothing is left to search. */
bool config_leaves_out(const struct config *config, const struct space *space, struct problem *why);
/* "B=2,H=8,S=512" or "all 12 cases". */
void config_cases_name(const struct config *config, int goal, char name[CASE_NAME_SIZE]);
/* The same with the solution if it has rivals: "B=2,H=8,S=512, tiled". */
void config_goal_name(const struct config *config, int goal, char name[CASE_NAME_SIZE]);

/* Maximum shared memory of a block in bytes: the config's limit, reduced to the device's (NULL: any
   device). */
int config_smem_limit(const struct config *config, const struct device_info *device);

/* The hash of a run's template; of several solutions, of all of them: `templates` are those of the
   goals, of which the first rivals are read. config_template_hash loads them. */
struct hash config_join_hashes(const struct config *config,
                               const struct template *const *templates);
int config_template_hash(const struct config *config, const struct device_info *device,
                         struct hash *hash, struct error *error);

/* The setting for which a template is loaded: the cases of a goal, or with ALL_GOALS every case for
   the first solution, on one device. It points into `config` and `device`. */
enum { ALL_GOALS = -1 };
struct template_setting config_setting(const struct config *config, int goal,
                                       const struct device_info *device);

struct template *config_load_template(const struct config *config, int goal,
                                      const struct device_info *device, struct error *error);

/* The same for a goal's solution and the held-out cases. */
struct template_setting config_held_out_setting(const struct config *config, int goal,
                                                const struct device_info *device);

/* Parses "90s", "15m", "8h", "1h30m" or hh:mm:ss into seconds. */
int config_parse_duration(const char *text, double *seconds, struct error *error);

#endif
