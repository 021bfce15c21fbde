/* Reads and checks calls.json. */
#include "calls/patterns.h"

#include "base/memory.h"
#include "base/path.h"
#include "base/spelling.h"
#include "template/dtype.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_MAX = 9 }; /* extents of a tensor, each one digit of its order */

int call_dimension(const struct template *template, const char *name) {
    int d = template->dimension_count - 1;
    while (d >= 0 && strcmp(template->dimensions[d].name, name) != 0)
        d--;
    return d;
}

bool call_item_is_rest(const char *item, size_t *length) {
    *length = strlen(item);
    if (*length < 3 || strcmp(item + *length - 3, "...") != 0)
        return false;
    *length -= 3;
    return true;
}

/* A name of a dimension; of extents it must be one of whole numbers. */
static int check_dimension(const struct template *template, const struct json *value,
                           const char *name, bool whole, struct error *error) {
    const char *names[DIMENSIONS_MAX];
    const int d = call_dimension(template, name);
    for (int i = 0; i < template->dimension_count; i++)
        names[i] = template->dimensions[i].name;
    if (d < 0)
        return json_error(
            value, error, "%s has no dimension \"%s\"; did you mean %s?", template->name, name,
            template->dimension_count > 0 ? spelling_nearest(name, names, template->dimension_count)
                                          : "another template");
    if (whole && template->dimensions[d].real)
        return json_error(value, error, "%s is a real number, and an extent is whole", name);
    return 0;
}

/* {"CAUSAL": 1, ...}: what a dtype, an order or a whole call sets. */
static int check_values(const struct template *template, const struct json *object,
                        struct error *error) {
    double ignored;
    if (json_is_object(object, error) < 0)
        return -1;
    for (int i = 0; i < json_count(object); i++) {
        struct json member = json_at(object, i);
        if (check_dimension(template, &member, json_key(&member), false, error) < 0 ||
            json_number(&member, &ignored, error) < 0)
            return -1;
    }
    return 0;
}

static int check_shape(const struct template *template, const struct json *list,
                       struct error *error) {
    bool rest = false;
    if (json_is_array(list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(list); i++) {
        struct json item = json_at(list, i);
        const char *text;
        char name[NAME_SIZE];
        int64_t number;
        size_t length;
        if (cJSON_IsNumber(item.value)) {
            if (json_integer(&item, &number, error) < 0)
                return -1;
            continue;
        }
        if (json_string(&item, &text, error) < 0)
            return -1;
        const bool is_rest = call_item_is_rest(text, &length);
        if (is_rest && rest)
            return json_error(&item, error, "a shape has one item with \"...\" at most");
        rest = rest || is_rest;
        snprintf(name, sizeof name, "%.*s", (int)(length < NAME_SIZE ? length : NAME_SIZE - 1),
                 text);
        if ((!is_rest || length > 0) && check_dimension(template, &item, name, true, error) < 0)
            return -1;
    }
    return 0;
}

static bool is_order(const char *text) {
    const size_t length = strlen(text);
    bool seen[ORDER_MAX] = {false};
    for (size_t i = 0; i < length; i++) {
        const size_t digit = (size_t)(text[i] - '0');
        if (length > ORDER_MAX || digit >= length || seen[digit])
            return false;
        seen[digit] = true;
    }
    return length > 0;
}

/* The keys of "dtype" and "order" are such words. */
static int check_alternatives(const struct template *template, const struct json *object,
                              bool orders, struct error *error) {
    if (json_is_object(object, error) < 0)
        return -1;
    if (json_count(object) == 0)
        return json_error(object, error, "is empty: no call could fit");
    for (int i = 0; i < json_count(object); i++) {
        struct json member = json_at(object, i);
        bool known = orders && is_order(json_key(&member));
        for (int d = 0; d < DTYPE_COUNT && !orders; d++)
            known = known || strcmp(dtype_name((enum dtype)d), json_key(&member)) == 0;
        if (!known)
            return json_error(&member, error,
                              orders ? "no order of extents: write the numbers of all, from 0, the "
                                       "one with the largest stride first, as \"0213\""
                                     : "no dtype of a template");
        if (check_values(template, &member, error) < 0)
            return -1;
    }
    return 0;
}

static int check_argument(const struct template *template, const struct json *arguments,
                          const struct json *argument, struct error *error) {
    /* "tensor" is for an export's operators (export/operator_calls.h). */
    static const char *const keys[] = {"shape",     "dtype", "order", "tensor", "value",
                                       "dimension", "last",  "any",   "not",    NULL};
    struct json member;
    const char *text;
    bool flag;
    if (json_check_keys(argument, keys, error) < 0)
        return -1;
    if (json_find(argument, "shape", &member)) {
        if (check_shape(template, &member, error) < 0 ||
            (json_find(argument, "dtype", &member) &&
             check_alternatives(template, &member, false, error) < 0) ||
            (json_find(argument, "order", &member) &&
             check_alternatives(template, &member, true, error) < 0))
            return -1;
        for (int k = 4; keys[k] != NULL; k++)
            if (json_find(argument, keys[k], &member))
                return json_error(&member, error,
                                  "an argument with a \"shape\" is a tensor or a "
                                  "list: leave this key out");
        return 0;
    }
    const bool excludes = json_find(argument, "not", &member);
    if (excludes &&
        (!json_find(argument, "dimension", &(struct json){0}) || !cJSON_IsNumber(member.value)))
        return json_error(&member, error,
                          "must be the number that a \"dimension\" cannot stand for");
    if (json_count(argument) != 1 + excludes)
        return json_error(argument, error,
                          "must have a \"shape\", or one of \"value\", \"dimension\", \"last\" and "
                          "\"any\"");
    if (json_find(argument, "dimension", &member))
        return json_string(&member, &text, error) < 0
                   ? -1
                   : check_dimension(template, &member, text, false, error);
    if (json_find(argument, "last", &member)) {
        struct json tensor, shape;
        if (json_string(&member, &text, error) < 0)
            return -1;
        return json_find(arguments, text, &tensor) && json_find(&tensor, "shape", &shape)
                   ? 0
                   : json_error(&member, error, "no argument \"%s\" has a \"shape\"", text);
    }
    if (json_find(argument, "any", &member))
        return json_bool(&member, &flag, error) < 0 ? -1
               : flag                               ? 0
                                                    : json_error(&member, error, "must be true");
    if (json_find(argument, "value", &member))
        return cJSON_IsObject(member.value) || cJSON_IsArray(member.value)
                   ? json_error(&member, error, "must be a number, a text, true, false or null")
                   : 0;
    return json_error(argument, error,
                      "a \"dtype\", an \"order\" or a \"tensor\" is of a \"shape\"");
}

/* A real dimension that an expression reads, or -1. */
static int real_dimension_of(const struct template *template, const struct expression *expression) {
    int d = template->dimension_count - 1;
    while (d >= 0 &&
           !(template->dimensions[d].real &&
             slots_has(expression_reads(expression),
                       symbol_table_find(&template->space->symbols, template->dimensions[d].name))))
        d--;
    return d;
}

static int check_requirements(const struct template *template, const struct json *list,
                              struct error *error) {
    static const char *const keys[] = {"require", "because", NULL};
    if (json_is_array(list, error) < 0)
        return -1;
    for (int i = 0; i < json_count(list); i++) {
        struct json item = json_at(list, i), require, because;
        const char *text;
        if (json_check_keys(&item, keys, error) < 0 ||
            json_require(&item, "require", &require, error) < 0 ||
            json_string(&require, &text, error) < 0 ||
            json_require(&item, "because", &because, error) < 0)
            return -1;
        struct error why = {0};
        struct expression *expression = expression_parse(text, &template->space->symbols, &why);
        if (expression == NULL)
            return json_error(&require, error, "%s", why.text);
        const int real = real_dimension_of(template, expression);
        expression_free(expression);
        if (real >= 0)
            return json_error(&require, error, "%s is a real number, which expressions cannot read",
                              template->dimensions[real].name);
        if (json_string(&because, &text, error) < 0)
            return -1;
    }
    return 0;
}

static int check_pattern(const struct template *template, const struct json *pattern,
                         struct error *error) {
    static const char *const keys[] = {"operator", "arguments", "dimensions", "require",
                                       "schema",   "returns",   NULL};
    struct json member, arguments;
    const char *text;
    if (json_check_keys(pattern, keys, error) < 0 ||
        json_require(pattern, "operator", &member, error) < 0 ||
        json_string(&member, &text, error) < 0 ||
        json_require(pattern, "arguments", &arguments, error) < 0 ||
        json_is_object(&arguments, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&arguments); i++) {
        struct json argument = json_at(&arguments, i);
        if (check_argument(template, &arguments, &argument, error) < 0)
            return -1;
    }
    return (json_find(pattern, "dimensions", &member) &&
            check_values(template, &member, error) < 0) ||
                   (json_find(pattern, "require", &member) &&
                    check_requirements(template, &member, error) < 0)
               ? -1
               : 0;
}

static int check_document(const struct call_patterns *patterns, struct error *error) {
    static const char *const keys[] = {"format", "calls", NULL};
    struct json root = json_root(&patterns->document), member, calls;
    int64_t format;
    if (json_check_keys(&root, keys, error) < 0 ||
        json_require(&root, "format", &member, error) < 0 ||
        json_integer(&member, &format, error) < 0)
        return -1;
    if (format != 1)
        return json_error(&member, error, "this evotile reads calls.json of format 1");
    if (json_require(&root, "calls", &calls, error) < 0 || json_is_array(&calls, error) < 0)
        return -1;
    for (int i = 0; i < json_count(&calls); i++) {
        struct json pattern = json_at(&calls, i);
        if (check_pattern(patterns->template, &pattern, error) < 0)
            return -1;
    }
    return 0;
}

struct call_patterns *call_patterns_read(const struct template *template, struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, template->folder, CALLS_FILE, error) < 0)
        return NULL;
    if (!path_exists(path)) {
        error_input(
            error,
            "%s does not say which calls are its cases: write %s (docs/templates.md#calls), "
            "or give the shapes by --from-csv",
            template->name, path);
        return NULL;
    }
    struct call_patterns *patterns = xcalloc(1, sizeof *patterns);
    patterns->template = template;
    if (json_read(&patterns->document, path, error) < 0) {
        free(patterns);
        return NULL;
    }
    if (check_document(patterns, error) == 0)
        return patterns;
    call_patterns_free(patterns);
    return NULL;
}

void call_patterns_free(struct call_patterns *patterns) {
    if (patterns == NULL)
        return;
    json_release(&patterns->document);
    free(patterns);
}
