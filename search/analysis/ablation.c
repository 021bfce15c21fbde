#include "analysis/ablation.h"

#include "analysis/gene_effects.h"
#include "analysis/run_history.h"
#include "base/json_fields.h"
#include "base/memory.h"
#include "evaluate/duel.h"
#include "run/run_artifacts.h"

#include <limits.h>
#include <math.h>
#include <string.h>

void ablation_free(struct ablation *ablation) {
    if (ablation == NULL)
        return;
    free(ablation->moves);
    free(ablation);
}

struct ablation_move *ablation_add(struct ablation *ablation) {
    ablation->moves = xgrow(ablation->moves, ablation->count, sizeof *ablation->moves);
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
    json_add(object, "gene=%s genome=%s verdict=%s", move->gene, move->genome,
             verdict_name(move->verdict));
    if (move->has_claim) {
        char evidence[EVIDENCE_SIZE];
        cJSON *claim = cJSON_AddObjectToObject(object, "claim");
        gene_effects_print_evidence(&move->claim, evidence);
        json_add(claim, "ratio=%g low=%g high=%g evidence=%s", move->claim.ratio, move->claim.low,
                 move->claim.high, evidence);
    }
    if (move->verdict != VERDICT_OK) {
        if (move->reason[0] != '\0')
            cJSON_AddStringToObject(object, "reason", move->reason);
        return object;
    }
    json_add(object, "result=%s ratio=%g low=%g high=%g blocks=%d",
             duel_result_name(move->duel.result), move->duel.ratio, move->duel.low, move->duel.high,
             move->duel.blocks);
    return object;
}

cJSON *ablation_json(const struct ablation *ablation) {
    cJSON *object = cJSON_CreateObject();
    json_add(object, "goal=%d trial=%ld genome=%s device=%s predicted=%hhd measured=%g",
             ablation->goal, ablation->trial, ablation->genome, ablation->device,
             ablation->predicted, ablation->measured);
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

static int read_move(const struct json *object, struct ablation_move *move, struct error *error) {
    static const struct json_field fields[] = {
        JSON_FIELD_REQUIRED(struct duel_outcome, ratio, "ratio", DOUBLE, 0, INFINITY),
        JSON_FIELD_REQUIRED(struct duel_outcome, low, "low", DOUBLE, 0, INFINITY),
        JSON_FIELD_REQUIRED(struct duel_outcome, high, "high", DOUBLE, 0, INFINITY),
        JSON_FIELD_REQUIRED(struct duel_outcome, blocks, "blocks", INT, 0, INT_MAX),
        {0},
    };
    struct json reason;
    if (json_copy_text(object, "gene", move->gene, sizeof move->gene, error) < 0 ||
        json_copy_text(object, "genome", move->genome, sizeof move->genome, error) < 0 ||
        read_verdict(object, &move->verdict, error) < 0)
        return -1;
    if (move->verdict != VERDICT_OK)
        return !json_find(object, "reason", &reason)
                   ? 0
                   : json_copy_text(object, "reason", move->reason, sizeof move->reason, error);
    return read_result(object, &move->duel.result, error) < 0
               ? -1
               : json_fields_read(object, fields, &move->duel, error);
}

static int read_ablation(const struct json *root, struct ablation *ablation, struct error *error) {
    static const struct json_field fields[] = {
        JSON_FIELD_REQUIRED(struct ablation, goal, "goal", INT, 0, GOALS_MAX - 1),
        JSON_FIELD_REQUIRED(struct ablation, trial, "trial", INT64, 0, INFINITY),
        JSON_FIELD_REQUIRED(struct ablation, predicted, "predicted", BOOL, 0, 1),
        JSON_FIELD_REQUIRED(struct ablation, measured, "measured", DOUBLE, 0, INFINITY),
        {0},
    };
    struct json value;
    if (json_fields_read(root, fields, ablation, error) < 0 ||
        json_copy_text(root, "genome", ablation->genome, sizeof ablation->genome, error) < 0 ||
        json_copy_text(root, "device", ablation->device, sizeof ablation->device, error) < 0 ||
        json_require(root, "moves", &value, error) < 0 || json_is_array(&value, error) < 0)
        return -1;
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
    *ablation = xcalloc(1, sizeof **ablation);
    int status = read_ablation(&root, *ablation, error);
    json_release(&document);
    if (status == 0)
        return 1;
    ablation_free(*ablation);
    *ablation = NULL;
    return -1;
}

/* ---- claims ---- */

struct claim_counts ablation_count_claims(const struct ablation *ablation) {
    struct claim_counts counts = {0};
    for (int i = 0; i < ablation->count; i++) {
        const struct ablation_move *move = &ablation->moves[i];
        const double ratio = move->duel.ratio;
        if (!move->has_claim)
            continue;
        counts.claims++;
        if (move->verdict != VERDICT_OK)
            continue;
        counts.measured++;
        counts.right += move->claim.low > 1 ? ratio > 1 : ratio < 1;
        counts.within += move->claim.low <= ratio && ratio <= move->claim.high;
    }
    return counts;
}

/* ---- as a table ---- */

static double percent(double ratio) {
    return isfinite(ratio) ? 100 * (ratio - 1) : NAN;
}

static const char *result_text(const struct ablation_move *move) {
    static const char *const words[] = {
        [DUEL_NONE] = "no duel",
        [DUEL_WON] = "faster than the champion",
        [DUEL_LOST] = "slower",
        [DUEL_UNDECIDED] = "no difference beyond the margin",
    };
    return words[move->duel.result];
}

/* A pathology is no gene of the champion. */
static bool has_gene(const struct ablation *ablation, const struct ablation_move *move) {
    const size_t length = strlen(move->gene);
    for (const char *at = ablation->genome; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, move->gene, length) == 0 && at[length] == '=')
            return true;
    }
    return false;
}

static void add_claim(struct table *table, const struct ablation_move *move) {
    char evidence[EVIDENCE_SIZE];
    if (!move->has_claim) {
        table_add(table, "- - -");
        return;
    }
    gene_effects_print_evidence(&move->claim, evidence);
    table_add(table, "%.1f %.1f %s", percent(move->claim.low), percent(move->claim.high), evidence);
}

struct table *ablation_table(const struct ablation *ablation) {
    static const struct table_column columns[] = {
        {.name = "gene", .heading = "gene"},
        {.name = "change", .heading = "moved alone"},
        {.name = "percent_slower", .heading = "slower by\n%", .right = true},
        {.name = "percent_low", .heading = "99 %\nfrom", .right = true},
        {.name = "percent_high", .heading = "to", .right = true},
        {.name = "verdict", .heading = "", .wrap = true},
        {.name = "claimed_low", .heading = "claimed, %\nfrom", .right = true},
        {.name = "claimed_high", .heading = "to", .right = true},
        {.name = "evidence", .heading = "which rests on"},
    };
    enum { COLUMNS = sizeof columns / sizeof *columns, CLAIM_COLUMNS = 3 };
    const bool has_claims = ablation_count_claims(ablation).claims > 0;
    struct table *table = table_new(columns, has_claims ? COLUMNS : COLUMNS - CLAIM_COLUMNS);
    for (int i = 0; i < ablation->count; i++) {
        const struct ablation_move *move = &ablation->moves[i];
        const char *const parents[2] = {ablation->genome, NULL};
        bool had_duel = move->verdict == VERDICT_OK;
        char change[CHANGES_SIZE];
        char verdict[REASON_SIZE + 64];
        if (!has_gene(ablation, move))
            snprintf(change, sizeof change, "%s", move->genome);
        else
            run_history_print_changes(move->genome, parents, change);
        table_add(table, "%s %s %.1f %.1f %.1f", move->gene, change,
                  had_duel ? percent(move->duel.ratio) : NAN,
                  had_duel ? percent(move->duel.low) : NAN,
                  had_duel ? percent(move->duel.high) : NAN);
        snprintf(verdict, sizeof verdict, "%s: %s", verdict_name(move->verdict), move->reason);
        table_add(table, "%s", had_duel ? result_text(move) : verdict);
        if (has_claims)
            add_claim(table, move);
    }
    if (ablation->predicted)
        table_heading(table, "percent_slower", "predicted\nslower by\n%");
    return table;
}
