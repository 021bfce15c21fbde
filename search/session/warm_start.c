#include "session/warm_start.h"

#include "base/log.h"
#include "base/memory.h"
#include "session/earlier_runs.h"
#include "session/task_distance.h"

#include <string.h>

/* A place on a board counts as much as this part of a doubling of a dimension. */
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
    /* By named genome: a goal's space has it, and that of a goal which is searched. */
    bool fits[WARM_START_NAMED_MAX], is_tried[WARM_START_NAMED_MAX];
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

static int read_run(void *context, struct store *store, struct config *config,
                    const struct device_info *device, struct error *error) {
    struct warm_start *warm = context;
    int status = 0;
    warm->runs = xgrow(warm->runs, warm->run_count, sizeof *warm->runs);
    warm->runs[warm->run_count++] = (struct earlier_run){.config = config, .device = *device};
    for (int goal = 0; status == 0 && goal < store_goal_count(store); goal++) {
        struct board_reading reading = {warm, goal, 0};
        status = store_board(store, goal, WARM_START_FOUND_MAX, 0, add_elite, &reading, error);
    }
    return status;
}

static int read_runs(struct warm_start *warm, const char *path, const char *template_name,
                     struct error *error) {
    if (earlier_runs_read("--warm-start", path, template_name, read_run, warm, error) < 0)
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

/* Adds those of the named genomes that are valid for the goal; `genomes` NULL: the goal is left
   out, and only what its space has is noted. Returns their number, or -1. */
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
        if (fits == 0 || genomes == NULL)
            continue;
        warm->is_tried[i] = true;
        if (space_check(space, &genome, &problem))
            add_unique(genomes, &count, &genome);
        else
            log_warn("genome %d of --seed-genome is skipped: %s", i + 1, problem.text);
    }
    return got < 0 ? error_prefix(error, "--seed-genome") : count;
}

int warm_start_leave_out(struct warm_start *warm, const struct config *config, int goal,
                         const struct template *template, struct error *error) {
    return warm->named != NULL ? add_named(warm, config, goal, template->space, NULL, error) : 0;
}

int warm_start_check(const struct warm_start *warm, const struct config *config,
                     struct error *error) {
    for (int i = 0; warm != NULL && i < WARM_START_NAMED_MAX; i++) {
        if (warm->why[i] != NULL && !warm->fits[i])
            return error_input(
                error, "--seed-genome: genome %d fits none of the %d solutions; %s: %s", i + 1,
                config_rivals(config), config_goal_solution(config, 0), warm->why[i]);
        if (warm->fits[i] && !warm->is_tried[i])
            log_warn("genome %d of --seed-genome is skipped: the solution that it is of is left "
                     "out: give genomes of the others",
                     i + 1);
    }
    return 0;
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
        order[i] = (struct ranked_elite){
            task_distance(config, goal, device, run->config, elite->goal, &run->device) +
                rank_distance * elite->rank,
            i};
    }
    qsort(order, (size_t)warm->elite_count, sizeof *order, by_distance);
    int found = 0;
    for (int i = 0; i < warm->elite_count && found < WARM_START_FOUND_MAX; i++) {
        struct genome genome;
        struct error ignored;
        const struct earlier_elite *elite = &warm->elites[order[i].elite];
        if (task_same_solution(config, goal, warm->runs[elite->run].config, elite->goal) &&
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
