/* revision: texts that operators change. */
#include "proposers/operators/revision.h"

#include "base/memory.h"
#include "proposers/cuda/indent.h"

#include <stdlib.h>
#include <string.h>

void revision_init(struct revision *revision, const char *source, const char *solution) {
    *revision = (struct revision){.source = xstrdup(source), .solution = xstrdup(solution)};
    strbuf_add(&revision->hypothesis, "", 0);
}

void revision_release(struct revision *revision) {
    strbuf_release(&revision->hypothesis);
    free(revision->source);
    free(revision->solution);
    *revision = (struct revision){0};
}

void revision_replace(struct revision *revision, struct revision *next) {
    revision_release(revision);
    *revision = *next;
    *next = (struct revision){0};
}

static bool is_chosen(const char *only, const char *name) {
    if (only == NULL)
        return true;
    for (const char *at = only; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if (strlen(name) == length && memcmp(at, name, length) == 0)
            return true;
        at += length + (at[length] == ',');
    }
    return false;
}

int candidates_find(const struct revision *revision, const char *only, struct candidate *candidates,
                    struct error *error) {
    struct mutation mutation;
    int count = 0;
    if (mutation_init(&mutation, revision->source, revision->solution, error) < 0)
        return -1;
    for (const struct edit_operator *entry = mutation_operators; entry->name != NULL; entry++) {
        if (!is_chosen(only, entry->name))
            continue;
        for (int site = 0; count < CANDIDATES_MAX && entry->apply(&mutation, site); site++) {
            candidates[count++] = (struct candidate){entry, site};
            mutation_reset(&mutation);
        }
    }
    mutation_release(&mutation);
    return count;
}

bool revision_apply(const struct revision *revision, const struct candidate *candidate,
                    struct revision *next) {
    struct mutation mutation;
    struct error ignored = {0};
    *next = (struct revision){0};
    if (mutation_init(&mutation, revision->source, revision->solution, &ignored) < 0)
        return false;
    char *source = NULL, *solution = NULL;
    if (candidate->entry->apply(&mutation, candidate->site)) {
        source = edit_list_apply(revision->source, &mutation.source_edits);
        solution = edit_list_apply(revision->solution, &mutation.solution_edits);
    }
    bool applied = source != NULL && solution != NULL;
    if (applied) {
        const struct strbuf *before = &revision->hypothesis;
        *next = (struct revision){.source = indent_changes(revision->source, source),
                                  .solution = solution};
        strbuf_print(&next->hypothesis, "%s%s%s", before->used > 0 ? before->bytes : "",
                     before->used > 0 ? "; " : "", candidate->entry->hypothesis);
        if (mutation.place[0] != '\0')
            strbuf_print(&next->hypothesis, " (%s)", mutation.place);
    } else {
        free(solution);
    }
    free(source);
    mutation_release(&mutation);
    return applied;
}
