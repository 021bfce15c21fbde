/* duel: two recorded kernels side by side on one device, until it is clear which is faster. */
#include "trial/duel.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/fight.h"

#include <math.h>
#include <signal.h>
#include <string.h>

struct duelling {
    bool json;
    cJSON *rows;
};

/* ---- telling ---- */

static const char *verdict_of(const struct duel_outcome *duel) {
    static const char *const words[] = {"not fought", "A is faster", "B is faster",
                                        "undecided: neither is faster by more than the margin"};
    return words[duel->result];
}

static void print_differences(const cJSON *differences) {
    const cJSON *one;
    cJSON_ArrayForEach(one, differences) printf(
        "  %s differs\n    A: %s\n    B: %s\n", cJSON_GetObjectItem(one, "part")->valuestring,
        cJSON_GetObjectItem(one, "a")->valuestring, cJSON_GetObjectItem(one, "b")->valuestring);
}

static int tell(void *context, const struct fight *fight, const struct record *record,
                const struct trial_result *result, struct error *error) {
    struct duelling *duelling = context;
    const struct outcome *outcome = &result->outcome;
    const struct duel_outcome *duel = &outcome->duel;
    char name[CASE_NAME_SIZE];
    if (outcome->verdict != VERDICT_OK)
        return error_input(error, "there is no duel with a kernel that fails: A is %s: %.300s",
                           verdict_name(outcome->verdict), outcome->reason);
    record_cases(&fight->a.records, record, name);
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "cases", name);
    cJSON_AddStringToObject(row, "verdict", duel_result_name(duel->result));
    cJSON_AddNumberToObject(row, "ratio", duel->ratio);
    cJSON_AddNumberToObject(row, "low", duel->low);
    cJSON_AddNumberToObject(row, "high", duel->high);
    cJSON_AddNumberToObject(row, "blocks", duel->blocks);
    cJSON_AddBoolToObject(row, "predicted", outcome->predicted);
    cJSON_AddItemToObject(row, "gates", solo_json_gates(result));
    cJSON *differences = fight_differences(result);
    cJSON_AddItemToObject(row, "differences", differences);
    cJSON_AddItemToArray(duelling->rows, row);
    if (duelling->json)
        return 0;
    if (duelling->rows->child == row)
        printf("A: %s\nB: %s\non %s\n", fight->a.text, fight->b.text,
               solo_device(fight->solo)->name);
    printf("%s\n  A takes %.4f of B's time%s, 99 %% sure between %.4f and %.4f, in %d blocks: "
           "%s\n",
           name, duel->ratio, outcome->predicted ? ", predicted" : "", duel->low, duel->high,
           duel->blocks, verdict_of(duel));
    print_differences(differences);
    return 0;
}

static void print_json(const struct duelling *duelling, const struct fight *fight) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "a", fight->a.text);
    cJSON_AddStringToObject(object, "b", fight->b.text);
    cJSON_AddStringToObject(object, "device", solo_device(fight->solo)->name);
    cJSON_AddItemReferenceToObject(object, "rows", duelling->rows);
    char *text = cJSON_Print(object);
    puts(text);
    free(text);
    cJSON_Delete(object);
}

static int run(const struct verb *verb, int argc, char **argv) {
    struct duelling duelling = {0};
    struct fight fight = {.blocks = 10, .told = tell, .context = &duelling};
    const struct option_row rows[] = {
        {"goal", "K", "which of a per_case run's cases, from 0", OPTION_INTEGER, &fight.goal},
        {"blocks", "N", "blocks of each round, of which there are up to four (10)", OPTION_INTEGER,
         &fight.blocks},
        {"device", "SPEC", "auto, cuda:N or emulated:sm_XX (default: A's)", OPTION_TEXT,
         &fight.device},
        {"json", NULL, "print one JSON object", OPTION_FLAG, &duelling.json},
        {0},
    };
    struct error error = {0};
    if (options_parse(verb, rows, argc, argv, 2, 2) < 0)
        return STATUS_USAGE;
    signal(SIGPIPE, SIG_IGN);
    int status = 0;
    if (fight.blocks < 2 || fight.blocks > DUEL_BLOCKS_MAX)
        status = error_input(&error, "--blocks takes 2 to %d", DUEL_BLOCKS_MAX);
    duelling.rows = cJSON_CreateArray();
    if (status == 0)
        status = fight_open(&fight, argv[0], argv[1], &error);
    if (status == 0)
        status = fight_all(&fight, &error);
    if (status == 0 && duelling.json)
        print_json(&duelling, &fight);
    fight_release(&fight);
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
