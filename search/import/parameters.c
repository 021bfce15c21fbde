/* The parameters of a description, and lists of texts. */
#include "import/translate.h"

#include "base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

void import_texts_add(struct import_texts *texts, const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        BUG("out of memory");
    va_end(arguments);
    texts->items = xgrow(texts->items, (size_t)texts->count, sizeof *texts->items);
    texts->items[texts->count++] = text;
}

void import_texts_release(struct import_texts *texts) {
    for (int i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct import_texts){0};
}

static void join_range(const struct import_texts *texts, int from, int to, const char *op,
                       struct strbuf *text) {
    if (to - from == 1) {
        strbuf_print(text, "%s", texts->items[from]);
        return;
    }
    const int middle = from + (to - from) / 2;
    strbuf_print(text, "(");
    join_range(texts, from, middle, op, text);
    strbuf_print(text, " %s ", op);
    join_range(texts, middle, to, op, text);
    strbuf_print(text, ")");
}

void import_texts_join(const struct import_texts *texts, const char *op, const char *of_none,
                       struct strbuf *text) {
    if (texts->count == 0)
        strbuf_print(text, "%s", of_none);
    else
        join_range(texts, 0, texts->count, op, text);
}

void import_space_release(struct import_space *space) {
    free(space->parameters);
    python_heap_clear(&space->heap);
    import_texts_release(&space->notes);
    import_texts_release(&space->originals);
    *space = (struct import_space){0};
}

/* ---- parameters ---- */

static bool is_listed(const char *name, const char *const *list) {
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Names that mean something in expressions of templates, or in C++. */
static bool is_reserved(const char *name) {
    static const char *const reserved[] = {"SM_COUNT",
                                           "SMEM_LIMIT",
                                           "CC",
                                           "REGISTERS_PER_SM",
                                           "THREADS_PER_SM",
                                           "MAX_THREADS",
                                           "CLUSTERS_OF_2",
                                           "CLUSTERS_OF_4",
                                           "CLUSTERS_OF_8",
                                           "ROUND",
                                           "CASE",
                                           "int",
                                           "float",
                                           "double",
                                           "char",
                                           "for",
                                           "if",
                                           "else",
                                           "while",
                                           "do",
                                           "return",
                                           "const",
                                           "static",
                                           "struct",
                                           "template",
                                           "typename",
                                           "inline",
                                           "long",
                                           "short",
                                           "void",
                                           "unsigned",
                                           "signed",
                                           "bool",
                                           "auto",
                                           "class",
                                           "switch",
                                           "case",
                                           "default",
                                           "true",
                                           "false",
                                           NULL};
    return is_listed(name, reserved) || is_listed(name, expression_functions) ||
           strncmp(name, "MEASURED_", 9) == 0 || strncmp(name, "PROFILED_", 9) == 0 ||
           strncmp(name, "evotile", 7) == 0;
}

/* `own` is the original name of the parameter that would get the name. */
static bool is_taken(const struct import_space *space, const char *name, const char *own) {
    for (int i = 0; i < space->count; i++)
        if (strcmp(space->parameters[i].name, name) == 0)
            return true;
    for (int i = 0; i < space->originals.count; i++)
        if (strcmp(space->originals.items[i], name) == 0 && strcmp(own, name) != 0)
            return true;
    return false;
}

static int compare_values(const void *left, const void *right) {
    const struct python_value *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static void print_value(const struct python_value *value, char *text, size_t size) {
    if (value->type == PYTHON_TEXT)
        snprintf(text, size, "%s", value->text);
    else if (value->type == PYTHON_FLOAT)
        snprintf(text, size, "%g", value->real);
    else
        snprintf(text, size, "%" PRId64, value->number);
}

/* A word that an expression can have. */
static void name_value(const struct import_space *space, struct import_parameter *parameter,
                       int index) {
    char text[NAME_SIZE - 8], *label = parameter->labels[index];
    print_value(&parameter->values[index], text, sizeof text);
    snprintf(label, NAME_SIZE, "%s%s", isalpha((unsigned char)*text) ? "" : "v_", text);
    for (char *at = label; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at))
            *at = '_';
    bool unique = false;
    while (!unique && strlen(label) + 2 < NAME_SIZE) {
        unique = !is_reserved(label) && !is_taken(space, label, parameter->original) &&
                 strcmp(label, parameter->name) != 0;
        for (int i = 0; i < index; i++)
            unique = unique && strcmp(label, parameter->labels[i]) != 0;
        if (!unique)
            strcat(label, "_");
    }
}

static int read_values(struct import_parameter *parameter, const struct python_value *list,
                       struct error *error) {
    if (list->type != PYTHON_LIST || list->count == 0)
        return error_input(error, "%s: its values are no list, or an empty one",
                           parameter->original);
    for (int i = 0; i < list->count; i++) {
        const struct python_value *value = &list->items[i];
        bool repeated = false;
        for (int k = 0; k < parameter->count && !repeated; k++)
            repeated = python_equal(&parameter->values[k], value);
        if (repeated)
            continue;
        if (parameter->count == DOMAIN_MAX)
            return error_input(error, "%s has more than %d values: leave out some",
                               parameter->original, DOMAIN_MAX);
        if (value->type == PYTHON_NONE || value->type == PYTHON_LIST)
            return error_input(error, "%s: a value is no number and no text", parameter->original);
        parameter->words = parameter->words || !python_is_integer(value);
        parameter->values[parameter->count++] = *value;
    }
    return 0;
}

int import_add_parameter(struct import_space *space, const char *name,
                         const struct python_value *list, struct error *error) {
    if (space->count == GENES_MAX)
        return error_input(error, "there are more than %d parameters", GENES_MAX);
    for (int i = 0; i < space->count; i++)
        if (strcmp(space->parameters[i].original, name) == 0)
            return error_input(error, "the parameter %s is there twice", name);
    bool good = isalpha((unsigned char)*name) || *name == '_';
    for (const char *at = name; *at != '\0'; at++)
        good = good && (isalnum((unsigned char)*at) || *at == '_');
    if (!good || strlen(name) >= NAME_SIZE - 4)
        return error_input(error, "\"%.60s\" is no name of a macro: rename the parameter", name);
    struct import_parameter *parameter = xcalloc(1, sizeof *parameter);
    snprintf(parameter->original, sizeof parameter->original, "%s", name);
    snprintf(parameter->name, sizeof parameter->name, "%s", name);
    while ((is_reserved(parameter->name) || is_taken(space, parameter->name, name)) &&
           strlen(parameter->name) + 2 < NAME_SIZE)
        strcat(parameter->name, "_");
    if (strcmp(parameter->name, name) != 0)
        import_texts_add(&space->notes,
                         "the parameter %s is the gene %s: its name is reserved; the source still "
                         "gets %s",
                         name, parameter->name, name);
    int status = read_values(parameter, list, error);
    if (status == 0) {
        const struct python_value first = parameter->values[0];
        if (!parameter->words)
            qsort(parameter->values, (size_t)parameter->count, sizeof *parameter->values,
                  compare_values);
        for (int i = 0; i < parameter->count; i++) {
            if (parameter->words)
                name_value(space, parameter, i);
            if (python_equal(&parameter->values[i], &first))
                parameter->default_index = i;
        }
        space->parameters =
            xgrow(space->parameters, (size_t)space->count, sizeof *space->parameters);
        space->parameters[space->count++] = *parameter;
    }
    free(parameter);
    return status;
}
