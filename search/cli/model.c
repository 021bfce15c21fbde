/* model: fits the parameters of the latency model (predict.h) to measured trials, cross-validates
   the fit and stores the parameters with the device; or predicts rows of a recorded space. */
#include "cli/model.h"
#include "base/memory.h"
#include "base/resource_limits.h"
#include "cli/cli.h"
#include "device/device_db.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TRIALS_MIN = 20 };

/* ---- fitting ---- */

/* The fold depends only on the genome, so a genome is in the same fold in every run. */
static int fold_index(const struct model_trials *trials, const struct measured_trial *one) {
    return (int)(genome_hash(&one->request.genome).low % (uint64_t)trials->folds);
}

/* Fits to all folds except `but` (-1: to all). Scores and predictions are means over cases, so each
   case gets the score's ratio of measured to predicted latency. Returns the error of the fit. */
static double fit_parameters(struct model_trials *trials, int held_out,
                             double parameters[PREDICTION_PARAMETERS]) {
    struct prediction_sample *samples = NULL;
    int count = 0;
    for (int i = 0; i < trials->count; i++)
        count += trials->all[i].trace->case_count;
    samples = xcalloc((size_t)count, sizeof *samples);
    count = 0;
    for (int i = 0; i < trials->count; i++) {
        const struct measured_trial *it = &trials->all[i];
        if (fold_index(trials, it) == held_out)
            continue;
        double all_us = trace_predicted_us(it->trace, &trials->info);
        for (int c = 0; c < it->trace->case_count; c++) {
            const struct prediction_call *call = &it->trace->calls[c];
            samples[count++] = (struct prediction_sample){
                call, it->score_us * predict_call_us(&trials->info, call) / all_us};
        }
    }
    double log_error = predict_fit(&trials->info, samples, count, parameters);
    free(samples);
    return log_error;
}

static void cross_validate(struct model_trials *trials) {
    struct device_info fitted = trials->info;
    for (int fold = 0; fold < trials->folds; fold++) {
        fit_parameters(trials, fold, fitted.model);
        for (int i = 0; i < trials->count; i++)
            if (fold_index(trials, &trials->all[i]) == fold)
                trials->all[i].predicted_us = trace_predicted_us(trials->all[i].trace, &fitted);
    }
}

/* ---- printing ---- */

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
static int store_predictions(const struct model_trials *trials, int run, struct error *error) {
    struct predictions predictions = {
        .items = xcalloc((size_t)trials->count, sizeof(struct prediction))};
    for (int i = 0; i < trials->count; i++) {
        const struct measured_trial *it = &trials->all[i];
        if (it->run == run && it->trial >= 0)
            predictions.items[predictions.count++] =
                (struct prediction){it->trial, it->predicted_us};
    }
    int status =
        predictions.count > 0 ? predictions_write(trials->paths[run], &predictions, error) : 0;
    predictions_release(&predictions);
    return status;
}

static int run_fit(struct model_trials *trials, const char *out, bool json, struct error *error) {
    char about[256], path[PATH_SIZE];
    if (trials->count < TRIALS_MIN)
        return error_input(
            error, "%d measured trials are not enough for a fit: give runs with at least %d",
            trials->count, TRIALS_MIN);
    cross_validate(trials);
    double log_error = fit_parameters(trials, -1, trials->info.model);
    struct table *table = model_trials_accuracy(trials);
    struct table *parameters = parameter_table(trials->info.model);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "device", trials->info.name);
        cJSON_AddItemToObject(object, "rows", table_json(table));
        cJSON_AddItemToObject(object, "parameters", table_json(parameters));
        table_print_json(object, stdout);
    } else {
        printf("%s, cross-validated: each trial is predicted by a fit to the other %d of %d "
               "parts\n\n",
               trials->info.name, (int)trials->folds - 1, (int)trials->folds);
        table_print(table, TABLE_TEXT, stdout);
        printf("\n");
        table_print(parameters, TABLE_TEXT, stdout);
    }
    table_free(table);
    table_free(parameters);
    snprintf(about, sizeof about, "fitted by `evotile model fit` to %d trials, off by %.0f %%",
             trials->count, 100 * (exp(log_error) - 1));
    if (out != NULL)
        snprintf(path, sizeof path, "%s", out);
    else if (device_db_fitted_path(trials->info.compute_capability, path, error) < 0)
        return -1;
    if (device_db_write_fitted(path, about, &trials->info, error) < 0)
        return -1;
    fprintf(stderr, "evotile: wrote %s\n", path);
    for (int run = 0; run < trials->run_count; run++)
        if (store_predictions(trials, run, error) < 0)
            return -1;
    return 0;
}

/* ---- predicting ---- */

static int run_predict(const struct model_trials *trials, const char *out, struct error *error) {
    double *predicted_us = xcalloc((size_t)trials->row_count + 1, sizeof *predicted_us);
    for (int64_t row = 0; row < trials->row_count; row++)
        predicted_us[row] = NAN;
    for (int i = 0; i < trials->count; i++)
        predicted_us[trials->all[i].row] = trace_predicted_us(trials->all[i].trace, &trials->info);
    int status = predictions_write_rows(out, predicted_us, trials->row_count, error);
    free(predicted_us);
    if (status == 0)
        fprintf(stderr, "evotile: predicted %d of %" PRId64 " rows in %s\n", trials->count,
                trials->row_count, out);
    return status;
}

/* ---- the verb ---- */

static int run(const struct verb *verb, int argc, char **argv) {
    struct model_trials *trials = xcalloc(1, sizeof *trials);
    const char *out = NULL;
    bool json = false;
    int status = -1;
    trials->sample = 300;
    trials->folds = 5;
    trials->seed = 1;
    trials->jobs = resource_limits_read("").cores;
    const struct option_row rows[] = {
        OPTION("trials", "N", "random trials to use of each run; 0: all (default 300)",
               &trials->sample),
        OPTION("config", "FILE", "the config that the recorded spaces were recorded with",
               &trials->config_path),
        OPTION("folds", "N", "number of folds for cross-validation (default 5)", &trials->folds),
        OPTION("seed", "N", "seed of the random numbers (default 1)", &trials->seed),
        OPTION("jobs", "N", "processes (default: the number of cores)", &trials->jobs),
        OPTION(
            "out", "FILE",
            "output file (default for parameters: fitted/ next to the device's file; check: a line "
            "of JSON a trial, default none)",
            &out),
        OPTION("json", NULL, "print one JSON object", &json),
        {0},
    };
    struct error error = {0};
    int count = options_parse(verb, rows, argc, argv, 2, RUNS_MAX);
    if (count < 0) {
        model_trials_free(trials);
        return STATUS_USAGE;
    }
    trials->paths = argv + 1;
    const bool fits = strcmp(argv[0], "fit") == 0, checks = strcmp(argv[0], "check") == 0;
    trials->with_predictions = checks;
    if (!fits && !checks && strcmp(argv[0], "predict") != 0)
        error_input(&error,
                    "model: unknown action \"%s\": give model fit RUN..., model check RUN... or "
                    "model predict recorded:FILE",
                    argv[0]);
    else if (!fits && !checks &&
             (count != 2 || strncmp(argv[1], recorded_prefix, strlen(recorded_prefix)) != 0 ||
              out == NULL))
        error_input(&error, "model predict needs one recorded:FILE and --out FILE");
    else if (trials->folds < 2 || trials->folds > 100 || trials->jobs < 1 || trials->jobs > 1024 ||
             trials->sample < 0)
        error_input(&error,
                    "--folds must be from 2 to 100, --jobs from 1 to 1024, --trials 0 or more");
    else if (model_trials_read(trials, count - 1, &error) == 0)
        status = fits     ? run_fit(trials, out, json, &error)
                 : checks ? model_check(trials, out, json, &error)
                          : run_predict(trials, out, &error);
    model_trials_free(trials);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_model = {
    .name = "model",
    .arguments = "fit RUN... | check RUN... | predict recorded:FILE [options]",
    .summary = "fit the latency model to measurements, check it, or predict with it",
    VERB_HELP(model),
    .run = run,
};
