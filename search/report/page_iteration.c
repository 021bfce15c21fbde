/* One proposal in the form of a log: hypothesis, change, profile, numbers, decision, next. The
   facts are those of lineage_json; here they become sentences. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "outcome/measure_names.h"
#include "report/page_internal.h"

enum { LIMITS_MAX = 8, NEXT_MAX = 12, PLACES_MAX = 8 };

static const cJSON *part_of(const cJSON *object, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(part_of(object, name));
}

static double number_of(const cJSON *object, const char *name) {
    const cJSON *number = part_of(object, name);
    return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

/* Adds a text that it owns. */
static void add_words(cJSON *to, const char *name, struct strbuf *words) {
    add_text(to, name, words->bytes);
    strbuf_release(words);
}

static const char *plural(double count) {
    return count == 1 ? "" : "s";
}

/* ---- change ---- */

static void add_change(cJSON *to, const cJSON *change) {
    struct strbuf words = {0};
    const cJSON *file, *files = part_of(change, "files");
    if (text_of(change, "genome") != NULL)
        strbuf_print(&words, "the genome alone: %s", text_of(change, "genome"));
    else if (files != NULL)
        strbuf_print(&words,
                     "%d file%s, %.0f line%s added, %.0f removed:", cJSON_GetArraySize(files),
                     plural(cJSON_GetArraySize(files)), number_of(change, "added"),
                     plural(number_of(change, "added")), number_of(change, "removed"));
    else
        strbuf_print(&words, "nothing that could be applied");
    cJSON_ArrayForEach(file, files) {
        strbuf_print(&words, "%s %s", file == files->child ? "" : ",", file->valuestring);
    }
    add_words(to, "change", &words);
}

/* ---- profile ---- */

static void add_item(cJSON *list, const char *text) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(list, item);
    add_text(item, "text", text);
}

/* A finding of several cases is said once, with their names. */
static void add_limits(cJSON *to, const cJSON *state) {
    const cJSON *findings = part_of(part_of(state, "profile"), "findings"), *one, *same;
    const cJSON *cases = part_of(part_of(state, "numbers"), "cases");
    cJSON *list = cJSON_AddArrayToObject(to, "limits");
    cJSON_ArrayForEach(one, findings) {
        const char *text = text_of(one, "text");
        struct strbuf words = {0};
        bool is_first = true;
        for (same = findings->child; same != one && is_first; same = same->next)
            is_first = strcmp(text_of(same, "text"), text) != 0;
        if (!is_first)
            continue;
        for (same = one; same != NULL; same = same->next) {
            const int number = part_of(same, "case")->valueint;
            const char *name = text_of(cJSON_GetArrayItem(cases, number), "case");
            if (strcmp(text_of(same, "text"), text) == 0)
                strbuf_print(&words, "%s%s", words.used > 0 ? ", " : "", name != NULL ? name : "?");
        }
        strbuf_print(&words, ": %s", text);
        if (cJSON_GetArraySize(list) < LIMITS_MAX)
            add_item(list, words.bytes);
        strbuf_release(&words);
    }
}

/* What was found at lines: why it stopped, or which accesses to memory cost too much. */
static void add_places(cJSON *list, const cJSON *places) {
    const cJSON *place;
    cJSON_ArrayForEach(place, places) {
        const char *file = text_of(place, "file"), *text = text_of(place, "text");
        const double line = number_of(place, "line");
        struct strbuf words = {0};
        if (cJSON_GetArraySize(list) == PLACES_MAX)
            break;
        if (file != NULL && isfinite(line))
            strbuf_print(&words, "%s:%.0f: ", file, line);
        strbuf_print(&words, "%s", text != NULL ? text : "");
        add_item(list, words.bytes);
        strbuf_release(&words);
    }
}

/* A profile without counters, as of an emulated device, has the measures of a trial alone. */
static bool has_counters(const cJSON *measures) {
    for (int m = MEASURE_PROFILED; m < MEASURE_COUNT; m++)
        if (part_of(measures, measure_names[m]) != NULL)
            return true;
    return false;
}

static void add_profile(cJSON *to, const cJSON *state) {
    const cJSON *profile = part_of(state, "profile"), *one;
    const char *stopped = text_of(profile, "stopped_at"), *missing = text_of(profile, "missing");
    cJSON *advice = cJSON_AddArrayToObject(to, "advice");
    add_limits(to, state);
    cJSON *places = cJSON_AddArrayToObject(to, "places");
    add_places(places, part_of(profile, "faults"));
    add_places(places, part_of(profile, "costs"));
    cJSON_ArrayForEach(one, part_of(profile, "advice")) {
        add_item(advice, one->valuestring);
    }
    if (missing != NULL)
        add_format(to, "profile", "nothing is known of what limits it: %.700s", missing);
    else if (stopped != NULL)
        add_format(to, "profile", "it stopped at the gate \"%.40s\"", stopped);
    else if (part_of(profile, "findings") == NULL)
        add_text(to, "profile", "none: it was not timed");
    else
        add_text(to, "profile",
                 has_counters(part_of(profile, "measures")) ? "by timing and a profiler's counters"
                                                            : "by timing and resources");
}

/* ---- numbers ---- */

static struct table *table_of_cases(const cJSON *numbers) {
    static const struct table_column columns[] = {
        {.name = "case", .heading = "case"},
        {.name = "p50_us", .heading = "p50\nus", .right = true},
        {.name = "p90_us", .heading = "p90\nus", .right = true},
        {.name = "tflops", .heading = "TFLOP/s", .right = true},
        {.name = "gb_per_s", .heading = "GB/s", .right = true},
        {.name = "roofline_share", .heading = "% of the\nroofline", .right = true},
    };
    struct table *table = table_new(columns, sizeof columns / sizeof *columns);
    const cJSON *one;
    cJSON_ArrayForEach(one, part_of(numbers, "cases")) {
        table_add(table, "%s %.3f %.3f %.3g %.3g %.0f", text_of(one, "case"),
                  number_of(one, "p50_us"), number_of(one, "p90_us"), number_of(one, "tflops"),
                  number_of(one, "gb_per_s"), 100 * number_of(one, "roofline_share"));
    }
    return table;
}

static void add_comparison(struct strbuf *words, const struct store_proposal *row, bool predicted) {
    if (row == NULL || !isfinite(row->ratio))
        return;
    strbuf_print(words, "; %.3f times as fast as %s", row->ratio, row->parent);
    if (isfinite(row->low) && !predicted)
        strbuf_print(words, ", 99 %% interval %.3f to %.3f", row->low, row->high);
    else
        strbuf_print(words,
                     predicted && isfinite(row->low) ? " by prediction" : ", without a duel");
}

static void add_numbers(const struct page *page, cJSON *to, const cJSON *numbers,
                        const struct store_proposal *row) {
    struct strbuf words = {0};
    const bool predicted = cJSON_IsTrue(part_of(numbers, "predicted"));
    if (!cJSON_IsObject(numbers)) {
        add_text(to, "numbers", "none: no genome of it passed");
        add_table(page, to, "cases", table_of_cases(NULL));
        return;
    }
    strbuf_print(&words, "trial %.0f, %s: %.3f us%s", number_of(numbers, "trial"),
                 text_of(numbers, "genome"), number_of(numbers, "score_us"),
                 predicted ? " predicted" : "");
    add_comparison(&words, row, predicted);
    strbuf_print(
        &words,
        "; %.0f registers, %.0f bytes of shared memory, %.0f bytes spilled, %.0f %% of the "
        "warps resident",
        number_of(numbers, "registers"), number_of(numbers, "smem_bytes"),
        number_of(numbers, "spill_bytes"), 100 * number_of(numbers, "occupancy"));
    add_words(to, "numbers", &words);
    add_table(page, to, "cases", table_of_cases(numbers));
}

/* ---- next ---- */

/* What limits a solution that was not changed any further is where to go on. */
static void add_open_end(struct strbuf *words, const cJSON *to) {
    const char *limit = text_of(part_of(to, "limits")->child, "text"),
               *advice = text_of(part_of(to, "advice")->child, "text");
    strbuf_print(words, "nothing was asked of it yet");
    if (limit != NULL)
        strbuf_print(words, "; what limits it: %s", limit);
    if (advice != NULL)
        strbuf_print(words, "; its advice: %s", advice);
}

/* Needs what the others added. */
static void add_next(cJSON *to, const cJSON *state, const struct store_proposal *row) {
    const cJSON *next = part_of(state, "next"), *number;
    const int count = cJSON_GetArraySize(next);
    struct strbuf words = {0};
    if (count > 0) {
        int shown = 0;
        strbuf_print(&words, "proposal%s", plural(count));
        cJSON_ArrayForEach(number, next) {
            if (shown++ < NEXT_MAX)
                strbuf_print(&words, "%s %d", shown > 1 ? "," : "", number->valueint);
        }
        if (count > NEXT_MAX)
            strbuf_print(&words, " and %d more", count - NEXT_MAX);
    } else if (row != NULL && row->decision == NULL) {
        strbuf_print(&words, "it is not decided on yet");
    } else if (row != NULL && strcmp(row->decision, "revert") == 0) {
        strbuf_print(&words, "nothing: it was dropped");
    } else if (row != NULL && row->genome != NULL) {
        strbuf_print(&words, "it is a genome of %s", row->solution);
    } else {
        add_open_end(&words, to);
    }
    add_words(to, "next", &words);
}

/* ---- all of it ---- */

static void add_decision(cJSON *to, const struct store_proposal *row) {
    const char *state = row != NULL ? lineage_state(row) : "start";
    struct strbuf words = {0};
    strbuf_print(&words, "%s%s%s", state, row != NULL && row->reason != NULL ? ": " : "",
                 row != NULL && row->reason != NULL ? row->reason : "");
    if (row != NULL && row->verdict != NULL && strcmp(row->verdict, "ok") != 0)
        strbuf_print(&words, " (%s)", row->verdict);
    add_text(to, "decision", state);
    add_words(to, "decided", &words);
}

static void add_head(cJSON *to, const char *solution, const struct store_proposal *row) {
    cJSON_AddNumberToObject(to, "number", row != NULL ? (double)row->number : 0);
    add_text(to, "is_proposal", row != NULL ? "yes" : "");
    if (row != NULL && !lineage_made_solution(row))
        add_format(to, "solution", "proposal %lld", (long long)row->number);
    else
        add_text(to, "solution", solution);
    add_format(to, "parents", "%.60s%s%.60s", row != NULL ? row->parent : "",
               row != NULL && row->other != NULL ? " and " : "",
               row != NULL && row->other != NULL ? row->other : "");
    add_text(to, "hypothesis",
             row == NULL               ? "the run started with it"
             : row->hypothesis != NULL ? row->hypothesis
                                       : "none was given");
    if (row != NULL && isfinite(row->ratio))
        add_format(to, "gain", "%.3f us, %.3f times as fast as %.60s", row->score_us, row->ratio,
                   row->parent);
    else
        add_text(to, "gain", row != NULL && row->verdict != NULL ? row->verdict : "");
}

void page_add_iteration(const struct page *page, cJSON *to, const char *solution,
                        const struct store_proposal *row, const cJSON *state, int diff_lines) {
    add_head(to, solution, row);
    add_change(to, part_of(state, "change"));
    add_diff(page, to, row != NULL ? row->diff : NULL, diff_lines);
    add_profile(to, state);
    add_numbers(page, to, part_of(state, "numbers"), row);
    add_decision(to, row);
    add_next(to, state, row);
}
