#include "pool/diagnostic_messages.h"

#include "pool/message_values.h"

#include <math.h>
#include <string.h>

static const struct field wrong_fields[] = {
    FIELD(struct wrong_element, TEXT, tensor),
    FIELD(struct wrong_element, TEXT, index),
    {0},
};
static const struct field fault_fields[] = {
    FIELD(struct diagnostic_fault, TEXT, kind), FIELD(struct diagnostic_fault, TEXT, file),
    FIELD(struct diagnostic_fault, INT, line),  FIELD(struct diagnostic_fault, INT, other_line),
    FIELD(struct diagnostic_fault, TEXT, text), {0},
};
static const struct field cost_fields[] = {
    FIELD(struct diagnostic_cost, TEXT, kind),
    FIELD(struct diagnostic_cost, TEXT, file),
    FIELD(struct diagnostic_cost, INT, line),
    FIELD(struct diagnostic_cost, INT64, count),
    FIELD(struct diagnostic_cost, DOUBLE, degree),
    FIELD(struct diagnostic_cost, TEXT, text),
    {0},
};

/* Unlike other numbers these may be infinite or NaN. */
static void add_double(cJSON *object, const char *name, double value) {
    if (isfinite(value))
        cJSON_AddItemToObject(object, name, message_number(value));
    else
        cJSON_AddStringToObject(object, name, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static double read_double(const cJSON *object, const char *name, bool *ok) {
    const cJSON *found = message_member(object, name, ok);
    if (!cJSON_IsString(found))
        return message_read_double(found, ok);
    if (strcmp(found->valuestring, "nan") == 0)
        return NAN;
    *ok =
        *ok && (strcmp(found->valuestring, "inf") == 0 || strcmp(found->valuestring, "-inf") == 0);
    return found->valuestring[0] == '-' ? -INFINITY : INFINITY;
}

cJSON *message_print_diagnostics(const struct diagnostics *diagnostics) {
    cJSON *object = cJSON_CreateObject();
    cJSON *wrong = cJSON_AddArrayToObject(object, "wrong");
    cJSON *faults = cJSON_AddArrayToObject(object, "faults");
    cJSON *costs = cJSON_AddArrayToObject(object, "costs");
    cJSON_AddItemToObject(object, "log",
                          diagnostics->log != NULL ? cJSON_CreateString(diagnostics->log)
                                                   : cJSON_CreateNull());
    cJSON_AddStringToObject(object, "case", diagnostics->case_name);
    for (int i = 0; i < diagnostics->wrong_count; i++) {
        cJSON *element = message_print_fields(wrong_fields, &diagnostics->wrong[i]);
        add_double(element, "got", diagnostics->wrong[i].got);
        add_double(element, "wanted", diagnostics->wrong[i].wanted);
        cJSON_AddItemToArray(wrong, element);
    }
    for (int i = 0; i < diagnostics->fault_count; i++)
        cJSON_AddItemToArray(faults, message_print_fields(fault_fields, &diagnostics->faults[i]));
    for (int i = 0; i < diagnostics->cost_count; i++)
        cJSON_AddItemToArray(costs, message_print_fields(cost_fields, &diagnostics->costs[i]));
    return object;
}

struct diagnostics *message_read_diagnostics(const cJSON *object, bool *ok) {
    struct diagnostics *diagnostics = diagnostics_new();
    const cJSON *wrong = message_array(object, "wrong", 0, WRONG_ELEMENTS_MAX, ok);
    const cJSON *faults = message_array(object, "faults", 0, DIAGNOSED_FAULTS_MAX, ok);
    const cJSON *costs = message_array(object, "costs", 0, DIAGNOSED_COSTS_MAX, ok);
    const cJSON *log = message_member(object, "log", ok);
    const cJSON *item;
    *ok = *ok && (cJSON_IsNull(log) || cJSON_IsString(log));
    if (*ok && cJSON_IsString(log))
        diagnostics_set_log(diagnostics, log->valuestring);
    message_read_text(object, "case", diagnostics->case_name, sizeof diagnostics->case_name, ok);
    cJSON_ArrayForEach(item, wrong) {
        struct wrong_element *element = &diagnostics->wrong[diagnostics->wrong_count++];
        message_read_fields(wrong_fields, item, element, ok);
        element->got = read_double(item, "got", ok);
        element->wanted = read_double(item, "wanted", ok);
    }
    cJSON_ArrayForEach(item, faults) message_read_fields(
        fault_fields, item, &diagnostics->faults[diagnostics->fault_count++], ok);
    cJSON_ArrayForEach(item, costs)
        message_read_fields(cost_fields, item, &diagnostics->costs[diagnostics->cost_count++], ok);
    return diagnostics;
}
