/* simulate: compares search strategies on recorded spaces. */
#include "base/path.h"
#include "base/share.h"
#include "cmd/cmd.h"
#include "cmd/predictions.h"
#include "cmd/simulate_picture.h"
#include "cmd/simulation.h"
#include "cmd/table.h"
#include "evolve/strategy.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

enum { STRATEGIES_MAX = 32, CELLS_MAX = 1 << 20, NAME_LENGTH = 256, NOISE_MOST = 50 };

struct simulating {
    struct simulation simulation;
    char **paths;
    struct recorded **spaces;
    const char *strategies[STRATEGIES_MAX];
    char *strategy_text;              /* the storage of `strategies` */
    double **random_curves, **curves; /* by space; by space and strategy */
    struct score *scores;
    double *predicted_us; /* by row of the only space, or NULL */
    double near_percent;
    char near_heading[64]; /* the storage of a table heading */
    int64_t *against; /* by space: the row that runs start with and are compared with; or NULL */
};

static void *array(size_t count, size_t size) {
    void *made = calloc(count, size);
    if (made == NULL)
        BUG("out of memory");
    return made;
}

static int cell(const struct simulating *simulating, int space, int strategy) {
    return space * simulating->simulation.strategy_count + strategy;
}

/* "gemm_A100" for "spaces/gemm_A100.json.gz". */
static void space_name(const char *path, char *name, size_t size) {
    snprintf(name, size, "%s", path_name(path));
    static const char *const endings[] = {".gz", ".json"};
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(name);
        size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
            name[length - ending] = '\0';
    }
}

/* ---- simulation ---- */

/* Parses a comma-separated list; NULL means every strategy. */
static int choose_strategies(struct simulating *simulating, const char *list, struct error *error) {
    int count = 0;
    for (const struct strategy *row = strategies; list == NULL && row->name != NULL; row++)
        simulating->strategies[count++] = row->name;
    simulating->strategy_text = list != NULL ? strdup(list) : NULL;
    char *rest = simulating->strategy_text;
    for (char *name; rest != NULL && (name = strsep(&rest, ",")) != NULL;) {
        if (count == STRATEGIES_MAX)
            return error_input(error, "--strategy has more than %d names: give fewer",
                               STRATEGIES_MAX);
        simulating->strategies[count++] = name;
    }
    simulating->simulation.strategies = simulating->strategies;
    simulating->simulation.strategy_count = count;
    return 0;
}

static int read_spaces(struct simulating *simulating, int count, struct error *error) {
    simulating->spaces = array((size_t)count, sizeof *simulating->spaces);
    simulating->simulation.spaces = simulating->spaces;
    simulating->simulation.space_count = count;
    for (int i = 0; i < count; i++) {
        simulating->spaces[i] = recorded_read(simulating->paths[i], error);
        if (simulating->spaces[i] == NULL)
            return -1;
    }
    return 0;
}

/* Finds the row of --against in each space: the default genome for "default", else a genome. */
static int find_against(struct simulating *simulating, const char *genome, struct error *error) {
    simulating->against = array((size_t)simulating->simulation.space_count, sizeof(int64_t));
    simulating->simulation.first_rows = simulating->against;
    for (int i = 0; i < simulating->simulation.space_count; i++) {
        const struct recorded *recorded = simulating->spaces[i];
        const char *text = strcmp(genome, "default") == 0 ? recorded->default_genome : genome;
        int64_t row = *text != '\0' ? recorded_find_text(recorded, text, error)
                                    : error_input(error, "the file does not record the default "
                                                         "genome: give --against GENOME");
        if (row >= 0 && recorded->verdicts[row] != VERDICT_OK)
            row =
                error_input(error, "the genome of --against failed there: give one that is valid");
        if (row < 0)
            return error_prefix(error, "%s", simulating->paths[i]);
        simulating->against[i] = row;
    }
    return 0;
}

static int read_predicted(struct simulating *simulating, const char *path, struct error *error) {
    const struct recorded *recorded = simulating->spaces[0];
    simulating->predicted_us = array((size_t)recorded->row_count, sizeof(double));
    simulating->simulation.predicted_us = simulating->predicted_us;
    return predictions_read_rows(path, simulating->predicted_us, recorded->row_count, error);
}

static void score_all(struct simulating *simulating) {
    const struct simulation *simulation = &simulating->simulation;
    size_t cells = (size_t)simulation->space_count * (size_t)simulation->strategy_count;
    struct visits *runs = array((size_t)simulation->seeds, sizeof *runs);
    simulating->random_curves = array((size_t)simulation->space_count, sizeof(double *));
    simulating->curves = array(cells, sizeof(double *));
    simulating->scores = array(cells, sizeof *simulating->scores);
    for (int space = 0; space < simulation->space_count; space++) {
        double *random = array((size_t)simulation->trials, sizeof *random);
        score_random_curve(simulating->spaces[space], simulation->trials, random);
        simulating->random_curves[space] = random;
        for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
            int at = cell(simulating, space, strategy);
            for (int seed = 0; seed < simulation->seeds; seed++)
                runs[seed] = simulation_visits(simulation, space, strategy, seed);
            simulating->curves[at] = array((size_t)simulation->trials, sizeof(double));
            simulating->scores[at] =
                score_runs(simulating->spaces[space], runs, simulation->seeds, simulation->trials,
                           simulating->near_percent, random, simulating->curves[at]);
        }
    }
    free(runs);
}

static void release(struct simulating *simulating) {
    struct simulation *simulation = &simulating->simulation;
    for (int i = 0; i < simulation->space_count * simulation->strategy_count; i++)
        if (simulating->curves != NULL)
            free(simulating->curves[i]);
    for (int i = 0; i < simulation->space_count; i++) {
        if (simulating->random_curves != NULL)
            free(simulating->random_curves[i]);
        recorded_free(simulating->spaces[i]);
    }
    simulation_release(simulation);
    free(simulating->random_curves);
    free(simulating->curves);
    free(simulating->scores);
    free(simulating->predicted_us);
    free(simulating->against);
    free(simulating->spaces);
    free(simulating->strategy_text);
}

/* ---- printing ---- */

static void percent(struct table *table, double share) {
    char text[32];
    snprintf(text, sizeof text, "%.0f", 100 * share);
    table_cell(table, cJSON_CreateNumber(share), text);
}

static double mean_filtered(const struct simulation *simulation, int space, int strategy) {
    double sum = 0;
    for (int seed = 0; seed < simulation->seeds; seed++)
        sum += simulation_filtered(simulation, space, strategy, seed);
    return sum / simulation->seeds;
}

static struct table *table_of_spaces(const struct simulating *simulating) {
    const struct table_column columns[] = {
        {.name = "space", .heading = "space"},
        {.name = "strategy", .heading = "strategy"},
        {.name = "area", .heading = "area", .right = true},
        {.name = "area_median"},
        {.name = "random", .heading = "random", .right = true},
        {.name = "gain", .heading = "gain", .right = true},
        {.name = "near_found", .heading = simulating->near_heading, .right = true},
        {.name = "trials_to_near", .heading = "median\ntrials until", .right = true},
        {.name = "optimum_found", .heading = "optimum\nin % of runs", .right = true},
        {.name = "visited", .heading = "visited\nrows", .right = true},
        {.name = "filtered"},
        {.name = "trials_per_s", .heading = "trials/s\nper core", .right = true},
        {.name = "curve"},
    };
    const struct simulation *simulation = &simulating->simulation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int space = 0; space < simulation->space_count; space++)
        for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
            int at = cell(simulating, space, strategy);
            const struct score *score = &simulating->scores[at];
            char name[NAME_LENGTH];
            space_name(simulating->paths[space], name, sizeof name);
            table_text(table, name);
            table_text(table, simulation->strategies[strategy]);
            table_number(table, score->area, 4);
            table_number(table, score->area_median, 4);
            table_number(table, score->random, 4);
            table_number(table, score->gain, 3);
            percent(table, score->near_found);
            table_number(table, score->trials_to_near, 0);
            percent(table, score->optimum_found);
            table_number(table, score->visited, 0);
            table_number(table, mean_filtered(simulation, space, strategy), 1);
            table_number(table, simulation_speed(simulation, space, strategy), 0);
            table_cell(table, cJSON_CreateDoubleArray(simulating->curves[at], simulation->trials),
                       "");
        }
    return table;
}

static struct table *table_of_strategies(const struct simulating *simulating) {
    const struct table_column columns[] = {
        {.name = "strategy", .heading = "strategy"},
        {.name = "area", .heading = "area", .right = true},
        {.name = "gain", .heading = "gain", .right = true},
        {.name = "least_gain", .heading = "least\ngain", .right = true},
        {.name = "near_found", .heading = simulating->near_heading, .right = true},
    };
    const struct simulation *simulation = &simulating->simulation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
        struct score mean = {0};
        double least = INFINITY;
        char text[32];
        for (int space = 0; space < simulation->space_count; space++) {
            const struct score *score = &simulating->scores[cell(simulating, space, strategy)];
            mean.area += score->area / simulation->space_count;
            mean.gain += score->gain / simulation->space_count;
            mean.near_found += score->near_found / simulation->space_count;
            least = fmin(least, score->gain);
        }
        table_text(table, simulation->strategies[strategy]);
        table_number(table, mean.area, 4);
        table_number(table, mean.gain, 3);
        table_number(table, least, 3);
        snprintf(text, sizeof text, "%.0f", 100 * mean.near_found);
        table_cell(table, cJSON_CreateNumber(mean.near_found), text);
    }
    return table;
}

static struct table *table_of_speedups(const struct simulating *simulating) {
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
    const struct simulation *simulation = &simulating->simulation;
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    struct visits *runs = array((size_t)simulation->seeds, sizeof *runs);
    for (int space = 0; space < simulation->space_count; space++)
        for (int strategy = 0; strategy < simulation->strategy_count; strategy++) {
            char name[NAME_LENGTH];
            for (int seed = 0; seed < simulation->seeds; seed++)
                runs[seed] = simulation_visits(simulation, space, strategy, seed);
            struct speedup speedup = score_speedup(simulating->spaces[space], runs,
                                                   simulation->seeds, simulating->against[space]);
            space_name(simulating->paths[space], name, sizeof name);
            table_text(table, name);
            table_text(table, simulation->strategies[strategy]);
            table_number(table, speedup.median, 3);
            table_number(table, speedup.least, 3);
            table_number(table, speedup.best, 3);
            percent(table, speedup.faster);
            percent(table, speedup.compiled);
            percent(table, speedup.ran);
            percent(table, speedup.correct);
        }
    free(runs);
    return table;
}

static void show(const struct simulating *simulating, bool json) {
    const struct simulation *simulation = &simulating->simulation;
    struct table *speedups = simulating->against != NULL ? table_of_speedups(simulating) : NULL;
    struct table *spaces = table_of_spaces(simulating);
    struct table *means = table_of_strategies(simulating);
    if (json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddNumberToObject(root, "trials", simulation->trials);
        cJSON_AddNumberToObject(root, "seeds", simulation->seeds);
        cJSON_AddNumberToObject(root, "in_flight", simulation->in_flight);
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
static int write_visited(const struct simulating *simulating, const char *path,
                         struct error *error) {
    const struct simulation *simulation = &simulating->simulation;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        BUG("out of memory");
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

static int draw(const struct simulating *simulating, const char *path, struct error *error) {
    const struct simulation *simulation = &simulating->simulation;
    struct panel *panels = array((size_t)simulation->space_count, sizeof *panels);
    char(*names)[NAME_LENGTH] = array((size_t)simulation->space_count, sizeof *names);
    for (int space = 0; space < simulation->space_count; space++) {
        space_name(simulating->paths[space], names[space], sizeof names[space]);
        panels[space] =
            (struct panel){names[space], simulating->random_curves[space],
                           (const double *const *)&simulating->curves[cell(simulating, space, 0)]};
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
struct wishes {
    const char *strategies, *visited, *picture, *against, *predicted;
    bool json;
};

static int simulate(struct simulating *simulating, int count, const struct wishes *wishes,
                    struct error *error) {
    if (choose_strategies(simulating, wishes->strategies, error) < 0)
        return -1;
    if (wishes->visited != NULL && (count > 1 || simulating->simulation.strategy_count > 1))
        return error_input(error, "--visited needs exactly one space and one --strategy");
    if (wishes->predicted != NULL && count > 1)
        return error_input(error, "--predicted needs exactly one space");
    if (wishes->predicted == NULL && simulating->simulation.prefilter > 0)
        return error_input(error, "--prefilter needs predictions: give --predicted FILE");
    if (read_spaces(simulating, count, error) < 0 ||
        (wishes->against != NULL && find_against(simulating, wishes->against, error) < 0) ||
        (wishes->predicted != NULL && read_predicted(simulating, wishes->predicted, error) < 0) ||
        simulation_run(&simulating->simulation, error) < 0)
        return -1;
    score_all(simulating);
    snprintf(simulating->near_heading, sizeof simulating->near_heading,
             "within %g %%\nin %% of runs", simulating->near_percent);
    show(simulating, wishes->json);
    if (wishes->visited != NULL && write_visited(simulating, wishes->visited, error) < 0)
        return -1;
    return wishes->picture != NULL ? draw(simulating, wishes->picture, error) : 0;
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct wishes wishes = {0};
    struct simulating simulating = {.paths = argv, .near_percent = 1};
    int64_t predict = 200;
    double prefilter = 0;
    double noise = 0;
    int64_t trials = 400;
    int64_t seeds = 50;
    int64_t first_seed = 1;
    int64_t jobs = share_read("").cores;
    int64_t in_flight = 1;
    int64_t islands = 1;
    const struct option_row rows[] = {
        {"strategy", "NAMES", "strategies, separated by commas (default: all)", OPTION_TEXT,
         &wishes.strategies},
        {"trials", "N", "trials in each run (default 400)", OPTION_INTEGER, &trials},
        {"seeds", "N", "runs of each strategy on each space (default 50)", OPTION_INTEGER, &seeds},
        {"seed", "N", "the first seed (default 1)", OPTION_INTEGER, &first_seed},
        {"in-flight", "K", "candidates in flight at the same time (default 1)", OPTION_INTEGER,
         &in_flight},
        {"islands", "K", "separate populations, as in run (default 1)", OPTION_INTEGER, &islands},
        {"jobs", "N", "processes (default: the number of cores)", OPTION_INTEGER, &jobs},
        {"against", "GENOME",
         "start with this genome and print the speedup over it; \"default\": the template's",
         OPTION_TEXT, &wishes.against},
        {"visited", "FILE", "write the rows that each run visited (one space, one strategy)",
         OPTION_TEXT, &wishes.visited},
        {"predicted", "FILE",
         "predictions of `model predict` for the space, of which each run gets some", OPTION_TEXT,
         &wishes.predicted},
        {"predict", "N", "number of random rows with predictions for each run (default 200)",
         OPTION_INTEGER, &predict},
        {"prefilter", "F", "skip the fraction F of rows that is predicted slowest, as in run",
         OPTION_NUMBER, &prefilter},
        {"noise", "P",
         "results are medians of samples with a spread of about P percent (default 0)",
         OPTION_NUMBER, &noise},
        {"within", "P", "distance from the optimum in percent that counts as found (default 1)",
         OPTION_NUMBER, &simulating.near_percent},
        {"picture", "FILE.svg", "draw the curves with gnuplot", OPTION_TEXT, &wishes.picture},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &wishes.json},
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
    if (islands < 1 || islands > ISLANDS_MAX) {
        error_input(&error, "--islands must be from 1 to %d", ISLANDS_MAX);
        return error_report(&error);
    }
    if (!(noise >= 0 && noise <= NOISE_MOST)) {
        error_input(&error, "--noise must be from 0 to %d percent", NOISE_MOST);
        return error_report(&error);
    }
    if (predict < 0 || predict > CELLS_MAX || !(simulating.near_percent > 0) ||
        !(prefilter >= 0 && prefilter <= PREFILTER_MOST)) {
        error_input(
            &error,
            "--predict must be from 0 to %d, --within more than 0, --prefilter from 0 to %g",
            CELLS_MAX, PREFILTER_MOST);
        return error_report(&error);
    }
    simulating.simulation = (struct simulation){.seeds = (int)seeds,
                                                .first_seed = (uint64_t)first_seed,
                                                .trials = (int)trials,
                                                .in_flight = (int)in_flight,
                                                .islands = (int)islands,
                                                .predict = (int)predict,
                                                .noise = noise,
                                                .prefilter = prefilter,
                                                .jobs = (int)jobs};
    int status = simulate(&simulating, count, &wishes, &error);
    release(&simulating);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_simulate = {
    .name = "simulate",
    .arguments = "SPACE... [options]",
    .summary = "compare search strategies on recorded spaces",
    VERB_HELP(simulate),
    .run = run,
};
