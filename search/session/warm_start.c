#include "session/warm_start.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "session/session.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

/* The distance of an earlier run's elite from a goal. The unit is a doubling of one dimension. */
static const double specialised_distance = 2; /* a specialised dimension differs: another kernel */
static const double device_model_distance = 1;
static const double architecture_distance = 2;
static const double rank_distance = 0.25;

/* A genome from the leaderboard of an earlier run's goal. */
struct earlier_elite {
    char *genome;
    int run, goal, rank;
};

struct earlier_run {
    struct config *config;
    struct device_info device;
};

struct warm_start {
    char *named;
    int run_count, elite_count;
    struct earlier_run *runs;
    struct earlier_elite *elites;
    bool fits[WARM_START_NAMED_MAX]; /* by named genome: a goal's space has it */
    char
        *why[WARM_START_NAMED_MAX]; /* why the first goal whose space has it not has not; or NULL */
};

/* ---- reading earlier runs ---- */

struct board_reading {
    struct warm_start *warm;
    int goal, rank;
};

static int add_elite(void *context, const struct store_trial *trial, struct error *error) {
    struct board_reading *reading = context;
    struct warm_start *warm = reading->warm;
    (void)error;
    warm->elites = xgrow(warm->elites, warm->elite_count, sizeof *warm->elites);
    warm->elites[warm->elite_count++] = (struct earlier_elite){
        xstrdup(trial->genome), warm->run_count - 1, reading->goal, reading->rank++};
    return 0;
}

/* Returns 1; 0 if it is a run of another template; -1. */
static int read_run(struct warm_start *warm, const char *run_dir, const char *template_name,
                    struct error *error) {
    char *name = NULL;
    struct store *store = store_open(run_dir, STORE_READ, error);
    if (store == NULL || store_meta_get(store, "template", &name, error) < 0) {
        store_close(store);
        return -1;
    }
    int result = name != NULL && strcmp(name, template_name) == 0;
    struct config *config = result == 1 ? run_dir_config(store) : NULL;
    if (config != NULL) {
        warm->runs = xgrow(warm->runs, warm->run_count, sizeof *warm->runs);
        warm->runs[warm->run_count++] = (struct earlier_run){.config = config};
        result = run_dir_device(store, &warm->runs[warm->run_count - 1].device, error) < 0 ? -1 : 1;
    }
    for (int goal = 0; config != NULL && result == 1 && goal < store_goal_count(store); goal++) {
        struct board_reading reading = {warm, goal, 0};
        if (store_board(store, goal, WARM_START_FOUND_MAX, 0, add_elite, &reading, error) < 0)
            result = -1;
    }
    free(name);
    store_close(store);
    return result;
}

static int read_run_folders(struct warm_start *warm, const char *folder, const char *template_name,
                            struct error *error) {
    char run_dir[PATH_SIZE];
    char **names;
    int count;
    int result = 0;
    if (path_list(folder, &names, &count, error) < 0)
        return -1;
    for (int i = 0; i < count && result == 0; i++) {
        struct error ignored;
        if (path_join(run_dir, folder, names[i], error) < 0)
            result = -1;
        else if (path_is_dir(run_dir) && store_holds_run(run_dir, &ignored) == 1 &&
                 read_run(warm, run_dir, template_name, &ignored) < 0)
            log_warn("%s is skipped: %s", run_dir, ignored.text);
    }
    path_list_free(names, count);
    return result;
}

static int read_runs(struct warm_start *warm, const char *path, const char *template_name,
                     struct error *error) {
    if (!path_is_dir(path))
        return error_input(error, "--warm-start %s: there is no such run, or folder of runs", path);
    int present = store_holds_run(path, error);
    if (present < 0 ||
        (present == 1 ? read_run : read_run_folders)(warm, path, template_name, error) < 0)
        return -1;
    if (warm->elite_count == 0)
        return error_input(error,
                           "--warm-start %s: no run there has a trial of template %s on its board: "
                           "name another run, or leave the option out",
                           path, template_name);
    return 0;
}

struct warm_start *warm_start_open(const char *named, const char *runs, const char *template_name,
                                   struct error *error) {
    struct warm_start *warm = xcalloc(1, sizeof *warm);
    warm->named = xstrdup(named);
    if (runs == NULL || read_runs(warm, runs, template_name, error) == 0)
        return warm;
    warm_start_close(warm);
    return NULL;
}

void warm_start_close(struct warm_start *warm) {
    if (warm == NULL)
        return;
    for (int i = 0; i < warm->run_count; i++)
        config_free(warm->runs[i].config);
    for (int i = 0; i < warm->elite_count; i++)
        free(warm->elites[i].genome);
    for (int i = 0; i < WARM_START_NAMED_MAX; i++)
        free(warm->why[i]);
    free(warm->runs);
    free(warm->elites);
    free(warm->named);
    free(warm);
}

/* ---- distances ---- */

/* Dimensions are matched by name, because the earlier run's template may be older. */
static double case_distance(const struct template *ours, const struct shape *shape,
                            const struct template *theirs, const struct shape *other) {
    double distance = 0;
    for (int d = 0; d < ours->dimension_count; d++) {
        int64_t value = shape->values[d];
        int64_t was = template_dimension(theirs, other, ours->dimensions[d].name, value);
        if (value != was && !ours->dimensions[d].real) /* real ones do not change the work */
            distance += ours->dimensions[d].specialised
                            ? specialised_distance
                            : fabs(log2((double)(value + 1) / (double)(was + 1)));
    }
    return distance;
}

/* The mean, over our goal's cases, of the distance to the nearest case of the other goal. */
static double goal_distance(const struct config *ours, int goal, const struct config *theirs,
                            int other) {
    double sum = 0;
    int first, count, other_first, other_count;
    config_goal_cases(ours, goal, &first, &count);
    config_goal_cases(theirs, other, &other_first, &other_count);
    if (count == 0 || other_count == 0) /* a recorded space has no cases */
        return 0;
    for (int i = 0; i < count; i++) {
        double least = INFINITY;
        for (int j = 0; j < other_count; j++)
            least = fmin(least, case_distance(ours->shapes, &ours->cases[first + i], theirs->shapes,
                                              &theirs->cases[other_first + j]));
        sum += least;
    }
    return sum / count;
}

static double device_distance(const struct device_info *ours, const struct device_info *theirs) {
    if (strcmp(ours->name, theirs->name) == 0)
        return 0;
    return device_model_distance +
           (ours->compute_capability != theirs->compute_capability ? architecture_distance : 0) +
           fabs(log2((ours->sm_count + 1.0) / (theirs->sm_count + 1.0)));
}

/* ---- the genomes of a goal ---- */

struct ranked_elite {
    double distance;
    int elite;
};

static int by_distance(const void *left, const void *right) {
    const struct ranked_elite *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return a->elite - b->elite;
}

static bool add_unique(struct genome *genomes, int *count, const struct genome *genome) {
    for (int i = 0; i < *count; i++)
        if (genome_equal(&genomes[i], genome))
            return false;
    genomes[(*count)++] = *genome;
    return true;
}

/* Copies the next of the genomes that semicolons separate. Returns 1, 0 at the end, or -1. */
static int next_text(const char **at, char genome[GENOME_TEXT_SIZE], struct error *error) {
    const size_t length = strcspn(*at, ";");
    if (**at == '\0')
        return 0;
    if (length >= GENOME_TEXT_SIZE)
        return error_input(error, "the genome is too long: %.60s...", *at);
    snprintf(genome, GENOME_TEXT_SIZE, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ';');
    return 1;
}

/* Parses a named genome for the goal: 1 if its space has it; 0 if it is for another solution, or
   may be; -1. */
static int parse_named(struct warm_start *warm, const struct config *config, int goal, int number,
                       const struct space *space, const char *text, struct genome *genome,
                       struct error *error) {
    const char *genes;
    int solution;
    if (config_split_genome(config, text, &genes, &solution, error) < 0)
        return -1;
    if (solution != ANY_SOLUTION && solution != goal % config_rivals(config))
        return 0;
    if (genome_parse(genome, space, genes, error) == 0) {
        warm->fits[number] = true;
        return 1;
    }
    if (solution != ANY_SOLUTION || config_rivals(config) == 1)
        return -1;
    if (warm->why[number] == NULL)
        warm->why[number] = xstrdup(error->text);
    return 0;
}

static int add_named(struct warm_start *warm, const struct config *config, int goal,
                     const struct space *space, struct genome *genomes, struct error *error) {
    struct problem problem;
    const char *at = warm->named;
    char text[GENOME_TEXT_SIZE];
    int count = 0, got;
    for (int i = 0; (got = next_text(&at, text, error)) == 1; i++) {
        struct genome genome;
        if (i == WARM_START_NAMED_MAX)
            return error_input(error, "--seed-genome: at most %d genomes", WARM_START_NAMED_MAX);
        int fits = parse_named(warm, config, goal, i, space, text, &genome, error);
        if (fits < 0)
            return error_prefix(error, "--seed-genome");
        if (fits > 0 && space_check(space, &genome, &problem))
            add_unique(genomes, &count, &genome);
        else if (fits > 0)
            log_warn("genome %d of --seed-genome is skipped: %s", i + 1, problem.text);
    }
    return got < 0 ? error_prefix(error, "--seed-genome") : count;
}

int warm_start_check(const struct warm_start *warm, const struct config *config,
                     struct error *error) {
    for (int i = 0; warm != NULL && i < WARM_START_NAMED_MAX; i++)
        if (warm->why[i] != NULL && !warm->fits[i])
            return error_input(
                error, "--seed-genome: genome %d fits none of the %d solutions; %s: %s", i + 1,
                config_rivals(config), config_goal_solution(config, 0), warm->why[i]);
    return 0;
}

/* An elite of a solution is one of another only if both have no name. */
static bool same_solution(const struct config *config, int goal, const struct config *earlier,
                          int other) {
    const char *ours = config_goal_solution(config, goal),
               *theirs = config_goal_solution(earlier, other);
    return ours == NULL || theirs == NULL || strcmp(ours, theirs) == 0;
}

int warm_start_genomes(struct warm_start *warm, const struct config *config, int goal,
                       const struct template *template, const struct device_info *device,
                       struct genome genomes[WARM_START_MAX], struct error *error) {
    const struct space *space = template->space;
    int count = warm->named != NULL ? add_named(warm, config, goal, space, genomes, error) : 0;
    if (count < 0)
        return -1;
    struct ranked_elite *order = xcalloc((size_t)warm->elite_count + 1, sizeof *order);
    for (int i = 0; i < warm->elite_count; i++) {
        const struct earlier_elite *elite = &warm->elites[i];
        const struct earlier_run *run = &warm->runs[elite->run];
        order[i] = (struct ranked_elite){goal_distance(config, goal, run->config, elite->goal) +
                                             device_distance(device, &run->device) +
                                             rank_distance * elite->rank,
                                         i};
    }
    qsort(order, (size_t)warm->elite_count, sizeof *order, by_distance);
    int found = 0;
    for (int i = 0; i < warm->elite_count && found < WARM_START_FOUND_MAX; i++) {
        struct genome genome;
        struct error ignored;
        const struct earlier_elite *elite = &warm->elites[order[i].elite];
        if (same_solution(config, goal, warm->runs[elite->run].config, elite->goal) &&
            genome_parse(&genome, space, elite->genome, &ignored) == 0 &&
            space_check(space, &genome, NULL))
            found += add_unique(genomes, &count, &genome);
    }
    free(order);
    return count;
}

/* ---- as text ---- */

char *warm_start_print(const struct genome *genomes, int count, const struct space *space) {
    char *text = NULL;
    size_t size;
    FILE *out = xopen_memstream(&text, &size);
    for (int i = 0; i < count; i++) {
        char genome[GENOME_TEXT_SIZE];
        genome_print(&genomes[i], space, genome);
        fprintf(out, "%s%s", i > 0 ? ";" : "", genome);
    }
    fclose(out);
    return text;
}

int warm_start_parse(const char *text, const struct space *space, struct genome *genomes,
                     int genomes_max, struct error *error) {
    char genome[GENOME_TEXT_SIZE];
    int count = 0, got;
    while ((got = next_text(&text, genome, error)) == 1) {
        if (count == genomes_max)
            return error_input(error, "at most %d genomes", genomes_max);
        if (genome_parse(&genomes[count++], space, genome, error) < 0)
            return -1;
    }
    return got < 0 ? -1 : count;
}
