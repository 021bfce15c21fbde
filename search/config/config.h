/*
 * config: what a user asks a run to do, read from JSON: which template, for which cases, under
 * which limits, with which search, timing and budget. configs/README.md shows every key.
 *
 *     struct config *config = config_load("configs/demo.json", NULL, &error);
 *     for (int g = 0; g < config_goal_count(config); g++)
 *         template = config_load_template(config, g, &device_info, &error);
 *     config_free(config);
 *
 * A *goal* is the set of cases that one genome is judged on: all of them when the objective is
 * joint, one each when it is per_case. Unknown keys are errors that name the nearest known one.
 */
#ifndef EVOTILE_CONFIG_CONFIG_H
#define EVOTILE_CONFIG_CONFIG_H

#include "device/device.h"
#include "template/template.h"

enum objective { OBJECTIVE_JOINT, OBJECTIVE_PER_CASE };

enum { PLACEMENTS_MAX = 16 };

struct timing {
    int input_sets;     /* that calls take in rotation: 4 */
    int launches;       /* a graph: 20 */
    int samples;        /* graph replays of a full timing: 50 */
    int race_samples;   /* of the race before it: 5 */
    double race_margin; /* the race is lost when slower than the champion by more than this: 0.25 */
    double warmup_ms;   /* 5 */
    int placements;     /* of tensors and code in memory, over which the samples of a champion, a
                           replay or a try are spread: 5 */
    int inputs;         /* fresh random inputs a case: 2 */
    int duel_blocks;    /* a round: 10 */
    double duel_margin; /* a ratio within 1 +- this decides nothing: 0.005, or what A/A duels on the
                           device showed, if that is more */
    double case_tolerance; /* no case may be slower than the champion's by more, and who is
                              timed within it fights a duel: 0.02 */
};

/* The limit of a block's shared memory where a config raises it not: what every architecture grants
   without a kernel's opting in (CUDA C++ Programming Guide, "Compute Capabilities"). */
enum { SMEM_UNRAISED = 48 << 10 };

enum { TEMPERATURE_MOST_C = 150 }; /* a limit beyond it is a slip of the pen */

struct config {
    char *path, *text; /* as read */
    char *template_folder;
    struct template *shapes; /* the template without a device: knows the dimensions only */
    enum objective objective;
    int case_count;
    struct shape cases[CASES_MAX];
    int held_out_count; /* cases that only champions are checked on */
    struct shape held_out[CASES_MAX];
    int smem_limit_bytes; /* a block: SMEM_UNRAISED */
    bool limited_range;   /* whether genomes of a limited input range are valid: true */
    int narrowing_count;
    struct narrowing narrowings[GENES_MAX];
    char device[1024]; /* auto; or a list */
    uint64_t seed;
    int64_t trials;      /* 0: no limit */
    double seconds;      /* 0: no limit */
    int64_t patience;    /* a goal ends after so many trials without a gain of 1 %; 0: never */
    double target_us;    /* a goal ends when its champion's score is no more; 0: never */
    double target_ratio; /* or when it is so many times as fast as the baseline, where the run has
                            one, else as the default genome; 0: never */
    char strategy[32];
    int population, initial;
    int islands;   /* populations that breed apart and share `population`: 1 */
    int migration; /* of the best of each to the next, every so many trials: 64 */
    double exploration;
    int sanitize_every;    /* champions, between two that go through compute-sanitizer during the
                              search; 0: only the last, at its end; -1: none */
    bool nice;             /* whether it leaves the GPU to other processes: false */
    int max_temperature_c; /* of the GPU, above which it pauses; 0: any */
    struct timing timing;
    struct baseline_command baseline; /* the config's own, else the template's */
};

/* A path "recorded:FILE", as the config's "template" may be too, is a search on a recorded tuning
   space, with everything at its default: no case is given, and the device is the recording.
   `templates` is where template folders are looked for first, or NULL (template_find). */
struct config *config_load(const char *path, const char *templates, struct error *error);
bool config_path_is_recording(const char *path);
/* The same from a text that a run has kept; `folder` is the template's own. */
struct config *config_from_text(const char *name, const char *text, const char *folder,
                                struct error *error);
void config_free(struct config *config);

int config_goal_count(const struct config *config);
/* The cases of a goal: `*count` of them, from index `*first` on. */
void config_goal_cases(const struct config *config, int goal, int *first, int *count);
/* "B=2,H=8,S=512" or "all 12 cases". */
void config_goal_name(const struct config *config, int goal, char name[CASE_NAME_SIZE]);

/* Bytes of shared memory a block: the config's limit, as far as the device goes (NULL: any). */
int config_smem_limit(const struct config *config, const struct device_info *device);

/* What a template is to be loaded for: a goal's cases, or with ALL_GOALS every case, on one device.
   It points into `config` and `device`. */
enum { ALL_GOALS = -1 };
struct template_setting config_setting(const struct config *config, int goal,
                                       const struct device_info *device);

struct template *config_load_template(const struct config *config, int goal,
                                      const struct device_info *device, struct error *error);

/* The template loaded for the held-out cases, of which there must be some. */
struct template *config_load_held_out(const struct config *config, const struct device_info *device,
                                      struct error *error);

/* "90s", "15m", "8h", "1h30m" or hh:mm:ss, in seconds. */
int config_parse_duration(const char *text, double *seconds, struct error *error);

#endif
