#include "analysis/run_data.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "run/predictions.h"

const struct resource_row resource_rows[RESOURCE_COUNT] = {
    [RESOURCE_REGISTERS] = {"registers", "registers a thread"},
    [RESOURCE_SMEM] = {"smem_bytes", "shared memory a block, bytes"},
    [RESOURCE_SPILLS] = {"spill_bytes", "spills, bytes"},
    [RESOURCE_CTAS] = {"ctas", "CTAs of the largest launch"},
    [RESOURCE_CTAS_PER_SM] = {"ctas_per_sm", "CTAs resident an SM"},
    [RESOURCE_OCCUPANCY] = {"occupancy", "occupancy"},
};

struct run_reader {
    struct run_data *run;
    double last; /* when the previous trial was observed */
};

/* ---- trials ---- */

static int index_of(struct names *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return i;
    names->items = xgrow(names->items, names->count, sizeof *names->items);
    names->items[names->count] = xstrdup(name);
    return names->count++;
}

static void names_release(struct names *names) {
    for (int i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static void fill_cases(struct trial_row *row, const struct outcome *outcome) {
    double tflops[CASES_MAX];
    int ctas = 0;
    for (int i = 0; i < outcome->case_count; i++) {
        const struct case_outcome *it = &outcome->cases[i];
        tflops[i] = it->tflops;
        ctas = i == 0 || it->ctas < ctas ? it->ctas : ctas;
        if (it->bound.relative_l2 > 0) /* else it was not compared */
            row->relative_l2 = fmax(row->relative_l2, it->errors.relative_l2);
    }
    row->tflops = outcome_mean(outcome, tflops);
    row->resources[RESOURCE_CTAS] = (float)ctas;
}

/* Resources are unknown for a trial that was looked up in a recording or never compiled. */
static void fill_resources(struct trial_row *row, const struct resources *it) {
    row->resources[RESOURCE_REGISTERS] = (float)it->registers;
    row->resources[RESOURCE_SMEM] = (float)it->smem_bytes;
    row->resources[RESOURCE_SPILLS] = (float)it->spill_bytes;
    row->resources[RESOURCE_CTAS_PER_SM] = (float)it->ctas_per_sm;
    row->resources[RESOURCE_OCCUPANCY] = (float)it->occupancy;
    for (int i = 0; it->ctas_per_sm == 0 && i < RESOURCE_COUNT; i++)
        row->resources[i] = NAN;
}

static void fill_time(struct run_reader *reader, struct trial_row *row, double finished) {
    struct run_data *run = reader->run;
    double since = finished - reader->last;
    if (since > PAUSE_S)
        run->pauses++;
    else if (since > 0)
        run->seconds += since;
    reader->last = finished;
    row->seconds = run->seconds;
}

static int add_trial(void *context, const struct store_trial *trial, struct error *error) {
    struct run_reader *reader = context;
    struct run_data *run = reader->run;
    const struct outcome *outcome = trial->outcome;
    run->rows = xgrow(run->rows, run->count, sizeof *run->rows);
    struct trial_row *row = &run->rows[run->count++];
    struct goal_view *goal = &run->goals[trial->goal];
    char *worker = text_escaped(trial->worker != NULL ? trial->worker : "", false);
    *row = (struct trial_row){
        .number = trial->number,
        .parent_a = trial->parent_a,
        .parent_b = trial->parent_b,
        .event = trial->observed,
        .goal = trial->goal,
        .order = ++goal->observed,
        .operator_index = index_of(&run->operators, trial->operator_name),
        .worker_index = index_of(&run->workers, worker),
        .verdict = outcome->verdict,
        .raced = outcome->raced,
        .outdated = trial->outdated,
        .predicted = outcome->predicted,
        .score_us =
            outcome->verdict == VERDICT_OK && outcome->score_us > 0 ? outcome->score_us : NAN,
        .energy_mj = outcome->verdict == VERDICT_OK ? outcome_energy_mj(outcome) : NAN,
        .relative_l2 = NAN,
        .predicted_us = NAN,
    };
    row->latency_us =
        run->minimised == MINIMISED_LATENCY ? row->score_us : outcome_latency_us(outcome);
    row->latency_error = (float)outcome_score_error(outcome);
    row->energy_error = (float)outcome_energy_error(outcome);
    free(worker);
    fill_cases(row, outcome);
    fill_resources(row, &outcome->resources);
    fill_time(reader, row, trial->finished);
    if (outcome->verdict == VERDICT_OK) {
        run->predicted += outcome->predicted;
        run->measured += !outcome->predicted;
    }
    if (genes_add(&run->genes, trial->genome, row->genes, error) == 0)
        return 0;
    return error_prefix(error,
                        "%s/run.db is damaged (table trials, number %" PRId64 "; `evotile fsck` "
                        "says more)",
                        run->path, trial->number);
}

static void sort_genes(struct run_data *run) {
    static uint8_t places[GENES_MAX][DOMAIN_MAX];
    genes_sort(&run->genes, places);
    for (int i = 0; i < run->count; i++)
        for (int g = 0; g < run->genes.count; g++)
            run->rows[i].genes[g] = places[g][run->rows[i].genes[g]];
}

/* ---- goals ---- */

static int compare_rows(const void *a, const void *b, void *context) {
    const struct trial_row *rows = context;
    const struct trial_row *x = &rows[*(const int *)a];
    const struct trial_row *y = &rows[*(const int *)b];
    if (x->score_us != y->score_us)
        return x->score_us < y->score_us ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int count_elites(int ranked) {
    int quarter = ranked / 4 < ELITES_MOST ? ranked / 4 : ELITES_MOST;
    int least = ranked < ELITES_LEAST ? ranked : ELITES_LEAST;
    return quarter > least ? quarter : least;
}

static void rank_trials(struct run_data *run) {
    for (int g = 0; g < run->goal_count; g++) {
        run->goals[g].first = -1;
        run->goals[g].ranked = xcalloc((size_t)run->goals[g].observed, sizeof(int));
    }
    for (int i = 0; i < run->count; i++) {
        const struct trial_row *row = &run->rows[i];
        struct goal_view *goal = &run->goals[row->goal];
        if (isnan(row->score_us) || row->outdated)
            continue;
        goal->valid++;
        if (strcmp(run->operators.items[row->operator_index], "default") == 0)
            goal->first = i;
        if (!row->raced)
            goal->ranked[goal->ranked_count++] = i;
    }
    for (int g = 0; g < run->goal_count; g++) {
        struct goal_view *goal = &run->goals[g];
        goal->elite_count = count_elites(goal->ranked_count);
        qsort_r(goal->ranked, (size_t)goal->ranked_count, sizeof(int), compare_rows, run->rows);
    }
}

static int compare_numbers(const void *a, const void *b) {
    const struct trial_row *x = *(const struct trial_row *const *)a;
    const struct trial_row *y = *(const struct trial_row *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void index_numbers(struct run_data *run) {
    run->by_number = xcalloc((size_t)run->count, sizeof *run->by_number);
    for (int i = 0; i < run->count; i++)
        run->by_number[i] = &run->rows[i];
    qsort(run->by_number, (size_t)run->count, sizeof *run->by_number, compare_numbers);
}

const struct trial_row *run_data_find_trial(const struct run_data *run, int64_t number) {
    const struct trial_row *const wanted = &(struct trial_row){.number = number};
    const struct trial_row **found = bsearch(&wanted, run->by_number, (size_t)run->count,
                                             sizeof *run->by_number, compare_numbers);
    return found != NULL ? *found : NULL;
}

/* The number of trials observed at or before an event. */
static int count_observed_at(const struct run_data *run, int64_t event) {
    int low = 0;
    for (int high = run->count; low < high;) {
        int middle = (low + high) / 2;
        if (run->rows[middle].event <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_champion_changes(struct run_data *run) {
    const struct store_champion *champions = run->history->champions;
    for (int i = 0; i < run->history->champion_count; i++) {
        const struct trial_row *row = run_data_find_trial(run, champions[i].trial);
        struct goal_view *goal = &run->goals[champions[i].goal];
        if (row == NULL) /* it was stored after we read the trials */
            continue;
        struct champion_change change = {.row = (int)(row - run->rows),
                                         .score_us = champions[i].score_us,
                                         .again = champions[i].previous == champions[i].trial};
        for (int k = count_observed_at(run, champions[i].event) - 1; k >= 0 && change.order == 0;
             k--)
            if (run->rows[k].goal == champions[i].goal) {
                change.order = run->rows[k].order;
                change.seconds = run->rows[k].seconds;
            }
        goal->champions = xgrow(goal->champions, goal->champion_count, sizeof *goal->champions);
        goal->champions[goal->champion_count++] = change;
    }
}

static int add_predictions(struct run_data *run, struct error *error) {
    struct predictions kept;
    if (predictions_read(run->store, &kept, error) < 0)
        return -1;
    for (int i = 0; i < kept.count; i++) {
        const struct trial_row *row = run_data_find_trial(run, kept.items[i].trial);
        if (row != NULL)
            run->rows[row - run->rows].predicted_us = kept.items[i].predicted_us;
    }
    predictions_release(&kept);
    return 0;
}

int run_data_find_goal(const struct run_data *run, const char *name) {
    for (int g = 0; g < run->goal_count; g++)
        if (strcmp(store_goal_name(run->store, g), name) == 0)
            return g;
    return -1;
}

const struct trial_row *run_data_champion(const struct run_data *run, int goal) {
    const struct goal_view *view = &run->goals[goal];
    return view->champion_count > 0 ? &run->rows[view->champions[view->champion_count - 1].row]
                                    : NULL;
}

const char *run_data_unit(const struct run_data *run) {
    return run->predicted == 0  ? minimised_unit(run->minimised)
           : run->measured == 0 ? minimised_predicted_unit(run->minimised)
                                : "us, measured or predicted";
}

/* ---- the run ---- */

static int read_meta(struct run_data *run, struct error *error) {
    const struct {
        const char *name;
        char **value;
    } wanted[] = {
        {"device_name", &run->device}, {"template", &run->template}, {"objective", &run->objective},
        {"driver", &run->driver},      {"evotile", &run->version},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (store_meta_get(run->store, wanted[i].name, wanted[i].value, error) < 0)
            return -1;
        if (*wanted[i].value == NULL)
            *wanted[i].value = xstrdup("?");
    }
    return 0;
}

static void read_settings(struct run_data *run) {
    const struct config *config = run->history->config;
    char seed[24] = "?";
    if (config != NULL)
        snprintf(seed, sizeof seed, "%" PRIu64, config->seed);
    run->seed = xstrdup(seed);
    run->strategy = xstrdup(config != NULL ? config->strategy : "?");
}

static int read_run(struct run_data *run, struct error *error) {
    struct run_reader reader = {.run = run};
    run->store = store_open(run->path, STORE_READ, error);
    if (run->store == NULL || (run->history = run_history_open(run->store, error)) == NULL ||
        read_meta(run, error) < 0)
        return -1;
    read_settings(run);
    run->goal_count = store_goal_count(run->store);
    if (run->goal_count > GOALS_MAX)
        return error_set(error, "%s has %d goals: the run is damaged", run->path, run->goal_count);
    run->goals = xcalloc((size_t)run->goal_count + 1, sizeof *run->goals);
    run->minimised = run->history->minimised;
    run->genes.several = run->history->solutions.count > 1;
    reader.last = run->created = run->history->created;
    if (store_count(run->store, &run->counts, error) < 0 ||
        store_trials(run->store, add_trial, &reader, error) < 0)
        return -1;
    sort_genes(run);
    rank_trials(run);
    index_numbers(run);
    add_champion_changes(run);
    if (add_predictions(run, error) < 0)
        return -1;
    size_t room = strlen(run->path) + 64;
    run->heading = xmalloc(room);
    snprintf(run->heading, room, "%s\n%s", run->path, run_data_unit(run));
    return 0;
}

struct run_data *run_data_read(const char *run_dir, struct error *error) {
    struct run_data *run = xcalloc(1, sizeof *run);
    run->path = xstrdup(run_dir);
    if (read_run(run, error) == 0)
        return run;
    run_data_free(run);
    return NULL;
}

void run_data_free(struct run_data *run) {
    if (run == NULL)
        return;
    char *const texts[] = {run->path,   run->heading, run->device, run->template, run->objective,
                           run->driver, run->version, run->seed,   run->strategy};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (int g = 0; run->goals != NULL && g < run->goal_count; g++) {
        free(run->goals[g].ranked);
        free(run->goals[g].champions);
    }
    free(run->goals);
    names_release(&run->operators);
    names_release(&run->workers);
    free(run->rows);
    free(run->by_number);
    genes_release(&run->genes);
    run_history_close(run->history);
    store_close(run->store);
    free(run);
}
