/* ablate: changes one gene of a champion at a time and measures the slowdown with duels. */
#include "base/log.h"
#include "cmd/ablation.h"
#include "cmd/cmd.h"
#include "cmd/kept.h"
#include "cmd/records.h"
#include "cmd/solo.h"
#include "trial/duel.h"

#include <signal.h>
#include <string.h>
#include <time.h>

struct ablating {
    struct records records;
    struct record *record; /* the kernel under study, one of `records` */
    struct solo *solo;
    struct template *template; /* of the record's goal */
    struct ablation *ablation;
    struct progress progress;
    int64_t blocks;
};

/* ---- one move ---- */

/* Lists the value indices to which a gene moves from `value`: one step up, one step down, and off
   (the smallest value, if that is 0 or 1). A gene with word values has no order and moves to every
   other value. Returns their number. */
static int moves_of(const struct gene *gene, int value, int to[DOMAIN_MAX]) {
    int count = 0;
    for (int i = 0; i < gene->count; i++) {
        bool off = i == 0 && (gene->values[0] == 0 || gene->values[0] == 1);
        bool beside = i == value - 1 || i == value + 1;
        if (i != value && (!gene->ordered || beside || off))
            to[count++] = i;
    }
    return count;
}

static char *copy_of(const char *text) {
    char *copy = text != NULL ? strdup(text) : NULL;
    if (text != NULL && copy == NULL)
        BUG("out of memory");
    return copy;
}

/* Runs a duel of the moved genome, compiled from the template, against the record. */
static int fight(struct ablating *it, const struct genome *moved, struct ablation_move *move,
                 struct error *error) {
    const struct trial_request *champion = &it->record->request;
    struct trial_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        BUG("out of memory");
    struct trial_request request = {
        .number = champion->number,
        .goal = champion->goal,
        .genome = *moved,
        .full = true,
        .seed = solo_fresh_seed(),
        .duel_blocks = (int)it->blocks,
        .rival = {.present = true,
                  .trial = champion->number,
                  .goal = champion->goal,
                  .genome = champion->genome},
    };
    for (int c = 0; c < CASES_MAX; c++)
        request.rival.sources[c] = copy_of(champion->sources[c]);
    int status = solo_try(it->solo, &request, result, error);
    if (status == 0) {
        move->verdict = result->outcome.verdict;
        move->duel = result->outcome.duel;
        snprintf(move->reason, sizeof move->reason, "%s", result->outcome.reason);
        it->ablation->predicted = it->ablation->predicted || result->outcome.predicted;
        trial_result_release(result);
    }
    free(result);
    return status;
}

static int try_move(struct ablating *it, int gene, int value, struct error *error) {
    const struct space *space = it->template->space;
    struct genome moved = it->record->request.genome;
    struct problem problem;
    struct ablation_move *move = ablation_add(it->ablation);
    moved.value[gene] = (uint8_t)value;
    genome_canonicalise(&moved, space);
    snprintf(move->gene, sizeof move->gene, "%s", space->genes[gene].name);
    genome_print(&moved, space, move->genome);
    progress_show(&it->progress, "%d changes tried, now %s", it->ablation->count - 1, move->gene);
    if (space_check(space, &moved, &problem))
        return fight(it, &moved, move, error);
    move->verdict = VERDICT_INVALID;
    snprintf(move->reason, sizeof move->reason, "%s", problem.text);
    return 0;
}

/* ---- all of them ---- */

static int try_all(struct ablating *it, struct error *error) {
    const struct space *space = it->template->space;
    const struct genome *genome = &it->record->request.genome;
    for (int gene = 0; gene < space->gene_count; gene++) {
        int to[DOMAIN_MAX];
        if (!space_active(space, genome, gene))
            continue;
        int count = moves_of(&space->genes[gene], genome->value[gene], to);
        for (int i = 0; i < count; i++)
            if (try_move(it, gene, to[i], error) < 0)
                return -1;
    }
    progress_end(&it->progress);
    ablation_rank(it->ablation);
    return 0;
}

static int prepare(struct ablating *it, const char *device, struct error *error) {
    struct timespec now;
    struct records *records = &it->records;
    const char *spec = device != NULL ? device : records->device != NULL ? records->device : "auto";
    it->solo = solo_new(records->config_path, records->template_folder, spec, error);
    if (it->solo == NULL)
        return -1;
    const struct device_info *info = solo_device(it->solo);
    it->template = config_load_template(records->config, it->record->request.goal, info, error);
    if (it->template == NULL || record_genome(records, it->record, info, error) < 0)
        return -1;
    clock_gettime(CLOCK_REALTIME, &now);
    it->ablation = ablation_new();
    it->ablation->goal = it->record->request.goal;
    it->ablation->trial = it->record->request.number;
    it->ablation->measured = (double)now.tv_sec;
    snprintf(it->ablation->device, sizeof it->ablation->device, "%s", info->name);
    genome_print(&it->record->request.genome, it->template->space, it->ablation->genome);
    progress_init(&it->progress, 10);
    return 0;
}

/* Stores the table with the run. An exported kernel has no run folder (its records are in a scratch
   folder). */
static int keep(const struct ablating *it, struct error *error) {
    char name[32];
    if (it->records.scratch[0] != '\0')
        return 0;
    ablation_name(it->ablation->goal, name);
    return kept_write_to(it->records.from, name, ablation_json(it->ablation), error);
}

static void print(const struct ablating *it, bool json, bool markdown) {
    if (json) {
        table_print_json(ablation_json(it->ablation), stdout);
        return;
    }
    struct table *table = ablation_table(it->ablation);
    printf("%s\n%s\non %s%s\n\n", it->record->name, it->ablation->genome, it->ablation->device,
           it->ablation->predicted ? " (predictions)" : "");
    table_print(table, markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout);
    table_free(table);
}

/* ---- the verb ---- */

static int run(const struct verb *verb, int argc, char **argv) {
    struct ablating it = {.blocks = 10};
    int64_t rank = 1;
    int64_t goal = 0;
    const char *device = NULL;
    bool json = false;
    bool markdown = false;
    const struct option_row rows[] = {
        {"rank", "K", "rank on the board, from 1 (default: 1, the champion)", OPTION_INTEGER,
         &rank},
        {"goal", "K", "case of a per_case run or of an exported kernel, from 0 (default 0)",
         OPTION_INTEGER, &goal},
        {"blocks", "N", "blocks in each round of a duel (default 10)", OPTION_INTEGER, &it.blocks},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: the run's device)",
         OPTION_TEXT, &device},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &json},
        {"markdown", NULL, "print a Markdown table", OPTION_FLAG, &markdown},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 1, 1) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (it.blocks < 2 || it.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks must be from 2 to %d", DUEL_BLOCKS_MAX);
    if (status == 0)
        status = records_read(&it.records, argv[0], rank, goal, &error);
    if (status == 0)
        status = (it.record = records_choose(&it.records, goal, &error)) != NULL ? 0 : -1;
    if (status == 0)
        status = prepare(&it, device, &error);
    if (status == 0)
        status = try_all(&it, &error);
    if (status == 0)
        print(&it, json, markdown);
    if (status == 0)
        status = keep(&it, &error);
    ablation_free(it.ablation);
    template_free(it.template);
    solo_free(it.solo);
    records_release(&it.records);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_ablate = {
    .name = "ablate",
    .arguments = "RUN|KERNEL_DIR [options]",
    .summary = "measure what each gene of a champion contributes",
    VERB_HELP(ablate),
    .run = run,
};
