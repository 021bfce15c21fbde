/* The lineage for programs and for the log: each proposal with its change, what limits it, its
   numbers and what followed from it. */
#include "analysis/lineage.h"

#include "analysis/insights.h"
#include "analysis/lineage_evidence.h"
#include "base/json.h"
#include "base/memory.h"
#include "solutions/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the proposals came to ---- */

static void count_word(cJSON *counts, const char *word) {
    cJSON *count = cJSON_GetObjectItemCaseSensitive(counts, word);
    if (count == NULL)
        count = cJSON_AddNumberToObject(counts, word, 0);
    cJSON_SetNumberValue(count, count->valuedouble + 1);
}

/* In one order, whatever came first. */
static void count_state(cJSON *decisions, const struct lineage *lineage, const char *state) {
    for (int i = 0; i < lineage->count; i++)
        if (strcmp(lineage_state(&lineage->proposals[i]), state) == 0)
            count_word(decisions, state);
}

cJSON *lineage_summary(const struct lineage *lineage) {
    cJSON *summary = cJSON_CreateObject();
    static const char *const states[] = {"promote", "keep", "revert", "open", "asked"};
    cJSON_AddNumberToObject(summary, "proposals", lineage->count);
    cJSON *decisions = cJSON_AddObjectToObject(summary, "decisions"),
          *verdicts = cJSON_AddObjectToObject(summary, "verdicts");
    int64_t prompt = 0, completion = 0;
    double cost = NAN, first = NAN, last = NAN;
    for (size_t s = 0; s < sizeof states / sizeof *states; s++)
        count_state(decisions, lineage, states[s]);
    for (int i = 0; i < lineage->count; i++) {
        const struct store_proposal *row = &lineage->proposals[i];
        if (row->verdict != NULL)
            count_word(verdicts, row->verdict);
        prompt += row->prompt_tokens;
        completion += row->completion_tokens;
        if (isfinite(row->cost))
            cost = (isfinite(cost) ? cost : 0) + row->cost;
        first = fmin(first, row->asked); /* fmin and fmax take the one that is a number */
        last = fmax(last, row->decided);
    }
    json_add(summary, "prompt_tokens=%ld completion_tokens=%ld", (long)prompt, (long)completion);
    evidence_add_figure(summary, "cost", cost);
    evidence_add_figure(summary, "seconds", last - first);
    return summary;
}

/* ---- one proposal ---- */

static void add_change(cJSON *to, const struct store_proposal *row) {
    if (row->diff == NULL && row->genome == NULL) {
        cJSON_AddNullToObject(to, "change");
        return;
    }
    cJSON *change = cJSON_AddObjectToObject(to, "change");
    if (row->diff == NULL) {
        cJSON_AddStringToObject(change, "genome", row->genome);
        return;
    }
    const struct diff_size size = diff_size(row->diff);
    struct diff_reader reader = {.at = row->diff};
    struct diff_line line;
    size_t length;
    cJSON *files = cJSON_AddArrayToObject(change, "files");
    while (diff_next(&reader, &line)) {
        const char *name = diff_file_name(&line, &length);
        char *copy = name != NULL ? xstrndup(name, length) : NULL;
        if (copy != NULL)
            cJSON_AddItemToArray(files, cJSON_CreateString(copy));
        free(copy);
    }
    json_add(change, "added=%d removed=%d", size.added, size.removed);
}

static const char *text_of(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* What was found at lines of a candidate's files. */
static void add_places(cJSON *to, const char *name, const cJSON *places) {
    const cJSON *place;
    cJSON *list = cJSON_AddArrayToObject(to, name);
    cJSON_ArrayForEach(place, places) {
        const cJSON *line = cJSON_GetObjectItemCaseSensitive(place, "line");
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        evidence_add_text(one, "file", text_of(place, "file"));
        evidence_add_figure(one, "line", cJSON_IsNumber(line) ? line->valuedouble : NAN);
        evidence_add_text(one, "text", text_of(place, "text"));
    }
}

/* Where a proposal that was refused ended. */
static void add_stop(cJSON *to, const struct store_proposal *row) {
    cJSON *judged = row->judged != NULL ? cJSON_Parse(row->judged) : NULL;
    if (judged == NULL) {
        cJSON_AddNullToObject(to, "profile");
        return;
    }
    cJSON *profile = cJSON_AddObjectToObject(to, "profile");
    evidence_add_text(profile, "stopped_at", text_of(judged, "stage"));
    add_places(profile, "faults", cJSON_GetObjectItemCaseSensitive(judged, "faults"));
    cJSON_Delete(judged);
}

/* Adds what a solution was judged with to what limits its best genome. */
static int add_costs(cJSON *to, const struct evidence *evidence, const char *solution,
                     const char *judged, struct error *error) {
    cJSON *profile = cJSON_GetObjectItemCaseSensitive(to, "profile");
    cJSON *costs = cJSON_IsObject(profile)
                       ? insights_costs(evidence->store, solution, judged, error)
                       : cJSON_CreateArray();
    if (costs == NULL)
        return -1;
    if (cJSON_IsObject(profile))
        add_places(profile, "costs", costs);
    cJSON_Delete(costs);
    return 0;
}

static void add_next(cJSON *to, const struct lineage *lineage, const char *solution) {
    cJSON *next = cJSON_AddArrayToObject(to, "next");
    for (int i = 0; i < lineage->count && solution != NULL; i++) {
        const struct store_proposal *child = &lineage->proposals[i];
        if (strcmp(child->parent, solution) == 0 ||
            (child->other != NULL && strcmp(child->other, solution) == 0))
            cJSON_AddItemToArray(next, cJSON_CreateNumber((double)child->number));
    }
}

/* ---- all of it ---- */

static void add_row(cJSON *row, const struct store_proposal *proposal) {
    cJSON_DeleteItemFromObjectCaseSensitive(row, "hypothesis");
    cJSON_DeleteItemFromObjectCaseSensitive(row, "tokens");
    json_add(row, "hypothesis=%s reason=%s", proposal->hypothesis, proposal->reason);
    json_add(row, "hash=%s genome=%s diff=%s", proposal->hash, proposal->genome, proposal->diff);
    json_add(row, "turn=%ld prompt_tokens=%ld completion_tokens=%ld", (long)proposal->turn,
             (long)proposal->prompt_tokens, (long)proposal->completion_tokens);
    if (isfinite(proposal->cost))
        cJSON_AddNumberToObject(row, "cost", proposal->cost);
    if (proposal->trial != STORE_NO_TRIAL)
        cJSON_AddNumberToObject(row, "trial", (double)proposal->trial);
    if (proposal->goal != NO_GOAL)
        cJSON_AddNumberToObject(row, "goal", proposal->goal);
    cJSON *seconds = cJSON_AddObjectToObject(row, "seconds");
    evidence_add_figure(seconds, "answer", proposal->answered - proposal->asked);
    evidence_add_figure(seconds, "decision", proposal->decided - proposal->asked);
}

/* A genome has a trial of its own among its parent's. */
static int add_iteration(cJSON *row, const struct lineage *lineage, const struct evidence *evidence,
                         const struct store_proposal *proposal, struct error *error) {
    const bool made = lineage_made_solution(proposal);
    add_row(row, proposal);
    add_change(row, proposal);
    add_next(row, lineage, made ? proposal->solution : NULL);
    if (proposal->goal != NO_GOAL) {
        const int64_t trial = made ? STORE_NO_TRIAL : proposal->trial;
        const int status = evidence_add(row, evidence, proposal->goal, trial, error);
        return status == 0 && made
                   ? add_costs(row, evidence, proposal->solution, proposal->judged, error)
                   : status;
    }
    cJSON_AddNullToObject(row, "numbers");
    add_stop(row, proposal);
    return 0;
}

static int add_proposals(cJSON *object, const struct lineage *lineage,
                         const struct evidence *evidence, struct error *error) {
    struct table *table = lineage_table(lineage);
    cJSON *rows = table_json(table);
    int status = 0;
    table_free(table);
    cJSON_AddItemToObject(object, "proposals", rows);
    for (int i = 0; i < lineage->count && status == 0; i++)
        status = add_iteration(cJSON_GetArrayItem(rows, i), lineage, evidence,
                               &lineage->proposals[i], error);
    return status;
}

static int add_starts(cJSON *object, const struct lineage *lineage, const struct evidence *evidence,
                      struct error *error) {
    cJSON *starts = cJSON_AddArrayToObject(object, "starts"),
          *states = cJSON_AddArrayToObject(object, "started_with");
    int status = 0;
    /* Their goals are the run's first. */
    for (int i = 0; i < lineage->start_count && status == 0; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(starts, cJSON_CreateString(lineage->starts[i]));
        cJSON_AddItemToArray(states, one);
        cJSON_AddStringToObject(one, "solution", lineage->starts[i]);
        add_next(one, lineage, lineage->starts[i]);
        status = evidence_add(one, evidence, i, STORE_NO_TRIAL, error);
        if (status == 0)
            status = add_costs(one, evidence, lineage->starts[i], NULL, error);
    }
    return status;
}

cJSON *lineage_json(const struct lineage *lineage, struct store *store, struct error *error) {
    struct evidence evidence;
    cJSON *object = cJSON_CreateObject();
    int status = evidence_open(&evidence, store, error);
    if (status == 0)
        status = add_starts(object, lineage, &evidence, error);
    json_add(object, "first=%s best=%s first_us=%g best_us=%g", lineage->first, lineage->best,
             lineage->first_us, lineage->best_us);
    json_add(object, "root=%s diff=%s", lineage->root, lineage->diff);
    cJSON_AddItemToObject(object, "summary", lineage_summary(lineage));
    if (status == 0)
        status = add_proposals(object, lineage, &evidence, error);
    evidence_close(&evidence);
    if (status == 0)
        return object;
    cJSON_Delete(object);
    return NULL;
}
