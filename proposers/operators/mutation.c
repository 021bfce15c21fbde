/* mutation: one change of a solution while an operator makes it. */
#include "proposers/operators/mutation.h"

#include "base/memory.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

int mutation_init(struct mutation *mutation, const char *source, const char *solution,
                  struct error *error) {
    *mutation = (struct mutation){.source = source, .solution = solution};
    if (json_read_text(&mutation->document, "solution.json", solution, error) < 0)
        return -1;
    token_list_read(&mutation->tokens, source);
    if (cJSON_IsObject(mutation->document.root) &&
        kernel_next(&mutation->tokens, 0, &mutation->kernel))
        return 0;
    mutation_release(mutation);
    return error_input(error,
                       "the parent's source has no kernel, or its solution.json is no object");
}

void mutation_reset(struct mutation *mutation) {
    edit_list_release(&mutation->source_edits);
    edit_list_release(&mutation->solution_edits);
    mutation->place[0] = '\0';
}

void mutation_release(struct mutation *mutation) {
    mutation_reset(mutation);
    token_list_release(&mutation->tokens);
    json_release(&mutation->document);
}

/* ---- the source ---- */

void mutation_replace(struct mutation *mutation, struct span span, const char *text) {
    const struct token *at = mutation->tokens.at;
    bool empty = span.first >= span.last;
    edit_list_add(&mutation->source_edits, at[span.first].start,
                  empty ? at[span.first].start : at[span.last - 1].end, text);
}

void mutation_declare(struct mutation *mutation, const char *lines) {
    size_t at = mutation->tokens.at[mutation->kernel.first].start;
    edit_list_add(&mutation->source_edits, at, at, lines);
}

void mutation_declare_once(struct mutation *mutation, const char *name, const char *lines) {
    if (!span_mentions(&mutation->tokens, (struct span){0, mutation->tokens.count}, name))
        mutation_declare(mutation, lines);
}

void mutation_declare_value_of(struct mutation *mutation) {
    mutation_declare_once(mutation, "value_of",
                          "template <typename T> struct value_of {\n    using type = T;\n};\n"
                          "template <typename T> struct value_of<T &> {\n    using type = T;\n};\n"
                          "template <typename T> struct value_of<const T &> {\n"
                          "    using type = T;\n};\n\n");
}

static const cJSON *genes_of(const struct mutation *mutation) {
    return cJSON_GetObjectItemCaseSensitive(mutation->document.root, "genes");
}

bool mutation_has_gene(const struct mutation *mutation, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(genes_of(mutation), name) != NULL;
}

/* Edits that were made already may have taken a name, too. */
static bool is_taken(const struct mutation *mutation, const char *name) {
    if (mutation_has_gene(mutation, name) || mentions_identifier(mutation->source, name))
        return true;
    for (size_t e = 0; e < mutation->source_edits.count; e++)
        if (mentions_identifier(mutation->source_edits.edits[e].text, name))
            return true;
    for (size_t e = 0; e < mutation->solution_edits.count; e++)
        if (mentions_identifier(mutation->solution_edits.edits[e].text, name))
            return true;
    return mentions_identifier(mutation->solution, name);
}

char *mutation_name(const struct mutation *mutation, const char *base) {
    char *name = xstrdup(base);
    for (int number = 2; is_taken(mutation, name); number++) {
        struct strbuf next = {0};
        strbuf_print(&next, "%s_%d", base, number);
        free(name);
        name = next.bytes;
    }
    return name;
}

void mutation_set_place(struct mutation *mutation, int token) {
    snprintf(mutation->place, sizeof mutation->place, "line %d",
             token_line(&mutation->tokens, token));
}

/* ---- solution.json ---- */

/* Adds a member or element at the start of an object or array of the root, which is created if it
   is missing. */
static void add_inside(struct mutation *mutation, const char *key, char open, char close,
                       const char *text) {
    struct json root = json_root(&mutation->document), inner;
    struct strbuf added = {0};
    if (json_find(&root, key, &inner)) {
        size_t at = json_locate(&inner).start + 1;
        bool empty = json_count(&inner) == 0;
        for (size_t e = 0; empty && e < mutation->solution_edits.count; e++)
            empty = mutation->solution_edits.edits[e].start != at;
        strbuf_print(&added, "\n    %s%s", text, empty ? "\n  " : ",");
        edit_list_add(&mutation->solution_edits, at, at, added.bytes);
    } else {
        size_t at = json_locate(&root).start + 1;
        strbuf_print(&added, "\n  \"%s\": %c\n    %s\n  %c%s", key, open, text, close,
                     json_count(&root) == 0 ? "\n" : ",");
        edit_list_add(&mutation->solution_edits, at, at, added.bytes);
    }
    strbuf_release(&added);
}

char *mutation_gene(struct mutation *mutation, const char *base, const char *about,
                    const char *values, const char *default_value) {
    char *name = mutation_name(mutation, base);
    struct strbuf text = {0};
    strbuf_print(&text, "\"%s\": { \"about\": \"%s\", \"values\": [%s], \"default\": %s }", name,
                 about, values, default_value);
    add_inside(mutation, "genes", '{', '}', text.bytes);
    strbuf_release(&text);
    return name;
}

void mutation_option(struct mutation *mutation, const char *option, const char *when) {
    struct strbuf text = {0};
    strbuf_print(&text, "{ \"option\": \"%s\", \"when\": \"%s\" }", option, when);
    struct json root = json_root(&mutation->document), inner;
    bool created = false;
    for (size_t e = 0; e < mutation->solution_edits.count; e++)
        created =
            created || strstr(mutation->solution_edits.edits[e].text, "\"options\": [") != NULL;
    if (!json_find(&root, "options", &inner) && created) { /* by this mutation: one more element */
        for (size_t e = 0; e < mutation->solution_edits.count; e++) {
            struct edit *edit = &mutation->solution_edits.edits[e];
            char *list = strstr(edit->text, "\"options\": [");
            if (list == NULL)
                continue;
            struct strbuf longer = {0};
            size_t head = (size_t)(list - edit->text) + strlen("\"options\": [");
            strbuf_add(&longer, edit->text, head);
            strbuf_print(&longer, "\n    %s,%s", text.bytes, edit->text + head);
            free(edit->text);
            edit->text = longer.bytes;
            break;
        }
    } else {
        add_inside(mutation, "options", '[', ']', text.bytes);
    }
    strbuf_release(&text);
}

void mutation_constraint(struct mutation *mutation, const char *require, const char *because) {
    struct strbuf text = {0};
    strbuf_print(&text, "{ \"require\": \"%s\", \"because\": \"%s\" }", require, because);
    add_inside(mutation, "constraints", '[', ']', text.bytes);
    strbuf_release(&text);
}

bool mutation_has_option(const struct mutation *mutation, const char *part) {
    const cJSON *options = cJSON_GetObjectItemCaseSensitive(mutation->document.root, "options");
    const cJSON *option;
    cJSON_ArrayForEach(option, options) {
        const char *text = cJSON_GetStringValue(option);
        if (text == NULL)
            text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(option, "option"));
        if (text != NULL && strstr(text, part) != NULL)
            return true;
    }
    return false;
}

bool mutation_launch(const struct mutation *mutation, const struct kernel *kernel,
                     struct json *launch) {
    struct json root = json_root(&mutation->document), launches, name;
    int found = 0;
    if (!json_find(&root, "launches", &launches))
        return false;
    for (int l = 0; l < json_count(&launches); l++) {
        struct json one = json_at(&launches, l);
        const char *text;
        if (!json_find(&one, "kernel", &name) ||
            (text = cJSON_GetStringValue(name.value)) == NULL ||
            !token_equals(&mutation->tokens, kernel->name, text))
            continue;
        found++;
        *launch = one;
    }
    return found == 1;
}

void mutation_set_value(struct mutation *mutation, const struct json *value, const char *text) {
    struct json_place place = json_locate(value);
    edit_list_add(&mutation->solution_edits, place.start, place.end, text);
}

char *mutation_extent(const struct json *launch, const char *key, int axis, struct json *element) {
    struct json extents;
    if (!json_find(launch, key, &extents) || !cJSON_IsArray(extents.value) ||
        axis >= json_count(&extents))
        return NULL;
    *element = json_at(&extents, axis);
    if (cJSON_IsString(element->value))
        return xstrdup(element->value->valuestring);
    char *number = cJSON_IsNumber(element->value) ? cJSON_PrintUnformatted(element->value) : NULL;
    char *copy = xstrdup(number);
    cJSON_free(number);
    return copy;
}

bool mutation_is_of_genes(const struct mutation *mutation, const char *expression) {
    bool usable = expression != NULL;
    struct token_list words;
    token_list_read(&words, usable ? expression : "");
    for (int t = 0; t < words.count && usable; t++) {
        char *word = span_text(&words, (struct span){t, t + 1});
        usable = words.at[t].kind != TOKEN_NAME || mutation_has_gene(mutation, word);
        free(word);
    }
    token_list_release(&words);
    return usable;
}
