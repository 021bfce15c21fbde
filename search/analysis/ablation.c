#include "analysis/ablation.h"

#include "analysis/run_history.h"
#include "base/memory.h"
#include "evaluate/duel.h"
#include "run/run_artifacts.h"

#include <math.h>
#include <string.h>

struct ablation *ablation_new(void) {
    struct ablation *ablation = xcalloc(1, sizeof *ablation);
    return ablation;
}

void ablation_free(struct ablation *ablation) {
    if (ablation == NULL)
        return;
    free(ablation->moves);
    free(ablation);
}

struct ablation_move *ablation_add(struct ablation *ablation) {
    if (ablation->count == ablation->capacity) {
        ablation->capacity = 2 * ablation->capacity + 16;
        ablation->moves =
            xrealloc(ablation->moves, (size_t)ablation->capacity * sizeof *ablation->moves);
    }
    struct ablation_move *move = &ablation->moves[ablation->count++];
    memset(move, 0, sizeof *move);
    return move;
}

/* The sort key: moves with a duel by their cost; then those that failed; then invalid genomes. */
static double sort_key(const struct ablation_move *move) {
    return move->verdict == VERDICT_OK        ? -move->duel.ratio
           : move->verdict != VERDICT_INVALID ? 1
                                              : 2;
}

static int compare_moves(const void *a, const void *b) {
    double left = sort_key(a);
    double right = sort_key(b);
    return left < right ? -1 : left > right;
}

void ablation_rank(struct ablation *ablation) {
    if (ablation->count > 0)
        qsort(ablation->moves, (size_t)ablation->count, sizeof *ablation->moves, compare_moves);
}

/* ---- as JSON ---- */

void ablation_name(int goal, char name[32]) {
    snprintf(name, 32, "ablation:%d", goal);
}

static cJSON *move_json(const struct ablation_move *move) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "gene", move->gene);
    cJSON_AddStringToObject(object, "genome", move->genome);
    cJSON_AddStringToObject(object, "verdict", verdict_name(move->verdict));
    if (move->verdict != VERDICT_OK) {
        if (move->reason[0] != '\0')
            cJSON_AddStringToObject(object, "reason", move->reason);
        return object;
    }
    cJSON_AddStringToObject(object, "result", duel_result_name(move->duel.result));
    cJSON_AddNumberToObject(object, "ratio", move->duel.ratio);
    cJSON_AddNumberToObject(object, "low", move->duel.low);
    cJSON_AddNumberToObject(object, "high", move->duel.high);
    cJSON_AddNumberToObject(object, "blocks", move->duel.blocks);
    return object;
}

cJSON *ablation_json(const struct ablation *ablation) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "goal", ablation->goal);
    cJSON_AddNumberToObject(object, "trial", (double)ablation->trial);
    cJSON_AddStringToObject(object, "genome", ablation->genome);
    cJSON_AddStringToObject(object, "device", ablation->device);
    cJSON_AddBoolToObject(object, "predicted", ablation->predicted);
    cJSON_AddNumberToObject(object, "measured", ablation->measured);
    cJSON *moves = cJSON_AddArrayToObject(object, "moves");
    for (int i = 0; i < ablation->count; i++)
        cJSON_AddItemToArray(moves, move_json(&ablation->moves[i]));
    return object;
}

static int read_verdict(const struct json *object, enum verdict *verdict, struct error *error) {
    char name[32];
    if (json_copy_text(object, "verdict", name, sizeof name, error) < 0)
        return -1;
    int parsed = verdict_parse(name);
    if (parsed < 0)
        return json_error(object, error, "\"%s\" is not a verdict", name);
    *verdict = (enum verdict)parsed;
    return 0;
}

static int read_result(const struct json *object, enum duel_result *result, struct error *error) {
    char name[32];
    if (json_copy_text(object, "result", name, sizeof name, error) < 0)
        return -1;
    for (int r = DUEL_NONE; r <= DUEL_UNDECIDED; r++)
        if (strcmp(duel_result_name((enum duel_result)r), name) == 0) {
            *result = (enum duel_result)r;
            return 0;
        }
    return json_error(object, error, "\"%s\" is not a result of a duel", name);
}

static int read_number(const struct json *object, const char *key, double *number,
                       struct error *error) {
    struct json value;
    return json_require(object, key, &value, error) < 0 ? -1 : json_number(&value, number, error);
}

static int read_move(const struct json *object, struct ablation_move *move, struct error *error) {
    double blocks;
    struct json reason;
    if (json_copy_text(object, "gene", move->gene, sizeof move->gene, error) < 0 ||
        json_copy_text(object, "genome", move->genome, sizeof move->genome, error) < 0 ||
        read_verdict(object, &move->verdict, error) < 0)
        return -1;
    if (move->verdict != VERDICT_OK)
        return !json_find(object, "reason", &reason)
                   ? 0
                   : json_copy_text(object, "reason", move->reason, sizeof move->reason, error);
    if (read_result(object, &move->duel.result, error) < 0 ||
        read_number(object, "ratio", &move->duel.ratio, error) < 0 ||
        read_number(object, "low", &move->duel.low, error) < 0 ||
        read_number(object, "high", &move->duel.high, error) < 0 ||
        read_number(object, "blocks", &blocks, error) < 0)
        return -1;
    move->duel.blocks = (int)blocks;
    return 0;
}

static int read_ablation(const struct json *root, struct ablation *ablation, struct error *error) {
    struct json value;
    double goal;
    double trial;
    if (read_number(root, "goal", &goal, error) < 0 ||
        read_number(root, "trial", &trial, error) < 0 ||
        json_copy_text(root, "genome", ablation->genome, sizeof ablation->genome, error) < 0 ||
        json_copy_text(root, "device", ablation->device, sizeof ablation->device, error) < 0 ||
        json_require(root, "predicted", &value, error) < 0 ||
        json_bool(&value, &ablation->predicted, error) < 0 ||
        read_number(root, "measured", &ablation->measured, error) < 0 ||
        json_require(root, "moves", &value, error) < 0 || json_is_array(&value, error) < 0)
        return -1;
    ablation->goal = (int)goal;
    ablation->trial = (int64_t)trial;
    for (int i = 0; i < json_count(&value); i++) {
        struct json one = json_at(&value, i);
        if (read_move(&one, ablation_add(ablation), error) < 0)
            return -1;
    }
    return 0;
}

int ablation_read(struct store *store, int goal, struct ablation **ablation, struct error *error) {
    char name[32];
    struct json_document document;
    *ablation = NULL;
    ablation_name(goal, name);
    int found = run_artifact_read(store, name, &document, error);
    if (found <= 0)
        return found;
    struct json root = json_root(&document);
    *ablation = ablation_new();
    int status = read_ablation(&root, *ablation, error);
    json_release(&document);
    if (status == 0)
        return 1;
    ablation_free(*ablation);
    *ablation = NULL;
    return -1;
}

/* ---- as a table ---- */

static const char *result_text(const struct ablation_move *move) {
    static const char *const words[] = {
        [DUEL_NONE] = "no duel",
        [DUEL_WON] = "faster than the champion",
        [DUEL_LOST] = "slower",
        [DUEL_UNDECIDED] = "no difference beyond the margin",
    };
    return words[move->duel.result];
}

struct table *ablation_table(const struct ablation *ablation) {
    static const struct table_column columns[] = {
        {.name = "gene", .heading = "gene"},
        {.name = "change", .heading = "moved alone"},
        {.name = "percent_slower", .heading = "slower by\n%", .right = true},
        {.name = "percent_low", .heading = "99 %\nfrom", .right = true},
        {.name = "percent_high", .heading = "to", .right = true},
        {.name = "verdict", .heading = "", .wrap = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < ablation->count; i++) {
        const struct ablation_move *move = &ablation->moves[i];
        const char *const parents[2] = {ablation->genome, NULL};
        bool had_duel = move->verdict == VERDICT_OK;
        char change[CHANGES_SIZE];
        char verdict[REASON_SIZE + 64];
        run_history_print_changes(move->genome, parents, change);
        table_text(table, move->gene);
        table_text(table, change);
        table_number(table, had_duel ? 100 * (move->duel.ratio - 1) : NAN, 1);
        table_number(table, had_duel ? 100 * (move->duel.low - 1) : NAN, 1);
        table_number(table, had_duel ? 100 * (move->duel.high - 1) : NAN, 1);
        snprintf(verdict, sizeof verdict, "%s: %s", verdict_name(move->verdict), move->reason);
        table_text(table, had_duel ? result_text(move) : verdict);
    }
    if (ablation->predicted)
        table_heading(table, 2, "predicted\nslower by\n%");
    return table;
}
