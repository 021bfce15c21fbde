/* Judges a kernel by criteria. */
#include "analysis/criteria.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What the rows are made of, and how many there are. */
struct judgement {
    const struct criteria_case *cases;
    int count;
    const struct criteria_missing *missing;
    struct criteria_row *rows;
    int row_count;
};

static struct criteria_row *add_row(struct judgement *it, double required, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct criteria_row *add_row(struct judgement *it, double required, const char *format,
                                    ...) {
    struct criteria_row *row = &it->rows[it->row_count++];
    va_list arguments;
    *row = (struct criteria_row){.required = required, .measured = NAN};
    va_start(arguments, format);
    vsnprintf(row->condition, sizeof row->condition, format, arguments);
    va_end(arguments);
    return row;
}

static void set_text(struct criteria_row *row, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void set_text(struct criteria_row *row, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->text, sizeof row->text, format, arguments);
    va_end(arguments);
}

static bool any_predicted(const struct judgement *it) {
    bool any = false;
    for (int c = 0; c < it->count; c++)
        any = any || it->cases[c].predicted;
    return any;
}

/* ---- how many cases are faster ---- */

static bool is_faster(const struct criteria_case *one, double percent) {
    return one->compared && one->result.ratio <= 1 - percent / 100 && one->result.high < 1;
}

/* True if the case is the first with its name, and all that have it are faster. */
static bool counts_as_faster(const struct judgement *it, int index, double percent) {
    for (int c = 0; c < it->count; c++)
        if (strcmp(it->cases[c].name, it->cases[index].name) == 0 &&
            (c < index || !is_faster(&it->cases[c], percent)))
            return false;
    return true;
}

static void check_faster(struct judgement *it, const struct criteria_faster *faster, int index) {
    struct criteria_row *row = add_row(it, faster->cases, "faster[%d]", index);
    int faster_count = 0;
    for (int c = 0; c < it->count; c++)
        faster_count += counts_as_faster(it, c, faster->percent);
    row->measured = faster_count;
    row->predicted = any_predicted(it);
    row->passed = faster_count >= faster->cases;
    set_text(row, "at least %g %% faster, with an interval below 1, in %d case%s; %d required",
             faster->percent, faster_count, faster_count == 1 ? "" : "s", faster->cases);
}

static void check_every_case(struct judgement *it) {
    struct criteria_row *row = add_row(it, 0, "every_case");
    const int left_out = it->missing->left_out;
    row->measured = left_out;
    row->passed = left_out == 0;
    if (left_out == 0) {
        set_text(row, "every case of the reference was compared");
        return;
    }
    snprintf(row->where, sizeof row->where, "%s", it->missing->first_left_out);
    set_text(row, "%d case%s of the reference left out: have a kernel for %.300s, too", left_out,
             left_out == 1 ? "" : "s", row->where);
}

/* ---- the worst case ---- */

/* What a condition reads of a case; NaN: not known. */
typedef double read_figure(const struct criteria_case *one, int metric);

static double read_slowdown(const struct criteria_case *one, int metric) {
    (void)metric;
    return one->compared ? 100 * (one->result.low - 1) : NAN;
}

static double read_p90(const struct criteria_case *one, int metric) {
    (void)metric;
    return one->compared && one->result.p90_us > 0 && one->result.rival_p90_us > 0
               ? 100 * (one->result.p90_ratio - 1)
               : NAN;
}

static double read_spills(const struct criteria_case *one, int metric) {
    (void)metric;
    return one->has_resources && one->spill_bytes >= 0 ? one->spill_bytes : NAN;
}

static double read_local(const struct criteria_case *one, int metric) {
    (void)metric;
    return one->has_resources ? one->local_bytes : NAN;
}

static double read_counter(const struct criteria_case *one, int metric) {
    return one->counters[metric];
}

/* The case that decides whether a limit holds: one of which nothing is known, else the one with the
   highest figure, or with the lowest. NULL: there is none. */
static const struct criteria_case *worst_case(const struct judgement *it, read_figure *read,
                                              int metric, bool lowest) {
    const struct criteria_case *worst = NULL;
    for (int c = 0; c < it->count; c++) {
        const struct criteria_case *one = &it->cases[c];
        const double figure = read(one, metric);
        if (!isfinite(figure))
            return one;
        const double most = worst != NULL ? read(worst, metric) : figure;
        if (worst == NULL || (lowest ? figure < most : figure > most))
            worst = one;
    }
    return worst;
}

struct limit {
    read_figure *read;
    int metric;
    bool at_least;
    bool of_times; /* which are predicted on some devices */
    const char *what, *unit;
    const char *unknown; /* why nothing is known, and a remedy */
};

/* A figure that is off by the rounding of its own arithmetic is not beyond its limit. */
static bool within(double figure, double required, bool at_least) {
    const double slack = 1e-9 * (1 + fabs(required));
    return at_least ? figure >= required - slack : figure <= required + slack;
}

static void say_unknown(struct criteria_row *row, const struct limit *limit,
                        const struct criteria_case *one) {
    const bool failed = one != NULL && !one->has_resources;
    set_text(row, "%s: not known%s%.120s: %.300s", limit->what, one != NULL ? " at " : "",
             one != NULL ? one->name : "", failed ? "the kernel fails there" : limit->unknown);
}

static void check_limit(struct judgement *it, const struct limit *limit, struct criteria_row *row) {
    const struct criteria_case *worst = worst_case(it, limit->read, limit->metric, limit->at_least);
    const double figure = worst != NULL ? limit->read(worst, limit->metric) : NAN;
    if (worst != NULL)
        snprintf(row->where, sizeof row->where, "%s", worst->name);
    if (!isfinite(figure)) {
        say_unknown(row, limit, worst);
        return;
    }
    row->measured = figure;
    row->predicted = limit->of_times && worst->predicted;
    row->passed = within(figure, row->required, limit->at_least);
    set_text(row, "%s: %.4g%s at %.200s; required: at %s %g", limit->what, figure, limit->unit,
             worst->name, limit->at_least ? "least" : "most", row->required);
}

static const char no_duel[] = "it had no duel there: have the reference's kernel of that case";
static const char other_code[] =
    "the compiler here makes other machine code of its source: gate the run that it was exported "
    "from, or export it again with this NVRTC";

static void check_times(struct judgement *it, const struct criteria *criteria) {
    static const struct limit slowdown = {.read = read_slowdown,
                                          .of_times = true,
                                          .what = "slower than the reference",
                                          .unit = " %",
                                          .unknown = no_duel};
    static const struct limit p90 = {.read = read_p90,
                                     .of_times = true,
                                     .what = "p90 above the reference's",
                                     .unit = " %",
                                     .unknown = no_duel};
    if (!isnan(criteria->slowdown_percent))
        check_limit(it, &slowdown, add_row(it, criteria->slowdown_percent, "slowdown_percent"));
    if (!isnan(criteria->p90_slowdown_percent))
        check_limit(it, &p90, add_row(it, criteria->p90_slowdown_percent, "p90_slowdown_percent"));
}

static void check_counter(struct judgement *it, const struct criteria_counter *counter,
                          enum profile_metric metric) {
    const char *name = profile_metric_name(metric);
    struct limit limit = {.read = read_counter,
                          .metric = metric,
                          .what = name,
                          .unit = "",
                          .unknown = it->missing->counters[0] != '\0'
                                         ? it->missing->counters
                                         : "ncu did not count it: see `evotile profile`"};
    if (!isnan(counter->at_least)) {
        limit.at_least = true;
        check_limit(it, &limit, add_row(it, counter->at_least, "counters.%s.at_least", name));
    }
    limit.at_least = false;
    if (!isnan(counter->at_most))
        check_limit(it, &limit, add_row(it, counter->at_most, "counters.%s.at_most", name));
}

static void check_memory(struct judgement *it, const struct criteria *criteria) {
    static const struct limit spills = {.read = read_spills,
                                        .what = "bytes a thread that are spilled",
                                        .unit = "",
                                        .unknown = other_code};
    static const struct limit local = {.read = read_local,
                                       .what = "bytes a thread of local memory",
                                       .unit = "",
                                       .unknown = no_duel};
    if (criteria->spill_bytes >= 0)
        check_limit(it, &spills, add_row(it, criteria->spill_bytes, "spill_bytes"));
    if (criteria->local_bytes >= 0)
        check_limit(it, &local, add_row(it, criteria->local_bytes, "local_bytes"));
}

int criteria_check(const struct criteria *criteria, const struct criteria_case *cases, int count,
                   const struct criteria_missing *missing,
                   struct criteria_row rows[CRITERIA_ROWS_MAX]) {
    struct judgement it = {.cases = cases, .count = count, .missing = missing, .rows = rows};
    for (int i = 0; i < criteria->faster_count; i++)
        check_faster(&it, &criteria->faster[i], i);
    if (criteria->every_case)
        check_every_case(&it);
    check_times(&it, criteria);
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        check_counter(&it, &criteria->counters[m], (enum profile_metric)m);
    check_memory(&it, criteria);
    return it.row_count;
}

bool criteria_passed(const struct criteria_row *rows, int count) {
    bool passed = true;
    for (int i = 0; i < count; i++)
        passed = passed && rows[i].passed;
    return passed;
}
