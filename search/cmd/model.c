/* model: fits the parameters of the latency model (predict.h) to measured trials, cross-validates
   the fit and stores the parameters with the device; or predicts rows of a recorded space. */
#include "base/share.h"
#include "cmd/cmd.h"
#include "cmd/predictions.h"
#include "cmd/session.h"
#include "cmd/surveys.h"

#include "device/published.h"
#include "device/recorded.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RUNS_MAX = 64, LEAST = 20 };

static const char scheme[] = "recorded:";

/* A measured trial, or a row of a recorded space. */
struct measured {
    int64_t trial; /* -1 for a row of a recorded space */
    int64_t row;   /* of the recorded space */
    int run;
    struct survey_order order;
    double score_us;
    const struct survey *survey; /* NULL if the kernel could not be traced */
    double predicted_us;         /* by a fit to the other folds */
};

struct fitting {
    int run_count;
    struct config *configs[RUNS_MAX];
    struct surveys *surveys[RUNS_MAX];
    char **paths;
    struct device_info info; /* of the device that all trials were measured on, from device_db */
    char device_name[128];   /* empty until the first run */
    struct template *templates[RUNS_MAX][CASES_MAX];
    struct measured *all;
    int count, room;
    int64_t row_count; /* of the recorded space that was read last */
    int64_t trials, folds, jobs, seed;
    const char *config_path; /* of the recorded spaces */
};

/* ---- reading ---- */

static void note(struct fitting *fitting, const struct measured *measured) {
    if (fitting->count == fitting->room) {
        fitting->room = fitting->room > 0 ? 2 * fitting->room : 1024;
        fitting->all = realloc(fitting->all, (size_t)fitting->room * sizeof *fitting->all);
        if (fitting->all == NULL)
            BUG("out of memory");
    }
    fitting->all[fitting->count++] = *measured;
}

static const struct template *template_of(struct fitting *fitting, int run, int goal,
                                          struct error *error) {
    struct template **cached = &fitting->templates[run][goal];
    if (*cached == NULL)
        *cached = config_load_template(fitting->configs[run], goal, &fitting->info, error);
    return *cached;
}

static int note_trial(void *context, const struct store_trial *trial, struct error *error) {
    struct fitting *fitting = context;
    int run = fitting->run_count;
    if (trial->outdated || trial->outcome->verdict != VERDICT_OK || trial->outcome->predicted)
        return 0;
    struct measured measured = {
        .trial = trial->number, .run = run, .score_us = trial->outcome->score_us};
    const struct template *template = template_of(fitting, run, trial->goal, error);
    measured.order.goal = trial->goal;
    if (template == NULL ||
        genome_parse(&measured.order.genome, template->space, trial->genome, error) < 0)
        return -1;
    note(fitting, &measured);
    return 0;
}

/* Requires that all trials were measured on the same device model. */
static int take_device(struct fitting *fitting, const char *path, const char *name,
                       int compute_capability, struct error *error) {
    if (fitting->device_name[0] != '\0' && strcmp(fitting->device_name, name) != 0)
        return error_input(
            error, "%s was measured on %s, the previous runs on %s: fit each device separately",
            path, name, fitting->device_name);
    if (fitting->device_name[0] != '\0')
        return 0;
    if (published_find(compute_capability, &fitting->info, error) < 0)
        return -1;
    if (strcmp(fitting->info.name, name) != 0)
        return error_input(error,
                           "%s was measured on %s, but the device file of its architecture is for "
                           "%s: add one to configs/devices",
                           path, name, fitting->info.name);
    snprintf(fitting->device_name, sizeof fitting->device_name, "%s", name);
    return 0;
}

static int read_run(struct fitting *fitting, const char *path, struct error *error) {
    struct device_info device;
    struct store *store = store_open(path, STORE_READ, error);
    if (store == NULL)
        return -1;
    int status = session_device(store, &device, error);
    if (status == 0)
        error_input(error, "%s does not record its device: start a new run", path);
    else if (status > 0 && device.predicts)
        error_input(error, "%s holds only predictions: use a run that was measured on a GPU", path);
    else if (status > 0 &&
             take_device(fitting, path, device.name, device.compute_capability, error) == 0) {
        struct config *config = session_config(store);
        fitting->configs[fitting->run_count] = config;
        if (config == NULL)
            error_input(error, "%s has no readable config.json: restore it from a copy", path);
        else if (store_trials(store, note_trial, fitting, error) == 0) {
            store_close(store);
            return 0;
        }
    }
    store_close(store);
    return -1;
}

/* Finds the device file with the name that the space records. */
static int take_named_device(struct fitting *fitting, const char *path, const char *name,
                             struct error *error) {
    static const int architectures[] = {80, 86, 87, 89, 90, 100, 120};
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        struct device_info info;
        struct error ignored;
        if (published_find(architectures[i], &info, &ignored) == 0 && strcmp(info.name, name) == 0)
            return take_device(fitting, path, name, architectures[i], error);
    }
    return error_input(error,
                       "%s was measured on \"%s\", which has no file in configs/devices: add one",
                       path, name);
}

static int read_space(struct fitting *fitting, const char *path, struct error *error) {
    int run = fitting->run_count;
    if (fitting->config_path == NULL)
        return error_input(
            error, "recorded:%s: give the config that it was recorded with: --config FILE", path);
    struct recorded *recorded = recorded_read(path, error);
    int status =
        recorded != NULL && take_named_device(fitting, path, recorded->device_name, error) == 0 &&
                (fitting->configs[run] = config_load(fitting->config_path, NULL, error)) != NULL
            ? 0
            : -1;
    const struct template *template = status == 0 ? template_of(fitting, run, 0, error) : NULL;
    fitting->row_count = recorded != NULL ? recorded->row_count : 0;
    status = template != NULL ? 0 : -1;
    for (int64_t row = 0; status == 0 && row < recorded->row_count; row++) {
        struct measured measured = {
            .trial = -1, .row = row, .run = run, .score_us = recorded->times_us[row]};
        char text[GENOME_TEXT_SIZE];
        if (recorded->verdicts[row] != VERDICT_OK)
            continue;
        genome_print(&recorded->genomes[row], recorded->space, text);
        status = genome_parse(&measured.order.genome, template->space, text, error);
        if (status == 0)
            note(fitting, &measured);
    }
    recorded_free(recorded);
    return status;
}

/* Keeps a random sample of `trials` of a run's trials, which start at `first`. */
static void thin(struct fitting *fitting, int first, struct random *random) {
    int count = fitting->count - first;
    struct measured *all = fitting->all + first;
    if (fitting->trials == 0 || count <= fitting->trials)
        return;
    for (int i = 0; i < fitting->trials; i++) {
        int other = i + (int)random_below(random, (uint64_t)(count - i));
        struct measured swapped = all[i];
        all[i] = all[other];
        all[other] = swapped;
    }
    fitting->count = first + (int)fitting->trials;
}

static int trace_trials(struct fitting *fitting, int first, struct error *error) {
    int count = fitting->count - first, run = fitting->run_count;
    struct survey_order *orders = calloc((size_t)count + 1, sizeof *orders);
    if (orders == NULL)
        BUG("out of memory");
    for (int i = 0; i < count; i++)
        orders[i] = fitting->all[first + i].order;
    fitting->surveys[run] = surveys_take(fitting->configs[run], &fitting->info, orders, count,
                                         (int)fitting->jobs, error);
    for (int i = 0; i < count && fitting->surveys[run] != NULL; i++)
        fitting->all[first + i].survey = surveys_of(fitting->surveys[run], i);
    free(orders);
    return fitting->surveys[run] != NULL ? 0 : -1;
}

static int read_all(struct fitting *fitting, int count, struct error *error) {
    struct random random;
    random_seed(&random, (uint64_t)fitting->seed, 0);
    for (; fitting->run_count < count; fitting->run_count++) {
        const char *path = fitting->paths[fitting->run_count];
        int first = fitting->count;
        bool space = strncmp(path, scheme, strlen(scheme)) == 0;
        if ((space ? read_space(fitting, path + strlen(scheme), error)
                   : read_run(fitting, path, error)) < 0)
            return -1;
        thin(fitting, first, &random);
        if (trace_trials(fitting, first, error) < 0)
            return -1;
    }
    int traced = 0;
    for (int i = 0; i < fitting->count; i++)
        if (fitting->all[i].survey != NULL)
            fitting->all[traced++] = fitting->all[i];
    fitting->count = traced;
    return 0;
}

/* ---- fitting ---- */

/* The fold depends only on the genome, so a genome is in the same fold in every run. */
static int fold_of(const struct fitting *fitting, const struct measured *measured) {
    return (int)(genome_hash(&measured->order.genome).low % (uint64_t)fitting->folds);
}

/* Fits to all folds except `but` (-1: to all). Scores and predictions are means over cases, so each
   case gets the score's ratio of measured to predicted latency. Returns the error of the fit. */
static double fit(struct fitting *fitting, int but, double parameters[PREDICTION_PARAMETERS]) {
    struct prediction_sample *samples = NULL;
    int count = 0;
    for (int i = 0; i < fitting->count; i++)
        count += fitting->all[i].survey->case_count;
    samples = calloc((size_t)count, sizeof *samples);
    if (samples == NULL)
        BUG("out of memory");
    count = 0;
    for (int i = 0; i < fitting->count; i++) {
        const struct measured *it = &fitting->all[i];
        if (fold_of(fitting, it) == but)
            continue;
        double all_us = survey_us(it->survey, &fitting->info);
        for (int c = 0; c < it->survey->case_count; c++) {
            const struct prediction_call *call = &it->survey->calls[c];
            samples[count++] = (struct prediction_sample){
                call, it->score_us * predict_call_us(&fitting->info, call) / all_us};
        }
    }
    double off = predict_fit(&fitting->info, samples, count, parameters);
    free(samples);
    return off;
}

static void cross_validate(struct fitting *fitting) {
    struct device_info fitted = fitting->info;
    for (int fold = 0; fold < fitting->folds; fold++) {
        fit(fitting, fold, fitted.model);
        for (int i = 0; i < fitting->count; i++)
            if (fold_of(fitting, &fitting->all[i]) == fold)
                fitting->all[i].predicted_us = survey_us(fitting->all[i].survey, &fitted);
    }
}

/* ---- printing ---- */

static struct table *table_of(const struct fitting *fitting) {
    struct table *table = table_new(agreement_columns, AGREEMENT_COLUMNS);
    struct prediction_pair *group = calloc((size_t)fitting->count, sizeof *group);
    if (group == NULL)
        BUG("out of memory");
    for (int run = 0; run < fitting->run_count; run++)
        for (int goal = 0; goal < config_goal_count(fitting->configs[run]); goal++) {
            char name[CASE_NAME_SIZE];
            int count = 0;
            config_goal_name(fitting->configs[run], goal, name);
            for (int i = 0; i < fitting->count; i++) {
                const struct measured *it = &fitting->all[i];
                if (it->run == run && it->order.goal == goal)
                    group[count++] = (struct prediction_pair){it->predicted_us, it->score_us};
            }
            if (count == 0)
                continue;
            struct agreement agreement = agreement_of(group, count);
            table_text(table, fitting->paths[run]);
            table_text(table, name);
            agreement_add(table, &agreement);
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
        table_text(table, prediction_parameters[i].name);
        table_number(table, prediction_parameters[i].usual, 4);
        table_number(table, parameters[i], 4);
        table_text(table, prediction_parameters[i].about);
    }
    return table;
}

/* Stores the predictions of a run's trials with the run. */
static int keep(const struct fitting *fitting, int run, struct error *error) {
    struct predictions predictions = {
        .items = calloc((size_t)fitting->count, sizeof(struct prediction))};
    if (predictions.items == NULL)
        BUG("out of memory");
    for (int i = 0; i < fitting->count; i++) {
        const struct measured *it = &fitting->all[i];
        if (it->run == run && it->trial >= 0)
            predictions.items[predictions.count++] =
                (struct prediction){it->trial, it->predicted_us};
    }
    int status =
        predictions.count > 0 ? predictions_keep(fitting->paths[run], &predictions, error) : 0;
    predictions_release(&predictions);
    return status;
}

static int tell(struct fitting *fitting, const char *out, bool json, struct error *error) {
    char about[256], path[PATH_SIZE];
    if (fitting->count < LEAST)
        return error_input(
            error, "%d measured trials are not enough for a fit: give runs with at least %d",
            fitting->count, LEAST);
    cross_validate(fitting);
    double off = fit(fitting, -1, fitting->info.model);
    struct table *table = table_of(fitting);
    struct table *parameters = parameter_table(fitting->info.model);
    if (json) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "device", fitting->info.name);
        cJSON_AddItemToObject(object, "rows", table_json(table));
        cJSON_AddItemToObject(object, "parameters", table_json(parameters));
        table_print_json(object, stdout);
    } else {
        printf("%s, cross-validated: each trial is predicted by a fit to the other %d of %d "
               "parts\n\n",
               fitting->info.name, (int)fitting->folds - 1, (int)fitting->folds);
        table_print(table, TABLE_TEXT, stdout);
        printf("\n");
        table_print(parameters, TABLE_TEXT, stdout);
    }
    table_free(table);
    table_free(parameters);
    snprintf(about, sizeof about, "fitted by `evotile model fit` to %d trials, off by %.0f %%",
             fitting->count, 100 * (exp(off) - 1));
    if (out != NULL)
        snprintf(path, sizeof path, "%s", out);
    else if (published_fitted_path(fitting->info.compute_capability, path, error) < 0)
        return -1;
    if (published_fitted_write(path, about, &fitting->info, error) < 0)
        return -1;
    fprintf(stderr, "evotile: wrote %s\n", path);
    for (int run = 0; run < fitting->run_count; run++)
        if (keep(fitting, run, error) < 0)
            return -1;
    return 0;
}

/* ---- predicting ---- */

static int foretell(const struct fitting *fitting, const char *out, struct error *error) {
    double *predicted_us = calloc((size_t)fitting->row_count + 1, sizeof *predicted_us);
    if (predicted_us == NULL)
        BUG("out of memory");
    for (int64_t row = 0; row < fitting->row_count; row++)
        predicted_us[row] = NAN;
    for (int i = 0; i < fitting->count; i++)
        predicted_us[fitting->all[i].row] = survey_us(fitting->all[i].survey, &fitting->info);
    int status = predictions_write_rows(out, predicted_us, fitting->row_count, error);
    free(predicted_us);
    if (status == 0)
        fprintf(stderr, "evotile: predicted %d of %" PRId64 " rows in %s\n", fitting->count,
                fitting->row_count, out);
    return status;
}

/* ---- the verb ---- */

static void release(struct fitting *fitting) {
    for (int run = 0; run < RUNS_MAX; run++) {
        for (int goal = 0; goal < CASES_MAX; goal++)
            template_free(fitting->templates[run][goal]);
        surveys_free(fitting->surveys[run]);
        config_free(fitting->configs[run]);
    }
    free(fitting->all);
    free(fitting);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct fitting *fitting = calloc(1, sizeof *fitting);
    const char *out = NULL;
    bool json = false;
    int status = -1;
    if (fitting == NULL)
        BUG("out of memory");
    fitting->trials = 300;
    fitting->folds = 5;
    fitting->seed = 1;
    fitting->jobs = share_read("").cores;
    const struct option_row rows[] = {
        {"trials", "N", "random trials to use of each run; 0: all (default 300)", OPTION_INTEGER,
         &fitting->trials},
        {"config", "FILE", "the config that the recorded spaces were recorded with", OPTION_TEXT,
         &fitting->config_path},
        {"folds", "N", "number of folds for cross-validation (default 5)", OPTION_INTEGER,
         &fitting->folds},
        {"seed", "N", "seed of the random numbers (default 1)", OPTION_INTEGER, &fitting->seed},
        {"jobs", "N", "processes (default: the number of cores)", OPTION_INTEGER, &fitting->jobs},
        {"out", "FILE", "output file (default for parameters: fitted/ next to the device's file)",
         OPTION_TEXT, &out},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {0},
    };
    struct error error = {0};
    int count = options_parse(verb, rows, argc, argv, 2, RUNS_MAX);
    if (count < 0) {
        free(fitting);
        return STATUS_USAGE;
    }
    fitting->paths = argv + 1;
    bool fits = strcmp(argv[0], "fit") == 0;
    if (!fits && strcmp(argv[0], "predict") != 0)
        error_input(&error,
                    "model: unknown action \"%s\": give model fit RUN..., or model predict "
                    "recorded:FILE",
                    argv[0]);
    else if (!fits && (count != 2 || strncmp(argv[1], scheme, strlen(scheme)) != 0 || out == NULL))
        error_input(&error, "model predict needs one recorded:FILE and --out FILE");
    else if (fitting->folds < 2 || fitting->folds > 100 || fitting->jobs < 1 ||
             fitting->jobs > 1024 || fitting->trials < 0)
        error_input(&error,
                    "--folds must be from 2 to 100, --jobs from 1 to 1024, --trials 0 or more");
    else if (read_all(fitting, count - 1, &error) == 0)
        status = fits ? tell(fitting, out, json, &error) : foretell(fitting, out, &error);
    release(fitting);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_model = {
    .name = "model",
    .arguments = "fit RUN... | predict recorded:FILE [options]",
    .summary = "fit the latency model to measurements, or predict with it",
    VERB_HELP(model),
    .run = run,
};
