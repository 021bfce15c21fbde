/* model: fits the parameters of the latency model (predict.h) to measured trials, cross-validates
   the fit and stores the parameters with the device; or predicts rows of a recorded space. */
#include "base/memory.h"
#include "base/resource_limits.h"
#include "cli/cli.h"
#include "run/predictions.h"
#include "session/session.h"
#include "session/traces.h"

#include "device/device_db.h"
#include "device/recorded.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RUNS_MAX = 64, TRIALS_MIN = 20 };

static const char recorded_prefix[] = "recorded:";

/* A measured trial, or a row of a recorded space. */
struct measured_trial {
    int64_t trial; /* -1 for a row of a recorded space */
    int64_t row;   /* of the recorded space */
    int run;
    struct trace_request request;
    double score_us;
    const struct trace *trace; /* NULL if the kernel could not be traced */
    double predicted_us;       /* by a fit to the other folds */
};

struct model_fit {
    int run_count;
    struct config *configs[RUNS_MAX];
    struct traces *traces[RUNS_MAX];
    char **paths;
    struct device_info info; /* of the device that all trials were measured on, from device_db */
    char device_name[128];   /* empty until the first run */
    struct template *templates[RUNS_MAX][GOALS_MAX];
    struct measured_trial *all;
    int count;
    int64_t row_count; /* of the recorded space that was read last */
    int64_t trials, folds, jobs, seed;
    const char *config_path; /* of the recorded spaces */
};

/* ---- reading ---- */

static void add_measured_trial(struct model_fit *fit, const struct measured_trial *one) {
    fit->all = xgrow(fit->all, fit->count, sizeof *fit->all);
    fit->all[fit->count++] = *one;
}

static const struct template *fit_template(struct model_fit *fit, int run, int goal,
                                           struct error *error) {
    struct template **cached = &fit->templates[run][goal];
    if (*cached == NULL)
        *cached = config_load_template(fit->configs[run], goal, &fit->info, error);
    return *cached;
}

static int add_trial(void *context, const struct store_trial *trial, struct error *error) {
    struct model_fit *fit = context;
    int run = fit->run_count;
    if (trial->outdated || trial->outcome->verdict != VERDICT_OK || trial->outcome->predicted)
        return 0;
    struct measured_trial one = {
        .trial = trial->number, .run = run, .score_us = outcome_latency_us(trial->outcome)};
    const struct template *template = fit_template(fit, run, trial->goal, error);
    one.request.goal = trial->goal;
    if (template == NULL ||
        genome_parse(&one.request.genome, template->space, trial->genome, error) < 0)
        return -1;
    add_measured_trial(fit, &one);
    return 0;
}

/* Requires that all trials were measured on the same device model. */
static int require_device(struct model_fit *fit, const char *path, const char *name,
                          int compute_capability, struct error *error) {
    if (fit->device_name[0] != '\0' && strcmp(fit->device_name, name) != 0)
        return error_input(
            error, "%s was measured on %s, the previous runs on %s: fit each device separately",
            path, name, fit->device_name);
    if (fit->device_name[0] != '\0')
        return 0;
    if (device_db_find(compute_capability, &fit->info, error) < 0)
        return -1;
    if (strcmp(fit->info.name, name) != 0)
        return error_input(error,
                           "%s was measured on %s, but the device file of its architecture is for "
                           "%s: add one to configs/devices",
                           path, name, fit->info.name);
    snprintf(fit->device_name, sizeof fit->device_name, "%s", name);
    return 0;
}

static int read_run(struct model_fit *fit, const char *path, struct error *error) {
    struct device_info device;
    struct store *store = store_open(path, STORE_READ, error);
    if (store == NULL)
        return -1;
    int status = run_dir_device(store, &device, error);
    if (status == 0)
        error_input(error, "%s does not record its device: start a new run", path);
    else if (status > 0 && device.predicts)
        error_input(error, "%s holds only predictions: use a run that was measured on a GPU", path);
    else if (status > 0 &&
             require_device(fit, path, device.name, device.compute_capability, error) == 0) {
        struct config *config = run_dir_config(store);
        fit->configs[fit->run_count] = config;
        if (config == NULL)
            error_input(error, "%s has no readable config.json: restore it from a copy", path);
        else if (store_trials(store, add_trial, fit, error) == 0) {
            store_close(store);
            return 0;
        }
    }
    store_close(store);
    return -1;
}

/* Finds the device file with the name that the space records. */
static int require_named_device(struct model_fit *fit, const char *path, const char *name,
                                struct error *error) {
    static const int architectures[] = {80, 86, 87, 89, 90, 100, 120};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        struct device_info info;
        struct error ignored;
        if (device_db_find(architectures[i], &info, &ignored) == 0 && strcmp(info.name, name) == 0)
            return require_device(fit, path, name, architectures[i], error);
    }
    return error_input(error,
                       "%s was measured on \"%s\", which has no file in configs/devices: add one",
                       path, name);
}

static int read_space(struct model_fit *fit, const char *path, struct error *error) {
    int run = fit->run_count;
    if (fit->config_path == NULL)
        return error_input(
            error, "recorded:%s: give the config that it was recorded with: --config FILE", path);
    struct recorded *recorded = recorded_read(path, error);
    int status = recorded != NULL &&
                         require_named_device(fit, path, recorded->device_name, error) == 0 &&
                         (fit->configs[run] = config_load(fit->config_path, NULL, error)) != NULL
                     ? 0
                     : -1;
    const struct template *template = status == 0 ? fit_template(fit, run, 0, error) : NULL;
    fit->row_count = recorded != NULL ? recorded->row_count : 0;
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
            add_measured_trial(fit, &one);
    }
    recorded_free(recorded);
    return status;
}

/* Keeps a random sample of `trials` of a run's trials, which start at `first`. */
static void sample_trials(struct model_fit *fit, int first, struct random *random) {
    int count = fit->count - first;
    struct measured_trial *all = fit->all + first;
    if (fit->trials == 0 || count <= fit->trials)
        return;
    for (int i = 0; i < fit->trials; i++) {
        int other = i + (int)random_below(random, (uint64_t)(count - i));
        struct measured_trial swapped = all[i];
        all[i] = all[other];
        all[other] = swapped;
    }
    fit->count = first + (int)fit->trials;
}

static int trace_trials(struct model_fit *fit, int first, struct error *error) {
    int count = fit->count - first, run = fit->run_count;
    struct trace_request *orders = xcalloc((size_t)count + 1, sizeof *orders);
    for (int i = 0; i < count; i++)
        orders[i] = fit->all[first + i].request;
    fit->traces[run] =
        traces_collect(fit->configs[run], &fit->info, orders, count, (int)fit->jobs, error);
    for (int i = 0; i < count && fit->traces[run] != NULL; i++)
        fit->all[first + i].trace = traces_at(fit->traces[run], i);
    free(orders);
    return fit->traces[run] != NULL ? 0 : -1;
}

static int read_all(struct model_fit *fit, int count, struct error *error) {
    struct random random;
    random_seed(&random, (uint64_t)fit->seed, 0);
    for (; fit->run_count < count; fit->run_count++) {
        const char *path = fit->paths[fit->run_count];
        int first = fit->count;
        bool space = strncmp(path, recorded_prefix, strlen(recorded_prefix)) == 0;
        if ((space ? read_space(fit, path + strlen(recorded_prefix), error)
                   : read_run(fit, path, error)) < 0)
            return -1;
        sample_trials(fit, first, &random);
        if (trace_trials(fit, first, error) < 0)
            return -1;
    }
    int traced = 0;
    for (int i = 0; i < fit->count; i++)
        if (fit->all[i].trace != NULL)
            fit->all[traced++] = fit->all[i];
    fit->count = traced;
    return 0;
}

/* ---- fitting ---- */

/* The fold depends only on the genome, so a genome is in the same fold in every run. */
static int fold_index(const struct model_fit *fit, const struct measured_trial *one) {
    return (int)(genome_hash(&one->request.genome).low % (uint64_t)fit->folds);
}

/* Fits to all folds except `but` (-1: to all). Scores and predictions are means over cases, so each
   case gets the score's ratio of measured to predicted latency. Returns the error of the fit. */
static double fit_parameters(struct model_fit *fit, int held_out,
                             double parameters[PREDICTION_PARAMETERS]) {
    struct prediction_sample *samples = NULL;
    int count = 0;
    for (int i = 0; i < fit->count; i++)
        count += fit->all[i].trace->case_count;
    samples = xcalloc((size_t)count, sizeof *samples);
    count = 0;
    for (int i = 0; i < fit->count; i++) {
        const struct measured_trial *it = &fit->all[i];
        if (fold_index(fit, it) == held_out)
            continue;
        double all_us = trace_predicted_us(it->trace, &fit->info);
        for (int c = 0; c < it->trace->case_count; c++) {
            const struct prediction_call *call = &it->trace->calls[c];
            samples[count++] = (struct prediction_sample){
                call, it->score_us * predict_call_us(&fit->info, call) / all_us};
        }
    }
    double log_error = predict_fit(&fit->info, samples, count, parameters);
    free(samples);
    return log_error;
}

static void cross_validate(struct model_fit *fit) {
    struct device_info fitted = fit->info;
    for (int fold = 0; fold < fit->folds; fold++) {
        fit_parameters(fit, fold, fitted.model);
        for (int i = 0; i < fit->count; i++)
            if (fold_index(fit, &fit->all[i]) == fold)
                fit->all[i].predicted_us = trace_predicted_us(fit->all[i].trace, &fitted);
    }
}

/* ---- printing ---- */

static struct table *accuracy_table(const struct model_fit *fit) {
    struct table *table = table_new(agreement_columns, AGREEMENT_COLUMNS);
    struct prediction_pair *group = xcalloc((size_t)fit->count, sizeof *group);
    for (int run = 0; run < fit->run_count; run++)
        for (int goal = 0; goal < config_goal_count(fit->configs[run]); goal++) {
            char name[CASE_NAME_SIZE];
            int count = 0;
            config_goal_name(fit->configs[run], goal, name);
            for (int i = 0; i < fit->count; i++) {
                const struct measured_trial *it = &fit->all[i];
                if (it->run == run && it->request.goal == goal)
                    group[count++] = (struct prediction_pair){it->predicted_us, it->score_us};
            }
            if (count == 0)
                continue;
            struct agreement agreement = agreement_compute(group, count);
            table_add(table, "%s %s", fit->paths[run], name);
            agreement_add_cells(table, &agreement);
        }
    free(group);
    return table;
}

static struct table *parameter_table(const double *parameters) {
    static const struct table_column columns[] = {
        {.name = "parameter", .heading = "parameter"},
        {.name = "usual", .heading = "default", .right = true},
        {.name = "fitted", .heading = "fitted", .right = true},
        {.name = "about", .heading = "meaning"},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < PREDICTION_PARAMETERS; i++) {
        table_add(table, "%s %.4f %.4f %s", prediction_parameters[i].name,
                  prediction_parameters[i].default_value, parameters[i],
                  prediction_parameters[i].about);
    }
    return table;
}

/* Stores the predictions of a run's trials with the run. */
static int store_predictions(const struct model_fit *fit, int run, struct error *error) {
    struct predictions predictions = {.items =
                                          xcalloc((size_t)fit->count, sizeof(struct prediction))};
    for (int i = 0; i < fit->count; i++) {
        const struct measured_trial *it = &fit->all[i];
        if (it->run == run && it->trial >= 0)
            predictions.items[predictions.count++] =
                (struct prediction){it->trial, it->predicted_us};
    }
    int status =
        predictions.count > 0 ? predictions_write(fit->paths[run], &predictions, error) : 0;
    predictions_release(&predictions);
    return status;
}

static int run_fit(struct model_fit *fit, const char *out, bool json, struct error *error) {
    char about[256], path[PATH_SIZE];
    if (fit->count < TRIALS_MIN)
        return error_input(
            error, "%d measured trials are not enough for a fit: give runs with at least %d",
            fit->count, TRIALS_MIN);
    cross_validate(fit);
    double log_error = fit_parameters(fit, -1, fit->info.model);
    struct table *table = accuracy_table(fit);
    struct table *parameters = parameter_table(fit->info.model);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "device", fit->info.name);
        cJSON_AddItemToObject(object, "rows", table_json(table));
        cJSON_AddItemToObject(object, "parameters", table_json(parameters));
        table_print_json(object, stdout);
    } else {
        printf("%s, cross-validated: each trial is predicted by a fit to the other %d of %d "
               "parts\n\n",
               fit->info.name, (int)fit->folds - 1, (int)fit->folds);
        table_print(table, TABLE_TEXT, stdout);
        printf("\n");
        table_print(parameters, TABLE_TEXT, stdout);
    }
    table_free(table);
    table_free(parameters);
    snprintf(about, sizeof about, "fitted by `evotile model fit` to %d trials, off by %.0f %%",
             fit->count, 100 * (exp(log_error) - 1));
    if (out != NULL)
        snprintf(path, sizeof path, "%s", out);
    else if (device_db_fitted_path(fit->info.compute_capability, path, error) < 0)
        return -1;
    if (device_db_write_fitted(path, about, &fit->info, error) < 0)
        return -1;
    fprintf(stderr, "evotile: wrote %s\n", path);
    for (int run = 0; run < fit->run_count; run++)
        if (store_predictions(fit, run, error) < 0)
            return -1;
    return 0;
}

/* ---- predicting ---- */

static int run_predict(const struct model_fit *fit, const char *out, struct error *error) {
    double *predicted_us = xcalloc((size_t)fit->row_count + 1, sizeof *predicted_us);
    for (int64_t row = 0; row < fit->row_count; row++)
        predicted_us[row] = NAN;
    for (int i = 0; i < fit->count; i++)
        predicted_us[fit->all[i].row] = trace_predicted_us(fit->all[i].trace, &fit->info);
    int status = predictions_write_rows(out, predicted_us, fit->row_count, error);
    free(predicted_us);
    if (status == 0)
        fprintf(stderr, "evotile: predicted %d of %" PRId64 " rows in %s\n", fit->count,
                fit->row_count, out);
    return status;
}

/* ---- the verb ---- */

static void release(struct model_fit *fit) {
    for (int run = 0; run < RUNS_MAX; run++) {
        for (int goal = 0; goal < GOALS_MAX; goal++)
            template_free(fit->templates[run][goal]);
        traces_free(fit->traces[run]);
        config_free(fit->configs[run]);
    }
    free(fit->all);
    free(fit);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct model_fit *fit = xcalloc(1, sizeof *fit);
    const char *out = NULL;
    bool json = false;
    int status = -1;
    fit->trials = 300;
    fit->folds = 5;
    fit->seed = 1;
    fit->jobs = resource_limits_read("").cores;
    const struct option_row rows[] = {
        OPTION("trials", "N", "random trials to use of each run; 0: all (default 300)",
               &fit->trials),
        OPTION("config", "FILE", "the config that the recorded spaces were recorded with",
               &fit->config_path),
        OPTION("folds", "N", "number of folds for cross-validation (default 5)", &fit->folds),
        OPTION("seed", "N", "seed of the random numbers (default 1)", &fit->seed),
        OPTION("jobs", "N", "processes (default: the number of cores)", &fit->jobs),
        OPTION("out", "FILE",
               "output file (default for parameters: fitted/ next to the device's file)", &out),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    struct error error = {0};
    int count = options_parse(verb, rows, argc, argv, 2, RUNS_MAX);
    if (count < 0) {
        free(fit);
        return STATUS_USAGE;
    }
    fit->paths = argv + 1;
    bool is_fit = strcmp(argv[0], "fit") == 0;
    if (!is_fit && strcmp(argv[0], "predict") != 0)
        error_input(&error,
                    "model: unknown action \"%s\": give model fit RUN..., or model predict "
                    "recorded:FILE",
                    argv[0]);
    else if (!is_fit &&
             (count != 2 || strncmp(argv[1], recorded_prefix, strlen(recorded_prefix)) != 0 ||
              out == NULL))
        error_input(&error, "model predict needs one recorded:FILE and --out FILE");
    else if (fit->folds < 2 || fit->folds > 100 || fit->jobs < 1 || fit->jobs > 1024 ||
             fit->trials < 0)
        error_input(&error,
                    "--folds must be from 2 to 100, --jobs from 1 to 1024, --trials 0 or more");
    else if (read_all(fit, count - 1, &error) == 0)
        status = is_fit ? run_fit(fit, out, json, &error) : run_predict(fit, out, &error);
    release(fit);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_model = {
    .name = "model",
    .arguments = "fit RUN... | predict recorded:FILE [options]",
    .summary = "fit the latency model to measurements, or predict with it",
    VERB_HELP(model),
    .run = run,
};
