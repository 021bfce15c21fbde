#include "session/learn_from.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "device/recorded.h"
#include "run/run_dir.h"
#include "run/run_index.h"
#include "session/earlier_runs.h"
#include "session/task_distance.h"
#include "session/task_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is learned from unasked: the newest runs of the index up to so many trials, and sources of
   enough trials to be worth a model. */
enum {
    INDEX_RUNS_MAX = 16,
    INDEX_TRIALS_MAX = 100000,
    INDEX_TRIALS_LEAST = 8,
};

struct learned_trial {
    char *genome;
    double us; /* or of what the run minimises; INFINITY: it failed */
};

/* An earlier run. */
struct learned_run {
    char *folder;
    struct config *config;
    bool used; /* a goal has it as a source */
};

enum { NO_RUN = -1 };

/* A goal of an earlier run, or a recorded space (`run` NO_RUN, `config` NULL). */
struct learned_task {
    char name[SOURCE_NAME_SIZE];
    int run;
    const struct config *config;
    int goal;
    struct device_info device;
    struct learned_trial *trials;
    int trial_count;
};

struct learn_from {
    enum minimised minimise;
    struct learned_run *runs;
    int run_count;
    struct learned_task *tasks;
    int task_count;
    int goal_most, trials_least; /* sources of a goal, and trials of a source */
    bool newest_first;
};

/* ---- reading ---- */

static struct learned_task *add_task(struct learn_from *learn) {
    learn->tasks = xgrow(learn->tasks, learn->task_count, sizeof *learn->tasks);
    struct learned_task *task = &learn->tasks[learn->task_count++];
    *task = (struct learned_task){.run = NO_RUN};
    return task;
}

static void add_trial(struct learned_task *task, const char *genome, double us) {
    task->trials = xgrow(task->trials, task->trial_count, sizeof *task->trials);
    task->trials[task->trial_count++] = (struct learned_trial){xstrdup(genome), us};
}

/* The tasks of the run that is read, by goal. */
struct run_reading {
    struct learn_from *learn;
    int first;
};

static int add_store_trial(void *context, const struct store_trial *trial, struct error *error) {
    const struct run_reading *reading = context;
    struct learned_task *task = &reading->learn->tasks[reading->first + trial->goal];
    (void)error;
    if (trial->outcome->verdict != VERDICT_LOST)
        add_trial(task, trial->genome,
                  trial->outcome->verdict == VERDICT_OK ? trial->outcome->score_us : INFINITY);
    return 0;
}

static int read_run(void *context, struct store *store, struct config *config,
                    const struct device_info *device, struct error *error) {
    struct learn_from *learn = context;
    enum minimised minimise;
    if (run_dir_minimised(store, &minimise, error) < 0 || minimise != learn->minimise) {
        config_free(config);
        return minimise != learn->minimise ? 0 : -1;
    }
    const struct run_reading reading = {learn, learn->task_count};
    learn->runs = xgrow(learn->runs, learn->run_count, sizeof *learn->runs);
    learn->runs[learn->run_count++] =
        (struct learned_run){.folder = xstrdup(store_run_dir(store)), .config = config};
    for (int goal = 0; goal < store_goal_count(store); goal++) {
        struct learned_task *task = add_task(learn);
        snprintf(task->name, sizeof task->name, "%s %s", store_run_dir(store),
                 store_goal_name(store, goal));
        task->run = learn->run_count - 1;
        task->config = config;
        task->goal = goal;
        task->device = *device;
    }
    return store_trials(store, add_store_trial, (void *)&reading, error);
}

static int read_recorded(struct learn_from *learn, const char *path, struct error *error) {
    struct recorded *recorded = recorded_read(path, error);
    char genome[GENOME_TEXT_SIZE];
    if (recorded == NULL)
        return -1;
    struct learned_task *task = add_task(learn);
    snprintf(task->name, sizeof task->name, "%s", path);
    snprintf(task->device.name, sizeof task->device.name, "%s", recorded->device_name);
    for (int64_t row = 0; row < recorded->row_count; row++) {
        genome_print(&recorded->genomes[row], recorded->space, genome);
        add_trial(task, genome, recorded->times_us[row]);
    }
    recorded_free(recorded);
    return 0;
}

static int read_path(struct learn_from *learn, const char *path, const struct config *config,
                     struct error *error) {
    return path_exists(path) && !path_is_dir(path)
               ? read_recorded(learn, path, error)
               : earlier_runs_read("--learn-from", path, config->shapes->name, read_run, learn,
                                   error);
}

static struct learn_from *new_learn_from(const struct config *config, int goal_most,
                                         int trials_least) {
    struct learn_from *learn = xcalloc(1, sizeof *learn);
    learn->minimise = config->minimise;
    learn->goal_most = goal_most;
    learn->trials_least = trials_least;
    return learn;
}

static int count_trials(const struct learn_from *learn) {
    int trials = 0;
    for (int i = 0; i < learn->task_count; i++)
        trials += learn->tasks[i].trial_count;
    return trials;
}

struct learn_from *learn_from_open(const char *paths, const struct config *config,
                                   struct error *error) {
    struct learn_from *learn = new_learn_from(config, SOURCES_MAX, 1);
    char *text = xstrdup(paths), *rest = text;
    int status = 0;
    for (char *path; status == 0 && (path = strsep(&rest, ",")) != NULL;)
        status = read_path(learn, path, config, error);
    free(text);
    if (status == 0 && count_trials(learn) == 0)
        status = error_input(error,
                             "--learn-from %s: no run there has a trial of template %s: name other "
                             "runs, or a folder of runs",
                             paths, config->shapes->name);
    if (status == 0)
        return learn;
    learn_from_close(learn);
    return NULL;
}

/* Reads the runs, the newest first. One that cannot be read is skipped with one warning for all. */
static void read_indexed(struct learn_from *learn, char *const *runs, int count,
                         const char *template_name) {
    struct error first = {0};
    int failed = 0;
    for (int i = 0; i < count && count_trials(learn) < INDEX_TRIALS_MAX; i++) {
        struct error why = {0};
        if (earlier_runs_read("the index of runs:", runs[i], template_name, read_run, learn,
                              &why) == 0)
            continue;
        first = failed++ == 0 ? why : first;
    }
    if (failed > 0)
        log_warn("%d earlier run%s cannot be learned from: %s", failed, failed == 1 ? "" : "s",
                 first.text);
}

struct learn_from *learn_from_open_index(const struct config *config, int goal_most,
                                         struct error *error) {
    char path[PATH_SIZE], **runs = NULL;
    int count = 0, present = run_index_path(path, error);
    if (present > 0 && run_index_find(path, config->shapes->name, INDEX_TRIALS_LEAST,
                                      INDEX_RUNS_MAX, &runs, &count, error) < 0)
        present = -1;
    struct learn_from *learn = NULL;
    if (present >= 0) {
        learn = new_learn_from(config, goal_most, INDEX_TRIALS_LEAST);
        learn->newest_first = true;
        read_indexed(learn, runs, count, config->shapes->name);
    }
    path_list_free(runs, count);
    return learn;
}

void learn_from_close(struct learn_from *learn) {
    if (learn == NULL)
        return;
    for (int i = 0; i < learn->task_count; i++) {
        for (int t = 0; t < learn->tasks[i].trial_count; t++)
            free(learn->tasks[i].trials[t].genome);
        free(learn->tasks[i].trials);
    }
    for (int i = 0; i < learn->run_count; i++) {
        config_free(learn->runs[i].config);
        free(learn->runs[i].folder);
    }
    free(learn->runs);
    free(learn->tasks);
    free(learn);
}

/* ---- the sources of a goal ---- */

struct ranked_task {
    double distance;
    int task;
};

static int by_distance(const void *left, const void *right) {
    const struct ranked_task *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->task - b->task;
}

/* Lists the tasks of the goal's solution, the nearest first. Returns their number. */
static int rank_tasks(const struct learn_from *learn, const struct config *config, int goal,
                      const struct device_info *device, struct ranked_task *ranked) {
    int count = 0;
    for (int i = 0; i < learn->task_count; i++) {
        const struct learned_task *task = &learn->tasks[i];
        if (task->config == NULL)
            ranked[count++] =
                (struct ranked_task){task_recorded_distance(device->name, task->device.name), i};
        else if (task_same_solution(config, goal, task->config, task->goal))
            ranked[count++] = (struct ranked_task){
                task_distance(config, goal, device, task->config, task->goal, &task->device), i};
    }
    qsort(ranked, (size_t)count, sizeof *ranked, by_distance);
    return count;
}

/* Fills a source with the trials of a task. Returns whether it is usable. */
static bool fill_source(struct source *source, const struct learned_task *task,
                        const struct space *space) {
    snprintf(source->name, sizeof source->name, "%s", task->name);
    for (int t = 0; t < task->trial_count; t++)
        source_add(source, space, task->trials[t].genome, task->trials[t].us);
    source_seal(source);
    return source_is_usable(source);
}

/* Fills the sources, and `chosen` with the index of the task of each. Returns their number. */
static int fill_sources(struct learn_from *learn, const struct config *config, int goal,
                        const struct template *template, const struct device_info *device,
                        struct source *sources, int chosen[SOURCES_MAX]) {
    struct ranked_task *ranked = xcalloc((size_t)learn->task_count + 1, sizeof *ranked);
    int tasks = rank_tasks(learn, config, goal, device, ranked), count = 0;
    for (int i = 0; i < tasks && count < learn->goal_most; i++) {
        const struct learned_task *task = &learn->tasks[ranked[i].task];
        sources[count].distance = ranked[i].distance;
        chosen[count] = ranked[i].task;
        if (task->trial_count >= learn->trials_least &&
            fill_source(&sources[count], task, template->space)) {
            count++;
            if (task->run != NO_RUN)
                learn->runs[task->run].used = true;
        } else {
            source_release(&sources[count]);
        }
    }
    free(ranked);
    return count;
}

int learn_from_sources(struct learn_from *learn, const struct config *config, int goal,
                       const struct template *template, const struct device_info *device,
                       struct source **sources) {
    int chosen[SOURCES_MAX];
    *sources = xcalloc(SOURCES_MAX, sizeof **sources);
    return fill_sources(learn, config, goal, template, device, *sources, chosen);
}

int learn_from_tasks(struct learn_from *learn, const struct config *config, int goal,
                     const struct template *template, const struct device_info *device,
                     struct source **sources, struct task tasks[SOURCES_MAX], struct task *target) {
    int chosen[SOURCES_MAX];
    *sources = xcalloc(SOURCES_MAX, sizeof **sources);
    int count = fill_sources(learn, config, goal, template, device, *sources, chosen);
    task_describe(target, config->template_folder, template, config, goal, device);
    for (int s = 0; s < count; s++) {
        const struct learned_task *task = &learn->tasks[chosen[s]];
        if (task->config != NULL)
            task_describe(&tasks[s], config->template_folder, template, task->config, task->goal,
                          &task->device);
        else
            tasks[s] = *target; /* nothing else is known */
    }
    return count;
}

const struct device_info *learn_from_device(const struct learn_from *learn) {
    const struct device_info *device = NULL;
    for (int i = 0; i < learn->task_count && !(device != NULL && learn->newest_first); i++)
        if (learn->tasks[i].run != NO_RUN)
            device = &learn->tasks[i].device;
    return device;
}

int learn_from_print_runs(const struct learn_from *learn, char *text, size_t size) {
    int count = 0;
    *text = '\0';
    for (int i = 0; i < learn->run_count; i++)
        if (learn->runs[i].used)
            text_append(text, size, "%s%s", count++ > 0 ? ", " : "", learn->runs[i].folder);
    return count;
}
