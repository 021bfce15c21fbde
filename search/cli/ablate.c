/* ablate: changes one gene of a champion at a time and measures the slowdown with duels. */
#include "analysis/ablation.h"
#include "analysis/gene_effects.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "cli/cli.h"
#include "evaluate/duel.h"
#include "run/replay_targets.h"
#include "run/run_artifacts.h"
#include "session/single_trial.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ablate_context {
    struct replay_targets targets;
    struct replay_target *target; /* the kernel under study, one of `records` */
    struct single_trial *single_trial;
    struct template *template; /* of the record's goal */
    struct ablation *ablation;
    struct progress progress;
    int64_t blocks;
    bool pathologies; /* of the champion, instead of moves of its genes */
    bool claims;      /* only the changes of whose effect the run's trials are certain */
};

/* ---- one move ---- */

/* Lists the value indices to which a gene moves from `value`: one step up, one step down, and off
   (the smallest value, if that is 0 or 1). A gene with word values has no order and moves to every
   other value. Returns their number. */
static int list_moves(const struct gene *gene, int value, int moves[DOMAIN_MAX]) {
    int count = 0;
    for (int i = 0; i < gene->count; i++) {
        bool off = i == 0 && (gene->values[0] == 0 || gene->values[0] == 1) &&
                   (!gene->real || gene->reals[0] == 0 || gene->reals[0] == 1);
        bool beside = i == value - 1 || i == value + 1;
        if (i != value && (!gene->ordered || beside || off))
            moves[count++] = i;
    }
    return count;
}

/* Runs a duel of the moved genome against the record; `sources` are files at the indices of the
   variants' first cases, or NULL: it is compiled from the template. */
static int run_duel(struct ablate_context *context, const struct genome *moved,
                    char *const sources[CASES_MAX], struct ablation_move *move,
                    struct error *error) {
    const struct trial_request *champion = &context->target->request;
    struct trial_result *result = xcalloc(1, sizeof *result);
    struct trial_request request = {
        .number = champion->number,
        .goal = champion->goal,
        .genome = *moved,
        .full = true,
        .seed = single_trial_fresh_seed(),
        .duel_blocks = (int)context->blocks,
        .opponent = {.present = true,
                     .trial = champion->number,
                     .goal = champion->goal,
                     .genome = champion->genome},
    };
    for (int c = 0; c < CASES_MAX; c++)
        request.opponent.sources[c] = xstrdup(champion->sources[c]);
    for (int c = 0; c < CASES_MAX && sources != NULL; c++)
        request.sources[c] = xstrdup(sources[c]);
    int status = single_trial_run(context->single_trial, &request, result, error);
    if (status == 0) {
        move->verdict = result->outcome.verdict;
        move->duel = result->outcome.duel;
        snprintf(move->reason, sizeof move->reason, "%s", result->outcome.reason);
        context->ablation->predicted = context->ablation->predicted || result->outcome.predicted;
        trial_result_release(result);
    }
    free(result);
    return status;
}

static int try_move(struct ablate_context *context, int gene, int value, struct error *error) {
    const struct space *space = context->template->space;
    struct genome moved = context->target->request.genome;
    struct problem problem;
    struct ablation_move *move = ablation_add(context->ablation);
    moved.value[gene] = (uint8_t)value;
    genome_canonicalise(&moved, space);
    snprintf(move->gene, sizeof move->gene, "%s", space->genes[gene].name);
    genome_print(&moved, space, move->genome);
    progress_show(&context->progress, "%d changes tried, now %s", context->ablation->count - 1,
                  move->gene);
    if (space_check(space, &moved, &problem))
        return run_duel(context, &moved, NULL, move, error);
    move->verdict = VERDICT_INVALID;
    snprintf(move->reason, sizeof move->reason, "%s", problem.text);
    return 0;
}

/* ---- one pathology ---- */

/* Writes the champion's source with a pathology, a file for each variant. */
static int write_sources(const struct ablate_context *context, int pathology, int value,
                         const char *folder, char *sources[CASES_MAX], struct error *error) {
    const struct template *template = context->template;
    for (int c = 0; c < template->case_count; c++) {
        char name[32];
        char path[PATH_SIZE];
        if (template_variant(template, c) != c)
            continue;
        char *text = template_pathology_source(template, &context->target->request.genome, c,
                                               pathology, value, error);
        snprintf(name, sizeof name, "%d.cu", c);
        int status = text == NULL || path_join(path, folder, name, error) < 0
                         ? -1
                         : path_write_unsynced(path, text, strlen(text), error);
        free(text);
        if (status < 0)
            return -1;
        sources[c] = xstrdup(path);
    }
    return 0;
}

static int try_pathology(struct ablate_context *context, int pathology, int value,
                         const char *folder, struct error *error) {
    const struct pathology *tried = &context->template->pathologies[pathology];
    struct ablation_move *move = ablation_add(context->ablation);
    char *sources[CASES_MAX] = {NULL};
    snprintf(move->gene, sizeof move->gene, "%s", tried->name);
    snprintf(move->genome, sizeof move->genome, "%s=%lld", tried->name,
             (long long)tried->values[value]);
    progress_show(&context->progress, "%d pathologies tried, now %s", context->ablation->count - 1,
                  move->genome);
    int status = write_sources(context, pathology, value, folder, sources, error);
    if (status == 0)
        status = run_duel(context, &context->target->request.genome, sources, move, error);
    for (int c = 0; c < CASES_MAX; c++)
        free(sources[c]);
    return status;
}

static int try_all_pathologies(struct ablate_context *context, struct error *error) {
    const struct template *template = context->template;
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_SIZE];
    struct error ignored = {0};
    snprintf(folder, sizeof folder, "%s/evotile-ablate-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (template->pathology_count == 0)
        return error_input(error,
                           "%s declares no pathologies: add \"pathologies\" beside its genes "
                           "(docs/templates.md)",
                           template->name);
    if (mkdtemp(folder) == NULL)
        return error_set(error, "cannot make the folder %s: %s", folder, strerror(errno));
    int status = 0;
    for (int p = 0; p < template->pathology_count; p++)
        for (int v = 0; v < template->pathologies[p].value_count && status == 0; v++)
            status = try_pathology(context, p, v, folder, error);
    path_remove_tree(folder, &ignored);
    progress_end(&context->progress);
    ablation_rank(context->ablation);
    return status;
}

/* ---- all of them ---- */

static int try_all_moves(struct ablate_context *context, struct error *error) {
    const struct space *space = context->template->space;
    const struct genome *genome = &context->target->request.genome;
    for (int gene = 0; gene < space->gene_count; gene++) {
        int moves[DOMAIN_MAX];
        if (!space_active(space, genome, gene))
            continue;
        int count = list_moves(&space->genes[gene], genome->value[gene], moves);
        for (int i = 0; i < count; i++)
            if (try_move(context, gene, moves[i], error) < 0)
                return -1;
    }
    progress_end(&context->progress);
    ablation_rank(context->ablation);
    return 0;
}

/* Measures what `summary` says of changes of the champion. */
static int try_claims(struct ablate_context *context, struct gene_effects *effects,
                      struct error *error) {
    const int goal = context->target->request.goal;
    const struct gene_changes *changes = gene_effects_changes(effects, goal);
    if (changes == NULL || changes->count == 0)
        return error_input(error, "the run has too few trials for a claim: let it go on");
    if (!genome_equal(&changes->champion, &context->target->request.genome))
        return error_input(error, "claims are of the champion: give no --rank");
    for (int i = 0; i < changes->count; i++) {
        const struct gene_change *row = &changes->rows[i];
        if (!effect_is_certain(&row->effect))
            continue;
        if (try_move(context, row->gene, row->value, error) < 0)
            return -1;
        struct ablation_move *move = &context->ablation->moves[context->ablation->count - 1];
        move->has_claim = true;
        move->claim = row->effect;
    }
    progress_end(&context->progress);
    ablation_rank(context->ablation);
    return 0;
}

static int read_and_try_claims(struct ablate_context *context, struct error *error) {
    if (context->targets.scratch[0] != '\0')
        return error_input(error, "an exported kernel has no trials: give its run with --claims");
    struct store *store = store_open(context->targets.from, STORE_READ, error);
    struct gene_effects *effects =
        store != NULL ? gene_effects_read(store, context->targets.config, error) : NULL;
    const int status = effects != NULL ? try_claims(context, effects, error) : -1;
    gene_effects_free(effects);
    store_close(store);
    return status;
}

static int open_device(struct ablate_context *context, const char *device, struct error *error) {
    struct timespec now;
    struct replay_targets *targets = &context->targets;
    const char *spec = device != NULL ? device : targets->device != NULL ? targets->device : "auto";
    context->single_trial =
        single_trial_new(targets->config_path, targets->template_folder, spec, error);
    if (context->single_trial == NULL)
        return -1;
    const struct device_info *info = single_trial_device(context->single_trial);
    context->template =
        config_load_template(targets->config, context->target->request.goal, info, error);
    if (context->template == NULL ||
        replay_target_genome(targets, context->target, info, error) < 0)
        return -1;
    clock_gettime(CLOCK_REALTIME, &now);
    context->ablation = xcalloc(1, sizeof *context->ablation);
    context->ablation->goal = context->target->request.goal;
    context->ablation->trial = context->target->request.number;
    context->ablation->measured = (double)now.tv_sec;
    snprintf(context->ablation->device, sizeof context->ablation->device, "%s", info->name);
    genome_print(&context->target->request.genome, context->template->space,
                 context->ablation->genome);
    progress_init(&context->progress, 10);
    return 0;
}

/* Stores the table with the run. An exported kernel has no run folder (its records are in a scratch
   folder). */
static int store_ablation(const struct ablate_context *context, struct error *error) {
    char name[32];
    if (context->targets.scratch[0] != '\0' || context->pathologies || context->claims)
        return 0;
    ablation_name(context->ablation->goal, name);
    return run_artifact_write_to(context->targets.from, name, ablation_json(context->ablation),
                                 error);
}

static void print_ablation(const struct ablate_context *context, bool json, bool markdown) {
    if (json) {
        table_print_json(ablation_json(context->ablation), stdout);
        return;
    }
    struct table *table = ablation_table(context->ablation);
    printf("%s\n%s\non %s%s\n\n", context->target->name, context->ablation->genome,
           context->ablation->device, context->ablation->predicted ? " (predictions)" : "");
    table_print(table, markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    table_free(table);
    if (!context->claims)
        return;
    const struct claim_counts counts = ablation_count_claims(context->ablation);
    printf("\n%d of %d claims have the right sign, %d are within their interval; %d could not be "
           "measured\n",
           counts.right, counts.measured, counts.within, counts.claims - counts.measured);
}

static int try_chosen(struct ablate_context *context, struct error *error) {
    return context->pathologies ? try_all_pathologies(context, error)
           : context->claims    ? read_and_try_claims(context, error)
                                : try_all_moves(context, error);
}

/* ---- the verb ---- */

static int run(const struct verb *verb, int argc, char **argv) {
    struct ablate_context context = {.blocks = 10};
    struct replay_choice choice = replay_choice_default();
    const char *device = NULL;
    bool json = false;
    bool markdown = false;
    const struct option_row rows[] = {
        REPLAY_OPTIONS(choice),
        OPTION("blocks", "N", "blocks in each round of a duel (default 10)", &context.blocks),
        OPTION("device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
               &device),
        OPTION("pathologies", NULL, "what each pathology that the template declares costs",
               &context.pathologies),
        OPTION("claims", NULL, "measure the effects that `summary` states of the champion",
               &context.claims),
        OPTION("json", NULL, "print one JSON object", &json),
        OPTION("markdown", NULL, "print a Markdown table", &markdown),
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (context.blocks < 2 || context.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks must be from 2 to %d", DUEL_BLOCKS_MAX);
    if (context.claims && context.pathologies)
        status = error_input(&error, "--claims and --pathologies are mutually exclusive: give one");
    if (status == 0)
        status = replay_targets_read(&context.targets, argv[0], &choice, false, &error);
    context.target = &context.targets.items[0];
    if (status == 0)
        status = open_device(&context, device, &error);
    if (status == 0)
        status = try_chosen(&context, &error);
    if (status == 0)
        print_ablation(&context, json, markdown);
    if (status == 0)
        status = store_ablation(&context, &error);
    ablation_free(context.ablation);
    template_free(context.template);
    single_trial_free(context.single_trial);
    replay_targets_release(&context.targets);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_ablate = {
    .name = "ablate",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "measure what each gene of a champion contributes",
    VERB_HELP(ablate),
    .run = run,
};
