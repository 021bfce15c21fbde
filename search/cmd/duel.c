/* duel: two recorded kernels side by side on one device, until it is clear which is faster. */
#include "trial/duel.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/record.h"
#include "cmd/solo.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* What fights: RUN, RUN:RANK or a kernel's folder. */
struct fighter {
    const char *text;
    char from[PATH_SIZE];
    int64_t rank;
    struct records records;
};

struct duelling {
    struct fighter a, b;
    int64_t goal, blocks;
    const char *device;
    bool json;
    struct solo *solo;
    cJSON *rows;
};

/* "results/demo:3"; what exists under the whole name is meant as a whole. */
static int open_fighter(struct fighter *fighter, const char *text, int64_t goal,
                        struct error *error) {
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    fighter->text = text;
    fighter->rank = 1;
    if (strlen(text) >= sizeof fighter->from)
        return error_input(error, "the name of the folder is too long: %.80s...", text);
    strcpy(fighter->from, text);
    if (colon != NULL && !path_exists(text)) {
        fighter->rank = strtoll(colon + 1, &end, 10);
        if (end == colon + 1 || *end != '\0' || fighter->rank < 1)
            return error_input(error, "\"%s\": after the colon comes a rank of the board, from 1",
                               text);
        fighter->from[colon - text] = '\0';
    }
    return records_read(&fighter->records, fighter->from, fighter->rank, goal, error);
}

static void goal_name(const struct records *records, const struct record *record,
                      char name[CASE_NAME_SIZE]) {
    config_goal_name(records->config, record->request.goal, name);
}

/* B's record about the same cases as this one of A's; NULL where there is none. */
static struct record *opponent(struct duelling *duelling, const struct record *record) {
    struct records *other = &duelling->b.records;
    char name[CASE_NAME_SIZE];
    char its[CASE_NAME_SIZE];
    goal_name(&duelling->a.records, record, name);
    for (int i = 0; i < other->count; i++) {
        goal_name(other, &other->items[i], its);
        if (strcmp(name, its) == 0)
            return &other->items[i];
    }
    return NULL;
}

static char *copy_of(const char *text) {
    char *copy = text != NULL ? strdup(text) : NULL;
    if (text != NULL && copy == NULL)
        BUG("out of memory");
    return copy;
}

static struct trial_request request_of(const struct duelling *duelling, struct record *a,
                                       struct record *b) {
    struct trial_request request = a->request;
    request.full = true;
    request.seed = solo_fresh_seed();
    request.duel_blocks = (int)duelling->blocks;
    request.rival = (struct trial_rival){
        .present = true,
        .trial = b->request.number,
        .goal = b->request.goal,
        .genome = b->request.genome,
        .config = copy_of(duelling->b.records.config_path),
        .template_folder = copy_of(duelling->b.records.template_folder),
    };
    for (int c = 0; c < CASES_MAX; c++) {
        request.sources[c] = copy_of(a->request.sources[c]);
        request.rival.sources[c] = copy_of(b->request.sources[c]);
    }
    return request;
}

/* ---- telling ---- */

static const char *verdict_of(const struct duel_outcome *duel) {
    static const char *const words[] = {"not fought", "A is faster", "B is faster",
                                        "undecided: neither is faster by more than the margin"};
    return words[duel->result];
}

static void tell_differences(const struct duelling *duelling, const struct trial_result *result,
                             cJSON *row) {
    struct key_difference differences[KEY_PART_COUNT];
    cJSON *list = cJSON_AddArrayToObject(row, "differences");
    int count = result->has_key && result->rival_key.parts[0] != NULL
                    ? key_compare(&result->key, &result->rival_key, differences)
                    : 0;
    for (int i = 0; i < count; i++) {
        cJSON *object = cJSON_CreateObject();
        cJSON_AddStringToObject(object, "part", differences[i].name);
        cJSON_AddStringToObject(object, "a", differences[i].a);
        cJSON_AddStringToObject(object, "b", differences[i].b);
        cJSON_AddItemToArray(list, object);
        if (!duelling->json)
            printf("  %s differs\n    A: %s\n    B: %s\n", differences[i].name, differences[i].a,
                   differences[i].b);
    }
}

static void tell(struct duelling *duelling, const struct record *record,
                 const struct trial_result *result) {
    const struct outcome *outcome = &result->outcome;
    const struct duel_outcome *duel = &outcome->duel;
    char name[CASE_NAME_SIZE];
    goal_name(&duelling->a.records, record, name);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "cases", name);
    cJSON_AddStringToObject(row, "verdict", duel_result_name(duel->result));
    cJSON_AddNumberToObject(row, "ratio", duel->ratio);
    cJSON_AddNumberToObject(row, "low", duel->low);
    cJSON_AddNumberToObject(row, "high", duel->high);
    cJSON_AddNumberToObject(row, "blocks", duel->blocks);
    cJSON_AddBoolToObject(row, "predicted", outcome->predicted);
    cJSON_AddItemToObject(row, "gates", solo_json_gates(result));
    cJSON_AddItemToArray(duelling->rows, row);
    if (!duelling->json)
        printf("%s\n  A takes %.4f of B's time%s, 99 %% sure between %.4f and %.4f, in %d blocks: "
               "%s\n",
               name, duel->ratio, outcome->predicted ? ", predicted" : "", duel->low, duel->high,
               duel->blocks, verdict_of(duel));
    tell_differences(duelling, result, row);
}

/* ---- fighting ---- */

static int fight(struct duelling *duelling, struct record *a, struct record *b,
                 struct error *error) {
    const struct device_info *device = solo_device(duelling->solo);
    struct trial_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        BUG("out of memory");
    int status = record_genome(&duelling->a.records, a, device, error);
    if (status == 0)
        status = record_genome(&duelling->b.records, b, device, error);
    if (status == 0) {
        struct trial_request request = request_of(duelling, a, b);
        status = solo_try(duelling->solo, &request, result, error);
    }
    if (status == 0 && result->outcome.verdict != VERDICT_OK)
        status = error_input(error, "there is no duel with a kernel that fails: A is %s: %.300s",
                             verdict_name(result->outcome.verdict), result->outcome.reason);
    else if (status == 0)
        tell(duelling, a, result);
    if (status == 0 || result->has_key)
        trial_result_release(result);
    free(result);
    return status;
}

static int fight_all(struct duelling *duelling, struct error *error) {
    struct records *a = &duelling->a.records;
    const char *device = duelling->device != NULL ? duelling->device
                         : a->device != NULL      ? a->device
                                                  : "auto";
    int fought = 0;
    duelling->solo = solo_new(a->config_path, a->template_folder, device, error);
    if (duelling->solo == NULL)
        return -1;
    if (!duelling->json)
        printf("A: %s\nB: %s\non %s\n", duelling->a.text, duelling->b.text,
               solo_device(duelling->solo)->name);
    for (int i = 0; i < a->count; i++) {
        struct record *other = opponent(duelling, &a->items[i]);
        if (other == NULL)
            continue;
        if (fight(duelling, &a->items[i], other, error) < 0)
            return -1;
        fought++;
    }
    if (fought == 0)
        return error_input(error, "%s and %s have no cases in common", duelling->a.from,
                           duelling->b.from);
    return 0;
}

static void print_json(struct duelling *duelling) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "a", duelling->a.text);
    cJSON_AddStringToObject(object, "b", duelling->b.text);
    cJSON_AddStringToObject(object, "device", solo_device(duelling->solo)->name);
    cJSON_AddItemReferenceToObject(object, "rows", duelling->rows);
    char *text = cJSON_Print(object);
    puts(text);
    free(text);
    cJSON_Delete(object);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct duelling duelling = {.blocks = 10};
    const struct option_row rows[] = {
        {"goal", "K", "which of a per_case run's cases, from 0", OPTION_INTEGER, &duelling.goal},
        {"blocks", "N", "blocks of each round, of which there are up to four (10)", OPTION_INTEGER,
         &duelling.blocks},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: A's)", OPTION_TEXT,
         &duelling.device},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &duelling.json},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 2, 2) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (duelling.blocks < 2 || duelling.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks takes 2 to %d", DUEL_BLOCKS_MAX);
    duelling.rows = cJSON_CreateArray();
    if (status == 0)
        status = open_fighter(&duelling.a, argv[0], duelling.goal, &error);
    if (status == 0)
        status = open_fighter(&duelling.b, argv[1], duelling.goal, &error);
    if (status == 0)
        status = fight_all(&duelling, &error);
    if (status == 0 && duelling.json)
        print_json(&duelling);
    solo_free(duelling.solo);
    records_release(&duelling.a.records);
    records_release(&duelling.b.records);
    cJSON_Delete(duelling.rows);
    return status < 0 ? error_report(&error) : STATUS_DONE;
}

const struct verb verb_duel = {
    .name = "duel",
    .arguments = "A B [options]",
    .summary = "say which of two recorded kernels is faster",
    .help =
        "A and B are runs (RUN is its champion, RUN:3 the third of its board) or folders of "
        "frozen kernels.\nBoth are built and verified beside each other on one device, and "
        "take turns: blocks of A B B A until\na 99 % interval of the ratio of their times lies "
        "beyond the margin, or within it, or four rounds are\nover. Each round has both "
        "captured anew. The margin is 0.5 %, or what duels of a kernel with itself\nshowed on "
        "this device. Says in which parts the keys of the two differ. On an emulated device\nthe "
        "ratio is one of predictions.\n\n"
        "  evotile duel results/night results/demo\n"
        "  evotile duel results/night:1 results/night:2 --blocks 30\n"
        "  evotile duel kernels/new kernels/old --json\n",
    .run = run,
};
