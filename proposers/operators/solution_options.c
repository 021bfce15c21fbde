/* Operators that change solution.json alone. */
#include "proposers/operators/operators.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A gene, and an option for each of its values but the first. */
static void add_options(struct mutation *mutation, const char *base, const char *about,
                        const char *values, const char *default_value, const char *option,
                        const char *const *choices) {
    char *gene = mutation_gene(mutation, base, about, values, default_value);
    for (; *choices != NULL; choices++) {
        struct strbuf text = {0}, when = {0};
        strbuf_print(&text, option, *choices);
        strbuf_print(&when, "%s == %s", gene, *choices);
        mutation_option(mutation, text.bytes, when.bytes);
        strbuf_release(&text);
        strbuf_release(&when);
    }
    free(gene);
}

bool apply_register_limit(struct mutation *mutation, int site) {
    static const char *const limits[] = {"32", "40", "48", "64", "96", "128", NULL};
    if (site > 0 || mutation_has_option(mutation, "maxrregcount"))
        return false;
    add_options(mutation, "REGISTERS", "limit on the registers of a thread; 0: none",
                "0, 32, 40, 48, 64, 96, 128", "64", "--maxrregcount=%s", limits);
    return true;
}

bool apply_load_cache(struct mutation *mutation, int site) {
    static const char *const levels[] = {"ca", "cg", NULL};
    if (site > 0 || mutation_has_option(mutation, "dlcm"))
        return false;
    add_options(mutation, "LOAD_CACHE", "where global loads are cached",
                "\"usual\", \"ca\", \"cg\"", "\"cg\"", "--ptxas-options=-dlcm=%s", levels);
    return true;
}

bool apply_fast_math_option(struct mutation *mutation, int site) {
    static const char *const options[] = {"fast_math", "--ftz", "--prec", "--fmad", NULL};
    for (int o = 0; options[o] != NULL; o++)
        if (site > 0 || mutation_has_option(mutation, options[o]))
            return false;
    char *gene = mutation_gene(mutation, "FAST_MATH", "1: fast float arithmetic", "0, 1", "1");
    struct strbuf when = {0};
    strbuf_print(&when, "%s == 1", gene);
    mutation_option(mutation, "--use_fast_math", when.bytes);
    strbuf_release(&when);
    free(gene);
    return true;
}

/* Whether the source halves something down to zero, as a tree does. */
static bool has_tree(const struct mutation *mutation) {
    for (int t = 0; t < mutation->tokens.count; t++)
        if (token_equals(&mutation->tokens, t, ">>=") ||
            (token_equals(&mutation->tokens, t, "/=") &&
             token_equals(&mutation->tokens, t + 1, "2")))
            return true;
    return false;
}

/* The values with 3/4 of each between 64 and 1024 added; NULL if one is no power of two from 1 on,
   or none is added. */
static char *fill_values(const cJSON *values) {
    struct strbuf text = {0};
    const cJSON *value;
    int added = 0;
    double before = 0;
    cJSON_ArrayForEach(value, values) {
        double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
        long whole = (long)number;
        if (number < 1 || number > 65536 || (whole & (whole - 1)) != 0 || (double)whole != number) {
            strbuf_release(&text);
            return NULL;
        }
        if (whole >= 128 && whole <= 1024 && before == (double)(whole / 2)) {
            strbuf_print(&text, "%s%ld", text.used > 0 ? ", " : "", whole / 4 * 3);
            added++;
        }
        strbuf_print(&text, "%s%ld", text.used > 0 ? ", " : "", whole);
        before = number;
    }
    if (added > 0)
        return text.bytes;
    strbuf_release(&text);
    return NULL;
}

static bool is_block_gene(const struct json *launch, const char *name) {
    struct json element;
    bool found = false;
    for (int axis = 0; axis < 3; axis++) {
        char *extent = mutation_extent(launch, "block", axis, &element);
        found = found || (extent != NULL && strcmp(extent, name) == 0);
        free(extent);
    }
    return found;
}

bool apply_block_sizes(struct mutation *mutation, int site) {
    struct json root = json_root(&mutation->document), genes, values, launch;
    if (has_tree(mutation) || !json_find(&root, "genes", &genes) ||
        !mutation_launch(mutation, &mutation->kernel, &launch))
        return false;
    for (int g = 0; g < json_count(&genes); g++) {
        struct json gene = json_at(&genes, g);
        char *filled =
            is_block_gene(&launch, json_key(&gene)) && json_find(&gene, "values", &values)
                ? fill_values(values.value)
                : NULL;
        if (filled == NULL || site-- > 0) {
            free(filled);
            continue;
        }
        struct strbuf text = {0};
        strbuf_print(&text, "[%s]", filled);
        mutation_set_value(mutation, &values, text.bytes);
        snprintf(mutation->place, sizeof mutation->place, "gene %.60s", json_key(&gene));
        strbuf_release(&text);
        free(filled);
        return true;
    }
    return false;
}

/* Twice the last one of values that are doubled from one to the next; 0: they are others. */
static int larger_value(const cJSON *values) {
    int count = cJSON_GetArraySize(values);
    const cJSON *last = cJSON_GetArrayItem(values, count - 1);
    const cJSON *before = cJSON_GetArrayItem(values, count - 2);
    bool doubles = count >= 3 && cJSON_IsNumber(last) && cJSON_IsNumber(before) &&
                   last->valuedouble >= 4 && last->valuedouble <= 256 &&
                   last->valuedouble == 2 * before->valuedouble &&
                   last->valuedouble == (double)last->valueint;
    return doubles ? 2 * last->valueint : 0;
}

bool apply_larger_values(struct mutation *mutation, int site) {
    struct json root = json_root(&mutation->document), genes, values, launch;
    if (!json_find(&root, "genes", &genes) ||
        !mutation_launch(mutation, &mutation->kernel, &launch))
        return false;
    for (int g = 0; g < json_count(&genes); g++) {
        struct json gene = json_at(&genes, g);
        int larger = json_find(&gene, "values", &values) ? larger_value(values.value) : 0;
        if (larger == 0 || is_block_gene(&launch, json_key(&gene)) || site-- > 0)
            continue;
        struct json last = json_at(&values, json_count(&values) - 1);
        struct strbuf text = {0};
        strbuf_print(&text, "%d, %d", larger / 2, larger);
        mutation_set_value(mutation, &last, text.bytes);
        snprintf(mutation->place, sizeof mutation->place, "gene %.60s", json_key(&gene));
        strbuf_release(&text);
        return true;
    }
    return false;
}
