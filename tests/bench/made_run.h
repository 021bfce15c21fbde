/*
 * made_run: generates a run of any size without a device: the space of a config, a search with the
 * engine's own strategy, and a folder that every reading command accepts. Only the measurements are
 * synthetic, computed from the genes; the device's name says so. For benchmarks on large runs.
 *
 *     made_run("configs/attention_h200.json", "results/large", 200000, &error);
 *
 * Latency is a quadratic function of the genes, different for each goal, with interactions of pairs
 * of genes and 1 % noise. Some pairs fail to compile, some genomes are wrong; a candidate far
 * slower than the champion is stopped by the race, a faster one gets a duel. Timestamps are 7
 * trials per second from the run's creation, so that 200,000 trials take a night.
 */
#ifndef EVOTILE_TESTS_BENCH_MADE_RUN_H
#define EVOTILE_TESTS_BENCH_MADE_RUN_H

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "device/device_db.h"
#include "pool/protocol.h"
#include "session/session.h"
#include "store/database.h"

enum { MADE_IN_FLIGHT = 16, MADE_BATCH = 500, MADE_SAMPLES = 50, MADE_RACE_SAMPLES = 5 };

static const double made_trials_per_s = 7;

struct made {
    struct config *config;
    struct store *store;
    int goal_count;
    struct template *templates[CASES_MAX];
    struct evolution *evolutions[CASES_MAX];
    int64_t champions[CASES_MAX];
    struct device_info device;
    struct random random;
    int64_t asked, observed;
};

/* ---- the landscape ---- */

/* A pseudo-random number from 0 to 1: a hash of the arguments. */
static inline double made_share(int a, int b, int c) {
    struct random random;
    random_seed(&random, 1 + (uint64_t)a, (uint64_t)(b * 1000 + c));
    return random_uniform(&random);
}

/* An ordered gene has an optimum, which differs between goals; an unordered one a cost per value.
 */
static inline double made_cost_of(const struct gene *gene, int index, int value, int goal) {
    double weight = 0.05 + 0.5 * pow(made_share(index, 0, 0), 3);
    if (!gene->ordered || gene->count < 3)
        return weight * made_share(index, 1, value);
    double best =
        (gene->count - 1) *
        fmin(1, fmax(0, made_share(index, 2, 0) + 0.3 * (made_share(index, 3, goal) - 0.5)));
    return 2 * weight * pow((value - best) / (gene->count - 1), 2);
}

/* Microseconds, without noise. */
static inline double made_latency_us(const struct space *space, const struct genome *genome,
                                     int goal) {
    double log_us = log(3 + 1.7 * goal);
    for (int g = 0; g < space->gene_count; g++) {
        const struct gene *gene = &space->genes[g];
        log_us += made_cost_of(gene, g, genome->value[g], goal);
        int other = (g * 5 + 3) % space->gene_count; /* some pairs interact */
        if (other != g && made_share(g, 4, other) > 0.6)
            log_us += 0.12 * made_share(g * 31 + other, genome->value[g], genome->value[other]);
    }
    return exp(log_us);
}

static inline enum verdict made_verdict(const struct space *space, const struct genome *genome,
                                        struct random *random) {
    int a = genome->value[0];
    int b = genome->value[space->gene_count - 1];
    if (made_share(17, a, b) < 0.08)
        return VERDICT_COMPILE_FAILED;
    if (made_share(18, genome->value[1 % space->gene_count], a) < 0.05)
        return VERDICT_OVER_LIMIT;
    double draw = random_uniform(random);
    return draw < 0.004 ? VERDICT_WRONG : draw < 0.006 ? VERDICT_RACY : VERDICT_OK;
}

/* The value of a derived quantity, or `otherwise` if the template has none with that name. */
static inline int made_derived(const struct space *space, const struct genome *genome,
                               const char *name, int otherwise) {
    int64_t values[SLOTS_MAX];
    struct error error = {0};
    int slot = symbol_table_find(&space->symbols, name);
    return slot >= 0 && space_values(space, genome, 0, values, &error) == 0 ? (int)values[slot]
                                                                            : otherwise;
}

static inline void made_sample(struct latency *latency, double p50_us, int count,
                               struct random *random) {
    latency_release(latency);
    latency_reserve(latency, count);
    latency->sample_count = count;
    for (int i = 0; i < count; i++)
        latency->samples_us[i] = p50_us * (0.995 + 0.02 * pow(random_uniform(random), 3));
    latency->p10_us = statistics_percentile(latency->samples_us, count, 10);
    latency->p50_us = statistics_percentile(latency->samples_us, count, 50);
    latency->p90_us = statistics_percentile(latency->samples_us, count, 90);
}

static inline void made_duel(struct outcome *outcome, double champion_us) {
    double ratio = outcome->score_us / champion_us;
    bool won = ratio < 0.995;
    outcome->duel = (struct duel_outcome){won ? DUEL_WON : DUEL_UNDECIDED, won ? 20 : 80, ratio,
                                          ratio - 0.002, ratio + 0.002};
    if (!won)
        outcome->score_us = nextafter(champion_us, INFINITY);
}

static inline void made_outcome(struct made *made, int goal, const struct genome *genome,
                                struct outcome *outcome) {
    const struct space *space = made->templates[goal]->space;
    const struct member *champion = evolution_champion(made->evolutions[goal]);
    struct random *random = &made->random;
    int first, case_count;
    outcome_release(outcome);
    outcome->verdict = made_verdict(space, genome, random);
    outcome->compile_s = 0.4 + 0.3 * random_uniform(random);
    if (outcome->verdict != VERDICT_OK) {
        snprintf(outcome->reason, sizeof outcome->reason, "made up: %s",
                 verdict_name(outcome->verdict));
        return;
    }
    int threads = made_derived(space, genome, "THREADS", 128);
    int registers = made_derived(space, genome, "REGISTERS", 96);
    outcome->resources = (struct resources){
        .registers = registers < 255 ? registers : 255,
        .smem_bytes = made_derived(space, genome, "SMEM_BYTES", 16384),
        .ctas_per_sm = 1 + 4 * 128 / threads,
        .occupancy = fmin(1, (1 + 4 * 128 / threads) * threads / 2048.0),
    };
    outcome->verify_s = 0.02;
    outcome->measure_s = 0.04;
    config_goal_cases(made->config, goal, &first, &case_count);
    outcome_set_cases(outcome, case_count);
    double scores[CASES_MAX];
    for (int i = 0; i < outcome->case_count; i++)
        scores[i] =
            made_latency_us(space, genome, goal + i) * (0.99 + 0.02 * random_uniform(random));
    double latency_us = statistics_geometric_mean(scores, outcome->case_count);
    outcome->raced = champion != NULL && latency_us > 1.25 * champion->score_us;
    for (int i = 0; i < outcome->case_count; i++) {
        struct case_outcome *it = &outcome->cases[i];
        made_sample(&it->warm, scores[i], outcome->raced ? MADE_RACE_SAMPLES : MADE_SAMPLES,
                    random);
        if (champion == NULL || latency_us < champion->score_us)
            made_sample(&it->cold, 1.8 * scores[i], MADE_SAMPLES, random);
        it->errors = (struct errors){2.7e-4, 3.1e-4, 2e-3};
        it->bound = (struct errors){6e-4, 1.2e-3, 8e-3};
        it->ctas = made_derived(space, genome, "CTAS", 132);
        it->tflops = (1 << (first + i) % 12) * 4.0 / scores[i];
        it->gb_per_s = 1e3 / scores[i];
        scores[i] = it->warm.p50_us;
    }
    outcome->score_us = statistics_geometric_mean(scores, outcome->case_count);
    if (!outcome->raced && champion != NULL && outcome->score_us < champion->score_us)
        made_duel(outcome, champion->score_us);
    outcome->conditions = (struct conditions){1965, 1980, 3201, 48, 310, 0, 0, 0};
}

/* ---- the search ---- */

struct made_question {
    int64_t number;
    int goal;
    struct proposal proposal;
};

/* 1: asked; 0: the goal's space is exhausted. */
static inline int made_ask(struct made *made, int goal, struct made_question *question,
                           struct error *error) {
    char genome[GENOME_TEXT_SIZE];
    struct proposal *proposal = &question->proposal;
    if (evolution_ask(made->evolutions[goal], proposal) == 0)
        return 0;
    question->number = made->asked++;
    question->goal = goal;
    genome_print(&proposal->genome, made->templates[goal]->space, genome);
    const struct store_ask ask = {.number = question->number,
                                  .goal = goal,
                                  .genome = genome,
                                  .parent_a = proposal->parents[0],
                                  .parent_b = proposal->parents[1],
                                  .operator_name = operators[proposal->made_by].name};
    return store_ask(made->store, &ask, error) < 0 ? -1 : 1;
}

static inline int made_tell(struct made *made, const struct made_question *question,
                            struct error *error) {
    static struct outcome outcome;
    int goal = question->goal;
    const struct genome *genome = &question->proposal.genome;
    char text[GENOME_TEXT_SIZE];
    struct key key = {0};
    for (int part = 0; part < KEY_PART_COUNT; part++)
        key_set(&key, part, key_part_name(part));
    genome_print(genome, made->templates[goal]->space, text);
    key_set(&key, KEY_GENOME, text);
    made_outcome(made, goal, genome, &outcome);
    int64_t event =
        store_tell(made->store, question->number, &outcome, &key, made->device.spec, error);
    key_release(&key);
    if (event < 0)
        return -1;
    evolution_tell_outcome(made->evolutions[goal], question->number, genome, &outcome);
    made->observed++;
    const struct member *champion = evolution_champion(made->evolutions[goal]);
    int64_t previous = made->champions[goal];
    if (champion == NULL || champion->trial == previous)
        return 0;
    made->champions[goal] = champion->trial;
    return store_record_champion(made->store, goal, champion->trial, previous, champion->score_us,
                                 error);
}

static inline int made_search(struct made *made, int64_t trials, struct error *error) {
    struct made_question open[MADE_IN_FLIGHT];
    int count = 0, goal = 0, exhausted = 0;
    if (store_begin(made->store, error) < 0)
        return -1;
    while (made->observed < trials && (count > 0 || exhausted < made->goal_count)) {
        while (count < MADE_IN_FLIGHT && made->asked < trials && exhausted < made->goal_count) {
            int asked = made_ask(made, goal, &open[count], error);
            if (asked < 0)
                return -1;
            exhausted = asked == 0 ? exhausted + 1 : 0;
            count += asked;
            goal = (goal + 1) % made->goal_count;
        }
        int at = (int)random_below(&made->random, (uint32_t)count);
        if (made_tell(made, &open[at], error) < 0)
            return -1;
        open[at] = open[--count];
        if (made->observed % MADE_BATCH == 0 &&
            (store_commit(made->store, error) < 0 || store_begin(made->store, error) < 0))
            return -1;
    }
    return store_commit(made->store, error);
}

/* Rewrites the timestamps as if the trials had taken a night. */
static inline int made_spread(struct made *made, struct error *error) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "UPDATE trials SET issued = created + asked * %.6f, finished = created + told * %.6f "
             "FROM (SELECT CAST(value AS REAL) AS created FROM meta WHERE name = 'created');"
             "UPDATE champions SET crowned = created + event * %.6f "
             "FROM (SELECT CAST(value AS REAL) AS created FROM meta WHERE name = 'created')",
             0.5 / made_trials_per_s, 0.5 / made_trials_per_s, 0.5 / made_trials_per_s);
    return database_run(made->store, sql, error);
}

/* ---- the folder ---- */

static inline int made_create(struct made *made, const char *folder, struct error *error) {
    char path[PATH_SIZE], name[PATH_SIZE], hash[HASH_TEXT_SIZE], seconds[32];
    char names[CASES_MAX][CASE_NAME_SIZE];
    const char *goals[CASES_MAX];
    struct config *config = made->config;
    for (int g = 0; g < made->goal_count; g++) {
        config_goal_name(config, g, names[g]);
        goals[g] = names[g];
    }
    char *device_line = protocol_print_device(&made->device);
    snprintf(seconds, sizeof seconds, "%.17g", config->seconds);
    const struct store_meta meta[] = {
        {"config", config->text},
        {"config_path", config->path},
        {"template", made->templates[0]->name},
        {"template_hash", hash_print(made->templates[0]->hash, hash)},
        {"template_folder", config->template_folder},
        {"objective", config->objective == OBJECTIVE_JOINT ? "joint" : "per_case"},
        {"seed", "1"},
        {"trials", "0"},
        {"seconds", seconds},
        {"device", made->device.spec},
        {"device_name", made->device.name},
        {"device_info", device_line},
        {"driver", made->device.driver},
        {"recording", "no"},
        {"evotile", "made up"},
    };
    const struct store_description description = {meta, (int)(sizeof meta / sizeof *meta), goals,
                                                  made->goal_count};
    made->store = store_create(folder, &description, error);
    free(device_line);
    return made->store == NULL || path_join(path, folder, "config.json", error) < 0 ||
                   path_write_file(path, config->text, strlen(config->text), error) < 0 ||
                   run_dir_template_name(config->template_folder, name, error) < 0
               ? -1
               : run_dir_copy_template(config->template_folder, name, folder, error);
}

static inline int made_start(struct made *made, const char *config, struct error *error) {
    struct evolution_settings settings = evolution_defaults();
    snprintf(settings.strategy, sizeof settings.strategy, "evolve");
    random_seed(&made->random, 1, 0);
    if (device_db_find(90, &made->device, error) < 0 ||
        (made->config = config_load(config, NULL, error)) == NULL)
        return -1;
    snprintf(made->device.name, sizeof made->device.name, "no device, figures made up");
    made->goal_count = config_goal_count(made->config);
    for (int g = 0; g < made->goal_count; g++) {
        made->champions[g] = STORE_NO_TRIAL;
        made->templates[g] = config_load_template(made->config, g, &made->device, error);
        if (made->templates[g] == NULL)
            return -1;
        made->evolutions[g] =
            evolution_new(made->templates[g]->space, &settings, 1, 1 + (uint64_t)g, error);
        if (made->evolutions[g] == NULL)
            return -1;
    }
    return 0;
}

/* Creates the folder, which must not hold a run. A space with fewer genomes gives fewer trials. */
static inline int made_run(const char *config, const char *folder, int64_t trials,
                           struct error *error) {
    struct made *made = calloc(1, sizeof *made);
    if (made == NULL)
        BUG("out of memory");
    int status = made_start(made, config, error) < 0 || made_create(made, folder, error) < 0 ||
                         made_search(made, trials, error) < 0 || made_spread(made, error) < 0
                     ? -1
                     : 0;
    store_close(made->store);
    for (int g = 0; g < made->goal_count; g++) {
        evolution_free(made->evolutions[g]);
        template_free(made->templates[g]);
    }
    config_free(made->config);
    free(made);
    return status;
}

#endif
