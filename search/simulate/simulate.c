/* simulate: compares search strategies on recorded spaces. */
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/resource_limits.h"
#include "cli/cli.h"
#include "render/table.h"
#include "run/predictions.h"
#include "simulate/goal_simulation.h"
#include "simulate/simulate_picture.h"
#include "simulate/simulate_sources.h"
#include "simulate/simulation.h"
#include "strategy/strategy.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

enum { STRATEGIES_MAX = 32, CELLS_MAX = 1 << 20, NAME_LENGTH = 256, NOISE_MOST = 50 };

struct simulate_context {
    struct simulation simulation;
    char **paths;
    struct recorded **spaces;
    const char *strategies[STRATEGIES_MAX];
    char *strategy_text;              /* the storage of `strategies` */
    double **random_curves, **curves; /* by space; by space and strategy */
    struct score *scores;
    double *predicted_us;             /* by row of the only space, or NULL */
    struct simulate_sources *sources; /* or NULL */
    double near_percent;
    char near_heading[64]; /* the storage of a table heading */
    int64_t
        *against_rows; /* by space: the row that runs start with and are compared with; or NULL */
};

static int cell_index(const struct simulate_context *context, int space, int strategy) {
    return space * context->simulation.strategy_count + strategy;
}

/* "gemm_A100" for "spaces/gemm_A100.json.gz". */
static void space_name(const char *path, char *name, size_t size) {
    snprintf(name, size, "%s", path_name(path));
    static const char *const extensions[] = {".gz", ".json"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(name);
        size_t extension_length = strlen(extensions[i]);
        if (length > extension_length &&
            strcmp(name + length - extension_length, extensions[i]) == 0)
            name[length - extension_length] = '\0';
    }
}

/* ---- simulation ---- */

/* Parses a comma-separated list; NULL means every strategy. */
static int choose_strategies(struct simulate_context *context, const char *list,
                             struct error *error) {
    int count = 0;
    for (const struct strategy *row = strategies; list == NULL && row->name != NULL; row++)
        context->strategies[count++] = row->name;
    context->strategy_text = xstrdup(list);
    char *rest = context->strategy_text;
    for (char *name; rest != NULL && (name = strsep(&rest, ",")) != NULL;) {
        if (count == STRATEGIES_MAX)
            return error_input(error, "--strategy has more than %d names: give fewer",
                               STRATEGIES_MAX);
        context->strategies[count++] = evolution_strategy_name(name);
    }
    context->simulation.strategies = context->strategies;
    context->simulation.strategy_count = count;
    return 0;
}

static int read_spaces(struct simulate_context *context, int count, struct error *error) {
    context->spaces = xcalloc((size_t)count, sizeof *context->spaces);
    context->simulation.spaces = context->spaces;
    context->simulation.space_count = count;
    for (int i = 0; i < count; i++) {
        context->spaces[i] = recorded_read(context->paths[i], error);
        if (context->spaces[i] == NULL)
            return -1;
    }
    return 0;
}

/* Finds the row of --against in each space: the default genome for "default", else a genome. */
static int find_against(struct simulate_context *context, const char *genome, struct error *error) {
    context->against_rows = xcalloc((size_t)context->simulation.space_count, sizeof(int64_t));
    context->simulation.first_rows = context->against_rows;
    for (int i = 0; i < context->simulation.space_count; i++) {
        const struct recorded *recorded = context->spaces[i];
        const char *text = strcmp(genome, "default") == 0 ? recorded->default_genome : genome;
        int64_t row = *text != '\0' ? recorded_find_text(recorded, text, error)
                                    : error_input(error, "the file does not record the default "
                                                         "genome: give --against GENOME");
        if (row >= 0 && recorded->verdicts[row] != VERDICT_OK)
            row =
                error_input(error, "the genome of --against failed there: give one that is valid");
        if (row < 0)
            return error_prefix(error, "%s", context->paths[i]);
        context->against_rows[i] = row;
    }
    return 0;
}

static int read_predicted(struct simulate_context *context, const char *path, struct error *error) {
    const struct recorded *recorded = context->spaces[0];
    context->predicted_us = xcalloc((size_t)recorded->row_count, sizeof(double));
    context->simulation.predicted_us = context->predicted_us;
    return predictions_read_rows(path, context->predicted_us, recorded->row_count, error);
}

static int read_sources(struct simulate_context *context, const char *paths, struct error *error) {
    struct simulation *simulation = &context->simulation;
    context->sources = simulate_sources_read(paths, context->paths, context->spaces,
                                             simulation->space_count, error);
    if (context->sources == NULL)
        return -1;
    simulation->sources = simulate_sources_lists(context->sources);
    simulation->source_counts = simulate_sources_counts(context->sources);
    return 0;
}

static void score_all(struct simulate_context *context) {
    const struct simulation *simulation = &context->simulation;
    size_t cells = (size_t)simulation->space_count * (size_t)simulation->strategy_count;
    struct visits *runs = xcalloc((size_t)simulation->seeds, sizeof *runs);
    context->random_curves = xcalloc((size_t)simulation->space_count, sizeof(double *));
    context->curves = xcalloc(cells, sizeof(double *));
    context->scores = xcalloc(cells, sizeof *context->scores);
    for (int space = 0; space < simulation->space_count; space++) {
        double *random = xcalloc((size_t)simulation->trials, sizeof *random);
        score_random_curve(context->spaces[space], simulation->trials, random);
        context->random_curves[space] = random;
        for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
            int at = cell_index(context, space, strategy);
            for (int seed = 0; seed < simulation->seeds; seed++)
                runs[seed] = simulation_visits(simulation, space, strategy, seed);
            context->curves[at] = xcalloc((size_t)simulation->trials, sizeof(double));
            context->scores[at] =
                score_runs(context->spaces[space], runs, simulation->seeds, simulation->trials,
                           context->near_percent, random, context->curves[at]);
        }
    }
    free(runs);
}

static void release_context(struct simulate_context *context) {
    struct simulation *simulation = &context->simulation;
    for (int i = 0; i < simulation->space_count * simulation->strategy_count; i++)
        if (context->curves != NULL)
            free(context->curves[i]);
    for (int i = 0; i < simulation->space_count; i++) {
        if (context->random_curves != NULL)
            free(context->random_curves[i]);
        recorded_free(context->spaces[i]);
    }
    simulation_release(simulation);
    free(context->random_curves);
    free(context->curves);
    free(context->scores);
    free(context->predicted_us);
    simulate_sources_free(context->sources);
    free(context->against_rows);
    free(context->spaces);
    free(context->strategy_text);
}

/* ---- printing ---- */

static struct table *table_of_spaces(const struct simulate_context *context) {
    const struct table_column columns[] = {
        {.name = "space", .heading = "space"},
        {.name = "strategy", .heading = "strategy"},
        {.name = "area", .heading = "area", .right = true},
        {.name = "area_median"},
        {.name = "random", .heading = "random", .right = true},
        {.name = "gain", .heading = "gain", .right = true},
        {.name = "near_found", .heading = context->near_heading, .right = true},
        {.name = "trials_to_near", .heading = "median\ntrials until", .right = true},
        {.name = "optimum_found", .heading = "optimum\nin % of runs", .right = true},
        {.name = "visited", .heading = "visited\nrows", .right = true},
        {.name = "trials_per_s", .heading = "trials/s\nper core", .right = true},
        {.name = "curve"},
    };
    const struct simulation *simulation = &context->simulation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int space = 0; space < simulation->space_count; space++)
        for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
            int at = cell_index(context, space, strategy);
            const struct score *score = &context->scores[at];
            char name[NAME_LENGTH];
            space_name(context->paths[space], name, sizeof name);
            table_add(table, "%s %s %.4f %.4f %.4f %.3f %.0f%% %.0f %.0f%% %.0f %.0f", name,
                      simulation->strategies[strategy], score->area, score->area_median,
                      score->random, score->gain, score->near_found, score->trials_to_near,
                      score->optimum_found, score->visited,
                      simulation_speed(simulation, space, strategy));
            table_cell(table, cJSON_CreateDoubleArray(context->curves[at], simulation->trials), "");
        }
    return table;
}

static struct table *table_of_strategies(const struct simulate_context *context) {
    const struct table_column columns[] = {
        {.name = "strategy", .heading = "strategy"},
        {.name = "area", .heading = "area", .right = true},
        {.name = "gain", .heading = "gain", .right = true},
        {.name = "least_gain", .heading = "least\ngain", .right = true},
        {.name = "near_found", .heading = context->near_heading, .right = true},
    };
    const struct simulation *simulation = &context->simulation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
        struct score mean = {0};
        double least = INFINITY;
        for (int space = 0; space < simulation->space_count; space++) {
            const struct score *score = &context->scores[cell_index(context, space, strategy)];
            mean.area += score->area / simulation->space_count;
            mean.gain += score->gain / simulation->space_count;
            mean.near_found += score->near_found / simulation->space_count;
            least = fmin(least, score->gain);
        }
        table_add(table, "%s %.4f %.3f %.3f %.0f%%", simulation->strategies[strategy], mean.area,
                  mean.gain, least, mean.near_found);
    }
    return table;
}

static struct table *table_of_speedups(const struct simulate_context *context) {
    static const struct table_column columns[] = {
        {.name = "space", .heading = "space"},
        {.name = "strategy", .heading = "strategy"},
        {.name = "speedup_median", .heading = "median\nspeedup", .right = true},
        {.name = "speedup_least", .heading = "least", .right = true},
        {.name = "speedup_best", .heading = "best", .right = true},
        {.name = "faster", .heading = "faster\n% of runs", .right = true},
        {.name = "compiled", .heading = "compiled\n% of trials", .right = true},
        {.name = "ran", .heading = "ran\n%", .right = true},
        {.name = "correct", .heading = "correct\n%", .right = true},
    };
    const struct simulation *simulation = &context->simulation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    struct visits *runs = xcalloc((size_t)simulation->seeds, sizeof *runs);
    for (int space = 0; space < simulation->space_count; space++)
        for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
            char name[NAME_LENGTH];
            for (int seed = 0; seed < simulation->seeds; seed++)
                runs[seed] = simulation_visits(simulation, space, strategy, seed);
            struct speedup speedup = score_speedup(context->spaces[space], runs, simulation->seeds,
                                                   context->against_rows[space]);
            space_name(context->paths[space], name, sizeof name);
            table_add(table, "%s %s %.3f %.3f %.3f %.0f%% %.0f%% %.0f%% %.0f%%", name,
                      simulation->strategies[strategy], speedup.median, speedup.least, speedup.best,
                      speedup.faster, speedup.compiled, speedup.ran, speedup.correct);
        }
    free(runs);
    return table;
}

static void print_scores(const struct simulate_context *context, bool json) {
    const struct simulation *simulation = &context->simulation;
    struct table *speedups = context->against_rows != NULL ? table_of_speedups(context) : NULL;
    struct table *spaces = table_of_spaces(context);
    struct table *means = table_of_strategies(context);
    if (json) {
        cJSON *root = cJSON_CreateObject();
        json_add(root, "trials=%d seeds=%d in_flight=%d", simulation->trials, simulation->seeds,
                 simulation->in_flight);
        cJSON_AddItemToObject(root, "spaces", table_json(spaces));
        cJSON_AddItemToObject(root, "strategies", table_json(means));
        if (speedups != NULL)
            cJSON_AddItemToObject(root, "speedups", table_json(speedups));
        table_print_json(root, stdout);
    } else {
        table_print(spaces, TABLE_TEXT, stdout);
        printf("\nMeans over the spaces\n");
        table_print(means, TABLE_TEXT, stdout);
        if (speedups != NULL) {
            printf("\nSpeedup over the first genome of each run, after %d trials\n",
                   simulation->trials);
            table_print(speedups, TABLE_TEXT, stdout);
        }
    }
    table_free(speedups);
    table_free(spaces);
    table_free(means);
}

/* Writes [[row, row, ...], ...]: one list per seed. */
static int write_visited(const struct simulate_context *context, const char *path,
                         struct error *error) {
    const struct simulation *simulation = &context->simulation;
    char *text = NULL;
    size_t size = 0;
    FILE *out = xopen_memstream(&text, &size);
    for (int seed = 0; seed < simulation->seeds; seed++) {
        struct visits visits = simulation_visits(simulation, 0, 0, seed);
        fputs(seed == 0 ? "[[" : "],\n[", out);
        for (int i = 0; i < visits.count; i++)
            fprintf(out, "%s%u", i > 0 ? "," : "", visits.rows[i]);
    }
    fputs("]]\n", out);
    fclose(out);
    int result = path_write_file(path, text, size, error);
    free(text);
    return result;
}

static int draw_curves(const struct simulate_context *context, const char *path,
                       struct error *error) {
    const struct simulation *simulation = &context->simulation;
    struct panel *panels = xcalloc((size_t)simulation->space_count, sizeof *panels);
    char(*names)[NAME_LENGTH] = xcalloc((size_t)simulation->space_count, sizeof *names);
    for (int space = 0; space < simulation->space_count; space++) {
        space_name(context->paths[space], names[space], sizeof names[space]);
        panels[space] =
            (struct panel){names[space], context->random_curves[space],
                           (const double *const *)&context->curves[cell_index(context, space, 0)]};
    }
    const struct picture picture = {panels, simulation->space_count, simulation->strategies,
                                    simulation->strategy_count, simulation->trials};
    int result = picture_draw(&picture, path, error);
    free(panels);
    free(names);
    return result;
}

/* ---- the verb ---- */

/* Command-line options beyond the simulation's own settings. */
struct simulate_options {
    const char *strategies, *visited, *picture, *against_rows, *predicted, *sources;
    bool goals, json;
};

static int simulate(struct simulate_context *context, int count,
                    const struct simulate_options *options, struct error *error) {
    if (choose_strategies(context, options->strategies, error) < 0)
        return -1;
    if (options->visited != NULL && (count > 1 || context->simulation.strategy_count > 1))
        return error_input(error, "--visited needs exactly one space and one --strategy");
    if (options->predicted != NULL && count > 1)
        return error_input(error, "--predicted needs exactly one space");
    if (read_spaces(context, count, error) < 0 ||
        (options->against_rows != NULL &&
         find_against(context, options->against_rows, error) < 0) ||
        (options->predicted != NULL && read_predicted(context, options->predicted, error) < 0) ||
        (options->sources != NULL && read_sources(context, options->sources, error) < 0) ||
        simulation_run(&context->simulation, error) < 0)
        return -1;
    score_all(context);
    snprintf(context->near_heading, sizeof context->near_heading, "within %g %%\nin %% of runs",
             context->near_percent);
    print_scores(context, options->json);
    if (options->visited != NULL && write_visited(context, options->visited, error) < 0)
        return -1;
    return options->picture != NULL ? draw_curves(context, options->picture, error) : 0;
}

/* The spaces as the goals of one run. */
static int simulate_goals(struct simulate_context *context, int count,
                          const struct simulate_options *options, struct error *error) {
    const struct simulation *simulation = &context->simulation;
    if (options->visited != NULL || options->picture != NULL || options->against_rows != NULL ||
        options->predicted != NULL || options->sources != NULL || simulation->in_flight != 1)
        return error_input(error, "--goals goes with --strategy, --trials, --seeds, --seed, "
                                  "--within and --json alone: leave the other options out");
    if (count < 2 || count > GOALS_MAX)
        return error_input(error, "--goals needs 2 to %d spaces", GOALS_MAX);
    if (choose_strategies(context, options->strategies, error) < 0 ||
        read_spaces(context, count, error) < 0)
        return -1;
    return goal_simulation_print(simulation, context->near_percent, options->json, error);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct simulate_options options = {0};
    struct simulate_context context = {.paths = argv, .near_percent = 1};
    int64_t predict = 200;
    double noise = 0;
    int64_t trials = 400;
    int64_t seeds = 50;
    int64_t first_seed = 1;
    int64_t jobs = resource_limits_read("").cores;
    int64_t in_flight = 1;
    const struct option_row rows[] = {
        OPTION("strategy", "NAMES", "strategies, separated by commas (default: all)",
               &options.strategies),
        OPTION("trials", "N", "trials in each run (default 400)", &trials),
        OPTION("seeds", "N", "runs of each strategy on each space (default 50)", &seeds),
        OPTION("seed", "N", "the first seed (default 1)", &first_seed),
        OPTION("in-flight", "K", "candidates in flight at the same time (default 1)", &in_flight),
        OPTION("jobs", "N", "processes (default: the number of cores)", &jobs),
        OPTION("against", "GENOME",
               "start with this genome and print the speedup over it; \"default\": the template's",
               &options.against_rows),
        OPTION("visited", "FILE", "write the rows that each run visited (one space, one strategy)",
               &options.visited),
        OPTION("sources", "FILES",
               "other recorded spaces, separated by commas, that every search learns from",
               &options.sources),
        OPTION("goals", NULL,
               "the spaces are the goals of one run: trials until all are within P percent, shared "
               "and apart",
               &options.goals),
        OPTION("predicted", "FILE",
               "predictions of `model predict` for the space, of which each run gets some",
               &options.predicted),
        OPTION("predict", "N", "number of random rows with predictions for each run (default 200)",
               &predict),
        OPTION("noise", "P",
               "results are medians of samples with a spread of about P percent (default 0)",
               &noise),
        OPTION("within", "P",
               "distance from the optimum in percent that counts as found (default 1)",
               &context.near_percent),
        OPTION("picture", "FILE.svg", "draw the curves", &options.picture),
        OPTION("json", NULL, "print one JSON object", &options.json),
        {"islands", "K", NULL, OPTION_REMOVED, NULL},
        {"prefilter", "F", NULL, OPTION_REMOVED, NULL},
        {0},
    };
    int count = options_parse(verb, rows, argc, argv, 1, INT16_MAX);
    if (count < 0)
        return STATUS_USAGE;
    struct error error = {0};
    signal(SIGPIPE, SIG_IGN);
    if (trials < 1 || seeds < 1 || in_flight < 1 || jobs < 1 || trials > CELLS_MAX ||
        seeds > CELLS_MAX || in_flight > CELLS_MAX || jobs > 1024) {
        error_input(&error,
                    "--trials, --seeds and --in-flight must be from 1 to %d, and --jobs from 1 to "
                    "1024",
                    CELLS_MAX);
        return error_report(&error);
    }
    if (!(noise >= 0 && noise <= NOISE_MOST)) {
        error_input(&error, "--noise must be from 0 to %d percent", NOISE_MOST);
        return error_report(&error);
    }
    if (predict < 0 || predict > CELLS_MAX || !(context.near_percent > 0)) {
        error_input(&error, "--predict must be from 0 to %d, and --within more than 0", CELLS_MAX);
        return error_report(&error);
    }
    context.simulation = (struct simulation){.seeds = (int)seeds,
                                             .first_seed = (uint64_t)first_seed,
                                             .trials = (int)trials,
                                             .in_flight = (int)in_flight,
                                             .predict = (int)predict,
                                             .noise = noise,
                                             .jobs = (int)jobs};
    int status = options.goals ? simulate_goals(&context, count, &options, &error)
                               : simulate(&context, count, &options, &error);
    release_context(&context);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_simulate = {
    .name = "simulate",
    .arguments = "SPACE... [options]",
    .summary = "compare search strategies on recorded spaces",
    VERB_HELP(simulate),
    .run = run,
};
