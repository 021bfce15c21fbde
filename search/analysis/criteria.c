#include "analysis/criteria.h"

#include "base/json_fields.h"

#include <math.h>
#include <string.h>

static const struct json_field fields[] = {
    JSON_FIELD(struct criteria, every_case, "every_case", BOOL, 0, 0),
    JSON_FIELD(struct criteria, slowdown_percent, "slowdown_percent", DOUBLE, 0, 100),
    JSON_FIELD(struct criteria, p90_slowdown_percent, "p90_slowdown_percent", DOUBLE, 0, 100),
    JSON_FIELD(struct criteria, spill_bytes, "spill_bytes", INT, 0, 1 << 20),
    JSON_FIELD(struct criteria, local_bytes, "local_bytes", INT, 0, 1 << 20),
    {0},
};

/* ---- "faster" ---- */

static const struct json_field faster_fields[] = {
    JSON_FIELD_REQUIRED(struct criteria_faster, percent, "percent", DOUBLE, 0, 99),
    JSON_FIELD_REQUIRED(struct criteria_faster, cases, "cases", INT, 1, CASES_MAX),
    {0},
};

/* An entry that another one implies was meant otherwise: that its cases count beside the others'.
 */
static int check_entry(const struct criteria *criteria, int index, const struct json *place,
                       struct error *error) {
    const struct criteria_faster *one = &criteria->faster[index];
    for (int i = 0; i < criteria->faster_count; i++) {
        const struct criteria_faster *other = &criteria->faster[i];
        if (i != index && other->percent >= one->percent && other->cases >= one->cases)
            return json_error(place, error,
                              "%g %% in %d case%s says no more than %g %% in %d, whose cases count "
                              "here too: for a case beside those write \"cases\": %d, or leave "
                              "this out",
                              one->percent, one->cases, one->cases == 1 ? "" : "s", other->percent,
                              other->cases, other->cases + one->cases);
    }
    return 0;
}

static int read_faster(struct criteria *criteria, const struct json *list, struct error *error) {
    static const char *const no_others[] = {NULL};
    if (json_is_array(list, error) < 0)
        return -1;
    const int count = json_count(list);
    if (count < 1 || count > FASTER_MAX)
        return json_error(list, error, "must have 1 to %d entries", FASTER_MAX);
    for (int i = 0; i < count; i++) {
        const struct json entry = json_at(list, i);
        if (json_fields_check_keys(&entry, faster_fields, no_others, error) < 0 ||
            json_fields_read(&entry, faster_fields, &criteria->faster[i], error) < 0)
            return -1;
    }
    criteria->faster_count = count;
    for (int i = 0; i < count; i++) {
        const struct json entry = json_at(list, i);
        if (check_entry(criteria, i, &entry, error) < 0)
            return -1;
    }
    return 0;
}

/* ---- "counters" ---- */

static const struct json_field counter_fields[] = {
    JSON_FIELD(struct criteria_counter, at_least, "at_least", DOUBLE, 0, 1e15),
    JSON_FIELD(struct criteria_counter, at_most, "at_most", DOUBLE, 0, 1e15),
    {0},
};

static int read_counter(struct criteria_counter *counter, const struct json *object,
                        struct error *error) {
    static const char *const no_others[] = {NULL};
    if (json_fields_check_keys(object, counter_fields, no_others, error) < 0 ||
        json_fields_read(object, counter_fields, counter, error) < 0)
        return -1;
    if (isnan(counter->at_least) && isnan(counter->at_most))
        return json_error(object, error, "has no limit: give \"at_least\" or \"at_most\"");
    if (counter->at_least > counter->at_most)
        return json_error(object, error, "\"at_least\" must not exceed \"at_most\"");
    return 0;
}

static int read_counters(struct criteria *criteria, const struct json *object,
                         struct error *error) {
    const char *names[PROFILE_METRIC_COUNT + 1] = {NULL};
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        names[m] = profile_metric_name((enum profile_metric)m);
    if (json_check_keys(object, names, error) < 0)
        return -1;
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++) {
        struct json value;
        if (!json_find(object, names[m], &value))
            continue;
        if (read_counter(&criteria->counters[m], &value, error) < 0)
            return -1;
        criteria->has_counters = true;
    }
    return criteria->has_counters ? 0 : json_error(object, error, "must name a counter");
}

/* ---- the file ---- */

static void clear_criteria(struct criteria *criteria) {
    *criteria = (struct criteria){
        .slowdown_percent = NAN, .p90_slowdown_percent = NAN, .spill_bytes = -1, .local_bytes = -1};
    for (int m = 0; m < PROFILE_METRIC_COUNT; m++)
        criteria->counters[m] = (struct criteria_counter){NAN, NAN};
}

static bool is_empty(const struct criteria *criteria) {
    return criteria->faster_count == 0 && !criteria->every_case &&
           isnan(criteria->slowdown_percent) && isnan(criteria->p90_slowdown_percent) &&
           !criteria->has_counters && criteria->spill_bytes < 0 && criteria->local_bytes < 0;
}

static int read_root(struct criteria *criteria, const struct json *root, struct error *error) {
    static const char *const other_keys[] = {"about", "faster", "counters", NULL};
    struct json value;
    const char *about;
    clear_criteria(criteria);
    if (json_fields_check_keys(root, fields, other_keys, error) < 0 ||
        json_fields_read(root, fields, criteria, error) < 0 ||
        (json_find(root, "about", &value) && json_string(&value, &about, error) < 0) ||
        (json_find(root, "faster", &value) && read_faster(criteria, &value, error) < 0) ||
        (json_find(root, "counters", &value) && read_counters(criteria, &value, error) < 0))
        return -1;
    return is_empty(criteria)
               ? json_error(root, error, "has no condition: see docs/guide.md, \"gate\"")
               : 0;
}

static int read_document(struct criteria *criteria, int status, struct json_document *document,
                         struct error *error) {
    if (status < 0)
        return -1;
    const struct json root = json_root(document);
    status = read_root(criteria, &root, error);
    json_release(document);
    return status;
}

int criteria_read(struct criteria *criteria, const char *path, struct error *error) {
    struct json_document document;
    const int status = json_read(&document, path, error);
    return read_document(criteria, status, &document, error);
}

int criteria_read_text(struct criteria *criteria, const char *name, const char *text,
                       struct error *error) {
    struct json_document document;
    const int status = json_read_text(&document, name, text, error);
    return read_document(criteria, status, &document, error);
}
