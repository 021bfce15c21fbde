#include "cli/model.h"

#include "base/memory.h"
#include "device/device_db.h"
#include "device/recorded.h"

#include <inttypes.h>
#include <string.h>

const char recorded_prefix[] = "recorded:";

static void add_measured_trial(struct model_trials *trials, const struct measured_trial *one) {
    trials->all = xgrow(trials->all, trials->count, sizeof *trials->all);
    trials->all[trials->count++] = *one;
}

const struct template *model_trials_template(struct model_trials *trials, int run, int goal,
                                             struct error *error) {
    struct template **cached = &trials->templates[run][goal];
    if (*cached == NULL)
        *cached = config_load_template(trials->configs[run], goal, &trials->info, error);
    return *cached;
}

static int add_trial(void *context, const struct store_trial *trial, struct error *error) {
    struct model_trials *trials = context;
    int run = trials->run_count;
    if (trial->outdated || trial->outcome->verdict != VERDICT_OK ||
        (trial->outcome->predicted && !trials->with_predictions))
        return 0;
    struct measured_trial one = {
        .trial = trial->number, .run = run, .score_us = outcome_latency_us(trial->outcome)};
    const struct template *template = model_trials_template(trials, run, trial->goal, error);
    one.request.goal = trial->goal;
    if (template == NULL ||
        genome_parse(&one.request.genome, template->space, trial->genome, error) < 0)
        return -1;
    add_measured_trial(trials, &one);
    return 0;
}

/* Requires that all trials were measured on the same device model. */
static int require_device(struct model_trials *trials, const char *path, const char *name,
                          int compute_capability, struct error *error) {
    if (trials->device_name[0] != '\0' && strcmp(trials->device_name, name) != 0)
        return error_input(
            error, "%s was measured on %s, the previous runs on %s: fit each device separately",
            path, name, trials->device_name);
    if (trials->device_name[0] != '\0')
        return 0;
    if (device_db_find(compute_capability, &trials->info, error) < 0)
        return -1;
    if (strcmp(trials->info.name, name) != 0)
        return error_input(error,
                           "%s was measured on %s, but the device file of its architecture is for "
                           "%s: add one to configs/devices",
                           path, name, trials->info.name);
    snprintf(trials->device_name, sizeof trials->device_name, "%s", name);
    return 0;
}

static int read_run(struct model_trials *trials, const char *path, struct error *error) {
    struct device_info device;
    struct store *store = store_open(path, STORE_READ, error);
    if (store == NULL)
        return -1;
    int status = run_dir_device(store, &device, error);
    char *suffix = status > 0 && device.predicts ? strstr(device.name, ", emulated") : NULL;
    if (suffix != NULL)
        *suffix = '\0';
    if (status == 0)
        error_input(error, "%s does not record its device: start a new run", path);
    else if (status > 0 && device.predicts && !trials->with_predictions)
        error_input(error, "%s holds only predictions: use a run that was measured on a GPU", path);
    else if (status > 0 &&
             require_device(trials, path, device.name, device.compute_capability, error) == 0) {
        struct config *config = run_dir_config(store);
        trials->configs[trials->run_count] = config;
        if (config == NULL)
            error_input(error, "%s has no readable config.json: restore it from a copy", path);
        else if (store_trials(store, add_trial, trials, error) == 0) {
            store_close(store);
            return 0;
        }
    }
    store_close(store);
    return -1;
}

/* Finds the device file with the name that the space records. */
static int require_named_device(struct model_trials *trials, const char *path, const char *name,
                                struct error *error) {
    static const int architectures[] = {80, 86, 87, 89, 90, 100, 120};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        struct device_info info;
        struct error ignored;
        if (device_db_find(architectures[i], &info, &ignored) == 0 && strcmp(info.name, name) == 0)
            return require_device(trials, path, name, architectures[i], error);
    }
    return error_input(error,
                       "%s was measured on \"%s\", which has no file in configs/devices: add one",
                       path, name);
}

static int read_space(struct model_trials *trials, const char *path, struct error *error) {
    int run = trials->run_count;
    if (trials->config_path == NULL)
        return error_input(
            error, "recorded:%s: give the config that it was recorded with: --config FILE", path);
    struct recorded *recorded = recorded_read(path, error);
    int status =
        recorded != NULL && require_named_device(trials, path, recorded->device_name, error) == 0 &&
                (trials->configs[run] = config_load(trials->config_path, NULL, error)) != NULL
            ? 0
            : -1;
    const struct template *template =
        status == 0 ? model_trials_template(trials, run, 0, error) : NULL;
    trials->row_count = recorded != NULL ? recorded->row_count : 0;
    status = template != NULL ? 0 : -1;
    for (int64_t row = 0; status == 0 && row < recorded->row_count; row++) {
        struct measured_trial one = {
            .trial = -1, .row = row, .run = run, .score_us = recorded->times_us[row]};
        char text[GENOME_TEXT_SIZE];
        if (recorded->verdicts[row] != VERDICT_OK)
            continue;
        genome_print(&recorded->genomes[row], recorded->space, text);
        status = genome_parse(&one.request.genome, template->space, text, error);
        if (status == 0)
            add_measured_trial(trials, &one);
    }
    recorded_free(recorded);
    return status;
}

/* Keeps a random sample of `trials` of a run's trials, which start at `first`. */
static void sample_trials(struct model_trials *trials, int first, struct random *random) {
    int count = trials->count - first;
    struct measured_trial *all = trials->all + first;
    if (trials->sample == 0 || count <= trials->sample)
        return;
    for (int i = 0; i < trials->sample; i++) {
        int other = i + (int)random_below(random, (uint64_t)(count - i));
        struct measured_trial swapped = all[i];
        all[i] = all[other];
        all[other] = swapped;
    }
    trials->count = first + (int)trials->sample;
}

static int trace_trials(struct model_trials *trials, int first, struct error *error) {
    int count = trials->count - first, run = trials->run_count;
    struct trace_request *orders = xcalloc((size_t)count + 1, sizeof *orders);
    for (int i = 0; i < count; i++)
        orders[i] = trials->all[first + i].request;
    trials->traces[run] = traces_collect(trials->configs[run], &trials->info, orders, count,
                                         (int)trials->jobs, error);
    for (int i = 0; i < count && trials->traces[run] != NULL; i++)
        trials->all[first + i].trace = traces_at(trials->traces[run], i);
    free(orders);
    return trials->traces[run] != NULL ? 0 : -1;
}

int model_trials_read(struct model_trials *trials, int count, struct error *error) {
    struct random random;
    random_seed(&random, (uint64_t)trials->seed, 0);
    for (; trials->run_count < count; trials->run_count++) {
        const char *path = trials->paths[trials->run_count];
        int first = trials->count;
        bool space = strncmp(path, recorded_prefix, strlen(recorded_prefix)) == 0;
        if ((space ? read_space(trials, path + strlen(recorded_prefix), error)
                   : read_run(trials, path, error)) < 0)
            return -1;
        sample_trials(trials, first, &random);
        if (trace_trials(trials, first, error) < 0)
            return -1;
    }
    int traced = 0;
    for (int i = 0; i < trials->count; i++)
        if (trials->all[i].trace != NULL)
            trials->all[traced++] = trials->all[i];
    trials->count = traced;
    return 0;
}

struct table *model_trials_accuracy(const struct model_trials *trials) {
    struct table *table = table_new(agreement_columns, AGREEMENT_COLUMNS);
    struct prediction_pair *group = xcalloc((size_t)trials->count, sizeof *group);
    for (int run = 0; run < trials->run_count; run++)
        for (int goal = 0; goal < config_goal_count(trials->configs[run]); goal++) {
            char name[CASE_NAME_SIZE];
            int count = 0;
            config_goal_name(trials->configs[run], goal, name);
            for (int i = 0; i < trials->count; i++) {
                const struct measured_trial *it = &trials->all[i];
                if (it->run == run && it->request.goal == goal)
                    group[count++] = (struct prediction_pair){it->predicted_us, it->score_us};
            }
            if (count == 0)
                continue;
            struct agreement agreement = agreement_compute(group, count);
            table_add(table, "%s %s", trials->paths[run], name);
            agreement_add_cells(table, &agreement);
        }
    free(group);
    return table;
}

void model_trials_free(struct model_trials *trials) {
    for (int run = 0; run < RUNS_MAX; run++) {
        for (int goal = 0; goal < GOALS_MAX; goal++)
            template_free(trials->templates[run][goal]);
        traces_free(trials->traces[run]);
        config_free(trials->configs[run]);
    }
    free(trials->all);
    free(trials);
}
