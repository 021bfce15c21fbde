/* crossover: operators that bring one solution nearer to another. */
#include "proposers/operators/crossover.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines, without blanks at their ends ---- */

struct line {
    const char *start;
    size_t length;
};

struct lines {
    struct line *at; /* sorted */
    size_t count;
};

static int compare_lines(const void *a, const void *b) {
    const struct line *left = a, *right = b;
    size_t length = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->start, right->start, length);
    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

/* A bracket or two, or the start of a list, says nothing about what a line is from. */
static void add_lines(struct lines *lines, const char *text) {
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        const char *start = text, *end = text + length;
        while (start < end && isspace((unsigned char)*start))
            start++;
        while (end > start && isspace((unsigned char)end[-1]))
            end--;
        if (end - start > 2 && end[-1] != '[') {
            lines->at = xgrow(lines->at, lines->count, sizeof *lines->at);
            lines->at[lines->count++] = (struct line){start, (size_t)(end - start)};
        }
        text += length + (text[length] == '\n');
    }
}

static struct lines read_lines(const char *source, const char *solution) {
    struct lines lines = {0};
    add_lines(&lines, source);
    add_lines(&lines, solution);
    if (lines.count > 0)
        qsort(lines.at, lines.count, sizeof *lines.at, compare_lines);
    return lines;
}

static bool has_line(const struct lines *lines, const struct line *line) {
    return lines->count > 0 &&
           bsearch(line, lines->at, lines->count, sizeof *lines->at, compare_lines) != NULL;
}

static bool is_same(const struct lines *a, const struct lines *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = compare_lines(&a->at[i], &b->at[i]) == 0;
    return same;
}

/* ---- genes ---- */

static bool has_gene(const struct json_document *document, const char *name) {
    const cJSON *genes = cJSON_GetObjectItemCaseSensitive(document->root, "genes");
    return cJSON_GetObjectItemCaseSensitive(genes, name) != NULL;
}

enum gain { GAIN_NOTHING, GAIN_OTHERS, GAIN_FOREIGN };

/* Whether `after` has a gene that `before` lacks, and the other solution has it: texts of
   solution.json. */
static enum gain gained_gene(const char *before, const char *after, const char *other) {
    struct json_document documents[3] = {0};
    const char *const texts[] = {before, after, other};
    struct error ignored = {0};
    enum gain gain = GAIN_NOTHING;
    int read = 0;
    while (read < 3 &&
           json_read_text(&documents[read], "solution.json", texts[read], &ignored) == 0)
        read++;
    const cJSON *gene,
        *genes = read == 3 ? cJSON_GetObjectItemCaseSensitive(documents[1].root, "genes") : NULL;
    cJSON_ArrayForEach(gene, genes) {
        if (gain != GAIN_OTHERS && !has_gene(&documents[0], gene->string))
            gain = has_gene(&documents[2], gene->string) ? GAIN_OTHERS : GAIN_FOREIGN;
    }
    while (read > 0)
        json_release(&documents[--read]);
    return gain;
}

/* ---- a step ---- */

/* Whether a third of the lines that `after` adds to `before` are lines of `other`: in the rest of
   them names and indices may be different there. */
static bool is_nearer(const struct lines *before, const struct lines *after,
                      const struct lines *other) {
    int added = 0, shared = 0;
    for (size_t i = 0; i < after->count; i++)
        if (!has_line(before, &after->at[i])) {
            added++;
            shared += has_line(other, &after->at[i]);
        }
    return shared > 0 && 3 * shared >= added;
}

bool crossover_step(struct revision *revision, const char *source, const char *solution,
                    const char *only, struct random *random) {
    struct candidate *candidates = xcalloc(CANDIDATES_MAX, sizeof *candidates);
    struct error ignored = {0};
    struct lines before = read_lines(revision->source, revision->solution);
    struct lines other = read_lines(source, solution);
    int count = candidates_find(revision, only, candidates, &ignored);
    bool taken = false;
    while (count > 0 && !taken) {
        int drawn = (int)random_below(random, (uint64_t)count);
        struct revision next;
        if (revision_apply(revision, &candidates[drawn], &next)) {
            struct lines after = read_lines(next.source, next.solution);
            enum gain gain = gained_gene(revision->solution, next.solution, solution);
            bool nearer =
                gain == GAIN_NOTHING ? is_nearer(&before, &after, &other) : gain == GAIN_OTHERS;
            taken = nearer && !is_same(&after, &other);
            free(after.at);
            if (taken) {
                free(before.at); /* they point into the text that is replaced */
                before = (struct lines){0};
                revision_replace(revision, &next);
            } else {
                revision_release(&next);
            }
        }
        candidates[drawn] = candidates[--count];
    }
    free(before.at);
    free(other.at);
    free(candidates);
    return taken;
}
