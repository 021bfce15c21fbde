#include "import/translate_internal.h"

#include "base/memory.h"
#include "base/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* COMBINATIONS_MAX: of the parameters of one condition, all of which are tried and may become a
   table; of more, SAMPLES are tried. */
enum { COMBINATIONS_MAX = 100000, SAMPLES = 20000, TABLE_TEXT_MAX = 3600, TABLE_TEXTS_MAX = 48 };

/* ---- combinations ---- */

/* The parameters that an expression reads, and one value of each. */
struct combinations {
    const struct import_space *space;
    int count, parameters[GENES_MAX], values[GENES_MAX];
    double size;
    struct python_scope scopes[GENES_MAX];
    struct symbol_table symbols;
    int slots[GENES_MAX];
    int64_t labels[GENES_MAX][DOMAIN_MAX]; /* what expressions see */
};

static struct combinations *new_combinations(const struct import_space *space,
                                             const struct python *python) {
    struct combinations *it = xcalloc(1, sizeof *it);
    struct error ignored = {0};
    it->space = space;
    it->size = 1;
    for (int p = 0; p < space->count; p++) {
        const struct import_parameter *parameter = &space->parameters[p];
        if (!python_reads(python->root, parameter->original))
            continue;
        it->parameters[it->count] = p;
        it->size *= parameter->count;
        it->slots[it->count++] = symbol_table_add(&it->symbols, parameter->name, &ignored);
    }
    for (int i = 0; i < it->count; i++) {
        const struct import_parameter *parameter = &space->parameters[it->parameters[i]];
        for (int v = 0; v < parameter->count; v++)
            it->labels[i][v] =
                parameter->words
                    ? symbol_table_add_label(&it->symbols, parameter->labels[v], &ignored)
                    : parameter->values[v].number;
    }
    return it;
}

/* The last parameter changes first. */
static void number_combination(struct combinations *it, uint64_t number) {
    for (int i = it->count - 1; i >= 0; i--) {
        const uint64_t count = (uint64_t)it->space->parameters[it->parameters[i]].count;
        it->values[i] = (int)(number % count);
        number /= count;
    }
}

static void draw_combination(struct combinations *it, struct random *random) {
    for (int i = 0; i < it->count; i++)
        it->values[i] =
            (int)random_below(random, (uint64_t)it->space->parameters[it->parameters[i]].count);
}

/* Python's value; false where it raises an error. */
static bool evaluate_python(struct combinations *it, const struct python *python,
                            const struct python_scope *outer, struct python_value *value,
                            struct error *error) {
    struct python_heap heap = {0};
    for (int i = 0; i < it->count; i++) {
        const struct import_parameter *parameter = &it->space->parameters[it->parameters[i]];
        it->scopes[i] = (struct python_scope){.name = parameter->original,
                                              .value = parameter->values[it->values[i]],
                                              .outer = i > 0 ? &it->scopes[i - 1] : outer};
    }
    const bool good = python_evaluate(python, it->count > 0 ? &it->scopes[it->count - 1] : outer,
                                      &heap, value, error) == 0;
    /* A list or text is only asked whether it is empty. */
    if (good && (value->type == PYTHON_LIST || value->type == PYTHON_TEXT))
        *value = (struct python_value){.type = PYTHON_BOOL, .number = python_is_true(value)};
    python_heap_clear(&heap);
    return good;
}

static bool evaluate_text(struct combinations *it, const struct expression *expression,
                          int64_t *result) {
    int64_t values[SLOTS_MAX] = {0};
    for (int i = 0; i < it->count; i++)
        values[it->slots[i]] = it->labels[i][it->values[i]];
    return expression_evaluate(expression, values, result, NULL) == 0;
}

/* Whether a translation has Python's value in all combinations that are tried. `number`: the whole
   number, else only whether it is true. */
static bool agrees(struct combinations *it, const struct python *python, const char *text,
                   const struct python_scope *scope, bool number) {
    struct error ignored = {0};
    struct random random;
    bool same = strlen(text) < EXPRESSION_TEXT_MAX;
    struct expression *expression = same ? expression_parse(text, &it->symbols, &ignored) : NULL;
    const bool all = it->size <= COMBINATIONS_MAX;
    const uint64_t count = all ? (uint64_t)it->size : SAMPLES;
    random_seed(&random, 1, 0);
    same = expression != NULL;
    for (uint64_t i = 0; i < count && same; i++) {
        struct python_value value = {0};
        int64_t result = 0;
        if (all)
            number_combination(it, i);
        else
            draw_combination(it, &random);
        const bool has_value = evaluate_python(it, python, scope, &value, &ignored);
        const bool has_result = evaluate_text(it, expression, &result);
        if (number)
            same = has_value &&
                   (!has_result ||
                    result == (value.type == PYTHON_FLOAT ? (int64_t)value.real : value.number));
        else
            same = (has_value && python_is_true(&value)) == (has_result && result != 0);
    }
    expression_free(expression);
    return same;
}

/* ---- tables ---- */

struct truth_table {
    const struct combinations *it;
    unsigned char *truth;
    size_t sizes[GENES_MAX + 1]; /* of a block of the parameters from this one on */
    struct import_texts *texts;
    int added;
};

/* Whether the parameter has one of some values. */
static void print_membership(const struct import_parameter *parameter, const bool *member,
                             struct strbuf *text) {
    struct import_texts tests = {0};
    int first = -1, last = -1, members = 0;
    for (int v = 0; v < parameter->count; v++)
        if (member[v]) {
            first = first < 0 ? v : first;
            last = v;
            members++;
        }
    const bool inverted = 2 * members > parameter->count;
    if (!parameter->words && members > 2 && last - first + 1 == members) {
        strbuf_print(text, "(%s >= %" PRId64 " && %s <= %" PRId64 ")", parameter->name,
                     parameter->values[first].number, parameter->name,
                     parameter->values[last].number);
        return;
    }
    for (int v = 0; v < parameter->count; v++)
        if (member[v] != inverted && parameter->words)
            import_texts_add(&tests, "%s == %s", parameter->name, parameter->labels[v]);
        else if (member[v] != inverted)
            import_texts_add(&tests, "%s == %" PRId64, parameter->name,
                             parameter->values[v].number);
    strbuf_print(text, inverted ? "!(" : "(");
    import_texts_join(&tests, "||", "0", text);
    strbuf_print(text, ")");
    import_texts_release(&tests);
}

static void print_table(const struct truth_table *table, int level, size_t offset,
                        struct strbuf *text) {
    const unsigned char *block = table->truth + offset;
    const size_t size = table->sizes[level];
    if (memchr(block, !block[0], size) == NULL) {
        strbuf_print(text, "%d", block[0]);
        return;
    }
    const struct import_parameter *parameter =
        &table->it->space->parameters[table->it->parameters[level]];
    const size_t step = table->sizes[level + 1];
    struct import_texts terms = {0};
    bool done[DOMAIN_MAX] = {false};
    for (int v = 0; v < parameter->count; v++) {
        const unsigned char *own = block + (size_t)v * step;
        bool member[DOMAIN_MAX] = {false};
        if (done[v] || memchr(own, 1, step) == NULL)
            continue;
        int members = 0;
        for (int w = v; w < parameter->count; w++) {
            member[w] = memcmp(own, block + (size_t)w * step, step) == 0;
            done[w] = done[w] || member[w];
            members += member[w];
        }
        struct strbuf term = {0};
        if (members < parameter->count)
            print_membership(parameter, member, &term);
        if (memchr(own, 0, step) != NULL) {
            strbuf_print(&term, "%s", members < parameter->count ? " && " : "");
            print_table(table, level + 1, offset + (size_t)v * step, &term);
        }
        import_texts_add(&terms, "(%s)", term.bytes);
        strbuf_release(&term);
    }
    strbuf_print(text, "(");
    import_texts_join(&terms, "||", "0", text);
    strbuf_print(text, ")");
    import_texts_release(&terms);
}

/* One constraint for the whole table or, if that is too long, one for each value. */
static bool add_table(struct truth_table *table, const char *prefix, int level, size_t offset) {
    struct strbuf text = {0};
    strbuf_print(&text, "%s", prefix);
    print_table(table, level, offset, &text);
    bool good = table->added < TABLE_TEXTS_MAX && strlen(prefix) < TABLE_TEXT_MAX / 2;
    const bool fits = text.used < TABLE_TEXT_MAX;
    if (good && fits) {
        import_texts_add(table->texts, "%s", text.bytes);
        table->added++;
    }
    strbuf_release(&text);
    if (!good || fits)
        return good;
    const struct import_parameter *parameter =
        &table->it->space->parameters[table->it->parameters[level]];
    for (int v = 0; v < parameter->count && good; v++) {
        struct strbuf longer = {0};
        if (parameter->words)
            strbuf_print(&longer, "%s%s != %s || ", prefix, parameter->name, parameter->labels[v]);
        else
            strbuf_print(&longer, "%s%s != %" PRId64 " || ", prefix, parameter->name,
                         parameter->values[v].number);
        good =
            add_table(table, longer.bytes, level + 1, offset + (size_t)v * table->sizes[level + 1]);
        strbuf_release(&longer);
    }
    return good;
}

/* Returns the number of combinations for which Python has an error, or -1: it does not fit. */
static int sample_table(struct combinations *it, const struct python *python,
                        struct import_texts *texts, struct error *first) {
    struct truth_table table = {.it = it, .texts = texts};
    const size_t size = (size_t)it->size;
    int errors = 0;
    table.truth = xcalloc(size, 1);
    table.sizes[it->count] = 1;
    for (int i = it->count - 1; i >= 0; i--)
        table.sizes[i] =
            table.sizes[i + 1] * (size_t)it->space->parameters[it->parameters[i]].count;
    for (size_t i = 0; i < size; i++) {
        struct python_value value;
        struct error error = {0};
        number_combination(it, i);
        if (evaluate_python(it, python, NULL, &value, &error))
            table.truth[i] = python_is_true(&value);
        else if (errors++ == 0)
            *first = error;
    }
    const bool good = add_table(&table, "", 0, 0);
    free(table.truth);
    return good ? errors : -1;
}

/* ---- conditions and numbers ---- */

static int add_sampled(struct import_space *space, struct combinations *it,
                       const struct python *python, const char *why, struct import_texts *texts,
                       struct error *error) {
    struct error first = {0};
    if (it->size > COMBINATIONS_MAX)
        return error_input(
            error,
            "'%.200s' has no counterpart: %s; its parameters have %.0f combinations, "
            "too many for a table: write it with whole numbers, or as two",
            python->text, why, it->size);
    const int before = texts->count;
    const int errors = sample_table(it, python, texts, &first);
    if (errors < 0)
        return error_input(error,
                           "'%.200s' has no counterpart: %s; as a table it is too long: write it "
                           "with whole numbers, or as two",
                           python->text, why);
    import_texts_add(
        &space->notes, "'%.200s' is a table of its %.0f combinations, in %d constraint%s: %s",
        python->text, it->size, texts->count - before, texts->count - before == 1 ? "" : "s", why);
    if (errors > 0)
        import_texts_add(&space->notes, "'%.200s' excludes %d combinations that Python refuses: %s",
                         python->text, errors, first.text);
    return 0;
}

int import_condition(struct import_space *space, const char *condition, struct import_texts *texts,
                     struct error *error) {
    struct python *python = python_parse(condition, error);
    if (python == NULL)
        return error_prefix(error, "the condition '%.200s'", condition);
    struct strbuf text = {0};
    struct combinations *it = new_combinations(space, python);
    struct translation translation = {.space = space, .rounds = it->size <= COMBINATIONS_MAX};
    int status = 0;
    if (!translate_node(&translation, python->root, NULL, true, &text) || text.bytes == NULL)
        status = add_sampled(space, it, python,
                             translation.why != NULL ? translation.why : "it cannot be evaluated",
                             texts, error);
    else if (agrees(it, python, text.bytes, NULL, false))
        import_texts_add(texts, "%s", text.bytes);
    else
        status = add_sampled(space, it, python,
                             "Python rounds or compares otherwise here, or the text is too long",
                             texts, error);
    free(it);
    strbuf_release(&text);
    python_heap_clear(&translation.heap);
    python_free(python);
    return status;
}

int import_number(struct import_space *space, const char *expression,
                  const struct python_scope *scope, char text[EXPRESSION_TEXT_MAX],
                  struct error *error) {
    struct python *python = python_parse(expression, error);
    if (python == NULL)
        return error_prefix(error, "the expression '%.200s'", expression);
    struct strbuf printed = {0};
    struct translation translation = {.space = space, .rounds = true};
    struct combinations *it = new_combinations(space, python);
    struct python_node outer = {.kind = NODE_CALL, .child = python->root};
    snprintf(outer.name, sizeof outer.name, "int");
    bool good = translate_node(&translation, &outer, scope, false, &printed) && printed.used > 0 &&
                agrees(it, python, printed.bytes, scope, true);
    if (good)
        snprintf(text, EXPRESSION_TEXT_MAX, "%s", printed.bytes);
    else
        error_input(
            error,
            "the expression '%.200s' has no counterpart in whole numbers: %s; write it with "
            "//",
            expression,
            translation.why != NULL ? translation.why : "its value is rounded otherwise");
    free(it);
    strbuf_release(&printed);
    python_heap_clear(&translation.heap);
    python_free(python);
    return good ? 0 : -1;
}
