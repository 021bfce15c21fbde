#include "simulate/simulation.h"

#include "base/memory.h"
#include "base/random.h"
#include "evaluate/measure.h"
#include "simulate/parallel.h"
#include "strategy/evolution.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { STREAM = 1, PREDICT_STREAM = 0x70726564, NOISE_STREAM = 0x6e6f6973 };

/* The default timing settings of a config. */
enum { RACE_SAMPLES = 5, SAMPLES = 50 };
static const double race_margin = 0.25;

static int run_count(const struct simulation *simulation) {
    return simulation->space_count * simulation->strategy_count * simulation->seeds;
}

static int run_index(const struct simulation *simulation, int space, int strategy, int seed) {
    return (space * simulation->strategy_count + strategy) * simulation->seeds + seed;
}

static int run_space(const struct simulation *simulation, int run) {
    return run / simulation->seeds / simulation->strategy_count;
}

static uint64_t run_seed(const struct simulation *simulation, int run) {
    return simulation->first_seed + (uint64_t)(run % simulation->seeds);
}

/* The results: a record of each run, then the visited rows, `trials` for each run. */
static struct simulation_run *run_record(const struct simulation *simulation, int run) {
    return (struct simulation_run *)parallel_results(simulation->parallel) + run;
}

static uint32_t *run_rows(const struct simulation *simulation, int run) {
    uint32_t *rows = (uint32_t *)run_record(simulation, run_count(simulation));
    return rows + (size_t)run * (size_t)simulation->trials;
}

static double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- one run ---- */

/* The `predict` of the rows that have a prediction, drawn at random, as a source. */
static void draw_predicted(const struct simulation *simulation, uint64_t seed,
                           struct source *source) {
    const struct recorded *recorded = simulation->spaces[0];
    const double *us = simulation->predicted_us;
    struct random random;
    int64_t left = 0;
    random_seed(&random, seed, PREDICT_STREAM);
    for (int64_t row = 0; row < recorded->row_count; row++)
        left += !isnan(us[row]);
    for (int64_t row = 0; row < recorded->row_count; row++)
        if (!isnan(us[row]) && random_below(&random, (uint64_t)left--) <
                                   (uint64_t)(simulation->predict - source->row_count))
            source_add_genome(source, recorded->space, &recorded->genomes[row], us[row]);
    source_seal(source);
}

static struct evolution *start_evolution(const struct simulation *simulation, int run,
                                         struct error *error) {
    uint64_t seed = run_seed(simulation, run);
    int strategy = run / simulation->seeds % simulation->strategy_count;
    int space = run_space(simulation, run);
    struct source predicted = {.name = "predicted"};
    struct evolution_settings settings = evolution_defaults();
    snprintf(settings.strategy, sizeof settings.strategy, "%s", simulation->strategies[strategy]);
    settings.no_default = true; /* unknown in a recorded space; other tuners get none either */
    if (simulation->first_rows != NULL) {
        settings.seeds = &simulation->spaces[space]->genomes[simulation->first_rows[space]];
        settings.seed_count = 1;
    }
    if (simulation->sources != NULL) {
        settings.sources = simulation->sources[space];
        settings.source_count = simulation->source_counts[space];
    }
    if (simulation->predicted_us != NULL) {
        draw_predicted(simulation, seed, &predicted);
        settings.sources = &predicted;
        settings.source_count = 1;
    }
    struct evolution *evolution =
        evolution_new(simulation->spaces[space]->space, &settings, seed, STREAM, error);
    source_release(&predicted);
    return evolution;
}

/* A standard normal deviate, by the method of Box and Muller. */
static double random_normal(struct random *random) {
    double radius = sqrt(-2 * log(1 - random_uniform(random)));
    return radius * cos(6.283185307179586 * random_uniform(random));
}

/* Simulates the measurement of a row. `noise` is the relative deviation of a typical row's samples;
   that of a row is log-normal about it, with a standard deviation of a factor of e. `outcome` has
   one zeroed case with room for SAMPLES. */
static void simulate_measurement(const struct recorded *recorded, uint32_t row, double noise,
                                 uint64_t seed, double best_us, struct outcome *outcome) {
    double time_us = recorded->times_us[row];
    struct latency *latency = &outcome->cases[0].warm;
    struct random random;
    outcome->verdict = recorded->verdicts[row];
    if (outcome->verdict != VERDICT_OK)
        return;
    random_seed(&random, seed, NOISE_STREAM + (uint64_t)row);
    double deviation = noise * exp(random_normal(&random));
    outcome->raced = time_us > best_us * (1 + race_margin);
    latency->sample_count = outcome->raced ? RACE_SAMPLES : SAMPLES;
    for (int i = 0; i < latency->sample_count; i++)
        latency->samples_us[i] = time_us * exp(deviation * random_normal(&random));
    latency_summarise(latency);
    outcome->score_us = latency->p50_us;
}

static void answer_proposal(const struct simulation *simulation, int run,
                            struct evolution *evolution, int trial) {
    const struct recorded *recorded = simulation->spaces[run_space(simulation, run)];
    uint32_t row = run_rows(simulation, run)[trial];
    const struct genome *genome = &recorded->genomes[row];
    if (simulation->noise == 0) {
        evolution_tell(evolution, trial, genome, recorded->verdicts[row], recorded->times_us[row]);
        return;
    }
    const struct member *champion = evolution_champion(evolution);
    double samples_us[SAMPLES];
    struct case_outcome timed = {.warm.samples_us = samples_us};
    struct outcome outcome = {.case_count = 1, .cases = &timed};
    simulate_measurement(recorded, row, simulation->noise / 100, run_seed(simulation, run),
                         champion != NULL ? champion->score_us : INFINITY, &outcome);
    evolution_tell_outcome(evolution, trial, genome, &outcome);
}

static int run_search(void *context, int run, struct error *error) {
    const struct simulation *simulation = context;
    const struct recorded *recorded = simulation->spaces[run_space(simulation, run)];
    uint32_t *rows = run_rows(simulation, run);
    double start = processor_seconds();
    struct evolution *evolution = start_evolution(simulation, run, error);
    struct proposal proposal;
    int asked = 0, observed = 0;
    if (evolution == NULL)
        return -1;
    while (observed < simulation->trials) {
        bool open = asked < simulation->trials && asked - observed < simulation->in_flight &&
                    evolution_ask(evolution, &proposal) == 1;
        if (open) {
            int64_t row = recorded_find(recorded, &proposal.genome);
            if (row < 0)
                BUG("a genome was proposed that is not a row of the space");
            rows[asked++] = (uint32_t)row;
        } else if (observed < asked)
            answer_proposal(simulation, run, evolution, observed++);
        else
            break;
    }
    evolution_free(evolution);
    *run_record(simulation, run) = (struct simulation_run){asked, processor_seconds() - start};
    return 0;
}

/* ---- all runs ---- */

/* An unknown strategy fails every run: report it before any process starts. */
static int check_strategies(const struct simulation *simulation, struct error *error) {
    for (int strategy = 0; strategy < simulation->strategy_count; strategy++)
        for (int space = 0; space < simulation->space_count; space++) {
            struct evolution *evolution =
                start_evolution(simulation, run_index(simulation, space, strategy, 0), error);
            if (evolution == NULL)
                return -1;
            evolution_free(evolution);
        }
    return 0;
}

int simulation_run(struct simulation *simulation, struct error *error) {
    const size_t runs = (size_t)run_count(simulation);
    simulation->parallel = NULL;
    if (check_strategies(simulation, error) < 0)
        return -1;
    simulation->parallel = parallel_new(runs * sizeof(struct simulation_run) +
                                            runs * (size_t)simulation->trials * sizeof(uint32_t),
                                        error);
    if (simulation->parallel == NULL)
        return -1;
    return parallel_run(simulation->parallel, simulation->jobs, (int)runs, run_search, simulation,
                        error);
}

void simulation_release(struct simulation *simulation) {
    parallel_free(simulation->parallel);
    simulation->parallel = NULL;
}

struct visits simulation_visits(const struct simulation *simulation, int space, int strategy,
                                int seed) {
    int run = run_index(simulation, space, strategy, seed);
    return (struct visits){run_rows(simulation, run), run_record(simulation, run)->visited};
}

double simulation_speed(const struct simulation *simulation, int space, int strategy) {
    double seconds = 0;
    double trials = 0;
    for (int seed = 0; seed < simulation->seeds; seed++) {
        int run = run_index(simulation, space, strategy, seed);
        seconds += run_record(simulation, run)->seconds;
        trials += run_record(simulation, run)->visited;
    }
    return trials / seconds;
}
