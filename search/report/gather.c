#include "report/gather.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "cmd/predictions.h"

const struct resource_row resource_rows[RESOURCE_COUNT] = {
    [RESOURCE_REGISTERS] = {"registers", "registers a thread"},
    [RESOURCE_SMEM] = {"smem_bytes", "shared memory a block, bytes"},
    [RESOURCE_SPILLS] = {"spill_bytes", "spills, bytes"},
    [RESOURCE_CTAS] = {"ctas", "CTAs of the largest launch"},
    [RESOURCE_CTAS_PER_SM] = {"ctas_per_sm", "CTAs resident an SM"},
    [RESOURCE_OCCUPANCY] = {"occupancy", "occupancy"},
};

struct gathering {
    struct gathered *run;
    int room;
    double last; /* when the previous trial was told */
};

static void *grown(void *items, int count, size_t size) {
    void *more = realloc(items, (size_t)(count > 0 ? count : 1) * size);
    if (more == NULL)
        BUG("out of memory");
    return more;
}

/* ---- trials ---- */

static int index_of(struct names *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return i;
    names->items = grown(names->items, names->count + 1, sizeof *names->items);
    names->items[names->count] = strdup(name);
    return names->count++;
}

static void names_release(struct names *names) {
    for (int i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static void note_cases(struct sight *sight, const struct outcome *outcome) {
    double tflops[CASES_MAX];
    bool known = outcome->case_count > 0;
    int ctas = 0;
    for (int i = 0; i < outcome->case_count; i++) {
        const struct case_outcome *it = &outcome->cases[i];
        tflops[i] = it->tflops;
        known = known && it->tflops > 0;
        ctas = i == 0 || it->ctas < ctas ? it->ctas : ctas;
        if (i == 0 || it->errors.relative_l2 > sight->relative_l2)
            sight->relative_l2 = it->errors.relative_l2;
    }
    sight->tflops = known ? statistics_geometric_mean(tflops, outcome->case_count) : NAN;
    sight->resources[RESOURCE_CTAS] = (float)ctas;
}

/* Resources are unknown for a trial that was looked up in a recording or never compiled. */
static void note_resources(struct sight *sight, const struct resources *it) {
    sight->resources[RESOURCE_REGISTERS] = (float)it->registers;
    sight->resources[RESOURCE_SMEM] = (float)it->smem_bytes;
    sight->resources[RESOURCE_SPILLS] = (float)it->spill_bytes;
    sight->resources[RESOURCE_CTAS_PER_SM] = (float)it->ctas_per_sm;
    sight->resources[RESOURCE_OCCUPANCY] = (float)it->occupancy;
    for (int i = 0; it->ctas_per_sm == 0 && i < RESOURCE_COUNT; i++)
        sight->resources[i] = NAN;
}

static void note_time(struct gathering *gathering, struct sight *sight, double finished) {
    struct gathered *run = gathering->run;
    double since = finished - gathering->last;
    if (since > PAUSE_S)
        run->pauses++;
    else if (since > 0)
        run->seconds += since;
    gathering->last = finished;
    sight->seconds = run->seconds;
}

static int note_trial(void *context, const struct store_trial *trial, struct error *error) {
    struct gathering *gathering = context;
    struct gathered *run = gathering->run;
    const struct outcome *outcome = trial->outcome;
    if (run->count == gathering->room) {
        gathering->room = gathering->room > 0 ? 2 * gathering->room : 1024;
        run->sights = grown(run->sights, gathering->room, sizeof *run->sights);
    }
    struct sight *sight = &run->sights[run->count++];
    struct goal_view *goal = &run->goals[trial->goal];
    *sight = (struct sight){
        .number = trial->number,
        .parent_a = trial->parent_a,
        .parent_b = trial->parent_b,
        .event = trial->told,
        .goal = trial->goal,
        .order = ++goal->told,
        .operator_index = index_of(&run->operators, trial->operator_name),
        .worker_index = index_of(&run->workers, trial->worker != NULL ? trial->worker : ""),
        .verdict = outcome->verdict,
        .raced = outcome->raced,
        .outdated = trial->outdated,
        .predicted = outcome->predicted,
        .score_us =
            outcome->verdict == VERDICT_OK && outcome->score_us > 0 ? outcome->score_us : NAN,
        .relative_l2 = NAN,
        .foretold_us = NAN,
    };
    note_cases(sight, outcome);
    note_resources(sight, &outcome->resources);
    note_time(gathering, sight, trial->finished);
    if (outcome->verdict == VERDICT_OK) {
        run->predicted += outcome->predicted;
        run->measured += !outcome->predicted;
    }
    return genes_learn(&run->genes, trial->genome, sight->genes, error);
}

static void sort_genes(struct gathered *run) {
    static uint8_t places[GENES_MAX][DOMAIN_MAX];
    genes_sort(&run->genes, places);
    for (int i = 0; i < run->count; i++)
        for (int g = 0; g < run->genes.count; g++)
            run->sights[i].genes[g] = places[g][run->sights[i].genes[g]];
}

/* ---- goals ---- */

static int compare_sights(const void *a, const void *b, void *context) {
    const struct sight *sights = context;
    const struct sight *x = &sights[*(const int *)a];
    const struct sight *y = &sights[*(const int *)b];
    if (x->score_us != y->score_us)
        return x->score_us < y->score_us ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static int elites_of(int ranked) {
    int quarter = ranked / 4 < ELITES_MOST ? ranked / 4 : ELITES_MOST;
    int least = ranked < ELITES_LEAST ? ranked : ELITES_LEAST;
    return quarter > least ? quarter : least;
}

static void rank(struct gathered *run) {
    for (int g = 0; g < run->goal_count; g++) {
        run->goals[g].first = -1;
        run->goals[g].ranked = grown(NULL, run->goals[g].told, sizeof(int));
    }
    for (int i = 0; i < run->count; i++) {
        const struct sight *sight = &run->sights[i];
        struct goal_view *goal = &run->goals[sight->goal];
        if (isnan(sight->score_us) || sight->outdated)
            continue;
        goal->valid++;
        if (strcmp(run->operators.items[sight->operator_index], "default") == 0)
            goal->first = i;
        if (!sight->raced)
            goal->ranked[goal->ranked_count++] = i;
    }
    for (int g = 0; g < run->goal_count; g++) {
        struct goal_view *goal = &run->goals[g];
        goal->elite_count = elites_of(goal->ranked_count);
        qsort_r(goal->ranked, (size_t)goal->ranked_count, sizeof(int), compare_sights, run->sights);
    }
}

static int compare_numbers(const void *a, const void *b) {
    const struct sight *x = *(const struct sight *const *)a;
    const struct sight *y = *(const struct sight *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void index_numbers(struct gathered *run) {
    run->by_number = grown(NULL, run->count, sizeof *run->by_number);
    for (int i = 0; i < run->count; i++)
        run->by_number[i] = &run->sights[i];
    qsort(run->by_number, (size_t)run->count, sizeof *run->by_number, compare_numbers);
}

const struct sight *gathered_find(const struct gathered *run, int64_t number) {
    const struct sight *const wanted = &(struct sight){.number = number};
    const struct sight **found = bsearch(&wanted, run->by_number, (size_t)run->count,
                                         sizeof *run->by_number, compare_numbers);
    return found != NULL ? *found : NULL;
}

/* The number of trials told at or before an event. */
static int told_at(const struct gathered *run, int64_t event) {
    int low = 0;
    for (int high = run->count; low < high;) {
        int middle = (low + high) / 2;
        if (run->sights[middle].event <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void note_crownings(struct gathered *run) {
    int count;
    const struct store_champion *crowned = chapters_crowned(run->chapters, &count);
    for (int i = 0; i < count; i++) {
        const struct sight *sight = gathered_find(run, crowned[i].trial);
        struct goal_view *goal = &run->goals[crowned[i].goal];
        if (sight == NULL) /* it was stored after we read the trials */
            continue;
        struct crowning crowning = {.sight = (int)(sight - run->sights),
                                    .score_us = crowned[i].score_us,
                                    .again = crowned[i].previous == crowned[i].trial};
        for (int k = told_at(run, crowned[i].event) - 1; k >= 0 && crowning.order == 0; k--)
            if (run->sights[k].goal == crowned[i].goal) {
                crowning.order = run->sights[k].order;
                crowning.seconds = run->sights[k].seconds;
            }
        goal->crownings = grown(goal->crownings, goal->crowning_count + 1, sizeof *goal->crownings);
        goal->crownings[goal->crowning_count++] = crowning;
    }
}

static int note_predictions(struct gathered *run, struct error *error) {
    struct predictions kept;
    if (predictions_read(run->store, &kept, error) < 0)
        return -1;
    for (int i = 0; i < kept.count; i++) {
        const struct sight *sight = gathered_find(run, kept.items[i].trial);
        if (sight != NULL)
            run->sights[sight - run->sights].foretold_us = kept.items[i].predicted_us;
    }
    predictions_release(&kept);
    return 0;
}

int gathered_goal(const struct gathered *run, const char *name) {
    for (int g = 0; g < run->goal_count; g++)
        if (strcmp(store_goal_name(run->store, g), name) == 0)
            return g;
    return -1;
}

const struct sight *gathered_champion(const struct gathered *run, int goal) {
    const struct goal_view *view = &run->goals[goal];
    return view->crowning_count > 0 ? &run->sights[view->crownings[view->crowning_count - 1].sight]
                                    : NULL;
}

const char *gathered_unit(const struct gathered *run) {
    return run->predicted == 0  ? "us"
           : run->measured == 0 ? "predicted us"
                                : "us, measured or predicted";
}

/* ---- the run ---- */

static int read_meta(struct gathered *run, struct error *error) {
    const struct {
        const char *name;
        char **value;
    } wanted[] = {
        {"device_name", &run->device}, {"template", &run->template}, {"objective", &run->objective},
        {"driver", &run->driver},      {"evotile", &run->version},   {"seed", &run->seed},
        {"strategy", &run->strategy},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (store_meta_get(run->store, wanted[i].name, wanted[i].value, error) < 0)
            return -1;
        if (*wanted[i].value == NULL)
            *wanted[i].value = strdup("?");
    }
    return 0;
}

static int read_run(struct gathered *run, struct error *error) {
    struct gathering gathering = {.run = run};
    run->store = store_open(run->path, STORE_READ, error);
    if (run->store == NULL || (run->chapters = chapters_open(run->store, error)) == NULL ||
        read_meta(run, error) < 0)
        return -1;
    run->goal_count = store_goal_count(run->store);
    if (run->goal_count > CASES_MAX)
        return error_set(error, "%s has %d goals: the run is damaged", run->path, run->goal_count);
    run->goals = calloc((size_t)run->goal_count + 1, sizeof *run->goals);
    if (run->goals == NULL)
        BUG("out of memory");
    gathering.last = run->created = chapters_created(run->chapters);
    if (store_count(run->store, &run->counts, error) < 0 ||
        store_trials(run->store, note_trial, &gathering, error) < 0)
        return -1;
    sort_genes(run);
    rank(run);
    index_numbers(run);
    note_crownings(run);
    if (note_predictions(run, error) < 0)
        return -1;
    size_t room = strlen(run->path) + 64;
    run->heading = grown(NULL, (int)room, 1);
    snprintf(run->heading, room, "%s\n%s", run->path, gathered_unit(run));
    return 0;
}

struct gathered *gather(const char *run_dir, struct error *error) {
    struct gathered *run = calloc(1, sizeof *run);
    if (run == NULL || (run->path = strdup(run_dir)) == NULL)
        BUG("out of memory");
    if (read_run(run, error) == 0)
        return run;
    gathered_free(run);
    return NULL;
}

void gathered_free(struct gathered *run) {
    if (run == NULL)
        return;
    char *const texts[] = {run->path,   run->heading, run->device, run->template, run->objective,
                           run->driver, run->version, run->seed,   run->strategy};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    for (int g = 0; run->goals != NULL && g < run->goal_count; g++) {
        free(run->goals[g].ranked);
        free(run->goals[g].crownings);
    }
    free(run->goals);
    names_release(&run->operators);
    names_release(&run->workers);
    free(run->sights);
    free(run->by_number);
    genes_release(&run->genes);
    chapters_close(run->chapters);
    store_close(run->store);
    free(run);
}
