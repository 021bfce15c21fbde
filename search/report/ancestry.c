#include "report/ancestry.h"

static void take_in(struct ancestry *ancestry, const struct sight *sight) {
    if (sight == NULL || ancestry_has(ancestry, sight->number))
        return;
    if (ancestry->count < ANCESTORS_MAX)
        ancestry->members[ancestry->count++] = sight;
    else
        ancestry->more = true;
}

struct ancestry *ancestry_new(const struct gathered *run, const struct sight *sight) {
    struct ancestry *ancestry = calloc(1, sizeof *ancestry);
    if (ancestry == NULL)
        BUG("out of memory");
    take_in(ancestry, sight);
    /* Breadth first, one generation at a time. */
    for (int i = 0, last = 1; i < ancestry->count; i++) {
        if (i == last) {
            ancestry->generations++;
            last = ancestry->count;
        }
        take_in(ancestry, gathered_find(run, ancestry->members[i]->parent_a));
        take_in(ancestry, gathered_find(run, ancestry->members[i]->parent_b));
    }
    /* A parent is told before its child is asked for, so the line ends; that of a damaged run
       may not, which the limit handles. */
    for (; sight != NULL && ancestry->line_count < ANCESTORS_MAX;
         sight = gathered_find(run, sight->parent_a))
        ancestry->line[ancestry->line_count++] = sight;
    return ancestry;
}

void ancestry_free(struct ancestry *ancestry) {
    free(ancestry);
}

bool ancestry_has(const struct ancestry *ancestry, int64_t number) {
    for (int i = 0; i < ancestry->count; i++)
        if (ancestry->members[i]->number == number)
            return true;
    return false;
}
