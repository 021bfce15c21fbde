/* Matches a recorded call with patterns: the extents of its tensors are bound to dimensions, each
   to one value in the whole call. Where a tensor's memory order has alternatives, which extents of
   1 leave open, each is tried. */
#include "calls/patterns.h"

#include "base/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 0x1p53
enum { EXTENTS_MAX = 16 };

struct matcher {
    const struct template *template;
    struct json pattern, arguments, given; /* the arguments of both */
    bool bound[DIMENSIONS_MAX];
    double values[DIMENSIONS_MAX];
    struct shape *shape;
    char *reason;
};

static bool differ(struct matcher *it, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool differ(struct matcher *it, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(it->reason, CALL_REASON_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

static bool bind_value(struct matcher *it, const char *name, double value) {
    const int d = call_dimension(it->template, name);
    if (it->bound[d] && it->values[d] != value)
        return differ(it, "%s would be both %.17g and %.17g", name, it->values[d], value);
    it->bound[d] = true;
    it->values[d] = value;
    return true;
}

static bool bind_values(struct matcher *it, const struct json *object) {
    for (int i = 0; i < json_count(object); i++) {
        struct json member = json_at(object, i);
        if (!bind_value(it, json_key(&member), member.value->valuedouble))
            return false;
    }
    return true;
}

/* Reads extents or strides: whole numbers that are not negative. */
static int read_extents(const cJSON *list, double extents[EXTENTS_MAX]) {
    const int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : -1;
    if (count > EXTENTS_MAX)
        return -1;
    for (int i = 0; i < count; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > EXACT_MAX ||
            item->valuedouble != floor(item->valuedouble))
            return -1;
        extents[i] = item->valuedouble;
    }
    return count;
}

/* One item of a pattern's shape, for the extents from `first` on. */
static bool match_item(struct matcher *it, const struct json *item, const char *name,
                       const double *extents, int count) {
    double product = 1;
    char dimension[NAME_SIZE];
    size_t length;
    for (int i = 0; i < count; i++)
        product *= extents[i];
    if (cJSON_IsNumber(item->value))
        return product == item->value->valuedouble ||
               differ(it, "an extent of %s is %.17g and not %.17g", name, product,
                      item->value->valuedouble);
    if (call_item_is_rest(item->value->valuestring, &length) && length == 0)
        return true;
    if (product > EXACT_MAX)
        return differ(it, "%s has too many elements", name);
    snprintf(dimension, sizeof dimension, "%.*s", (int)length, item->value->valuestring);
    return bind_value(it, dimension, product);
}

static bool match_shape(struct matcher *it, const struct json *pattern, const char *name,
                        const double *extents, int rank) {
    const int items = json_count(pattern);
    int rest = -1;
    size_t length;
    for (int i = 0; i < items; i++) {
        struct json item = json_at(pattern, i);
        if (cJSON_IsString(item.value) && call_item_is_rest(item.value->valuestring, &length))
            rest = i;
    }
    if (rest < 0 ? rank != items : rank < items - 1)
        return differ(it, "%s has %d extents", name, rank);
    for (int i = 0, first = 0; i < items; i++) {
        struct json item = json_at(pattern, i);
        const int count = i == rest ? rank - (items - 1) : 1;
        if (!match_item(it, &item, name, extents + first, count))
            return false;
        first += count;
    }
    return true;
}

/* Whether the elements are dense in this order of extents, the largest stride first. Extents of 1
   are in any place. */
static bool has_order(const double *extents, const double *strides, int rank, const char *order) {
    double packed = 1;
    for (int i = rank - 1; i >= 0; i--) {
        const int at = order != NULL ? order[i] - '0' : i;
        if (extents[at] != 1 && strides[at] != packed)
            return false;
        packed *= extents[at];
    }
    return true;
}

static bool match_arguments(struct matcher *it, int index);

/* Goes on with the next argument; what was bound since is forgotten if that fails. */
static bool match_order(struct matcher *it, int index, const struct json *argument,
                        const double *extents, const double *strides, int rank) {
    struct json orders;
    const char *name = json_key(argument);
    if (!json_find(argument, "order", &orders))
        return has_order(extents, strides, rank, NULL)
                   ? match_arguments(it, index + 1)
                   : differ(it, "%s is not packed, the last extent first", name);
    differ(it, "%s is in no order of memory that is listed", name);
    for (int i = 0; i < json_count(&orders); i++) {
        struct json order = json_at(&orders, i);
        struct matcher before = *it;
        if ((int)strlen(json_key(&order)) == rank &&
            has_order(extents, strides, rank, json_key(&order)) && bind_values(it, &order) &&
            match_arguments(it, index + 1))
            return true;
        *it = before;
    }
    return false;
}

static bool match_dtype(struct matcher *it, const struct json *argument, const cJSON *tensor) {
    struct json dtypes, found;
    const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(tensor, "dtype");
    if (!json_find(argument, "dtype", &dtypes))
        return true;
    if (!cJSON_IsString(dtype) || !json_find(&dtypes, dtype->valuestring, &found))
        return differ(it, "%s is %.16s", json_key(argument),
                      cJSON_IsString(dtype) ? dtype->valuestring : "of no dtype");
    return bind_values(it, &found);
}

/* A tensor, or a list of whole numbers. */
static bool match_tensor(struct matcher *it, int index, const struct json *argument,
                         const cJSON *value) {
    struct json shape;
    const char *name = json_key(argument);
    double extents[EXTENTS_MAX] = {0}, strides[EXTENTS_MAX] = {0};
    json_find(argument, "shape", &shape);
    const bool tensor = cJSON_IsObject(value);
    const int rank =
        read_extents(tensor ? cJSON_GetObjectItemCaseSensitive(value, "shape") : value, extents);
    if (rank < 0)
        return differ(it, "%s is no tensor", name);
    if (!match_shape(it, &shape, name, extents, rank))
        return false;
    if (!tensor)
        return match_arguments(it, index + 1);
    if (read_extents(cJSON_GetObjectItemCaseSensitive(value, "strides"), strides) != rank)
        return differ(it, "%s has no strides", name);
    return match_dtype(it, argument, value) &&
           match_order(it, index, argument, extents, strides, rank);
}

static bool match_number(struct matcher *it, const struct json *argument, const char *dimension,
                         const cJSON *value) {
    if (value == NULL || cJSON_IsNull(value))
        return true; /* the dimension has its default */
    const bool real = it->template->dimensions[call_dimension(it->template, dimension)].real;
    if (cJSON_IsBool(value))
        return bind_value(it, dimension, cJSON_IsTrue(value));
    if (!cJSON_IsNumber(value) || (!real && value->valuedouble != floor(value->valuedouble)))
        return differ(it, "%s is no %snumber", json_key(argument), real ? "" : "whole ");
    return bind_value(it, dimension, value->valuedouble);
}

static bool match_last(struct matcher *it, const struct json *argument, const char *tensor,
                       const cJSON *value) {
    double extents[EXTENTS_MAX];
    const int rank =
        read_extents(cJSON_GetObjectItemCaseSensitive(
                         cJSON_GetObjectItemCaseSensitive(it->given.value, tensor), "shape"),
                     extents);
    return (cJSON_IsNumber(value) &&
            (value->valuedouble == -1 || value->valuedouble == rank - 1)) ||
           differ(it, "%s is not the last extent", json_key(argument));
}

static bool match_value(struct matcher *it, const struct json *argument, const cJSON *expected,
                        const cJSON *value) {
    const bool absent = value == NULL || cJSON_IsNull(value);
    if (cJSON_IsNull(expected) ? absent : !absent && cJSON_Compare(expected, value, true))
        return true;
    char *text = value == NULL || cJSON_IsObject(value) ? NULL : cJSON_PrintUnformatted(value);
    differ(it, "%s is %.60s", json_key(argument),
           text != NULL    ? text
           : value == NULL ? "missing"
                           : "a tensor");
    free(text);
    return false;
}

/* All arguments from `index` on, then what the whole call must be. */
static bool match_call(struct matcher *it);

static bool match_arguments(struct matcher *it, int index) {
    struct json member;
    if (index == json_count(&it->arguments))
        return match_call(it);
    struct json argument = json_at(&it->arguments, index);
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(it->given.value, json_key(&argument));
    if (json_find(&argument, "shape", &member))
        return match_tensor(it, index, &argument, value);
    if (json_find(&argument, "not", &member) && value != NULL &&
        cJSON_Compare(member.value, value, true))
        return differ(it, "%s is %.17g", json_key(&argument), value->valuedouble);
    const bool good = json_find(&argument, "value", &member)
                          ? match_value(it, &argument, member.value, value)
                      : json_find(&argument, "dimension", &member)
                          ? match_number(it, &argument, member.value->valuestring, value)
                      : json_find(&argument, "last", &member)
                          ? match_last(it, &argument, member.value->valuestring, value)
                          : true;
    return good && match_arguments(it, index + 1);
}

static bool check_required(struct matcher *it) {
    struct json list;
    int64_t slots[SLOTS_MAX] = {0}, holds;
    if (!json_find(&it->pattern, "require", &list))
        return true;
    for (int d = 0; d < it->template->dimension_count; d++)
        slots[symbol_table_find(&it->template->space->symbols, it->template->dimensions[d].name)] =
            it->shape->values[d];
    for (int i = 0; i < json_count(&list); i++) {
        struct json item = json_at(&list, i), require, because;
        struct error ignored = {0};
        json_find(&item, "require", &require);
        json_find(&item, "because", &because);
        struct expression *expression =
            expression_parse(require.value->valuestring, &it->template->space->symbols, &ignored);
        const bool good = expression != NULL &&
                          expression_evaluate(expression, slots, &holds, NULL) == 0 && holds != 0;
        expression_free(expression);
        if (!good)
            return differ(it, "%.200s", because.value->valuestring);
    }
    return true;
}

/* Reads what is bound as a case: in range, the others by their defaults. */
static bool match_call(struct matcher *it) {
    struct json member;
    struct json_document document;
    struct error error = {0};
    if (json_find(&it->pattern, "dimensions", &member) && !bind_values(it, &member))
        return false;
    cJSON *object = cJSON_CreateObject();
    for (int d = 0; d < it->template->dimension_count; d++)
        if (it->bound[d])
            cJSON_AddNumberToObject(object, it->template->dimensions[d].name, it->values[d]);
    char *text = json_print_line(object);
    bool good = json_read_text(&document, "call", text, &error) == 0;
    free(text);
    if (good) {
        struct json root = json_root(&document);
        good = template_read_shape(it->template, &root, NULL, it->shape, &error) == 0;
        json_release(&document);
    }
    /* "call:1: S: S is 0, ...": the place is of no use to the reader. */
    const char *why = strncmp(error.text, "call:1: ", 8) == 0 ? error.text + 8 : error.text;
    return good ? check_required(it) : differ(it, "%.200s", why);
}

/* Every argument of the call is one of the pattern. */
static bool match_names(struct matcher *it) {
    struct json ignored;
    for (int i = 0; i < json_count(&it->given); i++) {
        struct json member = json_at(&it->given, i);
        if (!json_find(&it->arguments, json_key(&member), &ignored))
            return differ(it, "its argument %.60s is not described", json_key(&member));
    }
    return true;
}

enum call_match call_patterns_match(const struct call_patterns *patterns, const struct json *call,
                                    struct shape *shape, char reason[CALL_REASON_SIZE]) {
    enum call_match match = CALL_OTHER;
    struct json root = json_root(&patterns->document), list, name;
    json_find(&root, "calls", &list);
    json_find(call, "operator", &name);
    for (int i = 0; i < json_count(&list) && match != CALL_FITS; i++) {
        struct json pattern = json_at(&list, i), called;
        json_find(&pattern, "operator", &called);
        if (strcmp(called.value->valuestring, name.value->valuestring) != 0)
            continue;
        struct matcher it = {
            .template = patterns->template, .pattern = pattern, .shape = shape, .reason = reason};
        *shape = (struct shape){0};
        json_find(&pattern, "arguments", &it.arguments);
        json_find(call, "arguments", &it.given);
        match = match_names(&it) && match_arguments(&it, 0) ? CALL_FITS : CALL_UNLIKE;
    }
    return match;
}
